package queue

import (
	"slices"

	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

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
