// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/units"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

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
