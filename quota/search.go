package quota

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// finder searches for the cheapest set of tasks if the walk in order ends short.
// A search lifts the victims in question off first: law 2, gangs and budgets then
// say what may go if they were chosen anew. In the end they are put back, or
// replaced by what was found.
type finder struct {
	*roster

	worker  cover.Worker
	problem cover.Problem
	poser   poser
	trial   cover.Selection // of the present search
	found   cover.Selection // of the last one that found anything
	lifted  []lifted
	had     resources.Vector // what was freed before, or by the last set found
	single  resources.Vector // what a task may have, if nobody else goes
	sum     resources.Vector // scratch
	most    []int64          // see hope
	pass    uint64           // counts looks at the tasks of a leaf

	steps    int64       // elementary ones, of all searches
	left     int64       // of the budget, for searches that need not be complete
	share    cover.Meter // a part of it, for the present search
	unproven bool
}

// lifted is a victim that was lifted off.
type lifted struct {
	row       int32
	asOneUnit bool
}

// start begins with the whole budget.
func (f *finder) start() {
	f.steps, f.unproven = 0, false
	if f.left = f.e.Budget; f.left <= 0 {
		f.left = victims.DefaultBudget(f.c)
	}
}

// search looks for a set of tasks of leaf w that meets a goal which the walk in
// order did not, or as much of the goal as any task can give, type by type. If
// there is one, the cheapest takes the place of what was taken. It reports
// whether that frees more of the goal.
func (f *finder) search(w queue.ID, goal resources.Vector) bool {
	row := f.at(w)
	f.had = resources.Copy(f.had, f.row(f.freed, w))
	f.lift(row.first, row.end)
	tasks := f.pose(w, goal)
	hope := false
	for _, t := range f.list {
		hope = hope || f.poser.need[t] > f.had[t]
	}
	// Without hope all that could be had is taken.
	if !hope || !f.solve(tasks) {
		f.putBack()
		return false
	}
	f.takeFound()
	return true
}

// lift gives the victims in some rows back, and notes them.
func (f *finder) lift(first, end int32) {
	f.lifted = f.lifted[:0]
	for i := first; i < end; i++ {
		if f.taken[i] {
			f.lifted = append(f.lifted, lifted{i, f.tasks[i].asOneUnit})
		}
	}
	for _, l := range f.lifted {
		if t := &f.tasks[l.row]; !l.asOneUnit {
			f.untake(l.row)
		} else if f.gangs.rows[t.gang].gone {
			f.untakeRest(t.gang)
		}
	}
}

// putBack takes the victims again that were lifted.
func (f *finder) putBack() {
	for _, l := range f.lifted {
		if !l.asOneUnit {
			f.take(l.row)
		}
	}
	for _, l := range f.lifted { // those that are left of their gangs
		if gang := f.tasks[l.row].gang; l.asOneUnit && !f.gangs.rows[gang].gone {
			f.takeRest(gang)
		}
	}
}

// takeFound takes the set that was found last.
func (f *finder) takeFound() {
	for _, u := range f.found.Units {
		if row := f.poser.rowOf[u]; row >= 0 {
			f.take(row)
		} else {
			f.takeRest(^row)
		}
	}
}

// solve searches for the cheapest set that the problem asks for, which is about so
// many tasks, as far as the budget goes. It reports whether it found one, and sets
// found and had to it.
func (f *finder) solve(tasks int) bool {
	if !f.allow(tasks) {
		f.unproven = true
		return false
	}
	pace := 2 * CompleteCandidates << CompleteCandidates
	if f.worker.Meter != nil {
		pace = math.MaxInt32 // the allowance bounds it
	}
	f.worker.Least(&f.trial, &f.problem, pace)
	f.steps += f.trial.Spent
	if f.worker.Meter != nil {
		f.left -= f.trial.Spent
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
// that is enough to look at each of them once. Few tasks are searched to the end,
// at no cost: of n tasks there are 2^n sets at most, and no branch is longer than
// twice their number, gangs included.
func (f *finder) allow(n int) bool {
	if n <= CompleteCandidates {
		f.worker.Meter = nil
		return true
	}
	f.share.Left = f.left / 16 // no search takes much of what is left for those to come
	f.worker.Meter = &f.share
	return f.share.Left >= int64(n)*int64(f.types)
}

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

// addTask adds a task that may go alone.
func (f *finder) addTask(i int32, chain []int32) {
	u := f.unit(i)
	u.Bounds = chain
	t, k := &f.tasks[i], &f.poser
	if from := len(k.parts); t.gang != noGang || len(f.budgets.of(i)) > 0 {
		k.parts = append(k.parts, cover.Part{Size: u.Size, Needs: u.Needs, Bounds: chain})
		if t.gang != noGang {
			g := &f.gangs.rows[t.gang]
			k.part(1, k.boundCount(&k.ofGang[t.gang], int64(g.spare-g.single)))
		}
		f.addUses(i)
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
	for i := f.gangs.next[g.first]; i != noTask; i = f.gangs.next[i] {
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
func (f *finder) addUses(i int32) {
	k := &f.poser
	for _, row := range f.budgets.of(i) {
		if b := &f.budgets.rows[row]; b.hard {
			k.part(1, k.boundCount(&k.ofBudget[row], b.left-b.used))
		}
	}
}

// addAllUses adds a part for each hard budget of the members of a gang.
func (f *finder) addAllUses(g *gangRow) {
	k := &f.poser
	k.named = rows.Zeros(k.named, len(f.budgets.rows))
	for i := g.first; i != noTask; i = f.gangs.next[i] {
		for _, b := range f.budgets.of(i) {
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
	u := cover.Unit{Key: t.Key, Size: size, Needs: onlyOne, Work: t.Lost(f.now)}
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

// searchAll looks for a better set among all tasks below q if the rounds ended
// short: parts, order and trims may have led to one that no further task fits,
// though others together would free more. First it asks for all that can be
// hoped for, which is the whole target if that can be. If no set has it, it asks
// for as much as can be of one type after another, and no less of the others.
// The cheapest set that has it, as of a leaf, takes the place of the victims.
// So what is freed of the target never falls. It reports whether it grew.
//
// The cost is that of looking at all tasks below q if sums show that there is no
// more, and of the searches if they do not.
//
// In the end no legal set frees more of one type and as much of the others,
// unless a search was cut short.
func (f *finder) searchAll() (more bool) {
	for w := range f.tree.Leaves(f.q) {
		if !f.at(w).out {
			f.gather(w)
		}
	}
	f.had = resources.Copy(f.had, f.row(f.freed, f.q))
	f.lift(0, int32(len(f.tasks)))
	n, hope := f.hope()
	if hope && !f.allow(n) {
		f.unproven, hope = true, false
	}
	if !hope {
		f.putBack() // all that could be had is taken, or nobody knows
		return false
	}
	f.poseAll()
	copy(f.poser.need, f.row(f.most, f.q))
	if more = f.solve(n); !more {
		for _, t := range f.list {
			more = f.raise(t, n) || more
		}
	}
	if more {
		f.takeFound()
	} else {
		f.putBack()
	}
	return more
}

// hope works out what of each type of the target could be freed below each
// queue, if the other types and the sums of sizes did not matter. It returns
// how many tasks could be among the victims, and whether there is hope to free
// more of q than was freed.
func (f *finder) hope() (n int, hope bool) {
	f.most = f.block(f.most)
	for p := f.tree.End(f.q) - 1; p >= f.q; p-- {
		if f.at(p).out {
			continue
		}
		most := f.row(f.most, p)
		if f.tree.IsLeaf(p) {
			n += f.sumLegal(most, p)
		}
		for c := p + 1; c < f.tree.End(p); c = f.tree.End(c) {
			for _, t := range f.list {
				most[t] += f.row(f.most, c)[t]
			}
		}
		room := f.row(f.room, p)
		for _, t := range f.list {
			most[t] = min(most[t], room[t])
		}
	}
	f.single = f.roomOf(f.single, f.q)
	most := f.row(f.most, f.q)
	for _, t := range f.list {
		most[t] = min(most[t], f.single[t], f.target[t])
		hope = hope || most[t] > f.had[t]
	}
	return n, hope
}

// sumLegal adds to sum the sizes of those tasks of leaf w that could go if
// nobody else did, and returns their number.
func (f *finder) sumLegal(sum resources.Vector, w queue.ID) (n int) {
	f.single = f.roomOf(f.single, w)
	f.limitExactly(f.single, f.target)
	f.pass++
	row := f.at(w)
	for i := row.first; i < row.end; i++ {
		if alone, together := f.couldGo(i, f.target); alone || together {
			n++
			for _, t := range f.list {
				sum[t] += f.size(i)[t]
			}
		}
	}
	return n
}

// poseAll makes a problem of all tasks below q, but for what they should free.
// What they may free is a bound for each queue with a guarantee (law 2), one for
// those above q, and with Exact another one for all.
func (f *finder) poseAll() {
	k := &f.poser
	f.clearProblem(f.target)
	all := resources.Mask(1)<<(f.types-1)<<1 - 1
	shared := len(k.lists)
	if _, ok := f.tree.Parent(f.q); ok {
		k.lists = append(k.lists, k.bound(f.above, all))
	}
	if f.e.Overshoot == Exact {
		k.lists = append(k.lists, k.bound(f.target, f.wanted))
	}
	end := len(k.lists)
	k.ofQueue = rows.Zeros(k.ofQueue, f.len())
	for p := f.q; p < f.tree.End(f.q); p++ {
		if f.tree.Guaranteed(p).Defined != 0 {
			k.ofQueue[p-f.q] = k.bound(f.row(f.room, p), all) + 1
		}
	}
	for w := range f.tree.Leaves(f.q) {
		if f.at(w).out {
			continue
		}
		from := len(k.lists)
		for p := range f.tree.Up(w) {
			if p < f.q {
				break
			}
			if b := k.ofQueue[p-f.q]; b > 0 {
				k.lists = append(k.lists, b-1)
			}
		}
		k.lists = append(k.lists, k.lists[shared:end]...)
		f.single = f.roomOf(f.single, w)
		f.limitExactly(f.single, f.target)
		f.addUnits(w, f.target, k.need, k.lists[from:len(k.lists):len(k.lists)])
	}
	f.problem.Bounds = k.bounds
}

// raise frees as much more of type t as it can, and of the others no less than
// was freed before. It reports whether it is more. As a rule there is none, so
// that the first search is for one more; those that follow halve what can still
// be hoped for. The last set found is the cheapest that frees the most.
func (f *finder) raise(t, n int) (more bool) {
	need := f.poser.need
	for _, u := range f.list {
		need[u] = min(f.had[u], f.target[u])
	}
	for most := f.row(f.most, f.q)[t]; f.had[t] < most; {
		need[t] = f.had[t] + 1
		if more {
			need[t] += (most - f.had[t] - 1) / 2
		}
		if f.solve(n) {
			more = true
		} else if most = need[t] - 1; !more {
			break
		}
	}
	return more
}
