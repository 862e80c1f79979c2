package quota

import (
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// poser is the memory of the problem that is posed.
type poser struct {
	need   resources.Vector // what the set has to free, and at most what can be
	bounds []cover.Bound
	rowOf  []int32      // the task of each unit, or the complement of its gang
	parts  []cover.Part // of units that take of something else than rooms
	lists  []int32      // of bounds
	counts []int64      // amounts of parts

	order []int32 // see inOrder
	named []int64 // how many tasks name each budget

	needs    [1]cover.Need
	roomOf   []int64 // amounts of bounds
	ofQueue  []int32 // the bound of each queue, and one, or 0
	ofBudget []int32 // of each budget, likewise
	ofGang   []int32 // of each gang, likewise
}

// onlyOne is the list of the one need, and of the first bound, of a problem.
var onlyOne = []int32{0}

// clearProblem begins a problem without units and bounds.
func (f *finder) clearProblem(wanted resources.Vector) {
	p, k := &f.problem, &f.poser
	k.need = rows.Zeros(k.need, f.types)
	k.needs[0].Short = k.need
	k.bounds, k.rowOf, k.parts = k.bounds[:0], k.rowOf[:0], k.parts[:0]
	k.lists, k.counts, k.roomOf = k.lists[:0], k.counts[:0], k.roomOf[:0]
	k.ofBudget, k.ofGang = rows.Zeros(k.ofBudget, len(f.budgets.rows)), rows.Zeros(k.ofGang, len(f.gangs.rows))
	p.Order, p.Capacity, p.Wanted = costOrder, f.c.Capacity(), wanted
	p.Needs, p.Units = k.needs[:], p.Units[:0]
}

// pose makes a problem of a goal of leaf w: its tasks, what they should free, and
// what they may. It returns how many tasks could go.
func (f *finder) pose(w queue.ID, goal resources.Vector) (tasks int) {
	k := &f.poser
	f.clearProblem(k.need)
	f.problem.Wanted = k.need
	f.single = f.roomOf(f.single, w)
	f.limitExactly(f.single, goal)
	k.bound(f.single, math.MaxUint64>>(64-f.types))
	tasks = f.addUnits(w, goal, k.need, onlyOne)
	for _, t := range f.list {
		k.need[t] = min(k.need[t], goal[t], f.single[t])
	}
	f.problem.Bounds = k.bounds
	return tasks
}

// bound adds a bound, and returns its row.
func (k *poser) bound(room resources.Vector, types resources.Mask) int32 {
	from := len(k.roomOf)
	k.roomOf = append(k.roomOf, room...)
	k.bounds = append(k.bounds, cover.Bound{Room: resources.Limit{Value: k.roomOf[from:len(k.roomOf):len(k.roomOf)], Defined: types}})
	return int32(len(k.bounds)) - 1
}

// boundCount adds a bound on a number, or returns the one that is there. In row
// is its row, and one, or 0.
func (k *poser) boundCount(row *int32, most int64) int32 {
	if *row == 0 {
		from := len(k.roomOf)
		k.roomOf = append(k.roomOf, most)
		k.bounds = append(k.bounds, cover.Bound{Room: resources.Limit{Value: k.roomOf[from : from+1 : from+1], Defined: 1}})
		*row = int32(len(k.bounds))
	}
	return *row - 1
}

// addUnits adds the tasks of leaf w that could go for a goal, within single, all
// bound by a chain: one by one, and what is left of a gang as a unit. It adds
// their sizes to sum and returns their number.
func (f *finder) addUnits(w queue.ID, goal, sum resources.Vector, chain []int32) (tasks int) {
	f.pass++
	for _, i := range f.inOrder(w) {
		single, together := f.couldGo(i, goal)
		if single {
			f.addTask(i, chain)
		}
		if together && f.gangs.rows[f.tasks[i].gang].posed != f.pass {
			f.gangs.rows[f.tasks[i].gang].posed = f.pass
			f.addGang(f.tasks[i].gang, chain)
		}
		if single || together {
			tasks++
			for _, t := range f.list {
				sum[t] += f.size(i)[t]
			}
		}
	}
	return tasks
}

// inOrder lists the tasks of leaf w. Bounds of gangs and budgets are made as units
// need them. So that they do not depend on the order of rows, tasks are then in
// the order of their keys, and the bounds of the leaf's budgets are made first.
func (f *finder) inOrder(w queue.ID) []int32 {
	k, row := &f.poser, f.at(w)
	k.order = k.order[:0]
	for i := row.first; i < row.end; i++ {
		k.order = append(k.order, i)
	}
	if len(f.gangs.rows) == 0 && len(f.budgets.uses) == 0 {
		return k.order
	}
	slices.SortFunc(k.order, func(i, j int32) int { return strings.Compare(f.key(i), f.key(j)) })
	k.named = rows.Zeros(k.named, len(f.budgets.rows))
	for _, i := range k.order {
		for _, b := range f.budgets.of(i) {
			k.named[b]++
		}
	}
	for b := range f.budgets.rows {
		if r := &f.budgets.rows[b]; r.hard && k.named[b] > 0 {
			k.boundCount(&k.ofBudget[b], r.left-r.used)
		}
	}
	return k.order
}

// couldGo reports whether a task could serve a goal within single if nobody else
// went, and whether it could with the rest of its gang. The gang is looked at
// once in a pass.
func (f *finder) couldGo(i int32, goal resources.Vector) (single, together bool) {
	t, size := &f.tasks[i], f.size(i)
	single = f.serves(goal, size) && resources.Fits(size, f.single) && f.mayGoSingly(t) && f.budgets.spare(i)
	if t.gang == noGang {
		return single, false
	}
	g := &f.gangs.rows[t.gang]
	if g.seen != f.pass {
		g.seen, g.fits = f.pass, false
		if g.together {
			f.sum = f.rest(f.sum, t.gang)
			g.fits = f.serves(goal, f.sum) && resources.Fits(f.sum, f.single) && f.restSpared(t.gang)
		}
	}
	return single, g.fits
}
