// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
)

// A gang is a running job that needs some number of its members. As many as it
// has above that may go one by one; else it goes whole, on all its nodes.
// (DESIGN.md, Whole gangs.)
type gang struct {
	members []TaskID      // that run and are not leaving, by key
	surplus int64         // how many of them may go one by one
	rule    rulebook.Rule // the first rule that keeps it from going whole; 0 if it can go
	bound   int32         // the row of Rooms.Bounds that counts the surplus, or -1
}

// gangs are the gangs that a decision has met, each looked at once.
type gangs struct {
	d       *decision
	glances []jobGlance // by number of the job
	epoch   uint32      // of what was seen of them
	rows    []gang
	counts  []budgetCount // scratch
	fresh   []int32       // likewise: jobs that are met
}

// A jobGlance is what bounds know of a job. Most gangs of a cluster are never looked
// at more closely.
type jobGlance struct {
	epoch   uint32 // when it was seen
	row     int32  // of gangs.rows, and one; 0 if it was not met
	minimum int32  // 0 if it needs no number of members
	running int32  // members that run and are not leaving
	taken   int32  // of those, the ones in the set of a WhatIf
	stamp   int32  // the number of the site for which it was looked at last
	unit    int32  // its row there, or -1
	whole   int32  // its place in problem.wholes, and one; 0 if it was not made yet
}

// A budgetCount is how many members of a gang are in a budget.
type budgetCount struct {
	budget int32
	count  int64
}

// reset forgets all gangs.
func (g *gangs) reset(d *decision) {
	// Numbers of jobs index what is known of them, so that a task finds its gang
	// without a search. Of a large cluster few are seen, so nothing is cleared.
	g.d = d
	if n := len(d.c.members); d.c.gangs > 0 && n > len(g.glances) {
		g.glances = append(g.glances, make([]jobGlance, n-len(g.glances))...)
	}
	if g.epoch++; g.epoch == 0 { // it has gone round
		clear(g.glances)
		g.epoch = 1
	}
	g.rows = g.rows[:0]
}

// glance returns what bounds know of a job.
func (g *gangs) glance(job int32) *jobGlance {
	x := &g.glances[job]
	if x.epoch == g.epoch {
		return x
	}
	*x = jobGlance{epoch: g.epoch}
	x.minimum, x.running = g.d.c.minimumOf(job), g.d.c.running[job]
	return x
}

// surplus returns how many members of a job that needs some may go one by one.
//
// A job that runs with fewer than it needs has nothing to spare: it goes whole or
// not at all.
func (x *jobGlance) surplus() int64 { return int64(max(x.running-x.minimum, 0)) }

// broken reports whether a job is left with too few members.
func (x *jobGlance) broken() bool { return int64(x.taken) > x.surplus() && x.taken < x.running }

// of returns the row of the gang that a task is a member of, or -1.
func (g *gangs) of(id TaskID) int32 {
	if g.d.c.gangs == 0 {
		return -1
	}
	job := g.d.c.tasks[id].job
	if job == 0 {
		return -1
	}
	x := g.glance(job)
	if x.minimum > 0 && x.row == 0 {
		x.row = g.meet(job)
	}
	return x.row - 1
}

// meetAll meets the gangs of some tasks that were not met, in the order of their names:
// what a search finds must not depend on who was told of first.
func (g *gangs) meetAll(tasks []TaskID) {
	if g.d.c.gangs == 0 {
		return
	}
	g.fresh = g.fresh[:0]
	for _, id := range tasks {
		if job := g.d.c.tasks[id].job; job != 0 {
			if x := g.glance(job); x.minimum > 0 && x.row == 0 {
				g.fresh = append(g.fresh, job)
			}
		}
	}
	name := g.d.c.jobs.name
	slices.SortFunc(g.fresh, func(a, b int32) int { return strings.Compare(name(a), name(b)) })
	for _, job := range slices.Compact(g.fresh) {
		g.glance(job).row = g.meet(job)
	}
}

// meet looks at a job that needs some members, and returns its row and one.
func (g *gangs) meet(job int32) int32 {
	n := len(g.rows)
	g.rows = rows.Next(g.rows)
	x := &g.rows[n]
	*x = gang{members: x.members[:0], bound: -1}
	c := g.d.c
	for _, id := range c.membersOf(job) {
		if c.tasks[id].state == Running {
			x.members = append(x.members, id)
		}
	}
	// Members have no order of their own, and keys decide between units that
	// cost the same.
	slices.SortFunc(x.members, func(a, b TaskID) int { return strings.Compare(c.tasks[a].key, c.tasks[b].key) })
	x.surplus = g.glance(job).surplus()
	x.rule = g.ruleOf(x)
	// The surplus is one more bound of the search, as law 2 is: so many members
	// at most go one by one.
	if x.surplus > 0 {
		x.bound = g.d.eligible.Rooms.Add(x.surplus)
	}
	return int32(n + 1)
}

// ruleOf returns the first rule that keeps a gang from going whole.
func (g *gangs) ruleOf(x *gang) (first rulebook.Rule) {
	for _, id := range x.members {
		// The first rule of any member keeps the whole: a gang with one member
		// out of reach cannot be stopped.
		if rule := g.d.eligible.rule(id); rule != 0 && (first == 0 || rule < first) {
			first = rule
		}
	}
	switch {
	case first != 0:
		return first
	case g.overBudget(x):
		return rulebook.RuleBudget
	case g.belowGuarantee(x):
		return rulebook.RuleGuarantee // law 2, over all members
	}
	return 0
}

// overBudget reports whether a hard budget has less left than the gang has
// members in it.
func (g *gangs) overBudget(x *gang) bool {
	c := g.d.c
	g.counts = g.counts[:0]
	for _, id := range x.members {
		for _, b := range c.budgetsOf(id) {
			budget := &c.budgets[b]
			if budget.hard && g.countOne(b) > max(budget.left, 0) && !g.d.without.budget(budget.name) {
				return true
			}
		}
	}
	return false
}

// countOne counts one more member in a budget, and returns how many are. The members
// of a gang are in few budgets, whatever the cluster has.
func (g *gangs) countOne(b int32) int64 {
	i := slices.IndexFunc(g.counts, func(x budgetCount) bool { return x.budget == b })
	if i < 0 {
		i, g.counts = len(g.counts), append(g.counts, budgetCount{budget: b})
	}
	g.counts[i].count++
	return g.counts[i].count
}

// belowGuarantee reports whether stopping all members takes a queue below its
// guarantee.
func (g *gangs) belowGuarantee(x *gang) bool {
	d := g.d
	for q := range queue.ID(d.tree.Len()) {
		// A queue without a row protects nothing that the gang could take.
		row, ok := d.eligible.Rooms.Row(q)
		if !ok || d.required() {
			continue
		}
		bound := &d.eligible.Rooms.Bounds[row]
		for t := range bound.Room.Defined.All() {
			if g.takes(x, q, t) > bound.Room.Value[t] {
				return true
			}
		}
	}
	return false
}

// takes returns what the members below a queue free of a type: what law 2
// counts there, and what erodes the room instead.
func (g *gangs) takes(x *gang, q queue.ID, t int) (gone int64) {
	d := g.d
	for _, id := range x.members {
		if d.tree.Contains(q, d.c.tasks[id].leaf) {
			gone += d.c.size(id)[t]
		}
	}
	return gone
}

// keyOf returns the first key of a gang's members, which tells gangs apart.
func (g *gangs) keyOf(gang int32) string { return g.d.c.tasks[g.rows[gang].members[0]].key }

// alone reports whether members of the gang of a task may go one by one, or the
// task is in no gang.
func (g *gangs) alone(row int32) bool { return row < 0 || g.rows[row].surplus > 0 }

// A Budget says how many tasks that name it may still be stopped, like a PodDisruptionBudget. See DESIGN.md,
// Budgets.
type Budget struct {
	// Left is how many tasks may still be stopped; below 0 counts as 0. Applied plans take their victims off; set it
	// anew as others take their place.
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
	live bool
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
	x.budgets[row] = budgetRow{name: name, live: true}
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
