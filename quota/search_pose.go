package quota

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// The levels of the cost of a set of tasks: fewest originators, then least
// highest priority, fewest opted-out, fewest tasks, least sum of priorities,
// least freed beyond the target, least work lost, keys. The first two are 0
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
var costOrder = cover.Order{Max: 1 << levelPriority, Count: levelTasks}

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
	k.need = zeros(k.need, f.types)
	k.needs[0].Short = k.need
	k.bounds, k.rowOf, k.parts = k.bounds[:0], k.rowOf[:0], k.parts[:0]
	k.lists, k.counts, k.roomOf = k.lists[:0], k.counts[:0], k.roomOf[:0]
	k.ofBudget, k.ofGang = zeros(k.ofBudget, len(f.budgets.rows)), zeros(k.ofGang, len(f.gangs.rows))
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
	slices.SortFunc(k.order, func(i, j int32) int { return strings.Compare(f.tasks[i].key, f.tasks[j].key) })
	k.named = zeros(k.named, len(f.budgets.rows))
	for _, i := range k.order {
		for _, b := range f.budgets.of(&f.tasks[i]) {
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
	single = f.serves(goal, size) && resources.Fits(size, f.single) && f.mayGoSingly(t) && f.budgets.spare(t)
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

// addTask adds a task that may go alone.
func (f *finder) addTask(i int32, chain []int32) {
	u := f.unit(i)
	u.Bounds = chain
	t, k := &f.tasks[i], &f.poser
	if from := len(k.parts); t.gang != noGang || t.firstUse < t.endUse {
		k.parts = append(k.parts, cover.Part{Size: u.Size, Needs: u.Needs, Bounds: chain})
		if t.gang != noGang {
			g := &f.gangs.rows[t.gang]
			k.part(1, k.boundCount(&k.ofGang[t.gang], int64(g.spare-g.single)))
		}
		f.addUses(t)
		u.Parts = k.parts[from:len(k.parts):len(k.parts)]
	}
	f.problem.Units = append(f.problem.Units, u)
	k.rowOf = append(k.rowOf, i)
}

// addGang adds the rest of a gang as one unit. It takes all that the members may
// have that go one by one, so that it is chosen without any of them: as all
// others are lifted, the rest is all of it.
func (f *finder) addGang(gang int32, chain []int32) {
	k, g := &f.poser, &f.gangs.rows[gang]
	u := f.unit(g.first)
	k.counts = append(k.counts, u.Size...)
	u.Size = k.counts[len(k.counts)-f.types : len(k.counts) : len(k.counts)]
	n := 1
	for i := f.tasks[g.first].next; i != noTask; i = f.tasks[i].next {
		m := f.unit(i)
		u.Levels = costOrder.Join(&u.Levels, n, &m.Levels)
		if n++; m.Key < u.Key {
			u.Key = m.Key // the unit goes by the first of its keys
		}
		u.Size = resources.Add(u.Size, u.Size, m.Size)
		sum, carry := bits.Add64(u.Work, m.Work, 0)
		u.Work = sum | -carry // at most all that there is
	}
	from := len(k.parts)
	k.parts = append(k.parts, cover.Part{Size: u.Size, Needs: onlyOne, Bounds: chain})
	if alone := int64(g.spare - g.single); alone > 0 {
		k.part(alone, k.boundCount(&k.ofGang[gang], alone))
	}
	f.addAllUses(g)
	u.Parts = k.parts[from:len(k.parts):len(k.parts)]
	f.problem.Units = append(f.problem.Units, u)
	k.rowOf = append(k.rowOf, ^gang)
}

// addUses adds a part for each hard budget of a task.
func (f *finder) addUses(t *taskRow) {
	k := &f.poser
	for _, row := range f.budgets.of(t) {
		if b := &f.budgets.rows[row]; b.hard {
			k.part(1, k.boundCount(&k.ofBudget[row], b.left-b.used))
		}
	}
}

// addAllUses adds a part for each hard budget of the members of a gang.
func (f *finder) addAllUses(g *gangRow) {
	k := &f.poser
	k.named = zeros(k.named, len(f.budgets.rows))
	for i := g.first; i != noTask; i = f.tasks[i].next {
		for _, b := range f.budgets.of(&f.tasks[i]) {
			k.named[b]++
		}
	}
	for b, n := range k.named {
		if r := &f.budgets.rows[b]; r.hard && n > 0 {
			k.part(n, k.boundCount(&k.ofBudget[b], r.left-r.used))
		}
	}
}

// part adds a part that takes a number of a bound.
func (k *poser) part(n int64, bound int32) {
	k.counts = append(k.counts, n)
	k.lists = append(k.lists, bound)
	k.parts = append(k.parts, cover.Part{
		Size:   k.counts[len(k.counts)-1 : len(k.counts) : len(k.counts)],
		Bounds: k.lists[len(k.lists)-1 : len(k.lists) : len(k.lists)],
	})
}

// unit makes a unit of a task.
func (f *finder) unit(i int32) cover.Unit {
	c, size := &f.tasks[i], f.size(i)
	t := f.c.TaskView(c.id)
	u := cover.Unit{Key: c.key, Size: size, Needs: onlyOne, Work: t.Lost(f.now)}
	u.Levels[levelPriority] = int64(t.Priority)
	u.Levels[levelTasks] = 1
	u.Levels[levelSumPriorities] = int64(t.Priority)
	if t.Originator {
		u.Levels[levelOriginators] = 1
	}
	if t.OptedOut {
		u.Levels[levelOptedOut] = 1
	}
	if f.e.Order == ClosestMatch {
		exact, others := f.match(size)
		if u.Levels[levelOthers] = int64(others); !exact {
			u.Levels[levelInexact] = 1
		}
	}
	return u
}
