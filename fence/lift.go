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

// A Priority is what a task says of itself: where it is, and how important it is
// among those of its leaf.
type Priority struct {
	Leaf queue.ID
	Raw  int32
}

// Compare returns -1, 0 or +1 as a task of priority a has a lower, the same or a
// higher effective priority than one of priority b, both lifted to below their
// lowest common ancestor. Tasks of one leaf compare by their raw priorities. The
// cost is linear in the depth.
//
// Tasks of several leaves cannot be sorted by it: behind a fence two tasks that
// differ may both be equal to a third outside.
func Compare(t *queue.Tree, a, b Priority) int {
	c := t.CommonAncestor(a.Leaf, b.Leaf)
	return cmp.Compare(LiftTo(t, a.Leaf, c).Of(a.Raw), LiftTo(t, b.Leaf, c).Of(b.Raw))
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
