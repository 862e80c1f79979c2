package quota

import (
	"math/bits"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// This file audits the victims as a set, and how the target was divided.

// guarantees reports each queue and type of which less is left than law 2 lets
// be.
func (x *inspection) guarantees() {
	for q := range x.tree.All() {
		for t := range x.tree.Guaranteed(q).Defined.All() {
			if have, want := x.used(q, t)-x.gone(q, t), x.floor(q, t); have < want {
				x.report(Violation{Law: LawGuarantee, Queue: q, HasQueue: true, Type: t, HasType: true, Have: have, Want: want})
			}
		}
	}
}

// floor returns what law 2 says must be left to q of a type that it guarantees.
func (x *inspection) floor(q queue.ID, t int) int64 {
	g, _ := x.tree.Guaranteed(q).Bound(t)
	return min(g, x.used(q, t))
}

// set reports victims that can be given back, types of which too much is
// freed, and a task that was spared.
func (x *inspection) set() {
	q := x.o.Queue
	for _, id := range x.good {
		t := x.c.TaskView(id)
		// It is needed where without it less of the target would be freed.
		if !x.shared(&t, func(i int) bool { return x.gone(q, i)-t.Size[i] < min(x.target[i], x.gone(q, i)) }) {
			x.report(Violation{Law: LawMinimal, Key: t.Key})
		}
	}
	over := false
	for i := range x.types {
		over = over || x.short(i) > 0
		if most := x.target[i]; x.a.Overshoot == Exact && most > 0 && x.gone(q, i) > most {
			x.report(Violation{Law: LawExact, Type: i, HasType: true, Have: x.gone(q, i), Want: most})
		}
	}
	if over {
		x.spared()
	}
}

// spared reports the first task by key that could be taken as well.
func (x *inspection) spared() {
	var key string
	for w := range x.tree.Leaves(x.o.Queue) {
		if x.busy(w) {
			continue
		}
		for id := range x.c.TasksIn(w) {
			t := x.c.TaskView(id)
			if (key == "" || t.Key < key) && !x.listed[id] && x.couldGo(&t) {
				key = t.Key
			}
		}
	}
	if key != "" {
		x.report(Violation{Law: LawSpared, Key: key})
	}
}

// couldGo reports whether a task of a type of which usage stays over could go,
// too.
func (x *inspection) couldGo(t *victims.Task) bool {
	if t.State != victims.Running || t.RequiredNode || !x.shared(t, func(i int) bool { return x.short(i) > 0 }) {
		return false
	}
	if x.a.Overshoot == Exact && x.shared(t, func(i int) bool { return x.target[i] > 0 && t.Size[i] > x.short(i) }) {
		return false
	}
	for q := range x.tree.Up(t.Queue) {
		g := x.tree.Guaranteed(q)
		if x.shared(t, func(i int) bool { return g.Defined.Has(i) && x.used(q, i)-x.gone(q, i)-t.Size[i] < x.floor(q, i) }) {
			return false
		}
	}
	return true
}

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
// of their share, or above what they can release; and p where they do not sum
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
