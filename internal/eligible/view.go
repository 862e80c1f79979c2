// SPDX-License-Identifier: Apache-2.0

package eligible

import (
	"fmt"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/queue"
)

// A View is a tree as the asks of one leaf see it: what package fence says of each queue, as a
// lookup. It stays right while bounds and usage change, and for clones. Before
// [View.Reset], and for unknown queues, it panics.
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
	for q := range t.Ancestors(leaf) {
		v.rows[q] = row{ours: ours}
		ours = step(t, q).after(ours)
	}
	// Any other queue has the common ancestor of its parent, and the way there
	// goes through the parent, which comes first in tree order.
	root := fence.Root(t, leaf)
	for q := range queue.ID(t.Len()) {
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

// Rank returns the lift that turns a raw priority in w into [fence.Rank] against an ask of
// the given priority.
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
		return "eligible: a View is used before Reset"
	}
	return fmt.Sprintf("eligible: no queue %d in a View of %d queues: an ID of another tree?", e.w, e.queues)
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

// step returns what q alone does to a priority that comes from below.
func step(t *queue.Tree, q queue.ID) Lift {
	p := t.Policies(q)
	return Lift{Fenced: p.PriorityFence == "fence", Offset: int64(*p.PriorityOffset)}
}

// after returns the lift that does first and then l.
func (l Lift) after(first Lift) Lift {
	if l.Fenced {
		return l
	}
	return Lift{Fenced: first.Fenced, Offset: first.Offset + l.Offset}
}
