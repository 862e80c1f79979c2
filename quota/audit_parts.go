package quota

import (
	"math/bits"

	"github.com/go-preempt/preempt/queue"
)

// This file audits how the target was divided.

// shares judges the parts of the first round, from the queue downwards.
func (x *inspection) shares() {
	q := x.o.Queue
	x.most = make([]int64, x.types*x.tree.Len())
	x.parts = make([]int64, x.types*x.tree.Len())
	for p := x.tree.End(q) - 1; p >= q; p-- {
		x.release(p)
	}
	last := q
	for _, p := range x.o.Parts {
		if p.Queue <= last || p.Queue >= x.tree.End(q) {
			x.report(Violation{Law: LawParts})
			return
		}
		last = p.Queue
		for t := range x.types {
			x.parts[int(p.Queue)*x.types+t] = p.Amount.At(t)
		}
	}
	for t := range x.types {
		x.parts[int(q)*x.types+t] = min(x.target[t], x.most[int(q)*x.types+t])
		for p := q; p < x.tree.End(q); p++ {
			x.divided(p, t)
		}
	}
}

// release works out what a queue can release: its surplus, and no more than its
// children can.
func (x *inspection) release(p queue.ID) {
	if p != x.o.Queue && x.a.Enforced != nil && x.a.Enforced(p) {
		return
	}
	for t := range x.types {
		most := x.used(p, t)
		if x.tree.Guaranteed(p).Defined.Has(t) {
			most -= x.floor(p, t)
		}
		if !x.tree.IsLeaf(p) {
			most = min(most, x.sum(x.most, p, t))
		}
		x.most[int(p)*x.types+t] = most
	}
}

// sum returns what the children of p have of type t in a block.
func (x *inspection) sum(block []int64, p queue.ID, t int) (sum int64) {
	for c := range x.tree.Children(p) {
		sum += block[int(c)*x.types+t]
	}
	return sum
}

// divided reports the children of p whose part of type t is not within one unit
// of their share, or above what they can release; and p if they do not sum
// to its part.
func (x *inspection) divided(p queue.ID, t int) {
	if x.tree.IsLeaf(p) {
		return
	}
	whole, total := x.parts[int(p)*x.types+t], x.sum(x.most, p, t)
	fault := func(q queue.ID, have, want int64) {
		x.report(Violation{Law: LawParts, Queue: q, HasQueue: true, Type: t, HasType: true, Have: have, Want: want})
	}
	if have := x.sum(x.parts, p, t); have != whole {
		fault(p, have, whole)
	}
	for c := range x.tree.Children(p) {
		part, most := x.parts[int(c)*x.types+t], x.most[int(c)*x.types+t]
		if part < 0 || part > most || !near(part, whole, most, total) {
			fault(c, part, most)
		}
	}
}

// near reports whether part is within less than one unit of whole*share/total.
func near(part, whole, share, total int64) bool {
	if total == 0 {
		return part == 0
	}
	hi, lo := bits.Mul64(uint64(part), uint64(total))
	wantHi, wantLo := bits.Mul64(uint64(whole), uint64(share))
	if hi < wantHi || hi == wantHi && lo < wantLo {
		hi, lo, wantHi, wantLo = wantHi, wantLo, hi, lo
	}
	lo, borrow := bits.Sub64(lo, wantLo, 0)
	hi, _ = bits.Sub64(hi, wantHi, borrow)
	return hi == 0 && lo < uint64(total)
}

// leaves judges what the outcome says of leaves.
func (x *inspection) leaves() {
	x.counts = make([]int, x.tree.Len())
	for _, id := range x.good {
		x.counts[x.c.TaskView(id).Queue]++
	}
	last := x.o.Queue - 1
	for i := range x.o.Leaves {
		l := &x.o.Leaves[i]
		if l.Queue <= last || l.Queue >= x.tree.End(x.o.Queue) || !x.tree.IsLeaf(l.Queue) {
			x.report(Violation{Law: LawLeaf})
			return
		}
		last = l.Queue
		if x.counts[l.Queue] != l.Victims {
			x.report(Violation{Law: LawLeaf, Queue: l.Queue, HasQueue: true})
		}
		for t := range x.types {
			have, want := l.Freed.At(t), x.gone(l.Queue, t)
			if have != want {
				x.report(Violation{Law: LawLeaf, Queue: l.Queue, HasQueue: true, Type: t, HasType: true, Have: have, Want: want})
			}
			if most := l.Asked.At(t); x.a.Overshoot == Exact && x.target[t] > 0 && want > most {
				x.report(Violation{Law: LawExact, Queue: l.Queue, HasQueue: true, Type: t, HasType: true, Have: want, Want: most})
			}
		}
	}
}
