package queue

import (
	"errors"
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// Guaranteed returns what q is guaranteed, as a view.
func (t *Tree) Guaranteed(q ID) resources.Limit { return t.limit(&t.guaranteed, q) }

// Max returns what q may use at most, as a view.
func (t *Tree) Max(q ID) resources.Limit { return t.limit(&t.max, q) }

// SetGuaranteed replaces the guarantee of q by a copy of l. It finds the problems
// that [New] finds, and reports them as New does. Then nothing changes. Bounds
// that are over-committed among q, its parent and its children are problems in a
// strict tree only; warnings are not looked for.
func (t *Tree) SetGuaranteed(q ID, l resources.Limit) error {
	return t.setBounds(q, promise{t.Name(q), l, t.Max(q)})
}

// SetMax replaces the max of q by a copy of l. Problems are found and reported
// as by [Tree.SetGuaranteed].
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

// Governing returns the queue that governs type i for q: the nearest from q
// upwards that defines a guarantee for it. A guarantee of 0 is defined, too. The
// cost is linear in the depth.
func (t *Tree) Governing(q ID, i int) (ID, bool) {
	for q = t.known(q); ; {
		if t.guaranteed.defined[q].Has(i) {
			return q, true
		}
		if q == Root {
			return 0, false
		}
		q = t.parents[q]
	}
}

// Surplus sets dst to what q uses beyond its guarantee, per type: the positive
// part of e - g, and all of e for types without a guarantee. Use it to ask what a
// queue may give to others. It returns dst, which is allocated if it is too short.
// The cost is linear in the types.
func (t *Tree) Surplus(dst resources.Vector, q ID) resources.Vector {
	dst = t.Effective(dst, q)
	g := t.Guaranteed(q)
	for i := range g.Defined.All() {
		dst[i] = max(dst[i]-g.Value[i], 0)
	}
	return dst
}

// Headroom sets dst to what may still be added below q, for every type that q
// or a queue above it bounds: the least of m - e over the path. Use it to ask
// whether a task may start: see [resources.Admits]. It is negative in a type of
// which some queue of the path uses more than its max.
//
// It returns dst. Its Value is allocated if it is too short, and is 0 in types
// without a bound. The cost is depth times types.
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
