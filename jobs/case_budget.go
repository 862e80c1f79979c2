package jobs

import (
	"slices"
	"strings"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// budgets are the budgets of the cluster, as a search wants them: a hard one
// bounds the sum of victims in it, a soft one costs what goes beyond it.
type budgets struct {
	list   []budget // in the order of names
	soft   []cover.Budget
	inPlay bool    // some unit is in a soft budget
	rows   []int32 // of candidates, one list after another
	uses   []cover.Use
	counts []count // of units, one list after another
}

// A budget is how many of its tasks may still be stopped.
type budget struct {
	name string
	left [1]int64 // at least 0
	hard bool
	row  int32 // of bounds if it is hard, else of soft budgets
}

// A count says that a unit uses up some of a bound that counts heads: the
// surplus of a gang, or a hard budget.
type count struct {
	bound  [1]int32
	amount [1]int64
}

// begin reads the budgets of the cluster.
func (b *budgets) begin(c *jobCase) {
	b.list, b.soft, b.rows, b.inPlay = b.list[:0], b.soft[:0], b.rows[:0], false
	for name, now := range c.c.Budgets() {
		// A budget that is overrun already has nothing left, and not less: what
		// others have taken is no debt of this plan.
		x := budget{name: name, left: [1]int64{max(now.Left, 0)}, hard: now.Hard}
		if !x.hard {
			x.row = int32(len(b.soft))
			b.soft = append(b.soft, cover.Budget{Left: x.left[0]})
		}
		b.list = append(b.list, x)
	}
}

// bind adds a bound for each hard budget.
func (b *budgets) bind(c *jobCase) {
	for i := range b.list {
		if x := &b.list[i]; x.hard {
			x.row = int32(len(c.rooms.Bounds))
			c.rooms.Bounds = append(c.rooms.Bounds, cover.Bound{Room: resources.Limit{Value: x.left[:], Defined: 1}})
		}
	}
	b.uses, b.counts = b.uses[:0], b.counts[:0]
}

// find returns the rows of budgets by name, in their order. It is a view.
func (b *budgets) find(names []string) []int32 {
	if len(names) == 0 {
		return nil
	}
	from := len(b.rows)
	for _, name := range names {
		row, _ := slices.BinarySearchFunc(b.list, name, func(x budget, name string) int { return strings.Compare(x.name, name) })
		b.rows = append(b.rows, int32(row))
	}
	slices.Sort(b.rows[from:])
	return b.rows[from:len(b.rows):len(b.rows)]
}

// spent returns whether a hard budget has less left than some candidates take.
func (b *budgets) spent(c *jobCase, tasks []int32) bool {
	for i := range b.list {
		if x := &b.list[i]; x.hard && b.among(c, tasks, int32(i)) > x.left[0] {
			return true
		}
	}
	return false
}

// among returns how many of some candidates are in a budget.
func (b *budgets) among(c *jobCase, tasks []int32, row int32) (n int64) {
	for _, i := range tasks {
		if slices.Contains(c.cands[i].budgets, row) {
			n++
		}
	}
	return n
}

// charge sets the soft budgets that a unit uses, and adds those that are hard
// to what it counts against.
func (b *budgets) charge(c *jobCase, u *unit) {
	tasks := c.tasks[u.first:u.end]
	if len(tasks) == 1 && len(c.cands[tasks[0]].budgets) == 0 {
		return // as most are
	}
	from := len(b.uses)
	for i := range b.list {
		x := &b.list[i]
		n := b.among(c, tasks, int32(i))
		switch {
		case n == 0:
		case x.hard:
			b.counts = append(b.counts, count{[1]int32{x.row}, [1]int64{n}})
		default:
			b.uses = append(b.uses, cover.Use{Budget: x.row, Count: n})
			b.inPlay = true
		}
	}
	u.Uses = b.uses[from:len(b.uses):len(b.uses)]
}

// overrun returns what victims take of soft budgets beyond what is left.
func (b *budgets) overrun(used []int64) (over int64) {
	for i, n := range used {
		over += max(n-b.soft[i].Left, 0)
	}
	return over
}
