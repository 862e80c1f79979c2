// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/units"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// finder is the memory of searches for the cheapest set of tasks, if the walk in
// order ends short. A search lifts the victims in question off first: law 2, gangs
// and budgets then say what may go if they were chosen anew. In the end they are put
// back, or replaced by what was found.
type finder struct {
	worker  units.Worker
	problem units.Problem
	poser   poser
	trial   units.Selection // of the present search
	found   units.Selection // of the last one that found anything
	lifted  []unit
	had     resources.Vector // what was freed before, or by the last set found
	single  resources.Vector // what a task may have, if nobody else goes
	goal    resources.Vector // see lessenBelow
	need    resources.Vector
	limit   cost.Total
	most    []int64 // see hope

	steps    int64       // elementary ones, of all searches
	left     int64       // of the budget, for searches that need not be complete
	share    least.Meter // a part of it, for the present search
	unproven bool
}

// unit is a task, or all that is left of its gang.
type unit struct {
	row   int32
	whole bool
}

// start begins with the whole budget.
func (f *finder) start(e *Enforcer) {
	f.steps, f.unproven, f.worker.Meter = 0, false, &f.share
	if f.left = e.Steps; f.left <= 0 {
		f.left = lent.To(&e.Options).DefaultSteps(e.Cluster)
	}
}

// search looks for a better set of tasks below p, for a goal that was not met: for
// all that can be hoped for of it, which is the goal itself if that can be. The
// cheapest set that has it takes the place of the victims. It reports whether that
// frees more of the goal.
//
// Of leaves, p is one whose walk ended short. As a whole, p is the enforced queue,
// after the rounds: parts, order and trims may have led to a set that no further task
// fits, though others together would free more. If none has all that can be hoped
// for, it is then asked for as much as can be of one type after another, and no less
// of the others. So what is freed never falls, and in the end no legal set frees
// more of one type and as much of the others, unless a search was cut short.
//
// The cost is that of looking at all tasks below p if sums show that there is no
// more, and of the searches if they do not.
func (x *enforcement) search(p queue.ID, goal resources.Vector, whole bool) (more bool) {
	f := &x.finder
	x.gatherBelow(p)
	f.had = append(f.had[:0], x.row(x.freed, p)...)
	x.lift(p)
	n, hope := x.hope(p, goal)
	if hope && (!x.goesOn() || !x.allow(n)) {
		f.unproven, hope = true, false
	}
	if hope { // if not, all that could be had is taken, or nobody knows
		x.pose(p, goal, whole)
		if more = x.solve(n); !more && whole {
			for _, t := range x.list {
				more = x.raise(t, n) || more
			}
		}
	}
	if more {
		f.lifted = f.lifted[:0]
		for _, u := range f.found.Units {
			f.lifted = append(f.lifted, f.poser.units[u])
		}
	}
	x.putBack()
	return more
}

// gatherBelow gathers the tasks of all leaves below p that give some.
func (x *enforcement) gatherBelow(p queue.ID) {
	for w := range x.tree.Leaves(p) {
		if !x.at(w).out {
			x.gather(w)
		}
	}
}

// lessen has cheaper victims go, for the same: those of each leaf, and then of all leaves
// together. (DESIGN.md, Quota: orders.)
func (x *enforcement) lessen() {
	for w := range x.tree.Leaves(x.q) {
		x.lessenBelow(w)
	}
	if x.e.Order == FewestOfAll && !x.tree.IsLeaf(x.q) {
		x.lessenBelow(x.q)
		x.noteAsked()
	}
	x.trim() // what one leaf frees beyond its need may spare another's
	x.refill()
}

// lessenBelow looks for a cheaper set below p that frees what is needed of p's victims: all
// but what is freed beyond the target. A search that is cut short takes nothing from what is
// proven of the shortfall.
func (x *enforcement) lessenBelow(p queue.ID) {
	f, whole := &x.finder, p == x.q && !x.tree.IsLeaf(p)
	f.had = append(f.had[:0], x.row(x.freed, p)...)
	f.goal, f.need = rows.Zeros(f.goal, x.types), rows.Zeros(f.need, x.types)
	for _, t := range x.list {
		f.goal[t] = f.had[t]
		f.need[t] = max(f.had[t]-max(x.row(x.freed, x.q)[t]-x.target[t], 0), 0)
	}
	if whole {
		copy(f.goal, x.target)
	}
	if !x.isAny(f.need) {
		return
	}
	unproven := f.unproven
	x.gatherBelow(p)
	x.lift(p)
	if n, _ := x.hope(p, f.goal); !x.meter.Stopped {
		x.pose(p, f.goal, whole)
		copy(f.poser.need, f.need)
		x.total(&f.limit, f.lifted)
		f.problem.Limit = &f.limit
		if (x.allow(n) && x.solve(n) || x.pick(n, 0)) && f.isLess() {
			f.lifted = f.lifted[:0]
			for _, u := range f.found.Units {
				f.lifted = append(f.lifted, f.poser.units[u])
			}
		}
		f.problem.Limit = nil
	}
	x.putBack()
	f.unproven = unproven
}

// total sets dst to the cost of the tasks that were lifted.
func (x *enforcement) total(dst *cost.Total, lifted []unit) {
	*dst = cost.Total{Units: len(lifted)}
	for n, u := range lifted {
		t := x.c.TaskView(x.task(u.row).id)
		levels := x.levelsOf(u.row, &t)
		dst.Levels = costOrder.Join(&dst.Levels, n, &levels)
		dst.Work = dst.Work.Add(x.losses.Work(t.Size, rulebook.Lost(t.Scheduled, t.Checkpoint, x.now)))
	}
	dst.Excess = cost.Excess(x.finder.had, x.finder.problem.Wanted, x.c.Capacity())
}

// isLess reports whether what was found is in no level dearer than the limit, up to the number
// of tasks.
func (f *finder) isLess() bool {
	for l := range levelTasks + 1 {
		if f.found.Total.Levels[l] > f.limit.Levels[l] {
			return false
		}
	}
	return true
}

// lift gives the victims below p back, and notes them.
func (x *enforcement) lift(p queue.ID) {
	f := &x.finder
	f.lifted = f.lifted[:0]
	for w := range x.tree.Leaves(p) {
		for i := x.at(w).first; i < x.at(w).end; i++ {
			if t := x.task(i); t.taken {
				f.lifted = append(f.lifted, unit{i, t.asOneUnit})
			}
		}
	}
	for _, l := range f.lifted {
		if x.task(l.row).taken { // it is not if it came back with others
			x.untake(l.row)
		}
	}
}

// putBack takes the units that were lifted, or found. Those that are left of gangs come
// after those that go alone.
func (x *enforcement) putBack() {
	for _, whole := range [...]bool{false, true} {
		for _, u := range x.finder.lifted {
			if u.whole == whole && !x.task(u.row).taken {
				x.take(u.row, whole)
			}
		}
	}
}

// hope works out what of each type of a goal could be freed below p and each queue
// below that, if the other types and the sums of sizes did not matter. It returns
// how many tasks could be among the victims, and whether there is hope to free
// more of p than was freed.
func (x *enforcement) hope(p queue.ID, goal resources.Vector) (n int, hope bool) {
	f := &x.finder
	f.most = slices.Grow(f.most[:0], x.len()*x.types)[:x.len()*x.types]
	for q := trees.End(x.tree, p) - 1; q >= p; q-- {
		most := x.row(f.most, q)
		clear(most)
		if x.at(q).out {
			continue
		}
		if x.tree.IsLeaf(q) {
			n += x.sumLegal(most, q, goal)
		}
		for c := range x.tree.Children(q) {
			for _, t := range x.list {
				most[t] += x.row(f.most, c)[t]
			}
		}
		resources.Min(most, most, x.row(x.room, q))
	}
	f.single = x.roomOf(f.single, p, goal)
	most := x.row(f.most, p)
	for _, t := range x.list {
		most[t] = min(most[t], f.single[t], goal[t])
		hope = hope || most[t] > f.had[t]
	}
	return n, hope
}

// sumLegal adds to sum the sizes of those tasks of leaf w that could go for a goal if
// nobody else did, alone or with the rest of their gang, and returns their number. A
// gang is looked at once, at its last row.
func (x *enforcement) sumLegal(sum resources.Vector, w queue.ID, goal resources.Vector) (n int) {
	f, row := &x.finder, x.at(w)
	f.single = x.roomOf(f.single, w, goal)
	for i := row.end - 1; i >= row.first; i-- {
		x.meter.Pay(1)
		could := x.couldGo(i, goal)
		if gang := x.task(i).gang; gang != noGang {
			g := &x.roster.gangs[gang]
			if i == g.last {
				g.fits = g.together && x.fits(i, true, goal, f.single)
			}
			could = could || g.fits
		}
		if could {
			n++
			for _, t := range x.list {
				sum[t] += x.size(i)[t]
			}
		}
	}
	return n
}

// couldGo reports whether a task could serve a goal within single if nobody else
// went.
func (x *enforcement) couldGo(i int32, goal resources.Vector) bool {
	singly, _ := x.mayGo(i)
	return singly && x.fits(i, false, goal, x.finder.single)
}

// raise frees as much more of type t as it can, and of the others no less than
// was freed before. It reports whether it is more. As a rule there is none, so
// that the first search is for one more; those that follow halve what can still
// be hoped for. The last set found is the cheapest that frees the most.
func (x *enforcement) raise(t, n int) (more bool) {
	f := &x.finder
	need := f.poser.need
	for _, u := range x.list {
		need[u] = min(f.had[u], x.target[u])
	}
	for most := x.row(f.most, x.q)[t]; f.had[t] < most; {
		need[t] = f.had[t] + 1
		if more {
			need[t] += (most - f.had[t] - 1) / 2
		}
		if x.solve(n) {
			more = true
		} else if most = need[t] - 1; !more {
			break
		}
	}
	return more
}

// solve searches for the cheapest set that the problem asks for, which is about so
// many tasks, as far as the budget goes. It reports whether it found one, and sets
// found and had to it.
func (x *enforcement) solve(tasks int) bool {
	f := &x.finder
	if !x.goesOn() || !x.allow(tasks) {
		f.unproven = true
		return false
	}
	if tasks > completeCandidates {
		return x.pick(tasks, math.MaxInt32) // the allowance bounds it
	}
	return x.pick(tasks, 2*completeCandidates<<completeCandidates)
}

// pick is solve with so many steps; with none it takes the tasks that serve most for their cost.
func (x *enforcement) pick(tasks, pace int) bool {
	f := &x.finder
	f.worker.Least(&f.trial, &f.problem, pace)
	x.meter.Stopped = x.meter.Stopped || f.share.Stopped
	if pace > 0 { // else it is as a walk, and there is one of each leaf
		f.steps += f.share.Used
	}
	switch {
	case pace == 0:
	case tasks > completeCandidates:
		f.left -= f.share.Used
	default:
		x.meter.Left -= f.share.Used
		x.meter.Used += f.share.Used
	}
	if !f.trial.Proven {
		f.unproven = true
	}
	if !f.trial.Found {
		return false
	}
	f.trial, f.found = f.found, f.trial
	clear(f.had)
	for _, u := range f.found.Units {
		f.had = resources.Add(f.had, f.had, f.problem.Units[u].Size)
	}
	return true
}

// allow gives a search among n tasks its share of the budget, and reports whether
// that is enough to look at each of them once. Few tasks are searched to the end, as
// long as anything is left for that: of n tasks there are 2^n sets at most, and no branch
// is longer than twice their number, gangs included.
func (x *enforcement) allow(n int) bool {
	f := &x.finder
	f.share = least.Meter{Left: x.meter.Left, Stop: x.e.Stop}
	if n <= completeCandidates {
		return true
	}
	f.share.Left = f.left / 16 // no search takes much of what is left for those to come
	return f.share.Left >= int64(n)*int64(x.types)
}

// The levels of the cost of a set of tasks: fewest originators, then least
// highest priority, fewest opted-out, fewest tasks, least sum of priorities,
// least work lost, least freed beyond the target, keys. The first two are 0
// but for ClosestMatch. (DESIGN.md, Quota: leaf.)
const (
	levelInexact = iota
	levelOthers
	levelOriginators
	levelPriority
	levelOptedOut
	levelTasks
	levelSumPriorities
)

// costOrder is how they combine.
var costOrder = cost.Order{Max: 1 << levelPriority, Count: levelTasks}

// poser is the memory of the problem that is stated.
type poser struct {
	need   resources.Vector // what the set has to free, and at most what can be
	bounds []units.Bound
	units  []unit
	parts  []units.Part // of units that take of something else than rooms
	lists  []int32      // of bounds
	counts []int64      // amounts of parts

	order []int32 // see inOrder
	named []int64 // how many tasks name each budget

	needs    [1]resources.Vector
	roomOf   []int64 // amounts of bounds
	ofQueue  []int32 // the bound of each queue, and one, or 0
	ofBudget []int32 // of each budget, likewise
	ofGang   []int32 // of each gang, likewise
}

// onlyOne is the list of the one need, and of the first bound, of a problem.
var onlyOne = []int32{0}

// pose makes a problem of the tasks below p, and of all that can be hoped for of a goal.
// What they may free is one bound of a leaf. As a whole it is a bound for each queue
// with a guarantee (law 2), one for those above q, and with NeverOvershoot another one for all.
func (x *enforcement) pose(p queue.ID, goal resources.Vector, whole bool) {
	f := &x.finder
	k, problem := &f.poser, &f.problem
	k.need = append(k.need[:0], x.row(f.most, p)...)
	k.needs[0] = k.need
	k.bounds, k.units, k.parts = k.bounds[:0], k.units[:0], k.parts[:0]
	k.lists, k.counts, k.roomOf = k.lists[:0], k.counts[:0], k.roomOf[:0]
	k.ofBudget, k.ofGang = rows.Zeros(k.ofBudget, len(x.roster.budgets)), rows.Zeros(k.ofGang, len(x.roster.gangs))
	problem.Order, problem.Capacity, problem.Wanted = costOrder, x.c.Capacity(), k.need
	problem.Needs, problem.Units = k.needs[:], problem.Units[:0]
	if !whole {
		k.bound(x.roomOf(f.single, p, goal), x.allTypes())
		x.addUnits(p, goal, onlyOne)
	} else {
		problem.Wanted = goal
		x.poseWhole(p, goal)
	}
	problem.Bounds = k.bounds
}

// poseWhole adds the bounds and units of all leaves below p.
func (x *enforcement) poseWhole(p queue.ID, goal resources.Vector) {
	f := &x.finder
	k := &f.poser
	if _, ok := x.tree.Parent(p); ok {
		k.lists = append(k.lists, k.bound(x.above, x.allTypes()))
	}
	if x.e.NeverOvershoot {
		k.lists = append(k.lists, k.bound(goal, x.wanted))
	}
	end := len(k.lists)
	k.ofQueue = rows.Zeros(k.ofQueue, x.len())
	for q := p; q < trees.End(x.tree, p); q++ {
		if x.tree.Guaranteed(q).Defined != 0 {
			k.ofQueue[q-x.q] = k.bound(x.row(x.room, q), x.allTypes()) + 1
		}
	}
	for w := range x.tree.Leaves(p) {
		if x.at(w).out {
			continue
		}
		from := len(k.lists)
		for q := range x.tree.Ancestors(w) {
			if q < p {
				break
			}
			if b := k.ofQueue[q-x.q]; b > 0 {
				k.lists = append(k.lists, b-1)
			}
		}
		k.lists = append(k.lists, k.lists[:end]...)
		f.single = x.roomOf(f.single, w, goal)
		x.addUnits(w, goal, k.lists[from:len(k.lists):len(k.lists)])
	}
}

// allTypes returns the set of all types.
func (x *enforcement) allTypes() resources.Mask { return math.MaxUint64 >> (64 - x.types) }

// bound adds a bound, and returns its row.
func (k *poser) bound(room resources.Vector, types resources.Mask) int32 {
	from := len(k.roomOf)
	k.roomOf = append(k.roomOf, room...)
	k.bounds = append(k.bounds, units.Bound{Room: resources.Limit{Value: k.roomOf[from:len(k.roomOf):len(k.roomOf)], Defined: types}})
	return int32(len(k.bounds)) - 1
}

// addUnits adds the tasks of leaf w that could go for a goal, all bound by a chain: one
// by one, and what is left of a gang as a unit.
func (x *enforcement) addUnits(w queue.ID, goal resources.Vector, chain []int32) {
	for _, i := range x.inOrder(w) {
		x.meter.Pay(1)
		if x.couldGo(i, goal) {
			x.addUnit(i, false, chain)
		}
		if gang := x.task(i).gang; gang != noGang && x.roster.gangs[gang].fits {
			x.roster.gangs[gang].fits = false // not twice
			x.addUnit(i, true, chain)
		}
	}
}

// inOrder lists the tasks of leaf w. Bounds of gangs and budgets are made as units
// need them. So that they do not depend on the order of rows, tasks are then in
// the order of their keys, and the bounds of the leaf's budgets are made first.
func (x *enforcement) inOrder(w queue.ID) []int32 {
	k, row := &x.finder.poser, x.at(w)
	k.order = k.order[:0]
	for i := row.first; i < row.end; i++ {
		k.order = append(k.order, i)
	}
	if len(x.roster.gangs) == 0 && !x.roster.spends {
		return k.order
	}
	slices.SortFunc(k.order, func(i, j int32) int { return strings.Compare(x.key(i), x.key(j)) })
	k.named = rows.Zeros(k.named, len(x.roster.budgets))
	for _, i := range k.order {
		for b := range x.uses(i) {
			k.named[b]++
		}
	}
	for b, n := range k.named {
		if n > 0 {
			x.boundBudget(b)
		}
	}
	return k.order
}

// addUnit adds a unit. The rest of a gang takes all that the members may have that go
// one by one, so that it is chosen without any of them: as all others are lifted, it
// is all of the gang.
func (x *enforcement) addUnit(i int32, whole bool, chain []int32) {
	k, problem := &x.finder.poser, &x.finder.problem
	u := units.Unit{Size: x.sizeOf(i, whole), Needs: onlyOne}
	if !whole {
		u.Bounds = chain
	} else { // its size is in memory that is used again, and its bounds are those of its parts
		k.counts = append(k.counts, u.Size...)
		u.Size = k.counts[len(k.counts)-x.types : len(k.counts) : len(k.counts)]
	}
	k.named = rows.Zeros(k.named, len(x.roster.budgets))
	n, named := 0, false
	for m := range x.unit(i, whole) {
		t := x.c.TaskView(x.task(m).id)
		if n == 0 || t.Key < u.Key {
			u.Key = t.Key // the unit goes by the first of its keys
		}
		levels := x.levelsOf(m, &t)
		u.Levels = costOrder.Join(&u.Levels, n, &levels)
		u.Work = u.Work.Add(x.losses.Work(t.Size, rulebook.Lost(t.Scheduled, t.Checkpoint, x.now)))
		for b := range x.uses(m) {
			k.named[b]++
			named = true
		}
		n++
	}
	from, gang := len(k.parts), x.task(i).gang
	if gang != noGang || named {
		k.parts = append(k.parts, units.Part{Size: u.Size, Needs: onlyOne, Bounds: chain})
	}
	if gang != noGang {
		alone := int64(x.roster.gangs[gang].spare - x.roster.gangs[gang].single)
		of := int64(1)
		if whole {
			of = alone
		}
		if of > 0 {
			k.part(of, k.boundCount(&k.ofGang[gang], alone))
		}
	}
	for b, n := range k.named {
		if n > 0 && x.roster.budgets[b].hard {
			k.part(n, x.boundBudget(b))
		}
	}
	u.Parts = k.parts[from:len(k.parts):len(k.parts)]
	problem.Units = append(problem.Units, u)
	k.units = append(k.units, unit{i, whole})
}

// levelsOf returns what a task costs at each level.
func (x *enforcement) levelsOf(i int32, t *victims.Task) (l cost.Levels) {
	l[levelPriority] = int64(t.Priority)
	l[levelTasks] = 1
	l[levelSumPriorities] = int64(t.Priority)
	if t.Originator {
		l[levelOriginators] = 1
	}
	if t.OptedOut {
		l[levelOptedOut] = 1
	}
	if x.e.Order == ClosestMatch {
		exact, others := x.match(x.size(i))
		if l[levelOthers] = int64(others); !exact {
			l[levelInexact] = 1
		}
	}
	return l
}

// part adds a part that takes a number of a bound.
func (k *poser) part(n int64, bound int32) {
	k.counts = append(k.counts, n)
	k.lists = append(k.lists, bound)
	k.parts = append(k.parts, units.Part{
		Size:   k.counts[len(k.counts)-1 : len(k.counts) : len(k.counts)],
		Bounds: k.lists[len(k.lists)-1 : len(k.lists) : len(k.lists)],
	})
}

// boundBudget adds the bound of a budget, or returns the one that is there. Soft ones
// have none.
func (x *enforcement) boundBudget(b int) int32 {
	k, r := &x.finder.poser, &x.roster.budgets[b]
	if !r.hard {
		return -1
	}
	return k.boundCount(&k.ofBudget[b], r.left-r.used)
}

// boundCount adds a bound on a number, or returns the one that is there. In row
// is its row, and one, or 0.
func (k *poser) boundCount(row *int32, most int64) int32 {
	if *row == 0 {
		*row = k.bound(resources.Vector{most}, 1) + 1
	}
	return *row - 1
}
