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

// Guaranteed returns what q is guaranteed, as a view.
func (t *Tree) Guaranteed(q ID) resources.Limit {
	return resources.Limit{Defined: t.guaranteed.defined[q] &^ t.ignored, Value: t.row(t.guaranteed.values, q)}
}

// Max returns what q may use at most, as a view.
func (t *Tree) Max(q ID) resources.Limit { return t.limit(&t.max, q) }

// SetGuaranteed replaces the guarantee of q by a copy of l. Errors are those of [New]
// about bounds; there are no new warnings.
func (t *Tree) SetGuaranteed(q ID, l resources.Limit) error {
	return t.setBounds(q, promise{t.Name(q), l, t.Max(q)})
}

// SetMax replaces the max of q, as [Tree.SetGuaranteed] does a guarantee.
func (t *Tree) SetMax(q ID, l resources.Limit) error {
	return t.setBounds(q, promise{t.Name(q), t.Guaranteed(q), l})
}

func (t *Tree) setBounds(q ID, p promise) error {
	if t.owned {
		return &Problem{Queue: t.Path(q), Err: ErrOwned}
	}
	var problems []error
	report := func(at ID, errs []error) {
		for _, err := range errs {
			problems = append(problems, &Problem{Queue: t.Path(at), Err: err})
		}
	}
	if parent, ok := t.Parent(q); ok && t.strict {
		report(parent, overCommitted(t.schema, t.promise(parent), t.promises(parent, q, p)))
	}
	report(q, badBounds(t.schema, p))
	if t.strict {
		report(q, overCommitted(t.schema, p, t.promises(q, q, p)))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	t.guaranteed.set(t.schema, q, p.guaranteed)
	t.max.set(t.schema, q, p.max)
	return nil
}

func (t *Tree) promise(q ID) promise {
	return promise{t.names[q], t.Guaranteed(q), t.Max(q)}
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

// Governing returns the queue that governs type i for q. A guarantee of 0 counts. The
// cost is the depth.
func (t *Tree) Governing(q ID, i int) (ID, bool) {
	for q = t.known(q); ; {
		if (t.guaranteed.defined[q] &^ t.ignored).Has(i) {
			return q, true
		}
		if q == Root {
			return 0, false
		}
		q = t.parents[q]
	}
}

// Surplus sets dst to what q may give to others, and returns it: the positive part of e -
// g, or e without a guarantee.
func (t *Tree) Surplus(dst resources.Vector, q ID) resources.Vector {
	dst = t.Effective(dst, q)
	g := t.Guaranteed(q)
	for i := range g.Defined.All() {
		dst[i] = max(dst[i]-g.Value[i], 0)
	}
	return dst
}

// Headroom sets dst to what may still be added below q, and returns it: the least m - e
// of q and queues above, in types that they bound. It may be negative. See
// [resources.Admits]. The cost is depth·types.
func (t *Tree) Headroom(dst resources.Limit, q ID) resources.Limit {
	n := t.schema.Len()
	dst.Defined = 0
	dst.Value = slices.Grow(dst.Value[:0], n)[:n]
	clear(dst.Value)
	for a := range t.Up(q) {
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

// Usage returns u of q, as a view.
func (t *Tree) Usage(q ID) resources.Vector { return t.row(t.usage, q) }

// Preempting returns p of q, as a view.
func (t *Tree) Preempting(q ID) resources.Vector { return t.row(t.preempting, q) }

// Effective sets dst to e = u - p of q, and returns it.
func (t *Tree) Effective(dst resources.Vector, q ID) resources.Vector {
	return resources.Sub(dst, t.Usage(q), t.Preempting(q))
}

// effective and marked return e and p of one type.

func (t *Tree) effective(q ID, i int) int64 {
	at := int(q)*t.schema.Len() + i
	return t.usage[at] - t.preempting[at]
}

func (t *Tree) marked(q ID, i int) int64 { return t.preempting[int(q)*t.schema.Len()+i] }

// Add adds size to the usage of leaf and of every queue above. Errors are a queue with
// children, amounts that are negative or of an unknown type, and usage beyond int64. size
// may be a view of the tree. The cost is depth·types. So it is for [Tree.Remove],
// [Tree.Mark] and [Tree.Unmark].
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
				errRange, s.Name(i), vectors.Text(s, i, v), vectors.Text(s, i, total[i]))}
		}
	}
	t.along(t.usage, leaf, size, +1)
	return nil
}

// Remove subtracts size from the unmarked usage of leaf and of every queue above. It is
// an error if less is unmarked.
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

// Mark marks size of the usage of leaf, and of every queue above, as leaving. It is an
// error if less is unmarked.
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

// Unmark takes a mark back. It is an error if less than size is marked.
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
		return &Problem{Queue: t.Path(leaf), Err: errNotLeaf}
	}
	for i, v := range size {
		switch {
		case i >= t.schema.Len() && v != 0:
			return &Problem{Queue: t.Path(leaf), Err: fmt.Errorf("%w: %d of type %d of %d", errAmount, v, i, t.schema.Len())}
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
		errAmount, s.Name(i), vectors.Text(s, i, v), vectors.Text(s, i, t.Usage(leaf)[i]), vectors.Text(s, i, t.marked(leaf, i)))}
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

// ErrOwned is explained at [Tree.Own].
var ErrOwned = errors.New("the tree belongs to its owner, who alone can change it")

// Own takes the tree over: only the returned tree can change it, and the old one shows
// all changes. Attempts to change the old one, or to own it again, wrap [ErrOwned]. A
// clone belongs to nobody.
func (t *Tree) Own() (*Tree, error) {
	if t.owned {
		return nil, ErrOwned
	}
	own := *t
	t.owned = true
	return &own, nil
}

// Show makes view an owned tree that shows t, which [Tree.Own] has returned.
func (t *Tree) Show(view *Tree) {
	*view = *t
	view.owned = true
}

// Counting returns t if types is nil. Else it returns view, made an owned tree that shows t
// with guarantees in these types only: [Tree.Guaranteed] and all that follows from it is as if
// no other type was guaranteed. So planners with different types can share one tree. If rows of
// t move, as by [Tree.CopyFrom], call it again. The error says of a type beyond the schema, which
// is ignored, that there is none ([ErrType]).
func (t *Tree) Counting(view *Tree, types *resources.Mask) (counting *Tree, err error) {
	if types == nil {
		return t, nil
	}
	for i := range types.All() {
		if i >= t.schema.Len() {
			err = fmt.Errorf("%w: type %d of %d is to be scarce", ErrType, i, t.schema.Len())
			break
		}
	}
	t.Show(view)
	view.ignored |= ^*types
	return view, err
}

// CopyFrom is [Tree.Clone] into the memory of t. If another tree shows t, call
// [Tree.Show] again.
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

// A Trigger says whether guarantees let asks of a leaf preempt.
type Trigger struct {
	// Governed: some type of the ask is governed. Else Needy means nothing.
	Governed bool
	// Needy is the lowest queue that governs the ask. Victims come from outside its
	// subtree; see DESIGN.md, Storm freedom.
	Needy ID
	// Met are the types whose governing queue has its guarantee, or would have it before
	// the last member of a job.
	Met resources.Mask
}

// Holds reports whether law 4 lets the ask preempt: a type is governed, and every
// governing queue is under its guarantee.
func (x Trigger) Holds() bool { return x.Governed && x.Met == 0 }

// Trigger returns what guarantees say to an ask of a leaf that wants the given types; see
// [resources.Positive].
//
// For an ask, before is nil. For a job it is the sum of its members less the largest
// amount of each type: the last member must find the queue under its guarantee. The cost
// is depth·types.
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
			x.Met |= 1 << i
		}
	}
	return x
}
