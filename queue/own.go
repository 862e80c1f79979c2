package queue

import (
	"errors"
	"slices"
)

// ErrOwned is what a change of a tree returns if the tree belongs to somebody
// else. See [Tree.Own].
var ErrOwned = errors.New("the tree belongs to its owner, who alone can change it")

// Own takes the tree over: from now on it can be changed through the tree that
// Own returns, and through no other. The old tree shows all changes, but each
// attempt to change it is an error that wraps [ErrOwned]. A cluster takes its
// tree over, so that nobody changes usage behind its back.
//
// A tree that has an owner already is an error. A [Tree.Clone] of an owned tree
// belongs to nobody.
func (t *Tree) Own() (*Tree, error) {
	if t.owned {
		return nil, ErrOwned
	}
	own := *t
	t.owned = true
	return &own, nil
}

// Show makes view an owned tree that shows t, which Own has returned. What view
// was before is forgotten.
func (t *Tree) Show(view *Tree) {
	*view = *t
	view.owned = true
}

// CopyFrom makes t an independent copy of u, as [Tree.Clone] does, in the memory
// of t. The cost is a copy of four blocks; it allocates only if t has too
// little memory. An owned tree that shows t must be shown anew; see [Tree.Show].
func (t *Tree) CopyFrom(u *Tree) {
	if t == u {
		return
	}
	mine := *t
	*t = *u
	t.owned = false
	t.usage = copyInto(mine.usage, u.usage)
	t.preempting = copyInto(mine.preempting, u.preempting)
	t.guaranteed = mine.guaranteed.copyFrom(&u.guaranteed)
	t.max = mine.max.copyFrom(&u.max)
}

// copyFrom returns a copy of from in the memory of b.
func (b *bounds) copyFrom(from *bounds) bounds {
	return bounds{values: copyInto(b.values, from.values), defined: append(b.defined[:0], from.defined...)}
}

// copyInto returns a copy of a block in the memory of another. See copyOf.
func copyInto(memory, block []int64) []int64 { return slices.Clip(append(memory[:0], block...)) }
