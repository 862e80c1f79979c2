package fence

import (
	"cmp"

	"github.com/go-preempt/preempt/queue"
)

// A Lift takes a priority from a leaf up to a queue above it. The zero Lift
// changes nothing.
//
// With at most [queue.MaxDepth] offsets of 32 bits on a path no lifted
// priority leaves the range of int64, nor does the difference of two.
type Lift struct {
	// Fenced is set if a queue on the way has the priority policy fence. Every
	// priority becomes Offset then. Otherwise Offset is added.
	Fenced bool
	Offset int64
}

// Of returns the effective priority of a task of the given raw priority.
func (l Lift) Of(priority int32) int64 {
	if l.Fenced {
		return l.Offset
	}
	return int64(priority) + l.Offset
}

// LiftTo returns the lift from leaf up to and including the queue below
// ancestor. It is the zero Lift if leaf is ancestor itself. The cost is linear in
// the depth.
func LiftTo(t *queue.Tree, leaf, ancestor queue.ID) Lift {
	var l Lift
	for q := range t.Up(leaf) {
		if q == ancestor {
			break
		}
		l = step(t, q).after(l)
	}
	return l
}

// Compare returns -1, 0 or +1 as the task of priority a in leaf x has a lower,
// the same or a higher effective priority than one of priority b in leaf y,
// both lifted to below the lowest common ancestor. Tasks of one leaf compare by
// their raw priorities.
//
// Tasks of several leaves cannot be sorted by it: behind a fence two tasks that
// differ may both be equal to a third outside.
func Compare(t *queue.Tree, x queue.ID, a int32, y queue.ID, b int32) int {
	c := t.CommonAncestor(x, y)
	return cmp.Compare(LiftTo(t, x, c).Of(a), LiftTo(t, y, c).Of(b))
}

// step returns what q alone does to a priority that comes from below.
func step(t *queue.Tree, q queue.ID) Lift {
	return Lift{
		Fenced: t.PriorityPolicy(q) == queue.PriorityFence,
		Offset: int64(t.PriorityOffset(q)),
	}
}

// after returns the lift that does first and then l.
func (l Lift) after(first Lift) Lift {
	if l.Fenced {
		return l
	}
	return Lift{Fenced: first.Fenced, Offset: first.Offset + l.Offset}
}
