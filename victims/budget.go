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

// A budgetBook is the budgets of a cluster, and the sets of them that tasks name.
type budgetBook struct {
	budgets     []budgetRow
	budgetOrder []int32 // live rows in the order of their names
	freeBudgets []int32

	// The tasks of a service name the same budgets, so that a task needs no more
	// than the number of a set. The empty set is 0. The interner knows a set by
	// the numbers of its rows, 4 bytes each.
	sets    interner
	setRows [][]int32 // by set
	// The names of the budgets of a set, likewise. They are never written again,
	// since a TaskView shows them.
	setNames [][]string
	setKey   []byte // scratch
}

// Budget returns the budget of that name as it stands.
func (x *budgetBook) Budget(name string) (Budget, bool) {
	row, ok := x.findBudget(name)
	if !ok {
		return Budget{}, false
	}
	return x.budgets[row].budget(), true
}

// Budgets yields the budgets in the order of their names.
func (x *budgetBook) Budgets() iter.Seq2[string, Budget] {
	return func(yield func(string, Budget) bool) {
		for _, row := range x.budgetOrder {
			if b := &x.budgets[row]; !yield(b.name, b.budget()) {
				return
			}
		}
	}
}

func (b *budgetRow) budget() Budget { return Budget{Left: b.left, Hard: b.hard} }

// findBudget returns the row of the budget of that name.
func (x *budgetBook) findBudget(name string) (int32, bool) {
	at, ok := x.searchBudget(name)
	if !ok {
		return 0, false
	}
	return x.budgetOrder[at], true
}

// searchBudget returns where in the order of names a budget is, or would be.
func (x *budgetBook) searchBudget(name string) (at int, ok bool) {
	return slices.BinarySearchFunc(x.budgetOrder, name, func(row int32, name string) int {
		return strings.Compare(x.budgets[row].name, name)
	})
}

// addBudget adds a budget whose name is not taken.
func (x *budgetBook) addBudget(name string) int32 {
	// The order of names is kept while budgets come and go: iteration must not
	// depend on rows, which are used again.
	at, _ := x.searchBudget(name)
	row := int32(len(x.budgets))
	if last := len(x.freeBudgets) - 1; last >= 0 {
		row, x.freeBudgets = x.freeBudgets[last], x.freeBudgets[:last]
	} else {
		x.budgets = append(x.budgets, budgetRow{})
	}
	x.budgets[row] = budgetRow{name: name, live: true}
	x.budgetOrder = slices.Insert(x.budgetOrder, at, row)
	return row
}

// removeBudget removes a budget that no task names.
func (x *budgetBook) removeBudget(row int32) {
	at := slices.Index(x.budgetOrder, row)
	x.budgetOrder = slices.Delete(x.budgetOrder, at, at+1)
	x.freeBudgets = append(x.freeBudgets, row)
	x.budgets[row] = budgetRow{}
}

// checkBudgets reports names that no budget has, and names that stand twice.
func (x *budgetBook) checkBudgets(names []string) error {
	for i, name := range names {
		if _, ok := x.findBudget(name); !ok {
			return fmt.Errorf("budget %q: %w", name, ErrUnknown)
		}
		// A task counts once for a budget. To name it twice is a mistake that
		// must not cost twice as much.
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("budget %q: %w", name, ErrDuplicate)
		}
	}
	return nil
}

// acquireBudgets returns the set of budgets with these names, which are
// checked, and counts a task that names them.
func (x *budgetBook) acquireBudgets(names []string) (set int32) {
	if len(names) == 0 {
		return 0
	}
	x.setKey = x.setKey[:0]
	for _, name := range names {
		row, _ := x.findBudget(name)
		x.budgets[row].uses++
		x.setKey = binary.LittleEndian.AppendUint32(x.setKey, uint32(row))
	}
	// The common case allocates nothing: the conversion is only for the
	// look-up.
	if set, ok := x.sets.ids[string(x.setKey)]; ok {
		x.sets.uses[set]++
		return set
	}
	set = x.sets.acquire(string(x.setKey))
	for int(set) >= len(x.setRows) {
		x.setRows, x.setNames = append(x.setRows, nil), append(x.setNames, nil)
	}
	// The set is new. Its lists are made once, and shared by all tasks that
	// name it.
	rows := make([]int32, 0, len(names))
	for key := x.setKey; len(key) > 0; key = key[4:] {
		rows = append(rows, int32(binary.LittleEndian.Uint32(key)))
	}
	x.setRows[set], x.setNames[set] = rows, slices.Clone(names)
	return set
}

// releaseBudgets takes back what acquireBudgets counted.
func (x *budgetBook) releaseBudgets(set int32) {
	// Most tasks name no budget.
	if set == 0 {
		return
	}
	for _, row := range x.setRows[set] {
		x.budgets[row].uses--
	}
	x.sets.release(set)
}

// takeFrom takes n tasks off what is left of the budgets of a set, or gives them
// back if n is negative.
func (x *budgetBook) takeFrom(set int32, n int64) {
	for _, row := range x.rowsOf(set) {
		x.budgets[row].left -= n
	}
}

// rowsOf returns the rows of the budgets of a set.
func (x *budgetBook) rowsOf(set int32) []int32 {
	if set == 0 {
		return nil
	}
	return x.setRows[set]
}

// namesOf returns their names, which must not be changed.
func (x *budgetBook) namesOf(set int32) []string {
	if set == 0 {
		return nil
	}
	return x.setNames[set]
}

// copyFrom makes x a copy of y. The elements of setRows and setNames never change.
func (x *budgetBook) copyFrom(y *budgetBook) {
	x.budgets = reuse(x.budgets, y.budgets)
	x.budgetOrder, x.freeBudgets = reuse(x.budgetOrder, y.budgetOrder), reuse(x.freeBudgets, y.freeBudgets)
	x.sets.copyFrom(&y.sets)
	x.setRows, x.setNames = reuse(x.setRows, y.setRows), reuse(x.setNames, y.setNames)
}
