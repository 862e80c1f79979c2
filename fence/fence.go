// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/go-preempt/preempt/queue"
)

// Root returns the fence root of leaf. The cost is the depth.
func Root(t *queue.Tree, leaf queue.ID) queue.ID {
	for q := leaf; ; {
		if t.PreemptionPolicy(q) == queue.PreemptionFence {
			return q
		}
		parent, ok := t.Parent(q)
		if !ok {
			return q
		}
		q = parent
	}
}

// Reach yields, in tree order, the leaves whose tasks an ask of leaf may take: below
// its fence root, except leaf itself and disabled ones. A [View] answers for each at
// once.
func Reach(t *queue.Tree, leaf queue.ID) iter.Seq[queue.ID] {
	return func(yield func(queue.ID) bool) {
		root := Root(t, leaf)
		for w := root + 1; w < t.End(root); w++ {
			if t.IsLeaf(w) && w != leaf && !t.Disabled(w) && !yield(w) {
				return
			}
		}
	}
}

// Path yields the queues from leaf up to its fence root, both included.
func Path(t *queue.Tree, leaf queue.ID) iter.Seq[queue.ID] {
	return func(yield func(queue.ID) bool) {
		root := Root(t, leaf)
		for q := range t.Up(leaf) {
			if !yield(q) || q == root {
				return
			}
		}
	}
}

// A Standing says how the tasks of a leaf stand to the asks of another.
type Standing uint8

const (
	// InReach: the tasks may be taken as far as fences go.
	InReach Standing = 1 + iota
	// Outside: the leaf is not below the fence root, or the asking leaf itself.
	Outside
	// Protected: the leaf is below the fence root and disabled.
	Protected
)

// String returns the name of the standing in words.
func (s Standing) String() string {
	switch s {
	case InReach:
		return "in reach"
	case Outside:
		return "outside"
	case Protected:
		return "protected"
	}
	return "unknown"
}

// A View is a tree as the asks of one leaf see it: each answer is a lookup. The zero
// View is ready for [View.Reset]. It stays right while bounds and usage change, and
// for clones. Before Reset, and for unknown queues, it panics.
type View struct {
	rows []row
}

// row is what an ask of the leaf sees of a queue.
type row struct {
	theirs   Lift // from here up to below the common ancestor with the leaf
	ours     Lift // from the leaf up to below the same ancestor
	standing Standing
}

// Reset makes v the view of leaf, in the memory of v. The cost is linear in queues.
func (v *View) Reset(t *queue.Tree, leaf queue.ID) {
	if cap(v.rows) < t.Len() {
		v.rows = make([]row, t.Len())
	}
	v.rows = v.rows[:t.Len()]

	// A queue of the path is itself the common ancestor with the leaf.
	ours := Lift{}
	for q := range t.Up(leaf) {
		v.rows[q] = row{ours: ours}
		ours = step(t, q).after(ours)
	}
	// Any other queue has the common ancestor of its parent, and the way there
	// goes through the parent, which comes first in tree order.
	root := Root(t, leaf)
	for q := range t.All() {
		r := &v.rows[q]
		if !t.Contains(q, leaf) {
			parent, _ := t.Parent(q)
			above := &v.rows[parent]
			*r = row{theirs: above.theirs.after(step(t, q)), ours: above.ours}
		}
		switch {
		// A leaf inside the root that is the root itself is the asking leaf.
		case q == leaf || !t.Contains(root, q):
			r.standing = Outside
		case t.Disabled(q):
			r.standing = Protected
		default:
			r.standing = InReach
		}
	}
}

// Standing returns how the tasks of leaf w stand to the asks of v's leaf.
func (v *View) Standing(w queue.ID) Standing { return v.row(w).standing }

// Rank returns the lift from w that gives, for a raw priority in w, the effective
// priority minus that of an ask of the given priority. By law 6 tasks of rank 0 or
// less may be taken. It never falls as the raw priority rises.
func (v *View) Rank(w queue.ID, ask int32) Lift {
	r := v.row(w)
	l := r.theirs
	l.Offset -= r.ours.Of(ask)
	return l
}

func (v *View) row(w queue.ID) *row {
	if uint(w) >= uint(len(v.rows)) {
		panic(unknownID{w, len(v.rows)})
	}
	return &v.rows[w]
}

// unknownID is what a View panics with for a queue that it has not seen.
type unknownID struct {
	w      queue.ID
	queues int
}

func (e unknownID) Error() string {
	if e.queues == 0 {
		return "fence: a View is used before Reset"
	}
	return fmt.Sprintf("fence: no queue %d in a View of %d queues: an ID of another tree?", e.w, e.queues)
}

// A Lift takes a priority from a leaf up to a queue above it. The zero Lift changes
// nothing. It cannot overflow.
type Lift struct {
	// Fenced: every priority becomes Offset. Otherwise Offset is added.
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

// LiftTo returns the lift from leaf up to the queue below ancestor; zero if leaf is
// ancestor. The cost is the depth.
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

// A Priority is where a task is, and its raw priority there.
type Priority struct {
	Leaf queue.ID
	Raw  int32
}

// Compare returns -1, 0 or +1 as a task of priority a has a lower, the same or a
// higher effective priority than one of b. The cost is the depth. Do not sort by it:
// behind a fence two different tasks may both equal a third outside.
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
