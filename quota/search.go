// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/units"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
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
	x.trim() // what one leaf frees beyond its need may spare another's
	if x.e.Order == FewestOfAll && !x.tree.IsLeaf(x.q) {
		x.lessenBelow(x.q)
		x.noteAsked()
		x.trim()
	}
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
