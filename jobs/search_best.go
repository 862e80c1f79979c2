package jobs

import (
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// An incumbent is the best plan so far. Every engine offers what it finds.
type incumbent struct {
	*jobCase
	found  bool
	cost   victims.Cost
	levels cover.Levels
	rank   rankSum  // of the members' nodes
	at     []int32  // the host of each member of todo
	chosen []int32  // units that go
	keys   []string // of the victims, sorted

	rival []string // scratch: the keys of what is offered
	sum   resources.Vector
	used  []int64
}

// offer makes a plan the best if it costs less, or as much and comes first: by
// the sum of the ranks of the members' nodes, then by these nodes in the order
// of members, which take the place of the one node in the cost, then by the keys
// of the victims.
func (b *incumbent) offer(at, units []int32, total *cover.Total) {
	cost, rank := victims.CostOf(total), b.rankOf(at)
	// The order is total, so which plan is the best does not depend on the order in
	// which engines offer. Keys are last and dearest to compare: they are only
	// collected if all else is equal, or the plan is kept.
	if b.found {
		c := cost.Compare(&b.cost)
		if c == 0 {
			c = rank.compare(b.rank)
		}
		if c == 0 {
			c = slices.Compare(at, b.at)
		}
		if c > 0 {
			return
		}
		if b.rival = b.keysOf(b.rival[:0], units); c == 0 && slices.Compare(b.rival, b.keys) >= 0 {
			return
		}
	}
	b.found, b.cost, b.levels, b.rank = true, cost, total.Levels, rank
	b.at = append(b.at[:0], at...)
	b.chosen = append(b.chosen[:0], units...)
	b.keys = b.keysOf(b.keys[:0], b.chosen)
}

// rankOf returns the sum of the ranks of some hosts.
func (b *incumbent) rankOf(at []int32) (sum rankSum) {
	for _, h := range at {
		sum = sum.plus(b.hosts[h].rank, 1)
	}
	return sum
}

// keysOf appends the sorted keys of the tasks of some units.
func (b *incumbent) keysOf(dst []string, units []int32) []string {
	for _, u := range units {
		for _, i := range b.tasksOf(u) {
			dst = append(dst, b.cands[i].key)
		}
	}
	slices.SortFunc(dst, strings.Compare)
	return dst
}

// totalOf returns what units cost that free something to some purpose; see
// [cover.Problem].
func (b *incumbent) totalOf(units []int32, wanted resources.Vector) (total cover.Total) {
	b.sum = rows.Zeros(b.sum, b.types)
	for n, u := range units {
		unit := &b.units[u].Unit
		total.Levels = b.order.Join(&total.Levels, n, &unit.Levels)
		total.Work = total.Work.Add(cover.WorkOfNanos(unit.Work))
		b.sum = resources.Add(b.sum, b.sum, unit.Size)
	}
	// Overrun is no sum over units: two that take one each of a budget with one
	// left overrun it together, and neither does alone.
	total.Levels[victims.LevelOverrun] = b.budgets.overrun(b.usedBy(units))
	total.Units = len(units)
	total.Excess = cover.Excess(b.sum, wanted, b.c.Capacity())
	return total
}

// usedBy returns what units take of every soft budget. It is good until the next
// call.
func (b *incumbent) usedBy(units []int32) []int64 {
	b.used = rows.Zeros(b.used, len(b.budgets.soft))
	for _, u := range units {
		for _, use := range b.units[u].Uses {
			b.used[use.Budget] += use.Count
		}
	}
	return b.used
}
