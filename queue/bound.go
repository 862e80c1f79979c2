// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/resources"
)

// Guaranteed returns what q is guaranteed, in shared memory.
func (t *Tree) Guaranteed(q ID) resources.Limit {
	x := t.in()
	return resources.Limit{Defined: x.Guaranteed.Defined[q] &^ x.Ignored, Value: t.row(x.Guaranteed.Values, q)}
}

// Max returns what q may use at most, in shared memory.
func (t *Tree) Max(q ID) resources.Limit {
	x := t.in()
	return resources.Limit{Defined: x.Max.Defined[q], Value: t.row(x.Max.Values, q)}
}

// SetGuaranteed replaces the guarantee of q by a copy of l. Errors are those of [New] about bounds.
func (t *Tree) SetGuaranteed(q ID, l resources.Limit) error {
	return t.setBounds(q, promise{t.name(q), l, t.Max(q)})
}

// SetMax replaces the max of q likewise.
func (t *Tree) SetMax(q ID, l resources.Limit) error {
	return t.setBounds(q, promise{t.name(q), t.Guaranteed(q), l})
}

func (t *Tree) setBounds(q ID, p promise) error {
	if t.in().ReadOnly {
		return readOnly(t.Path(q))
	}
	var problems []error
	report := func(at ID, errs []error) {
		for _, err := range errs {
			problems = append(problems, bad(t.Path(at), err))
		}
	}
	if parent, ok := t.Parent(q); ok && t.in().Strict {
		report(parent, overCommitted(t.schema, t.promise(parent), t.promises(parent, q, p)))
	}
	report(q, badBounds(t.schema, p))
	if t.in().Strict {
		report(q, overCommitted(t.schema, p, t.promises(q, q, p)))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	t.in().Guaranteed.Set(int(q), t.schema.Len(), p.guaranteed)
	t.in().Max.Set(int(q), t.schema.Len(), p.max)
	return nil
}

func (t *Tree) promise(q ID) promise {
	return promise{t.name(q), t.Guaranteed(q), t.Max(q)}
}

// promises returns what the children of parent are promised, with p for changed.
func (t *Tree) promises(parent, changed ID, p promise) (children []promise) {
	for c := range t.Children(parent) {
		if c == changed {
			children = append(children, p)
		} else {
			children = append(children, t.promise(c))
		}
	}
	return children
}

// Governing returns the queue that governs type i for q, if one does: the nearest, from q upwards, that has a guarantee
// for it, even of 0. The cost is the depth.
func (t *Tree) Governing(q ID, i int) (ID, bool) {
	x := t.in()
	for q = t.known(q); ; {
		if (x.Guaranteed.Defined[q] &^ x.Ignored).Has(i) {
			return q, true
		}
		if q == Root {
			return 0, false
		}
		q = t.parents[q]
	}
}

// Surplus sets dst to what q may give to others, and returns it: effective usage beyond its guarantee.
func (t *Tree) Surplus(dst resources.Vector, q ID) resources.Vector {
	dst = t.Effective(dst, q)
	g := t.Guaranteed(q)
	for i := range g.Defined.All() {
		dst[i] = max(dst[i]-g.Value[i], 0)
	}
	return dst
}

// Headroom sets dst to what may be added below q in types that its max or those above bound, and returns it:
// the least max less effective usage. It may be negative. The cost is depth·types.
func (t *Tree) Headroom(dst resources.Limit, q ID) resources.Limit {
	n := t.schema.Len()
	dst.Defined = 0
	dst.Value = slices.Grow(dst.Value[:0], n)[:n]
	clear(dst.Value)
	for a := range t.Ancestors(q) {
		m := t.Max(a)
		for i := range m.Defined.All() {
			room := m.Value[i] - t.effective(a, i)
			if !dst.Defined.Has(i) || room < dst.Value[i] {
				dst.Value[i] = room
			}
		}
		dst.Defined |= m.Defined
	}
	return dst
}

// The kinds of errors of a change of usage.
var (
	errNotLeaf = errors.New("not a leaf")                  // only leaves hold tasks
	errAmount  = errors.New("bad amount")                  // -1, 1 of an unknown type, more than is there
	errRange   = errors.New("sum of amounts out of range") // above 9223372036854775807 in the whole tree
)

// Usage returns what q uses, leaving and granted included, in shared memory.
func (t *Tree) Usage(q ID) resources.Vector { return t.row(t.in().Usage, q) }

// Leaving returns the leaving part of the usage of q, in shared memory.
func (t *Tree) Leaving(q ID) resources.Vector { return t.row(t.in().Leaving, q) }

// Effective sets dst to the usage of q without what is leaving, and returns it.
func (t *Tree) Effective(dst resources.Vector, q ID) resources.Vector {
	return resources.Sub(dst, t.Usage(q), t.Leaving(q))
}

// effective and marked return e and p of one type.

func (t *Tree) effective(q ID, i int) int64 {
	at := int(q)*t.schema.Len() + i
	return t.in().Usage[at] - t.in().Leaving[at]
}

func (t *Tree) marked(q ID, i int) int64 { return t.in().Leaving[int(q)*t.schema.Len()+i] }

// Add adds size to the usage of leaf and of every queue above. Errors are a queue with children, amounts that
// are negative or of an unknown type, and usage beyond int64. The cost is depth·types. So it is for
// [Tree.Remove], [Tree.Mark] and [Tree.Unmark].
func (t *Tree) Add(leaf ID, size resources.Vector) error {
	if err := t.check(leaf, size); err != nil {
		return err
	}
	total := t.Usage(Root)
	for i, v := range size[:min(len(size), len(total))] {
		// Every other usage is at most the root's.
		if v > math.MaxInt64-total[i] {
			s := t.schema
			return bad(t.Path(leaf), fmt.Errorf("%w: %s %s where the root uses %s",
				errRange, s.Name(i), vectors.Text(s, i, v), vectors.Text(s, i, total[i])))
		}
	}
	t.along(t.in().Usage, leaf, size, +1)
	return nil
}

// Remove subtracts size from the unmarked usage of leaf and of every queue above. Less is an error.
func (t *Tree) Remove(leaf ID, size resources.Vector) error {
	if err := t.covers(leaf, size, t.effective); err != nil {
		return err
	}
	t.along(t.in().Usage, leaf, size, -1)
	return nil
}

// Mark marks size of the usage of leaf, and of every queue above, as leaving. It is an error if less is
// unmarked.
func (t *Tree) Mark(leaf ID, size resources.Vector) error {
	if err := t.covers(leaf, size, t.effective); err != nil {
		return err
	}
	t.along(t.in().Leaving, leaf, size, +1)
	return nil
}

// Unmark takes a mark back. It is an error if less than size is marked.
func (t *Tree) Unmark(leaf ID, size resources.Vector) error {
	if err := t.covers(leaf, size, t.marked); err != nil {
		return err
	}
	t.along(t.in().Leaving, leaf, size, -1)
	return nil
}

// check reports a leaf that is none and a size that is no size, and a tree that
// belongs to somebody.
func (t *Tree) check(leaf ID, size resources.Vector) error {
	if t.in().ReadOnly {
		return readOnly(t.Path(leaf))
	}
	if !t.IsLeaf(t.known(leaf)) {
		return bad(t.Path(leaf), errNotLeaf)
	}
	for i, v := range size {
		switch {
		case i >= t.schema.Len() && v != 0:
			return bad(t.Path(leaf), fmt.Errorf("%w: %d of type %d of %d", errAmount, v, i, t.schema.Len()))
		case v < 0:
			return t.amountError(leaf, i, v)
		}
	}
	return nil
}

// covers is check, and reports an amount of size that is above have(leaf). What a leaf has
// the queues above it have too, so that the leaf alone decides.
func (t *Tree) covers(leaf ID, size resources.Vector, have func(ID, int) int64) error {
	if err := t.check(leaf, size); err != nil {
		return err
	}
	for i, v := range size[:min(len(size), t.schema.Len())] {
		if v > have(leaf, i) {
			return t.amountError(leaf, i, v)
		}
	}
	return nil
}

func (t *Tree) amountError(leaf ID, i int, v int64) error {
	s := t.schema
	return bad(t.Path(leaf), fmt.Errorf("%w: %s %s where %s are used and %s of them leave",
		errAmount, s.Name(i), vectors.Text(s, i, v), vectors.Text(s, i, t.Usage(leaf)[i]), vectors.Text(s, i, t.marked(leaf, i))))
}

// along adds sign times size to the rows of block from leaf to the root. It goes
// type by type and reads each amount before it writes one, for size may be a
// view of the tree: Unmark(q, t.Leaving(q)).
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
