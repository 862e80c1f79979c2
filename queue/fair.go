// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// FairShares divides a capacity among queues by demand, guarantees and weights (property fair.weight). The zero
// value is ready.
//
// Divide by a tree with the guarantees of the configuration, and set the shares in the tree of the cluster. Let
// demand count all that runs, waits or was stopped for others. See DESIGN.md, Fair shares.
type FairShares struct {
	tree   *Tree          // of the last Divide
	types  resources.Mask // of its capacity
	scarce resources.Mask
	dealt  []int64 // a block of one amount per queue and type
	shares []int64 // the same after the cut

	// Scratch for one type, and for the children of one queue.
	claims  []claim // of every queue
	heirs   []heir
	by      []int64 // what the children are dealt to by: their bases, then weights
	parts   []int64 // what they get
	extra   []int64 // beyond their bases
	divider vectors.Divider
}

// Divide computes the share of every queue in each type of capacity. Name only what you share by weights, such
// as GPUs.
//
// demand has what each leaf wants, running and waiting, by ID; missing or negative is zero. Maxima cap it. Parents
// demand the sum, and are guaranteed at least theirs.
//
// Guarantees come first, in proportion if there is too little. The rest goes by weights, and what a child cannot use to
// others. Of scarce types, a leaf keeps what it can use with the one of which it got the least part, at least its
// guarantee: split leaves of tasks with and without a scarce type. See DESIGN.md, Shares: dealing.
//
// Units are whole and go by largest remainder, ties in tree order. Errors are bad bounds of capacity, and
// demands that sum to more than an int64; shares stay then. Demand for too many queues, and a tree without any,
// panic. The cost is types·queues, and sorting children.
func (f *FairShares) Divide(t *Tree, demand []resources.Vector, capacity resources.Limit) error {
	if err := checkDivision(t, demand, capacity); err != nil {
		return err
	}
	n := t.schema.Len()
	f.tree, f.types, f.scarce = t, capacity.Defined, 0
	f.dealt = resize(f.dealt, t.Len()*n)
	clear(f.dealt)
	f.claims = resize(f.claims, t.Len())
	for i := range capacity.Defined.All() {
		most, _ := capacity.Bound(i)
		if f.claim(i, demand, most) {
			f.scarce |= 1 << i
		}
		f.dealt[i] = min(f.claims[Root].want, most)
		for q := Root; int(q) < t.Len(); q++ {
			if !t.IsLeaf(q) {
				f.deal(q, i)
			}
		}
	}
	f.cut(demand)
	return nil
}

// Scarce returns the types of which some leaf gets less than it wants: the demand is above the capacity at the root, or
// that of children above a queue's max. Arguments, errors and panics are those of [FairShares.Divide]; types that the
// capacity lacks are never scarce. The cost is types·queues.
func Scarce(t *Tree, demand []resources.Vector, capacity resources.Limit) (scarce resources.Mask, err error) {
	if err := checkDivision(t, demand, capacity); err != nil {
		return 0, err
	}
	f := FairShares{tree: t, claims: make([]claim, t.Len())}
	for i := range capacity.Defined.All() {
		if most, _ := capacity.Bound(i); f.claim(i, demand, most) {
			scarce |= 1 << i
		}
	}
	return scarce, nil
}

// Of returns the share of q in the types of the capacity, as a view.
func (f *FairShares) Of(q ID) resources.Limit {
	return resources.Limit{Value: f.row(q), Defined: f.types}
}

// Guarantee returns, as a view, what q is to be guaranteed: a leaf's share in scarce types; for other queues
// nothing.
func (f *FairShares) Guarantee(q ID) resources.Limit {
	row := f.row(q)
	if !f.tree.IsLeaf(q) {
		return resources.Limit{}
	}
	return resources.Limit{Value: row, Defined: f.scarce}
}

// SetGuarantees sets the guarantee of every queue of t, another tree of the same queues and types, to
// [FairShares.Guarantee]. The divided tree itself panics. Errors are a tree of a cluster (ErrReadOnly), and a
// share above what t allows. The cost is queues·types.
func (f *FairShares) SetGuarantees(t *Tree) error {
	switch {
	case f.tree == nil:
		panic("queue: FairShares are used before Divide")
	case t.Len() != f.tree.Len() || t.schema.Len() != f.tree.schema.Len():
		panic("queue: SetGuarantees of a tree with other queues or types than the one that was divided")
	case &t.in().Guaranteed.Defined[Root] == &f.tree.in().Guaranteed.Defined[Root]: // it, or a tree that shows it
		panic("queue: SetGuarantees of the tree that was divided: its own guarantees would be lost: see Tree.Clone")
	}
	if t.in().ReadOnly {
		return readOnly(t.Path(Root))
	}
	if err := f.checkGuarantees(t); err != nil {
		return err
	}
	for q := range ID(t.Len()) {
		t.in().Guaranteed.Set(int(q), t.schema.Len(), f.Guarantee(q))
	}
	return nil
}

// checkGuarantees returns what New would find wrong with t if the shares were its
// guarantees.
func (f *FairShares) checkGuarantees(t *Tree) error {
	var problems []error
	promised := func(q ID) promise { return promise{t.name(q), f.Guarantee(q), t.Max(q)} }
	for q := range ID(t.Len()) {
		list := badBounds(t.schema, promised(q))
		if t.in().Strict && !t.IsLeaf(q) {
			var children []promise
			for c := range t.Children(q) {
				children = append(children, promised(c))
			}
			list = append(list, overCommitted(t.schema, promised(q), children)...)
		}
		for _, err := range list {
			problems = append(problems, bad(t.Path(q), err))
		}
	}
	return errors.Join(problems...)
}

func (f *FairShares) row(q ID) resources.Vector {
	if f.tree == nil {
		panic("queue: FairShares are used before Divide")
	}
	return f.tree.row(f.shares, q)
}

// checkDivision returns what is wrong with the arguments of Divide.
func checkDivision(t *Tree, demand []resources.Vector, capacity resources.Limit) error {
	if t == nil || t.Len() == 0 {
		panic("queue: FairShares of a Tree without queues (nil or zero): see New")
	}
	if len(demand) > t.Len() {
		panic(fmt.Sprintf("queue: FairShares of a demand for %d queues in a tree of %d", len(demand), t.Len()))
	}
	var problems []error
	problem := func(err error) { problems = append(problems, bad(t.Path(Root), err)) }
	s := t.schema
	for i := range capacity.Defined.All() {
		most, _ := capacity.Bound(i)
		switch {
		case i >= s.Len():
			problem(fmt.Errorf("%w: capacity of type %d of %d", lent.ErrType, i, s.Len()))
		case most < 0:
			problem(fmt.Errorf("%w: capacity %s %s", lent.ErrNegative, s.Name(i), vectors.Text(s, i, most)))
		case !isSummable(t, demand, i):
			problem(fmt.Errorf("%w: %s is demanded by more than %s", errRange, s.Name(i), vectors.Text(s, i, math.MaxInt64)))
		}
	}
	return errors.Join(problems...)
}

// isSummable reports whether the demands of the leaves for type i sum to an int64.
func isSummable(t *Tree, demand []resources.Vector, i int) bool {
	sum := int64(0)
	for q, v := range demand {
		if x := v.At(i); x > 0 && t.IsLeaf(ID(q)) {
			if sum += x; sum < 0 {
				return false
			}
		}
	}
	return true
}

// How one type is divided: claims from the leaves up, then shares from the root
// down. Amounts never leave int64. The demands sum to an int64, so that what
// several queues want, and what they are promised and want, does too; and what
// they are promised beyond that can be cut off at the largest amount.

// A claim is what a queue has to say about one type.
type claim struct {
	want       int64 // D: the demand below it, under every max on the way
	guaranteed int64 // G: what it is promised, or those below it together
	base       int64 // B = min(D, G)
}

// An heir is a child that wants more than its base.
type heir struct {
	room   int64 // D - B, above 0
	weight int64
	at     int // its place among the children
}

// resize returns s with length n, in its own memory if that suffices. The
// contents are arbitrary.
func resize[E any](s []E, n int) []E { return slices.Grow(s[:0], n)[:n] }

// claim computes the claims of type i, and reports whether it is scarce: whether what all
// want does not fit under a max or into the capacity. A leaf wants no more than its max.
// Children come after their parent in tree order, so that going backwards each queue is
// complete once it is reached.
func (f *FairShares) claim(i int, demand []resources.Vector, capacity int64) (scarce bool) {
	t := f.tree
	clear(f.claims)
	for q := ID(t.Len() - 1); q >= Root; q-- {
		x := &f.claims[q]
		if t.IsLeaf(q) && int(q) < len(demand) {
			x.want = max(demand[q].At(i), 0)
		}
		if most, ok := t.Max(q).Bound(i); ok {
			scarce = scarce || x.want > most && !t.IsLeaf(q)
			x.want = min(x.want, most)
		}
		own, _ := t.Guaranteed(q).Bound(i)
		x.guaranteed = max(x.guaranteed, own)
		x.base = min(x.want, x.guaranteed)
		if q != Root {
			up := &f.claims[t.parents[q]]
			up.want += x.want
			up.guaranteed = sat.Add(up.guaranteed, x.guaranteed)
		}
	}
	return scarce || f.claims[Root].want > capacity
}

// deal divides the share of q in type i among its children.
func (f *FairShares) deal(q ID, i int) {
	t := f.tree
	row := func(c ID) *int64 { return &f.dealt[int(c)*t.schema.Len()+i] }
	share := *row(q)

	f.by, f.heirs = f.by[:0], f.heirs[:0]
	var wants, bases int64
	for c := q + 1; c < t.end(q); c = t.end(c) {
		x := &f.claims[c]
		if x.want > x.base {
			f.heirs = append(f.heirs, heir{x.want - x.base, int64(t.policies[c].Weight), len(f.by)})
		}
		wants += x.want
		bases += x.base
		f.by = append(f.by, x.base)
	}
	switch {
	case share >= wants:
		f.parts = append(f.parts[:0], f.by...)
		for _, h := range f.heirs {
			f.parts[h.at] += h.room
		}
	case share >= bases:
		f.level(share - bases)
	default:
		f.parts = f.divider.Divide(f.parts, share, f.by)
	}
	at := 0
	for c := q + 1; c < t.end(q); c = t.end(c) {
		*row(c) = f.parts[at]
		at++
	}
}

// level sets the parts of the children to their bases, which are in f.by, and
// fills the heirs up to a common level with rest, which is less than their room.
func (f *FairShares) level(rest int64) {
	// At level l an heir has weight * l or is full. They become full in the order
	// of room / weight.
	slices.SortFunc(f.heirs, func(a, b heir) int {
		return wide.CmpRatio(uint64(a.room), uint64(a.weight), uint64(b.room), uint64(b.weight))
	})
	total := int64(0)
	for _, h := range f.heirs {
		total += h.weight
	}
	bases := append(f.parts[:0], f.by...)
	clear(f.by)
	// Invariant: heirs that are not full share rest by their weights, whose sum is
	// total. It never becomes 0, for rest is less than the room of all.
	for _, h := range f.heirs {
		if wide.CmpRatio(uint64(h.room), uint64(h.weight), uint64(rest), uint64(total)) > 0 {
			f.by[h.at] = h.weight
			continue // and so do all that follow
		}
		bases[h.at] += h.room
		rest -= h.room
		total -= h.weight
	}
	f.extra = f.divider.Divide(f.extra, rest, f.by)
	for at, more := range f.extra {
		bases[at] += more
	}
	f.parts = bases
}

// cut makes the shares of what was dealt: no leaf keeps of a scarce type more than its
// tightest one lets it use, but for what it is promised. (DESIGN.md, Shares: cut.)
func (f *FairShares) cut(demand []resources.Vector) {
	t := f.tree
	f.shares = append(f.shares[:0], f.dealt...)
	if bits.OnesCount64(uint64(f.scarce)) < 2 {
		return
	}
	for q := ID(t.Len() - 1); q >= Root; q-- {
		row := t.row(f.shares, q)
		if !t.IsLeaf(q) {
			// Children come after their parent, so that they are done.
			for i := range f.scarce.All() {
				row[i] = 0
				for c := range t.Children(q) {
					row[i] += t.row(f.shares, c)[i]
				}
			}
			continue
		}
		if int(q) < len(demand) {
			f.cutLeaf(q, demand[q])
		}
	}
}

// cutLeaf cuts the shares of a leaf.
func (f *FairShares) cutLeaf(q ID, demand resources.Vector) {
	t := f.tree
	dealt, row, tightest := t.row(f.dealt, q), t.row(f.shares, q), -1
	for u := range f.scarce.All() {
		if demand.At(u) > 0 && (tightest < 0 ||
			wide.CmpRatio(uint64(dealt[u]), uint64(demand[u]), uint64(dealt[tightest]), uint64(demand[tightest])) < 0) {
			tightest = u
		}
	}
	if tightest < 0 {
		return
	}
	for i := range f.scarce.All() {
		d := max(demand.At(i), 0)
		// Nobody is dealt more than it demands, so the quotient is at most d.
		quo, rem := wide.MulDiv(uint64(dealt[tightest]), uint64(d), uint64(demand[tightest]))
		base, _ := t.Guaranteed(q).Bound(i)
		base = min(base, d)
		if most, ok := t.Max(q).Bound(i); ok {
			base = min(base, most)
		}
		row[i] = min(row[i], max(base, int64(quo+min(rem, 1))))
	}
}
