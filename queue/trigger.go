package queue

import "github.com/go-preempt/preempt/resources"

// A Trigger says whether asks of a leaf may preempt at all, as far as guarantees
// decide it, and where they may not look. It depends on the types that an ask
// wants, and not on how much of them.
type Trigger struct {
	// Governed is set if some type of the ask has a governing queue. Otherwise
	// nobody promised anything, and Needy means nothing.
	Governed bool
	// Needy is the lowest queue that governs a type of the ask. Victims come from
	// outside its subtree: a task inside it that goes leaves the queue as it was,
	// and two leaves below it could stop each other's tasks for ever (DESIGN.md,
	// Storm freedom).
	Needy ID
	// Met are the types of the ask whose governing queue has its guarantee or
	// more already, or would have it before the last member of a job.
	Met resources.Mask
}

// Holds reports whether law 4 lets the ask preempt: a type of it is governed, and
// every governing queue is under its guarantee in the type that it governs.
// (DESIGN.md, The seven laws.)
func (x Trigger) Holds() bool { return x.Governed && x.Met == 0 }

// Trigger returns what the guarantees say to an ask of a leaf that wants the given
// types, those of which it asks for more than zero: see [resources.Positive]. Use
// it before a search for victims: if it does not hold, no task has to be looked at.
//
// For a job, before is what its members ask for together, less the largest amount of each
// type that one of them has: the members ask one after another, the largest last, and the
// last of them has to find the queue under its guarantee. For an ask it is nil.
//
// A queue is under its guarantee if its effective usage is less, be it by one unit
// only. Only the nearest guarantee of a type counts: a queue further up that has
// its own does not stop the ask. Types beyond those of the tree count as ungoverned.
// The cost is depth times types.
func (t *Tree) Trigger(leaf ID, types resources.Mask, before resources.Vector) (x Trigger) {
	// Law 4: only a queue under its guarantee triggers.
	for i := range types.All() {
		q, ok := t.Governing(leaf, i)
		if !ok {
			continue
		}
		// On a path the lower queue has the larger number.
		x.Governed, x.Needy = true, max(x.Needy, q)
		if g, _ := t.Guaranteed(q).Bound(i); t.effective(q, i) >= g-before.At(i) {
			x.Met = x.Met.With(i)
		}
	}
	return x
}
