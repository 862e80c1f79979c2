package quota

import (
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
