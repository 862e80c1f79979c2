package victims

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/victims/cover"
)

// budgetRows are the budgets of a decision as the search knows them.
type budgetRows struct {
	left   []cover.Budget // by row of Cluster.budgets: a soft one as it stands
	bounds []int32        // by row: the bound that a hard one is, and one; 0 if not asked for
}

// reset reads the budgets of the cluster.
func (b *budgetRows) reset(d *decision) {
	c := d.c
	b.left, b.bounds = b.left[:0], rows.Zeros(b.bounds, len(c.budgets))
	for i := range c.budgets {
		row := cover.Budget{Left: noLimit}
		if !c.budgets[i].hard {
			row.Left = c.budgets[i].left
		}
		b.left = append(b.left, row)
	}
}

// bound returns the bound that a hard budget is: no more of its tasks may go
// than it has left. It returns -1 for a soft budget, and for a hard one that
// Explain relaxes.
func (b *budgetRows) bound(d *decision, row int32) int32 {
	budget := &d.c.budgets[row]
	if !budget.hard || d.without.budget(budget.name) {
		return -1
	}
	if b.bounds[row] == 0 {
		b.bounds[row] = d.eligible.Rooms.add(max(budget.left, 0)) + 1
	}
	return b.bounds[row] - 1
}
