package queue

import (
	"errors"
	"fmt"
	"math"

	"github.com/go-preempt/preempt/resources"
)

// The kinds of errors of a change of usage. They come wrapped in a [*Problem].
var (
	ErrNotLeaf = errors.New("not a leaf")                  // only leaves hold tasks
	ErrAmount  = errors.New("bad amount")                  // -1, 1 of an unknown type, more than is there
	ErrRange   = errors.New("sum of amounts out of range") // above 9223372036854775807 in the whole tree
)

// Usage returns u, what q uses at present, as a view.
func (t *Tree) Usage(q ID) resources.Vector { return t.row(t.usage, q) }

// Preempting returns p, what of the usage of q is marked to leave, as a view.
func (t *Tree) Preempting(q ID) resources.Vector { return t.row(t.preempting, q) }

// Effective sets dst to e = u - p: what q will use once all that is marked has left.
// It returns dst, which is allocated if it is too short.
func (t *Tree) Effective(dst resources.Vector, q ID) resources.Vector {
	return resources.Sub(dst, t.Usage(q), t.Preempting(q))
}

// effective and marked return e and p of one type.

func (t *Tree) effective(q ID, i int) int64 {
	at := int(q)*t.schema.Len() + i
	return t.usage[at] - t.preempting[at]
}

func (t *Tree) marked(q ID, i int) int64 { return t.preempting[int(q)*t.schema.Len()+i] }

// Add adds size to the usage of leaf and of every queue above it.
//
// It is an error, a [*Problem], if leaf has children, if an amount of size is
// negative or of a type that the schema does not have, and if the usage of the
// root would pass the range of int64. Then nothing changes. The size may be a view
// of the tree. The cost is depth times types. All this holds for [Tree.Remove],
// [Tree.Mark] and [Tree.Unmark], too.
func (t *Tree) Add(leaf ID, size resources.Vector) error {
	if err := t.check(leaf, size); err != nil {
		return err
	}
	total := t.Usage(Root)
	for i, v := range size[:min(len(size), len(total))] {
		// Every other usage is at most the root's.
		if v > math.MaxInt64-total[i] {
			s := t.schema
			return &Problem{Queue: t.Path(leaf), Err: fmt.Errorf("%w: %s %s where the root uses %s",
				ErrRange, s.Name(i), s.Amount(i, v), s.Amount(i, total[i]))}
		}
	}
	t.along(t.usage, leaf, size, +1)
	return nil
}

// Remove subtracts size from the usage of leaf and of every queue above it. It
// takes what is not marked: to remove what is leaving, unmark it first. It is an
// error if less than size is unmarked.
func (t *Tree) Remove(leaf ID, size resources.Vector) error {
	if err := t.check(leaf, size); err != nil {
		return err
	}
	if err := t.covers(leaf, size, t.effective); err != nil {
		return err
	}
	t.along(t.usage, leaf, size, -1)
	return nil
}

// Mark marks size of the usage of leaf, and of every queue above it, as leaving.
// Use it when a task is told to stop and still runs. It is an error if less than
// size is unmarked.
func (t *Tree) Mark(leaf ID, size resources.Vector) error {
	if err := t.check(leaf, size); err != nil {
		return err
	}
	if err := t.covers(leaf, size, t.effective); err != nil {
		return err
	}
	t.along(t.preempting, leaf, size, +1)
	return nil
}

// Unmark takes back the marking of size. It is an error if less than size is
// marked.
func (t *Tree) Unmark(leaf ID, size resources.Vector) error {
	if err := t.check(leaf, size); err != nil {
		return err
	}
	if err := t.covers(leaf, size, t.marked); err != nil {
		return err
	}
	t.along(t.preempting, leaf, size, -1)
	return nil
}

// check reports a leaf that is none and a size that is no size, and a tree that
// belongs to somebody.
func (t *Tree) check(leaf ID, size resources.Vector) error {
	if t.owned {
		return &Problem{Queue: t.Path(leaf), Err: ErrOwned}
	}
	if !t.IsLeaf(t.known(leaf)) {
		return &Problem{Queue: t.Path(leaf), Err: ErrNotLeaf}
	}
	for i, v := range size {
		switch {
		case i >= t.schema.Len() && v != 0:
			return &Problem{Queue: t.Path(leaf), Err: fmt.Errorf("%w: %d of type %d of %d", ErrAmount, v, i, t.schema.Len())}
		case v < 0:
			return t.amountError(leaf, i, v)
		}
	}
	return nil
}

// covers reports an amount of size that is above have(leaf). What a leaf has
// the queues above it have too, so that the leaf alone decides.
func (t *Tree) covers(leaf ID, size resources.Vector, have func(ID, int) int64) error {
	for i, v := range size[:min(len(size), t.schema.Len())] {
		if v > have(leaf, i) {
			return t.amountError(leaf, i, v)
		}
	}
	return nil
}

func (t *Tree) amountError(leaf ID, i int, v int64) error {
	s := t.schema
	return &Problem{Queue: t.Path(leaf), Err: fmt.Errorf("%w: %s %s where %s are used and %s of them leave",
		ErrAmount, s.Name(i), s.Amount(i, v), s.Amount(i, t.Usage(leaf)[i]), s.Amount(i, t.marked(leaf, i)))}
}

// along adds sign times size to the rows of block from leaf to the root. It goes
// type by type and reads each amount before it writes one, for size may be a
// view of the tree: Unmark(q, t.Preempting(q)).
func (t *Tree) along(block []int64, leaf ID, size resources.Vector, sign int64) {
	types := t.schema.Len()
	for i, v := range size[:min(len(size), types)] {
		for q := leaf; ; q = t.parents[q] {
			block[int(q)*types+i] += sign * v
			if q == Root {
				break
			}
		}
	}
}
