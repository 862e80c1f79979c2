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
		if t.Policies(q).Preemption == queue.Fence {
			return q
		}
		parent, ok := t.Parent(q)
		if !ok {
			return q
		}
		q = parent
	}
}

// Reach yields, in tree order, the leaves whose tasks an ask of leaf may take: below its
// fence root, except leaf itself and disabled ones.
func Reach(t *queue.Tree, leaf queue.ID) iter.Seq[queue.ID] {
	return func(yield func(queue.ID) bool) {
		root := Root(t, leaf)
		for w := root + 1; w < t.End(root); w++ {
			if t.IsLeaf(w) && w != leaf && t.Policies(w).Preemption != queue.Disabled && !yield(w) {
				return
			}
		}
	}
}

// A View is a tree as the asks of one leaf see it: each answer is a lookup. It stays
// right while bounds and usage change, and for clones. Before [View.Reset], and for
// unknown queues, it panics.
type View struct {
	rows []row
}

// row is what an ask of the leaf sees of a queue.
type row struct {
	theirs Lift // from here up to below the common ancestor with the leaf
	ours   Lift // from the leaf up to below the same ancestor
	inside bool
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
		// A leaf inside the root that is the root itself is the asking leaf.
		r.inside = q != leaf && t.Contains(root, q)
	}
}

// Inside reports whether leaf w is another one below the fence root. If it is not
// disabled either, its tasks may be taken.
func (v *View) Inside(w queue.ID) bool { return v.row(w).inside }

// Rank returns the lift that turns a raw priority in w into the effective priority minus
// that of an ask of the given priority. By law 6 tasks of rank 0 or less may be taken.
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

// liftTo returns the lift from leaf up to the queue below ancestor; zero if leaf is
// ancestor. The cost is the depth.
func liftTo(t *queue.Tree, leaf, ancestor queue.ID) Lift {
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

// Compare returns -1, 0 or +1 as a task of priority a has a lower, the same or a higher
// effective priority than one of b. The cost is the depth. Do not sort by it: equality is
// not transitive.
func Compare(t *queue.Tree, a, b Priority) int {
	c := t.CommonAncestor(a.Leaf, b.Leaf)
	return cmp.Compare(liftTo(t, a.Leaf, c).Of(a.Raw), liftTo(t, b.Leaf, c).Of(b.Raw))
}

// step returns what q alone does to a priority that comes from below.
func step(t *queue.Tree, q queue.ID) Lift {
	return Lift{
		Fenced: t.Policies(q).PriorityFence == "fence",
		Offset: int64(*t.Policies(q).PriorityOffset),
	}
}

// after returns the lift that does first and then l.
func (l Lift) after(first Lift) Lift {
	if l.Fenced {
		return l
	}
	return Lift{Fenced: first.Fenced, Offset: first.Offset + l.Offset}
}
