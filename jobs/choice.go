package jobs

import (
	"slices"
	"strings"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// choice is the best plan so far.
type choice struct {
	found  bool
	cost   victims.Cost
	levels cover.Levels
	at     []int32  // the host of each member of todo
	units  []int32  // that fall
	keys   []string // of what falls, sorted
}

// offer makes a plan the best where it costs less, or as much and comes first:
// by the nodes of the members in their order, which take the place of the one
// node in the cost, then by the keys of the victims.
func (d *decision) offer(at, units []int32, total *cover.Total) {
	cost := victims.CostOf(total)
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
func (d *decision) totalOf(units []int32, wanted resources.Vector) (total cover.Total) {
	d.sum = zeros(d.sum, d.types)
	order := victims.PlanOrder()
	for n, u := range units {
		unit := &d.units[u]
		total.Levels = order.Join(&total.Levels, n, &unit.levels)
		total.Work = total.Work.Add(cover.WorkOfNanos(unit.work))
		d.sum = resources.Add(d.sum, d.sum, unit.size)
	}
	total.Units = len(units)
	total.Excess = cover.Excess(d.sum, wanted, d.c.Capacity())
	return total
}
