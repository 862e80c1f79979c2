package quota

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// walker takes tasks in order until a goal is met, and gives back what is not
// needed.
type walker struct {
	*roster

	heap taskHeap
	left resources.Vector // what the tasks of the leaf may sum to yet
	open resources.Vector // what is still to be freed, for Pack
	unit resources.Vector // the size of what goes, or stays, together

	spare resources.Vector // see trim
	// Of a gang of which some come back; see bringBack.
	members, back []int32
	smallest      []int64
	steps         int
}

// walk frees as much of a goal of leaf w as it can, in order: each task that has
// of what is still open, unless law 2, Exact or a hard budget keeps it. It reports
// whether it took any. What was taken before is kept.
func (x *walker) walk(w queue.ID, goal resources.Vector) (took bool) {
	if !x.isShort(w, goal) {
		return false
	}
	x.gather(w)
	x.leave(w, goal)
	if x.e.Order == Pack {
		x.pack(w, x.open)
	}
	x.lineUp(w)
	for len(x.heap.entries) > 0 && x.isShort(w, goal) {
		took = x.consider(w, goal, x.pop()) || took
	}
	return took
}

// leave sets left to what the tasks of leaf w may sum to yet, and open to what it
// still has to free.
func (x *walker) leave(w queue.ID, goal resources.Vector) {
	x.open = rows.Zeros(x.open, x.types)
	freed := x.row(x.freed, w)
	for _, t := range x.list {
		x.open[t] = max(goal[t]-freed[t], 0)
	}
	x.left = x.roomOf(x.left, w)
	if x.e.Overshoot == Exact {
		for _, t := range x.list {
			x.left[t] = min(x.left[t], goal[t]-freed[t])
		}
	}
}

// lineUp makes a heap of the tasks of leaf w that are not taken, and counts those
// of each gang.
func (x *walker) lineUp(w queue.ID) {
	row := x.at(w)
	x.heap.reset(takeFirst)
	for i := row.first; i < row.end; i++ {
		if gang := x.tasks[i].gang; gang != noGang {
			x.gangs.rows[gang].waiting = 0
		}
	}
	for i := row.first; i < row.end; i++ {
		if x.taken[i] {
			continue
		}
		x.add(i)
		if gang := x.tasks[i].gang; gang != noGang {
			x.gangs.rows[gang].waiting++
		}
	}
	x.heapify()
}

// consider takes the next task in order, if it helps and may go, and reports
// whether it did. A gang whose members go no longer one by one stands at the
// place of the last of them.
func (x *walker) consider(w queue.ID, goal resources.Vector, i int32) bool {
	t := &x.tasks[i]
	if t.gang != noGang {
		x.gangs.rows[t.gang].waiting--
	}
	if !x.mayGoSingly(t) {
		return x.considerRest(w, goal, t.gang)
	}
	size := x.size(i)
	if !x.helps(w, goal, size) || !resources.Fits(size, x.left) || !x.budgets.spare(i) {
		return false
	}
	x.take(i)
	x.left = resources.Sub(x.left, x.left, size)
	return true
}

// considerRest takes what is left of a gang as one unit, once its last member has
// been reached, if that helps and may go.
func (x *walker) considerRest(w queue.ID, goal resources.Vector, gang int32) bool {
	if g := &x.gangs.rows[gang]; !g.together || g.gone || g.waiting > 0 {
		return false
	}
	x.unit = x.rest(x.unit, gang)
	if !x.helps(w, goal, x.unit) || !resources.Fits(x.unit, x.left) || !x.restSpared(gang) {
		return false
	}
	x.takeRest(gang)
	x.left = resources.Sub(x.left, x.left, x.unit)
	return true
}

// trim gives back each unit that is not needed for a goal of all, the most
// valuable first. One pass is enough: what is needed stays needed while others
// go.
//
// Members of a gang that went whole come back together, as many as it needs to run, in
// the place of the last of those that went together. (DESIGN.md, Quota: gangs.)
func (x *walker) trim(goal resources.Vector) {
	freed := x.row(x.freed, x.q)
	x.spare = rows.Zeros(x.spare, x.types)
	for _, t := range x.list {
		x.spare[t] = max(freed[t]-goal[t], 0)
	}
	x.heap.reset(backFirst)
	for i := range int32(len(x.tasks)) {
		if x.taken[i] && x.standsForUnit(i) && x.canBeSpared(i) {
			x.add(i)
		}
	}
	x.heapify()
	refused := 0
	for len(x.heap.entries) > 0 {
		i := x.pop()
		if x.canBeSpared(i) && x.giveBack(i) {
			continue
		}
		if refused++; refused*4 > len(x.heap.entries) {
			// To look at all that is left costs less than to go on.
			x.heap.entries = slices.DeleteFunc(x.heap.entries, func(e heapEntry) bool {
				return !x.canBeSpared(e.row)
			})
			x.heapify()
			refused = 0
		}
	}
}

// standsForUnit reports whether a victim is one that the trim may look at: a
// task alone, unless the rest of its gang goes with it, or of the rest of a
// gang the last in order.
func (x *walker) standsForUnit(i int32) bool {
	t := &x.tasks[i]
	if t.gang == noGang || !x.gangs.rows[t.gang].gone {
		return true
	}
	if !t.asOneUnit {
		return false
	}
	for m := x.gangs.rows[t.gang].first; m != noTask; m = x.gangs.next[m] {
		if x.tasks[m].asOneUnit && x.before(i, m) {
			return false
		}
	}
	return true
}

// canBeSpared reports whether a unit may be within what may be spared: a task, or as many
// members of a gang that went whole as it needs to run, the smallest of each type.
func (x *walker) canBeSpared(i int32) bool {
	if !x.tasks[i].asOneUnit {
		return x.within(x.size(i), x.spare)
	}
	g := &x.gangs.rows[x.tasks[i].gang]
	for _, t := range x.list {
		x.smallest = x.smallest[:0]
		for m := g.first; m != noTask; m = x.gangs.next[m] {
			x.smallest = append(x.smallest, x.size(m)[t])
		}
		slices.Sort(x.smallest)
		sum := int64(0)
		for _, v := range x.smallest[:x.least(g, len(x.smallest))] {
			sum += v
		}
		if sum > x.spare[t] {
			return false
		}
	}
	return true
}

// least returns how many of so many members of a gang must run for it to be of use.
func (x *walker) least(g *gangRow, members int) int { return max(members-int(g.spare), 1) }

// giveBack gives a unit back, and reports whether it has.
func (x *walker) giveBack(i int32) bool {
	if x.tasks[i].asOneUnit {
		return x.bringBack(x.tasks[i].gang)
	}
	x.spareOne(i)
	return true
}

// spareOne gives a task back.
func (x *walker) spareOne(i int32) {
	for _, t := range x.list {
		x.spare[t] -= x.size(i)[t]
	}
	x.untake(i)
}

// bringBack gives members of a gang that went whole back together, as many as it needs to
// run: of all such sets the one with the most valuable member, then with the next, and so
// on. Those that stay victims have gone one by one then, and may follow. It reports false
// if there is no such set.
func (x *walker) bringBack(gang int32) bool {
	g := &x.gangs.rows[gang]
	x.members = x.members[:0]
	for m := g.first; m != noTask; m = x.gangs.next[m] {
		x.members = append(x.members, m)
	}
	slices.SortFunc(x.members, func(a, b int32) int { // the most valuable first
		if x.before(a, b) {
			return 1
		}
		return -1
	})
	x.back, x.steps = x.back[:0], mostSets
	if !x.choose(0, x.least(g, len(x.members))) {
		return false
	}
	for _, m := range x.members {
		x.tasks[m].asOneUnit = false
	}
	g.gone, g.single = false, int32(len(x.members))
	for _, m := range x.back {
		x.untake(m)
	}
	for _, m := range x.members {
		if x.taken[m] && x.canBeSpared(m) {
			x.push(m)
		}
	}
	return true
}

// mostSets is how many sets of members are looked at. Members of a gang are mostly alike,
// and then the first set tells.
const mostSets = 1 << 14

// choose completes the set of those who come back with so many of the members from a
// place on, within what may be spared, which it takes off. It reports whether there are
// such.
func (x *walker) choose(at, missing int) bool {
	if missing == 0 {
		return true
	}
	for ; at+missing <= len(x.members) && x.steps > 0; at++ {
		x.steps--
		m := x.members[at]
		if !x.within(x.size(m), x.spare) {
			continue
		}
		for _, t := range x.list {
			x.spare[t] -= x.size(m)[t]
		}
		if x.back = append(x.back, m); x.choose(at+1, missing-1) {
			return true
		}
		x.back = x.back[:len(x.back)-1]
		for _, t := range x.list {
			x.spare[t] += x.size(m)[t]
		}
	}
	return false
}

// Tasks are put in order by a heap, since as a rule few of many are taken, and
// few of those are given back.

// taskHeap has tasks of which the first in order is on top. An entry repeats
// what decides as a rule, so that most comparisons touch nothing else.
type taskHeap struct {
	entries []heapEntry
	back    bool // the order is reversed: the most valuable comes first
}

// heapEntry is the row of a task, with its order and age, or their complements
// if the order is reversed.
type heapEntry struct {
	order uint64
	age   int64
	row   int32
}

// The two orders of a heap.
const (
	takeFirst = false
	backFirst = true
)

// reset empties the heap for tasks in one of the two orders.
func (h *taskHeap) reset(back bool) { h.back, h.entries = back, h.entries[:0] }

// add puts a task on the heap, which must be made one before it is used.
func (x *walker) add(row int32) {
	e := heapEntry{x.tasks[row].order, x.tasks[row].age, row}
	if x.heap.back {
		e.order, e.age = ^e.order, ^e.age
	}
	x.heap.entries = append(x.heap.entries, e)
}

// heapify makes a heap of what was added. The cost is linear in that.
func (x *walker) heapify() {
	for i := len(x.heap.entries)/2 - 1; i >= 0; i-- {
		x.sink(i)
	}
}

// push puts a task on what is a heap already.
func (x *walker) push(row int32) {
	x.add(row)
	all := x.heap.entries
	for i := len(all) - 1; i > 0; {
		parent := (i - 1) / 2
		if !x.comesBefore(&all[i], &all[parent]) {
			return
		}
		all[i], all[parent] = all[parent], all[i]
		i = parent
	}
}

// pop takes the first in order off the heap, which must not be empty.
func (x *walker) pop() int32 {
	all := x.heap.entries
	first, last := all[0].row, len(all)-1
	all[0] = all[last]
	x.heap.entries = all[:last]
	x.sink(0)
	return first
}

// sink moves an entry down to where it belongs.
func (x *walker) sink(i int) {
	all := x.heap.entries
	for {
		child := 2*i + 1
		if child >= len(all) {
			return
		}
		if child+1 < len(all) && x.comesBefore(&all[child+1], &all[child]) {
			child++
		}
		if !x.comesBefore(&all[child], &all[i]) {
			return
		}
		all[i], all[child] = all[child], all[i]
		i = child
	}
}

// comesBefore reports whether an entry comes before another one on the heap.
func (x *walker) comesBefore(a, b *heapEntry) bool {
	switch {
	case a.order != b.order:
		return a.order < b.order
	case a.age != b.age:
		return a.age < b.age
	case x.heap.back:
		return x.compareAlike(b.row, a.row) < 0
	}
	return x.compareAlike(a.row, b.row) < 0
}
