package victims

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
)

// A Budget says how many of the tasks that name it may still be stopped: the
// replicas that a service can spare. Kubernetes calls this a
// PodDisruptionBudget. See DESIGN.md, Budgets.
type Budget struct {
	// Left is how many tasks may still be stopped. Below 0 counts as 0.
	// Applying a plan takes its victims off. The caller sets it again if the
	// world says something else.
	Left int64
	// Hard budgets are never overrun. A soft budget may be: its overrun is part
	// of the cost of a plan.
	Hard bool
}

// leastLeft is the least Left of a budget. It is so far above MinInt64 that
// plans cannot take a budget out of range.
const leastLeft = math.MinInt64 / 2

// budgetRow is a budget of a cluster. Another budget may get the row of a
// removed one.
type budgetRow struct {
	name string
	left int64
	uses int32 // by so many tasks and grants
	hard bool
	live bool
}

// budgetIndex finds budgets by name, and the sets of budgets that tasks name.
type budgetIndex struct {
	order []int32 // live rows in the order of their names
	free  []int32

	// The tasks of a service name the same budgets, so that a task needs no more
	// than the number of a set. The empty set is 0. The interner knows a set by
	// the numbers of its rows, 4 bytes each.
	sets interner
	rows [][]int32 // by set
	// The names of the budgets of a set, likewise. They are never written again,
	// since a TaskView shows them.
	names [][]string
	key   []byte // scratch
}

// SetBudget adds a budget, or replaces the budget of that name. Tasks that
// name it keep it. An empty name is an error that wraps [ErrEmpty]; a Left below
// -4611686018427387904 wraps [ErrRange]. The cost is a search by name; for a new
// budget it is linear in the number of budgets.
func (c *Cluster) SetBudget(name string, b Budget) error {
	c.made()
	if name == "" {
		return fmt.Errorf("victims: budget %q: %w", name, ErrEmpty)
	}
	if b.Left < leastLeft {
		return fmt.Errorf("victims: budget %q: left %d: %w", name, b.Left, ErrRange)
	}
	row, ok := c.findBudget(name)
	if !ok {
		row = c.addBudget(name)
	}
	c.budgets[row].left, c.budgets[row].hard = b.Left, b.Hard
	c.changed()
	return nil
}

// RemoveBudget removes a budget. If there is none of that name, the error wraps
// [ErrUnknown]. A budget that tasks or grants name stays: the error wraps
// [ErrBusy] and tells their number.
func (c *Cluster) RemoveBudget(name string) error {
	row, ok := c.findBudget(name)
	if !ok {
		return fmt.Errorf("victims: budget %q: %w", name, ErrUnknown)
	}
	if n := c.budgets[row].uses; n > 0 {
		return fmt.Errorf("victims: budget %q: %w: %d", name, ErrBusy, n)
	}
	x := &c.budgetIndex
	at := slices.Index(x.order, row)
	x.order = slices.Delete(x.order, at, at+1)
	x.free = append(x.free, row)
	c.budgets[row] = budgetRow{}
	c.changed()
	return nil
}

// Budget returns the budget of that name as it stands.
func (c *Cluster) Budget(name string) (Budget, bool) {
	row, ok := c.findBudget(name)
	if !ok {
		return Budget{}, false
	}
	return c.budgets[row].budget(), true
}

// Budgets yields the budgets in the order of their names.
func (c *Cluster) Budgets() iter.Seq2[string, Budget] {
	return func(yield func(string, Budget) bool) {
		for _, row := range c.budgetIndex.order {
			if b := &c.budgets[row]; !yield(b.name, b.budget()) {
				return
			}
		}
	}
}

func (b *budgetRow) budget() Budget { return Budget{Left: b.left, Hard: b.hard} }

// findBudget returns the row of the budget of that name.
func (c *Cluster) findBudget(name string) (int32, bool) {
	at, ok := c.searchBudget(name)
	if !ok {
		return 0, false
	}
	return c.budgetIndex.order[at], true
}

// searchBudget returns where in the order of names a budget is, or would be.
func (c *Cluster) searchBudget(name string) (at int, ok bool) {
	return slices.BinarySearchFunc(c.budgetIndex.order, name, func(row int32, name string) int {
		return strings.Compare(c.budgets[row].name, name)
	})
}

// addBudget adds a budget whose name is not taken.
func (c *Cluster) addBudget(name string) int32 {
	x := &c.budgetIndex
	at, _ := c.searchBudget(name)
	row := int32(len(c.budgets))
	if last := len(x.free) - 1; last >= 0 {
		row, x.free = x.free[last], x.free[:last]
	} else {
		c.budgets = append(c.budgets, budgetRow{})
	}
	c.budgets[row] = budgetRow{name: name, live: true}
	x.order = slices.Insert(x.order, at, row)
	return row
}

// checkBudgets reports names that no budget has, and names that stand twice.
func (c *Cluster) checkBudgets(names []string) error {
	for i, name := range names {
		if _, ok := c.findBudget(name); !ok {
			return fmt.Errorf("budget %q: %w", name, ErrUnknown)
		}
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("budget %q: %w", name, ErrDuplicate)
		}
	}
	return nil
}

// acquireBudgets returns the set of budgets with these names, which are
// checked, and counts a task that names them.
func (c *Cluster) acquireBudgets(names []string) (set int32) {
	if len(names) == 0 {
		return 0
	}
	x := &c.budgetIndex
	x.key = x.key[:0]
	for _, name := range names {
		row, _ := c.findBudget(name)
		c.budgets[row].uses++
		x.key = binary.LittleEndian.AppendUint32(x.key, uint32(row))
	}
	if set, ok := x.sets.ids[string(x.key)]; ok {
		x.sets.uses[set]++
		return set
	}
	set = x.sets.acquire(string(x.key))
	for int(set) >= len(x.rows) {
		x.rows, x.names = append(x.rows, nil), append(x.names, nil)
	}
	rows := make([]int32, 0, len(names))
	for key := x.key; len(key) > 0; key = key[4:] {
		rows = append(rows, int32(binary.LittleEndian.Uint32(key)))
	}
	x.rows[set], x.names[set] = rows, slices.Clone(names)
	return set
}

// releaseBudgets takes back what acquireBudgets counted.
func (c *Cluster) releaseBudgets(set int32) {
	if set == 0 {
		return
	}
	for _, row := range c.budgetIndex.rows[set] {
		c.budgets[row].uses--
	}
	c.budgetIndex.sets.release(set)
}

// budgetsOf returns the rows of the budgets that a task names, none for most.
func (c *Cluster) budgetsOf(id TaskID) []int32 {
	set := c.budgetSet.at(int(id))
	if set == 0 {
		return nil
	}
	return c.budgetIndex.rows[set]
}

// spend takes a victim off its budgets, or gives it back.
func (c *Cluster) spend(id TaskID, n int64) {
	for _, row := range c.budgetsOf(id) {
		c.budgets[row].left -= n
	}
}

// copyFrom makes x a copy of y. The elements of rows and names never change.
func (x *budgetIndex) copyFrom(y *budgetIndex) {
	x.order, x.free = reuse(x.order, y.order), reuse(x.free, y.free)
	x.sets.copyFrom(&y.sets)
	x.rows, x.names = reuse(x.rows, y.rows), reuse(x.names, y.names)
}
