package quota

import (
	"slices"
	"strings"

	"github.com/go-preempt/preempt/victims"
)

// budgets are the budgets of a cluster, with how many victims each has to bear.
//
// A hard budget binds: a unit that is beyond what is left of it is passed over,
// as one that law 2 keeps. A soft one changes nothing; its overrun is told.
// (DESIGN.md, Budgets.)
type budgets struct {
	rows  []budgetRow // by name
	uses  []int32     // the budgets that tasks name, task by task
	first []int32     // task i has uses[first[i]:first[i+1]]; empty if there are no budgets
}

// budgetRow is a budget and what the victims take of it.
type budgetRow struct {
	name string
	left int64 // at least 0
	hard bool
	used int64
}

func (b *budgets) start(c *victims.Cluster) {
	b.rows, b.uses, b.first = b.rows[:0], b.uses[:0], b.first[:0]
	for name, row := range c.Budgets() {
		b.rows = append(b.rows, budgetRow{name: name, left: max(row.Left, 0), hard: row.Hard})
	}
	if len(b.rows) > 0 {
		b.first = append(b.first, 0)
	}
}

// add notes the budgets of the task that is being listed.
func (b *budgets) add(c *victims.Cluster, id victims.TaskID, t *victims.Head) {
	if t.HasBudgets {
		for _, name := range c.TaskView(id).Budgets {
			row, _ := slices.BinarySearchFunc(b.rows, name, func(r budgetRow, name string) int {
				return strings.Compare(r.name, name)
			})
			b.uses = append(b.uses, int32(row))
		}
	}
	b.first = append(b.first, int32(len(b.uses)))
}

// of returns the budgets of a task.
func (b *budgets) of(i int32) []int32 {
	if len(b.first) == 0 {
		return nil
	}
	return b.uses[b.first[i]:b.first[i+1]]
}

func (b *budgets) move(i int32, sign int64) {
	for _, row := range b.of(i) {
		b.rows[row].used += sign
	}
}

// exceeded reports whether a hard budget of a task is beyond what is left of it.
func (b *budgets) exceeded(i int32) bool {
	for _, row := range b.of(i) {
		if r := &b.rows[row]; r.hard && r.used > r.left {
			return true
		}
	}
	return false
}

// spare reports whether the budgets of a task can bear it as well.
func (b *budgets) spare(i int32) bool {
	if len(b.of(i)) == 0 {
		return true
	}
	b.move(i, 1)
	exceeded := b.exceeded(i)
	b.move(i, -1)
	return !exceeded
}

// overrun returns by how many victims soft budgets are overrun.
func (b *budgets) overrun() (sum int64) {
	for i := range b.rows {
		if r := &b.rows[i]; !r.hard {
			sum += max(r.used-r.left, 0)
		}
	}
	return sum
}
