package jobs

import (
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// choice is the best plan so far.
type choice struct {
	found  bool
	cost   victims.Cost
	levels victims.Levels
	at     []int32  // the host of each member of todo
	units  []int32  // that fall
	keys   []string // of what falls, sorted
}

// offer makes a plan the best where it costs less, or as much and comes first:
// by the nodes of the members in their order, then by the keys of the victims.
func (d *decision) offer(at, units []int32, total *victims.Total) {
	cost := costOf(total)
	b := &d.best
	if b.found {
		c := cost.Compare(&b.cost)
		if c == 0 {
			c = slices.Compare(at, b.at)
		}
		if c > 0 {
			return
		}
		if d.keys = d.keysOf(d.keys[:0], units); c == 0 && slices.Compare(d.keys, b.keys) >= 0 {
			return
		}
	}
	b.found, b.cost, b.levels = true, cost, total.Levels
	b.at = append(b.at[:0], at...)
	b.units = append(b.units[:0], units...)
	b.keys = d.keysOf(b.keys[:0], b.units)
}

// keysOf appends the sorted keys of what falls with some units.
func (d *decision) keysOf(dst []string, units []int32) []string {
	for _, u := range units {
		for _, c := range d.fallsOf(u) {
			dst = append(dst, d.cands[c].key)
		}
	}
	slices.SortFunc(dst, strings.Compare)
	return dst
}

// fallsOf returns the candidates of a unit.
func (d *decision) fallsOf(u int32) []int32 {
	return d.falls[d.units[u].first:d.units[u].end]
}

// totalOf returns what units cost that free something to some purpose; see
// [victims.Problem].
func (d *decision) totalOf(units []int32, wanted resources.Vector) (total victims.Total) {
	d.sum = zeros(d.sum, d.types)
	for n, u := range units {
		unit := &d.units[u]
		total.Levels = addLevels(&total.Levels, n, &unit.levels)
		total.Work = total.Work.Add(workOf(unit.work))
		d.sum = resources.Add(d.sum, d.sum, unit.size)
	}
	total.Units = len(units)
	for t, v := range d.sum {
		share := resources.Share{Amount: max(v-wanted[t], 0), Of: d.c.Capacity()[t]}
		if t == 0 || share.Compare(total.Excess) > 0 {
			total.Excess = share
		}
	}
	return total
}

// workOf returns nanoseconds as work: more of them than a duration holds.
func workOf(ns uint64) victims.Work {
	half := time.Duration(ns / 2)
	return victims.WorkOf(half).Add(victims.WorkOf(half + time.Duration(ns%2)))
}
