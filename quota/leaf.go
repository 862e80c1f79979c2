package quota

import (
	"slices"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// offer lets leaf w free as much as its goal says, if it can: by a walk in
// order, and where that ends short by a search. What it freed before is kept,
// or replaced by what frees as much of the goal. It reports whether more of the
// goal is freed than was.
func (x *enforcement) offer(w queue.ID) (more bool) {
	more = x.offerInOrder(w)
	if x.isShort(w, x.row(x.goal, w)) && x.search(w) {
		more = true
	}
	return more
}

// offerInOrder is offer without the search.
func (x *enforcement) offerInOrder(w queue.ID) (more bool) {
	if !x.isShort(w, x.row(x.goal, w)) {
		return false
	}
	x.gather(w)
	x.leave(w)
	return x.walk(w)
}

// leave sets left to what the tasks of leaf w may sum to yet.
//
// Law 2: no queue ends below its guarantee. That holds for the leaf and every
// queue above it, and for every type that a task has, not only those that are
// wanted. Exact: in the types of the target, no more than the goal.
func (x *enforcement) leave(w queue.ID) {
	copy(x.left, x.above)
	for p := w; ; p, _ = x.tree.Parent(p) {
		x.left = resources.Min(x.left, x.left, x.row(x.room, p))
		if p == x.q {
			break
		}
	}
	if x.e.Overshoot == Exact {
		goal, freed := x.row(x.goal, w), x.row(x.freed, w)
		for _, t := range x.list {
			x.left[t] = min(x.left[t], goal[t]-freed[t])
		}
	}
}

// walk takes tasks of leaf w in order until its goal is met, each that has of
// what is still open, and skips those for which nothing is left. It reports
// whether it took any.
func (x *enforcement) walk(w queue.ID) (took bool) {
	row, goal := x.at(w), x.row(x.goal, w)
	if x.e.Order == Pack {
		x.pack(w)
	}
	x.heap.reset(takeFirst)
	for i := row.first; i < row.end; i++ {
		if !x.taken[i] {
			x.add(i)
		}
	}
	x.heapify()
	for len(x.heap.entries) > 0 && x.isShort(w, goal) {
		i := x.pop()
		size := x.size(i)
		if x.helps(w, size) && resources.Fits(size, x.left) {
			x.take(i)
			x.left = resources.Sub(x.left, x.left, size)
			took = true
		}
	}
	return took
}

// helps reports whether a task of this size reduces what leaf w still has to
// free.
func (x *enforcement) helps(w queue.ID, size resources.Vector) bool {
	goal, freed := x.row(x.goal, w), x.row(x.freed, w)
	for _, t := range x.list {
		if size[t] > 0 && freed[t] < goal[t] {
			return true
		}
	}
	return false
}

// trim gives back what is not needed for the target as a whole. No leaf trims on
// its own: so a plain task can take the place of an opted-out one, also of
// another leaf, and what a leaf frees beyond its part can spare others.
func (x *enforcement) trim() {
	freed := x.row(x.freed, x.q)
	for _, t := range x.list {
		x.spare[t] = max(freed[t]-x.target[t], 0)
	}
	x.giveBack(0, int32(len(x.tasks)))
}

// giveBack gives back each of the victims in some rows that is within what may
// be spared, the most valuable first. One pass is enough: what is needed stays
// needed while others go.
func (x *enforcement) giveBack(first, end int32) {
	x.heap.reset(backFirst)
	for i := first; i < end; i++ {
		if x.taken[i] && x.within(x.size(i), x.spare) {
			x.add(i)
		}
	}
	x.heapify()
	refused := 0
	for len(x.heap.entries) > 0 {
		i := x.pop()
		size := x.size(i)
		if x.within(size, x.spare) {
			x.untake(i)
			for _, t := range x.list {
				x.spare[t] -= size[t]
			}
		} else if refused++; refused*4 > len(x.heap.entries) {
			// To look at all that is left costs less than to go on.
			x.heap.entries = slices.DeleteFunc(x.heap.entries, func(e heapEntry) bool {
				return !x.within(x.size(e.row), x.spare)
			})
			x.heapify()
			refused = 0
		}
	}
}

// within reports whether a size is at most what there is, in the types of the
// target.
func (x *enforcement) within(size, most resources.Vector) bool {
	for _, t := range x.list {
		if size[t] > most[t] {
			return false
		}
	}
	return true
}

// fill offers what is still open of the target to every leaf once more, and
// reports whether any had more to give.
func (x *enforcement) fill() bool {
	copy(x.row(x.goal, x.q), x.target)
	return x.offerWhole(x.q)
}
