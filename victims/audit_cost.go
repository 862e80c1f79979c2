package victims

import (
	"time"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// This file works out what a plan costs, level by level, from its victims. See
// DESIGN.md, Cost.

// Cost returns what a plan costs at the instant now, whoever made it and
// whatever cost it states. It is 0 but for the node if nothing can be judged:
// see [Auditor.Audit] for when that is. So plans from elsewhere can be compared.
func (a *Auditor) Cost(p *Plan, now time.Time) Cost {
	x := &a.x
	x.begin(a, p, now)
	defer x.end()
	for range x.wellFormed {
		return Cost{}
	}
	x.survey()
	x.list()
	x.listGangs()
	return x.cost()
}

// cost sums up what the victims that count cost.
func (x *auditCase) cost() (c Cost) {
	for i, id := range x.victims {
		r := &x.c.tasks[id]
		// The ranks are law 6's own numbers, lifted queue by queue. The planner
		// has its ranks from package fence.
		have, most := x.priorities(r, false)
		rank := have - most
		if x.a.StrictPriority {
			rank-- // most is one less than the ask's
		}
		// The first value, not 0, is where a maximum begins: ranks and
		// priorities may be below it.
		if i == 0 {
			c.MaxRank, c.MaxPriority = rank, int64(r.priority)
		}
		c.MaxRank, c.MaxPriority = max(c.MaxRank, rank), max(c.MaxPriority, int64(r.priority))
		c.Victims++
		c.SumRanks += rank
		c.SumPriorities += int64(r.priority)
		if r.flags.has(flagOptedOut) {
			c.OptedOut++
		}
		if r.flags.has(flagOriginator) {
			c.Originators++
		}
		c.Own = c.Own.Add(cover.WideOf(x.c.costOf(id)))
		// By the exported method, which converts what is stored back to times:
		// a wrong conversion would show as a wrong cost.
		t := x.c.TaskView(id)
		c.Work = c.Work.AddNanos(t.Lost(x.now), 1)
	}
	for name, b := range x.c.Budgets() {
		// A hard budget is a law and no cost. What was overdrawn before is
		// nobody's fault: only what the plan adds counts.
		if row, _ := x.c.findBudget(name); !b.Hard {
			c.Overrun += max(0, x.drawn[row]-max(0, b.Left))
		}
	}
	for i := range x.gangs {
		// Fewer stay than are needed, also if fewer ran before.
		if g := &x.gangs[i]; g.running-g.taken < g.minimum {
			c.Jobs++
		}
	}
	c.Excess = x.excess()
	n := &x.c.nodes[x.plan.Node]
	c.NodeRank, c.Node = n.rank, int(n.seq)
	return c
}

// excess returns the largest share of the cluster that is freed beyond need,
// over all types. The victims free what is taken of the root.
func (x *auditCase) excess() (most resources.Share) {
	for i, capacity := range x.c.Capacity() {
		// Shares of different totals are compared exactly, by cross products.
		// See resources.Share.
		share := resources.Share{Amount: max(0, x.gone(0, i)-x.need(i)), Of: capacity}
		if i == 0 || share.Compare(most) > 0 {
			most = share
		}
	}
	return most
}

// need returns what the ask lacks of a type before the plan: on the node, or
// below the queue that lacks most, at least 0.
func (x *auditCase) need(i int) (need int64) {
	// What is freed of a type that the ask does not want is all beyond need.
	if !x.wants.Has(i) {
		return 0
	}
	need = max(0, x.size[i]-x.free[i])
	for q := range x.tree.Up(x.ask.Queue) {
		if m, ok := x.tree.Max(q).Bound(i); ok {
			// Victims below a queue with too little headroom serve that and the
			// node at once, so that the larger need is the whole need.
			need = max(need, x.usage(q, i)+x.size[i]-m)
		}
	}
	return need
}
