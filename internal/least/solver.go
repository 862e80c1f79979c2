// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// A solver is the state of the search of one problem. Memory is reused.
type solver struct {
	s *Search
	p *Problem

	order     []int32 // rows in the order in which they are decided
	place     []int32 // by row: where it is in that order; -1 if it may not go
	dominator []int32 // by place: a row that dominates the one there, or -1
	compared  bool    // that is known
	costly    []int32 // rows, the costliest first
	priced    []priced
	pricedAt  [cost.NumLevels]int32 // by level: its place in priced, and one

	// The floor is the bound of the ladder on the first so many of what decides. It is compared
	// lexicographically: a set that is above it in one of them may be below it in the next.
	floor   cost.Levels
	floored int
	rungs   []rung // what may tell sets from the goal
	some    []int8 // the levels of which some row has any

	// By place: what the rows from it on give at most, and have at least.
	avail       []int64       // per dimension, within each limit by itself
	leastLevels []cost.Levels // of each unit; behind the level that counts, of each victim
	leastLost   []resources.Wide

	// What is taken, and what that leaves.
	taken     []int32 // by row
	rem, room []int64
	freed     []int64 // per type
	used      []int64 // of soft budgets
	over      int64   // the overrun of what is taken
	total     cost.Total
	totals    []cost.Total // those before each unit that branch has taken

	now    cost.Total  // of a set that is considered
	begun  cost.Total  // of the set that is improved
	limit  *cost.Total // what a set may cost
	answer Answer
	levels bool // sets of the same levels as the best are of no interest
	any    bool // the first set within the limit is enough
	single bool // every unit counts one

	steps, budget int
	early         int // instead of short and tablesAfter, for tests
	looked        int // rows that bounds have looked at since the last step

	tables  tables
	gains   gains    // see takeAlike
	works   []workOf // units by rising work; none until they are asked for
	listed  bool     // they are
	kept    []int32  // rows of units, see improve
	whole   []int32  // scratch
	sums    []int64
	standIn Best
	keys    [2][]string
}

// short is how many steps a search may take before it is worth better prices, and before it
// looks for the least levels by themselves.
const short = 256

// Solve finds the cheapest set of units that is no dearer than a limit, if there is one; with
// Lesser, one of lesser levels. After so many steps it ends with the best set found, of which
// no unit can be given back. Only some rows may be part of it; nil: all.
//
// The first set is greedy's, and branch and bound improves on it. If that is not done after a
// few steps, prices are adjusted. Then half of the steps go to the question which levels are
// the least, as if sets of the same levels were the same, for levels say who is stopped.
func (s *Search) Solve(p *Problem, limit *cost.Total, among []int32, steps int) *Answer {
	x := &s.solver
	x.reset(s, p, limit, among)
	a := &x.answer
	if !x.reaches(0) {
		return a
	}
	if x.any {
		x.budget = steps
		a.Proven = x.branch(0)
		return a
	}
	x.sortCostly()
	x.greedy()
	if a.Found && !x.beats(&a.Total) {
		a.Found = false
		x.aim()
	}
	x.budget = min(cmp.Or(x.early, short), steps)
	if x.branch(0) {
		return a
	}
	if !x.tighten() {
		return a
	}
	a.Proven, a.Levels = false, false
	if s.Lesser || !s.Order.LevelsFirst() {
		x.budget = steps
		a.Proven = x.branch(0)
		a.Levels = a.Proven
		return a
	}
	x.budget, x.levels = x.steps+(steps-x.steps)/2, true
	a.Levels = x.branch(0)
	x.budget, x.levels = steps, false
	if x.branch(0) {
		a.Proven, a.Levels = true, true
	}
	return a
}

// reset begins the search of a problem; see Solve.
func (x *solver) reset(s *Search, p *Problem, limit *cost.Total, among []int32) {
	x.s, x.p, x.limit = s, p, limit
	a := &x.answer
	a.Found, a.Proven, a.Levels, x.levels, x.steps, x.looked = false, true, true, false, 0, 0
	x.order = append(x.order[:0], among...)
	if among == nil {
		for i := range p.Rows {
			x.order = append(x.order, int32(i))
		}
	}
	x.begin()
}

// tighten lets the ladder take the goal for the incumbent, so that it seeks prices for that, and
// leaves out the rows that no set within the goal has. It reports whether there may be such
// sets.
func (x *solver) tighten() bool {
	s, goal := x.s, x.goal()
	if goal == nil || s.Order.Compare != nil || s.Meter.Over() {
		return true
	}
	x.standIn = Best{Found: true, Total: *goal, Node: x.p.Node, AsMuch: x.standIn.AsMuch}
	x.standIn.Note(s.Capacity)
	ok := x.climb(seek)
	if ok {
		x.order = slices.DeleteFunc(append(x.order[:0], s.ladder.rivals...), func(i int32) bool { return x.place[i] < 0 })
		x.begin()
		x.costly = slices.DeleteFunc(x.costly, func(i int32) bool { return x.place[i] < 0 })
	}
	return ok
}

// begin prepares a search among some rows, which it puts in order.
func (x *solver) begin() {
	s, p := x.s, x.p
	n := len(p.Rows)
	s.Meter.Pay(int64(80 + len(x.order)*(12+4*len(p.Need))))
	x.rem, x.room = append(x.rem[:0], p.Need...), append(x.room[:0], p.Room...)
	x.freed = rows.Zeros(x.freed, len(s.Capacity))
	x.taken = rows.Zeros(x.taken, n)
	x.used, x.over, x.total = rows.Zeros(x.used, len(s.Budgets)), 0, cost.Total{}
	x.totals, x.listed, x.tables.made = x.totals[:0], false, false
	x.survey()
	x.price()
	x.sort()
	x.findLeast()
	x.findMost()
	x.aim()
}

// sort puts the rows in the order in which they are decided: by the first maximum, then by
// value for worth in the first priced level in which they differ.
func (x *solver) sort() {
	s, p := x.s, x.p
	var lead *priced
	for k := range x.priced {
		q := &x.priced[k]
		if lead = q; slices.ContainsFunc(x.order, func(i int32) bool { return q.value[i] != q.value[x.order[0]] }) {
			break
		}
	}
	if lead != nil {
		for at, r := range lead.order {
			x.order[at] = r.row
		}
	}
	if first := bits.TrailingZeros16(s.Order.Max); first < cost.NumLevels && s.Order.Compare == nil {
		slices.SortStableFunc(x.order, func(i, j int32) int { return cmp.Compare(p.Rows[i].Levels[first], p.Rows[j].Levels[first]) })
	}
	x.place = rows.Zeros(x.place, len(p.Rows))
	for i := range x.place {
		x.place[i] = -1
	}
	for at, i := range x.order {
		x.place[i] = int32(at)
	}
	x.compared = false
	for k := range x.priced {
		q := &x.priced[k]
		q.leads = true
		for at := range q.items {
			q.items[at].place = x.place[q.items[at].row]
			q.leads = q.leads && int(q.items[at].place) == at
		}
	}
}

// findDominated finds rows that another one dominates: both give, take and use the same, and the
// other one costs no more. If only levels matter, a set with a unit of the former and not all of
// the latter is no less than one in which it is exchanged. So who does not take all of a row
// takes none that it dominates.
func (x *solver) findDominated() {
	x.compared = true
	x.dominator = slices.Grow(x.dominator[:0], len(x.order))[:len(x.order)]
	for at := range x.order {
		x.dominator[at] = -1
		if x.s.Order.Compare != nil {
			continue
		}
		for k := at - 1; k >= max(0, at-mostCompared); k-- {
			if x.dominates(x.order[k], x.order[at]) {
				x.dominator[at] = x.order[k]
				break
			}
		}
	}
}

// mostCompared is with how many rows before it a row is compared.
const mostCompared = 64

// dominates reports whether one row dominates another one. A set has sums and maxima of levels,
// so no maximum of it may be larger, and the first sum that differs must be less.
func (x *solver) dominates(i, j int32) bool {
	a, b := &x.p.Rows[i], &x.p.Rows[j]
	if !slices.Equal(a.Gives, b.Gives) || !slices.Equal(a.Takes, b.Takes) || !slices.Equal(a.Uses, b.Uses) {
		return false
	}
	o, c := x.s.Order, 0
	for _, what := range x.s.Sequence {
		switch {
		case what >= cost.NumLevels:
			return c <= 0 // what comes behind does not matter
		case o.IsMax(int(what)):
			if a.Levels[what] > b.Levels[what] {
				return false
			}
		case c == 0:
			c = cmp.Compare(a.Levels[what], b.Levels[what])
		}
	}
	return c <= 0
}

// isDominated reports whether the row at a place need not be taken, as long as one that dominates
// it is left.
func (x *solver) isDominated(at int) bool {
	if !x.levels && !x.s.Lesser {
		return false
	}
	if !x.compared {
		x.findDominated()
	}
	i := x.dominator[at]
	return i >= 0 && int64(x.taken[i]) < x.p.Rows[i].Count
}

// sortCostly sorts the rows by cost, the costliest first, and of those that cost the same the
// ones that are of least use.
func (x *solver) sortCostly() {
	p := x.p
	x.costly, x.sums = append(x.costly[:0], x.order...), rows.Zeros(x.sums, len(p.Rows))
	for _, i := range x.costly {
		x.sums[i] = x.use(i)
	}
	x.s.Meter.Pay(int64(len(x.order) * (16 + 3*len(p.Need))))
	slices.SortFunc(x.costly, func(i, j int32) int {
		a, b := &p.Rows[i].Levels, &p.Rows[j].Levels
		if *a != *b {
			if c := x.s.Order.CompareLevels(b, a); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(x.sums[i], x.sums[j]), cmp.Compare(i, j))
	})
}

// use returns how much of what is needed a unit gives: for an order only.
func (x *solver) use(i int32) (use int64) {
	for k, need := range x.p.Need {
		if need > 0 {
			quo, _ := wide.MulDiv(uint64(min(x.p.Rows[i].Gives[k], need)), 1<<16, uint64(need))
			use += int64(quo)
		}
	}
	return use
}

// covered reports whether what is taken gives all that is needed.
func (x *solver) covered() bool {
	for _, rem := range x.rem {
		if rem > 0 {
			return false
		}
	}
	return true
}

// goal returns what a set has to be cheaper than, or nil.
func (x *solver) goal() *cost.Total {
	if x.answer.Found {
		return &x.answer.Total
	}
	return x.limit
}
