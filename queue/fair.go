package queue

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// FairShares divides a capacity among the queues of a tree: by what they demand,
// by what they are guaranteed, and by their weights ([PropertyFairWeight]). Its
// zero value is ready for use. Its memory is reused, so that [FairShares.Divide]
// allocates nothing once it has seen a tree of that size.
//
// Use it if guarantees are to follow demand, as the fair or deserved shares of
// other schedulers do. Keep a tree with the guarantees of the configuration, and
// divide by that one. Then set the shares as the guarantees of the tree that
// plans are made with: see [FairShares.SetGuarantees].
//
// All plans then keep the laws, and none is made for ever, as long as the shares
// stay the same. They do on a fixed workload, if the demand of a leaf counts all
// that runs there and all that waits, what was stopped for others included. Shares
// of what happens to wait at the moment give no such promise. (DESIGN.md, Fair shares.)
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
	divider resources.Divider
}

// Divide computes the share of every queue in the types of capacity. Each type is
// dealt on its own. A type that capacity does not define plays no part.
//
// demand has what each leaf wants, by the leaf's ID: what runs there and what
// waits. What is not there is zero, and less than zero counts as zero. Rows of
// queues with children are ignored. A leaf is never given more than its max, and
// what it wants beyond that counts nowhere.
//
// For a queue q let D(q) be its demand: that of a leaf is given, and that of
// another queue is the sum of its children's. Both are capped by the max of q.
// Let G(q) be its guarantee, or the sum of its children's G if that is more. Then
// B(q) = min(D(q), G(q)) is what q is promised and wants.
//
// The share of the root is min(D, capacity). A share S is dealt to the children:
//
//   - If S covers the sum of their B, each gets its B. The rest is dealt in
//     proportion to the weights, and what a child cannot use goes to the others:
//     with the largest level l such that the sum of min(weight * l, D - B) is at
//     most the rest.
//   - Otherwise each gets S * B / sum of B.
//
// Then a leaf is cut to what it can use. Its scarce types are of use only together, in
// the proportion in which it demands them: a task that lacks one of them does not run. So
// of the scarce types that a leaf demands the one of which it was dealt the least part of
// its demand says how much of the others it keeps: that part of their demand, rounded up,
// and never less than its B. Here the demand is as it was given, before the max of the
// leaf. What is cut is owed to nobody, and the share of a queue with children is what they
// have together. A leaf whose tasks are of two kinds, some with and some without a scarce
// type, should be two leaves: a share of 0 of one type makes the others 0.
//
// Units are whole. They go by largest remainder of the exact fractions, among
// equals in tree order. Nothing is computed in floating point.
//
// A bound of capacity that is negative, or of a type that the tree does not have,
// and demands of one type that sum to more than an int64 are errors. They are
// joined, each is a [*Problem], and the shares stay what they were. A demand for
// more queues than the tree has, and a tree without queues are a caller's bug:
// Divide panics. The cost is types times queues, and sorting the children of
// each queue.
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
		f.claim(i, demand)
		most, _ := capacity.Bound(i)
		f.dealt[i] = min(f.claims[Root].want, most)
		for q := Root; int(q) < t.Len(); q++ {
			switch {
			case !t.IsLeaf(q):
				f.deal(q, i)
			case f.dealt[int(q)*n+i] < f.claims[q].want:
				f.scarce = f.scarce.With(i)
			}
		}
	}
	f.cut(demand)
	return nil
}

// Of returns the share of q, as a view that the next Divide changes. It is
// defined in exactly the types of the capacity.
func (f *FairShares) Of(q ID) resources.Limit {
	return resources.Limit{Value: f.row(q), Defined: f.types}
}

// Dealt returns what q was dealt, before its leaves were cut to what they can use: a view
// as [FairShares.Of] returns one. Use it to tell somebody why a share is less.
func (f *FairShares) Dealt(q ID) resources.Limit {
	f.row(q)
	return resources.Limit{Value: f.tree.row(f.dealt, q), Defined: f.types}
}

// Scarce returns the types of which some leaf is dealt less than it wants. What a
// leaf wants beyond its own max does not count.
func (f *FairShares) Scarce() resources.Mask { return f.scarce }

// Guarantee returns what q is to be guaranteed while plans are made, as a view
// that the next Divide changes: the share of a leaf in the scarce types, and
// nothing for any other queue.
//
// In a type that is not scarce every leaf has all that it wants. A guarantee of
// that much would forbid every plan, and nobody needs one. The same holds for
// the queues above the leaves if the cluster is full.
func (f *FairShares) Guarantee(q ID) resources.Limit {
	row := f.row(q)
	if !f.tree.IsLeaf(q) {
		return resources.Limit{}
	}
	return resources.Limit{Value: row, Defined: f.scarce}
}

// SetGuarantees sets the guarantee of every queue of t to [FairShares.Guarantee].
//
// t is a clone of the tree that was divided, or another one of the same queues and
// types. It is not that tree itself, for the next Divide needs the guarantees of
// the configuration: SetGuarantees panics then. A tree of a cluster is changed
// through the cluster. It is an error if t belongs to another owner, and if a share
// is above what t allows because a max was lowered since: see [Tree.SetGuaranteed].
// All errors are joined, and then nothing changes. The cost is queues times types.
func (f *FairShares) SetGuarantees(t *Tree) error {
	switch {
	case f.tree == nil:
		panic("queue: FairShares are used before Divide")
	case t.Len() != f.tree.Len() || t.schema.Len() != f.tree.schema.Len():
		panic("queue: SetGuarantees of a tree with other queues or types than the one that was divided")
	case &t.guaranteed.defined[Root] == &f.tree.guaranteed.defined[Root]: // it, or a tree that shows it
		panic("queue: SetGuarantees of the tree that was divided: its own guarantees would be lost: see Tree.Clone")
	}
	if t.owned {
		return &Problem{Queue: t.Path(Root), Err: ErrOwned}
	}
	if err := f.checkGuarantees(t); err != nil {
		return err
	}
	for q := range t.All() {
		t.guaranteed.set(t.schema, q, f.Guarantee(q))
	}
	return nil
}

// checkGuarantees returns what New would find wrong with t if the shares were its
// guarantees.
func (f *FairShares) checkGuarantees(t *Tree) error {
	var problems []error
	promised := func(q ID) promise { return promise{t.names[q], f.Guarantee(q), t.Max(q)} }
	for q := range t.All() {
		list := badBounds(t.schema, promised(q))
		if t.strict && !t.IsLeaf(q) {
			var children []promise
			for c := range t.Children(q) {
				children = append(children, promised(c))
			}
			list = append(list, overCommitted(t.schema, promised(q), children)...)
		}
		for _, err := range list {
			problems = append(problems, &Problem{Queue: t.Path(q), Err: err})
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
	problem := func(err error) { problems = append(problems, &Problem{Queue: t.Path(Root), Err: err}) }
	s := t.schema
	for i := range capacity.Defined.All() {
		most, _ := capacity.Bound(i)
		switch {
		case i >= s.Len():
			problem(fmt.Errorf("%w: capacity of type %d of %d", ErrType, i, s.Len()))
		case most < 0:
			problem(fmt.Errorf("%w: capacity %s %s", ErrNegative, s.Name(i), s.Amount(i, most)))
		case !isSummable(t, demand, i):
			problem(fmt.Errorf("%w: %s is demanded by more than %s", ErrRange, s.Name(i), s.Amount(i, math.MaxInt64)))
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

// claim computes the claims of type i. Children come after their parent in tree
// order, so that going backwards each queue is complete once it is reached.
func (f *FairShares) claim(i int, demand []resources.Vector) {
	t := f.tree
	clear(f.claims)
	for q := ID(t.Len() - 1); q >= Root; q-- {
		x := &f.claims[q]
		if t.IsLeaf(q) && int(q) < len(demand) {
			x.want = max(demand[q].At(i), 0)
		}
		if most, ok := t.Max(q).Bound(i); ok {
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
}

// deal divides the share of q in type i among its children.
func (f *FairShares) deal(q ID, i int) {
	t := f.tree
	row := func(c ID) *int64 { return &f.dealt[int(c)*t.schema.Len()+i] }
	share := *row(q)

	f.by, f.heirs = f.by[:0], f.heirs[:0]
	var wants, bases int64
	for c := q + 1; c < t.ends[q]; c = t.ends[c] {
		x := &f.claims[c]
		if x.want > x.base {
			f.heirs = append(f.heirs, heir{x.want - x.base, int64(t.policies[c].weight), len(f.by)})
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
	for c := q + 1; c < t.ends[q]; c = t.ends[c] {
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
	if f.scarce.Len() < 2 {
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
