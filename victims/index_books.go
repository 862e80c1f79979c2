// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
)

// An askBook knows the asks that hold grants, the grants in the order in which they were
// given, and the victims that each of them waits for. Grants of one change wait for the same
// victims: those share a row of waits. See DESIGN.md, Waiting grants.
type askBook struct {
	grants   []grantRow       // in the order in which they were given
	granting int64            // how many grants were given so far
	asks     []askRow         // row 0 is none
	askIDs   map[string]int32 // by key of the ask
	dryAsks  []int32          // those without grants
	waits    []waitRow        // row 0 is none
	dryWaits []int32          // those of no grant
	waitOf   column[int32]    // of a victim, the row of waits of the grants that wait for it
}

// askRow is what a cluster knows of an ask that holds grants, or of a job.
type askRow struct {
	key    string
	since  int64   // when it was last planned for, in nanoseconds since 1970, if dated
	grants []int64 // the numbers of its grants, ascending
	needs  int32   // the members that a job needs; 0 for others
	dated  bool
}

// grantRow is what a cluster knows of a grant beside its row.
type grantRow struct {
	mover  string // the key of the task that moves to its place, or ""
	number int64  // in the order of giving; taskRow.scheduled has it, too
	task   TaskID
	ask    int32
	wait   int32 // the row of waits, 0 for none
}

// waitRow is the victims of a change, for whose room its grants wait.
type waitRow struct {
	victims []waitVictim // those that have not gone, whether they leave or run after all
	grants  int32        // how many grants wait for them
}

// A waitVictim is a victim. It must go, wherever it runs, if it blocks, or for admission.
type waitVictim struct {
	task TaskID
	must bool
}

// Granted yields the IDs of all grants in the order in which they were given. Collect them before
// you change the cluster.
func (x *askBook) Granted() iter.Seq[TaskID] {
	return func(yield func(TaskID) bool) {
		for i := range x.grants {
			if !yield(x.grants[i].task) {
				return
			}
		}
	}
}

// addGrant puts a new grant after all others, and returns its number. It is of no ask yet.
func (x *askBook) addGrant(id TaskID) (number int64) {
	x.granting++
	x.grants = append(x.grants, grantRow{number: x.granting, task: id})
	return x.granting
}

// joinAsk makes a grant, which is the last one given, one of an ask.
func (x *index) joinAsk(id TaskID, key, mover string, needs int32) {
	ask, ok := x.askIDs[key]
	if !ok {
		ask = x.newAsk(key)
		x.asks[ask].needs = needs
	}
	g := x.grantOf(id)
	g.ask, g.mover = ask, mover
	x.asks[ask].grants = append(x.asks[ask].grants, g.number)
}

// newAsk adds an ask that holds nothing yet.
func (x *askBook) newAsk(key string) int32 {
	ask, again := pop(&x.dryAsks)
	if !again {
		ask = max(1, int32(len(x.asks))) // 0 is none
		x.asks = rows.More(x.asks, int(ask)+1-len(x.asks))
	}
	if x.askIDs == nil {
		x.askIDs = make(map[string]int32)
	}
	x.asks[ask] = askRow{key: key, grants: x.asks[ask].grants[:0]}
	x.askIDs[key] = ask
	return ask
}

// grantOf returns what is known of the grant of a row.
func (x *index) grantOf(id TaskID) *grantRow { return x.numbered(x.tasks[id].scheduled) }

// alone reports whether an ask is none of a job.
func (x *index) alone(ask int32) bool {
	a := &x.asks[ask]
	// Texts of 0.1.0 do not say how many members a job needs.
	return a.needs == 0 && x.tasks[x.numbered(a.grants[0]).task].key == a.key
}

// numbered returns what is known of the grant of a number.
func (x *askBook) numbered(number int64) *grantRow { return &x.grants[x.find(number)] }

func (x *askBook) find(number int64) int {
	i, _ := slices.BinarySearchFunc(x.grants, number, func(g grantRow, number int64) int {
		return cmp.Compare(g.number, number)
	})
	return i
}

// dropGrant takes a grant, which is to start or to go, out of the order. Victims
// that nobody waits for any more are victims still, of no one.
func (x *askBook) dropGrant(number int64) {
	i := x.find(number)
	g := &x.grants[i]
	x.leaveWait(g)
	x.leaveAsk(g.ask, number)
	x.grants = slices.Delete(x.grants, i, i+1)
}

// leaveWait has a grant wait for no victims.
func (x *askBook) leaveWait(g *grantRow) {
	w := g.wait
	if g.wait = 0; w == 0 {
		return
	}
	x.waits[w].grants--
	if x.waits[w].grants == 0 {
		x.dissolve(w)
	}
}

// leaveAsk takes a grant off its ask, which is forgotten with its last one.
func (x *askBook) leaveAsk(ask int32, number int64) {
	if ask == 0 {
		return // it has not joined yet
	}
	a := &x.asks[ask]
	at, _ := slices.BinarySearch(a.grants, number)
	a.grants = slices.Delete(a.grants, at, at+1)
	if len(a.grants) == 0 {
		delete(x.askIDs, a.key)
		a.key = ""
		x.dryAsks = append(x.dryAsks, ask)
	}
}

// await notes that the grants of a change wait for its victims: those that it has given, or
// else those that its asks hold already. Places of movers wait for their movers.
func (x *index) await(ch *change, given []TaskID) {
	stops := ch.stops()
	if len(stops) == 0 {
		return
	}
	w := int32(0)
	for _, id := range given {
		if g := x.grantOf(id); g.mover == "" {
			if w == 0 {
				w = x.newWait()
			}
			x.waitWith(g, w)
		}
	}
	for i := range ch.Places {
		if w != 0 {
			break
		}
		held, _ := x.LookupGrant(ch.Places[i].Ask.Key)
		g := x.grantOf(held)
		// It may wait for earlier victims already. Those and the new ones are
		// one wait then.
		if w = g.wait; w == 0 {
			w = x.newWait()
			x.waitWith(g, w)
		}
	}
	if w == 0 {
		return
	}
	// Once for all tasks, and not once more for every larger row.
	x.waitOf.reserve(cap(x.tasks))
	for _, v := range stops {
		x.stopWaiting(v.Task) // it was let run by who waited for it before
		x.waitFor(w, waitVictim{v.Task, v.Blocks || v.ForQuota}, len(x.waits[w].victims))
	}
}

// newWait returns an empty row of waits.
func (x *askBook) newWait() (w int32) {
	w, again := pop(&x.dryWaits)
	if !again {
		w = max(1, int32(len(x.waits))) // 0 is none
		x.waits = rows.More(x.waits, int(w)+1-len(x.waits))
	}
	return w
}

// waitWith makes a grant one that waits for the victims of a row.
func (x *askBook) waitWith(g *grantRow, w int32) {
	g.wait = w
	x.waits[w].grants++
}

// dissolve frees a row of waits for which no grant waits any more.
func (x *askBook) dissolve(w int32) {
	for _, v := range x.waits[w].victims {
		x.waitOf.set(int(v.task), 0, 0)
	}
	x.waits[w].victims = x.waits[w].victims[:0]
	x.dryWaits = append(x.dryWaits, w)
}

// placeOf returns the row of waits that a victim is in, 0 for none, and its place
// there.
func (x *askBook) placeOf(id TaskID) (w int32, place int) {
	if w = x.waitOf.at(int(id)); w != 0 {
		place = slices.IndexFunc(x.waits[w].victims, func(v waitVictim) bool { return v.task == id })
	}
	return w, place
}

// waitFor puts a victim at a place of a row of waits.
func (x *askBook) waitFor(w int32, v waitVictim, place int) {
	x.waits[w].victims = slices.Insert(x.waits[w].victims, place, v)
	x.waitOf.set(int(v.task), 0, w) // await has made room
}

// stopWaiting notes that a task is no victim any more.
func (x *askBook) stopWaiting(id TaskID) {
	w, place := x.placeOf(id)
	if w == 0 {
		return
	}
	x.waits[w].victims = slices.Delete(x.waits[w].victims, place, place+1)
	x.waitOf.set(int(id), 0, 0)
}

// copyFrom makes x a copy of y in its own memory.
func (x *askBook) copyFrom(y *askBook) {
	x.grants, x.granting = reuse(x.grants, y.grants), y.granting
	x.asks, x.askIDs, x.dryAsks = resized(x.asks, len(y.asks)), reuseMap(x.askIDs, y.askIDs), reuse(x.dryAsks, y.dryAsks)
	for i := range x.asks {
		grants := reuse(x.asks[i].grants, y.asks[i].grants)
		x.asks[i] = y.asks[i]
		x.asks[i].grants = grants
	}
	x.dryWaits = reuse(x.dryWaits, y.dryWaits)
	x.waits = resized(x.waits, len(y.waits))
	for i := range x.waits {
		x.waits[i].victims = reuse(x.waits[i].victims, y.waits[i].victims)
		x.waits[i].grants = y.waits[i].grants
	}
	x.waitOf = reuse(x.waitOf, y.waitOf)
}

// A Budget says how many tasks that name it may still be stopped, like a PodDisruptionBudget.
type Budget struct {
	// Left counts as 0 if it is below. Applied plans take their victims off; set it anew as others take their place.
	Left int64
	// A hard budget is never overrun. The overrun of a soft one is part of the [Cost].
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
	// Nobody has set it: it is there as long as tasks name it.
	unset bool
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

// Budget returns a budget as it stands. One that is only named is the zero Budget, less the victims of plans.
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

// UnknownBudgets yields, sorted, the budgets that tasks name and nobody has set. They count as the zero Budget:
// soft, with nothing left.
func (x *budgetBook) UnknownBudgets() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, row := range x.budgetOrder {
			if b := &x.budgets[row]; b.unset && !yield(b.name) {
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
	row, again := pop(&x.freeBudgets)
	if !again {
		row = int32(len(x.budgets))
		x.budgets = append(x.budgets, budgetRow{})
	}
	x.budgets[row] = budgetRow{name: name}
	x.budgetOrder = slices.Insert(x.budgetOrder, at, row)
	return row
}

// setBudget makes a budget be as given, whether it is new or not.
func (x *budgetBook) setBudget(name string, b Budget) {
	row, ok := x.findBudget(name)
	if !ok {
		row = x.addBudget(name)
	}
	r := &x.budgets[row]
	r.left, r.hard, r.unset = b.Left, b.Hard, false
}

// keepBudgets forgets budgets that are not listed; those that tasks name are unset then.
func (x *budgetBook) keepBudgets(listed map[string]Budget) {
	for _, row := range slices.Clone(x.budgetOrder) {
		b := &x.budgets[row]
		if _, ok := listed[b.name]; ok || b.unset {
			continue
		}
		if b.left, b.hard, b.unset = 0, false, true; b.uses == 0 {
			x.removeBudget(row)
		}
	}
}

// removeBudget removes a budget that no task names.
func (x *budgetBook) removeBudget(row int32) {
	at := slices.Index(x.budgetOrder, row)
	x.budgetOrder = slices.Delete(x.budgetOrder, at, at+1)
	x.freeBudgets = append(x.freeBudgets, row)
	x.budgets[row] = budgetRow{}
}

// acquireBudgets returns the set of budgets with these names, which are
// checked, and counts a task that names them. It adds those that nobody has set.
func (x *budgetBook) acquireBudgets(names []string) (set int32) {
	if len(names) == 0 {
		return 0
	}
	x.setKey = x.setKey[:0]
	for _, name := range names {
		row, ok := x.findBudget(name)
		if !ok {
			row = x.addBudget(name)
			x.budgets[row].unset = true
		}
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
		if b := &x.budgets[row]; b.uses == 1 && b.unset {
			x.removeBudget(row)
		} else {
			b.uses--
		}
	}
	x.sets.release(set)
}

// takeFrom takes n tasks off what is left of the budgets of a set, or gives them
// back if n is negative.
func (x *budgetBook) takeFrom(set int32, n int64) {
	for _, row := range x.rowsOf(set) {
		left := &x.budgets[row].left
		if *left > 0 && n < *left-math.MaxInt64 {
			*left = math.MaxInt64 // somebody has set it since
			continue
		}
		*left -= n
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
