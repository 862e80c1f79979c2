package victims

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/victims/cover"
)

// budgetRows are the budgets of a decision as the search knows them.
type budgetRows struct {
	left   []cover.Budget // in the order of names: a soft one as it stands
	place  []int32        // by row of Cluster.budgets: its place in that order
	bounds []int32        // by row: the bound that a hard one is, or -1
}

// reset reads the budgets of the cluster, in the order of their names: what a search finds
// must not depend on who was told of first.
func (b *budgetRows) reset(d *decision) {
	c := d.c
	b.left, b.bounds, b.place = b.left[:0], rows.Zeros(b.bounds, len(c.budgets)), rows.Zeros(b.place, len(c.budgets))
	for _, row := range c.budgetOrder {
		budget := &c.budgets[row]
		b.place[row], b.bounds[row] = int32(len(b.left)), -1
		left := cover.Budget{Left: noLimit}
		switch {
		case !budget.hard:
			left.Left = budget.left
		case !d.without.budget(budget.name):
			b.bounds[row] = d.eligible.Rooms.add(max(budget.left, 0))
		}
		b.left = append(b.left, left)
	}
}

// bound returns the bound that a hard budget is: no more of its tasks may go
// than it has left. It returns -1 for a soft budget, and for a hard one that
// Explain relaxes.
func (b *budgetRows) bound(row int32) int32 { return b.bounds[row] }
