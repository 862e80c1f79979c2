// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"math/bits"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An Auditor says what is wrong with an outcome, whoever made it. It shares no code with
// the [Enforcer]. Only Cluster must be set.
type Auditor struct {
	Cluster *victims.Cluster
	Rules

	x inspection
}

// Audit appends to dst what is wrong with outcome o before any of it is applied, in a
// fixed order, as [victims.Auditor.Audit] does. It judges queue, max, amounts, result,
// victims, parts and leaves. The cost is linear in queues·types and victims·depth·types,
// or in tasks·depth·types if usage stays over.
func (a *Auditor) Audit(dst []victims.Violation, o *Outcome) []victims.Violation {
	x := &a.x
	x.a, x.c, x.tree, x.o, x.out = a, a.Cluster, a.Cluster.Tree(), o, dst
	defer func() { x.a, x.c, x.tree, x.o, x.out = nil, nil, nil, nil, nil }()
	x.run()
	return x.out
}

// inspection is one audit, and the memory for the next.
type inspection struct {
	a    *Auditor
	c    *victims.Cluster
	tree *queue.Tree
	o    *Outcome
	out  []victims.Violation

	types  int
	target []int64 // what usage has over the max of the outcome
	taken  []int64 // by the victims, a row of amounts per queue
	most   []int64 // what each queue can release, a row of amounts per queue
	parts  []int64 // as the outcome says, likewise
	listed map[victims.TaskID]bool
	counts []int            // of victims per leaf
	good   []victims.TaskID // the victims that count: known, running, below the queue, each once
	gangs  map[string]*auditedGang
}

func (x *inspection) report(v victims.Violation) {
	v.Of = "quota"
	x.out = append(x.out, v)
}

func (x *inspection) run() {
	q := x.o.Queue
	if q < 0 || int(q) >= x.tree.Len() {
		x.report(victims.Violation{Law: finding.LawQueue})
		return
	}
	x.types = x.tree.Schema().Len()
	x.taken = make([]int64, x.types*x.tree.Len())
	x.target = make([]int64, x.types)
	x.listed = make(map[victims.TaskID]bool)
	x.good = x.good[:0]
	x.gangs = make(map[string]*auditedGang)
	for t := range x.types {
		if m, ok := x.o.Max.Bound(t); ok {
			x.target[t] = max(x.used(q, t)-m, 0)
		}
	}
	x.amounts(finding.LawUsage, x.o.Usage, func(t int) int64 { return x.used(q, t) })
	x.amounts(finding.LawTarget, x.o.Target, func(t int) int64 { return x.target[t] })
	x.countGangs()
	for i := range x.o.Victims {
		x.victim(&x.o.Victims[i])
	}
	x.amounts(finding.LawFreed, x.o.Freed, func(t int) int64 { return x.gone(q, t) })
	x.amounts(finding.LawShort, x.o.Shortfall, x.short)
	x.result()
	x.guarantees()
	x.judgeGangs()
	x.judgeBudgets()
	x.set()
	x.shares()
	x.leaves()
}

// used returns the effective usage of q of type t before the plan.
func (x *inspection) used(q queue.ID, t int) int64 {
	return x.tree.Usage(q)[t] - x.tree.Preempting(q)[t]
}

// gone returns what the victims free of type t below q.
func (x *inspection) gone(q queue.ID, t int) int64 { return x.taken[int(q)*x.types+t] }

// short returns what of the target is left of type t.
func (x *inspection) short(t int) int64 { return max(x.target[t]-x.gone(x.o.Queue, t), 0) }

// amounts compares what the outcome says with what is so.
func (x *inspection) amounts(law string, said resources.Vector, is func(t int) int64) {
	for t := range x.types {
		if have, want := said.At(t), is(t); have != want {
			x.report(victims.Violation{Law: law, Type: x.tree.Schema().Name(t), Have: have, Want: want})
		}
	}
}

// result judges the word for it all.
func (x *inspection) result() {
	shortfall := make(resources.Vector, x.types)
	over, missed := false, true
	for t := range x.types {
		shortfall[t] = x.short(t)
		over = over || shortfall[t] > 0
	}
	missed = x.a.Miss.Allows(shortfall, x.target)
	want := impossible
	switch {
	case !over:
		want = met
	case missed:
		want = metWithinMiss
	case len(x.o.Victims) > 0:
		want = partial
	}
	if x.o.Result != want {
		x.report(victims.Violation{Law: finding.LawResult})
	}
}

// guarantees reports each queue and type of which less is left than law 2 lets
// be.
func (x *inspection) guarantees() {
	for q := range x.tree.All() {
		for t := range x.tree.Guaranteed(q).Defined.All() {
			if have, want := x.used(q, t)-x.gone(q, t), x.floor(q, t); have < want {
				x.report(victims.Violation{Law: finding.LawGuarantee, Queue: x.tree.Path(q), Type: x.tree.Schema().Name(t), Have: have, Want: want})
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
	over := false
	for _, id := range x.good {
		t := x.c.TaskView(id)
		if x.needed(&t) {
			continue
		}
		x.report(victims.Violation{Law: finding.LawMinimal, Victim: t.Key})
	}
	for i := range x.types {
		over = over || x.short(i) > 0
		if most := x.target[i]; x.a.Exact && most > 0 && x.gone(q, i) > most {
			x.report(victims.Violation{Law: finding.LawExact, Type: x.tree.Schema().Name(i), Have: x.gone(q, i), Want: most})
		}
	}
	if over {
		x.spared()
	}
}

// needed reports whether less of the target would be freed if a victim stayed,
// alone, or with as many members of its gang as have to stay with it.
func (x *inspection) needed(t *victims.Task) bool {
	if g := x.gang(t.Job); g != nil && g.gone > g.spare {
		return g.members[0] != t.Key || !x.comesBack(g) // told of the first member only
	}
	least, q := t.Size, x.o.Queue
	return x.any(least, func(i int) bool { return x.gone(q, i)-least[i] < min(x.target[i], x.gone(q, i)) })
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
		x.report(victims.Violation{Law: finding.LawSpared, Victim: key})
	}
}

// couldGo reports whether a task of a type of which usage stays over could go,
// too, alone or with what is left of its gang.
func (x *inspection) couldGo(t *victims.Task) bool {
	if t.State != victims.Running || t.RequiredNode {
		return false
	}
	size, budgets, ok := x.goesWith(t)
	if !ok || !x.any(size, func(i int) bool { return x.short(i) > 0 }) {
		return false
	}
	if x.a.Exact && x.any(size, func(i int) bool { return x.target[i] > 0 && size[i] > x.short(i) }) {
		return false
	}
	for q := range x.tree.Up(t.Queue) {
		g := x.tree.Guaranteed(q)
		if x.any(size, func(i int) bool { return g.Defined.Has(i) && x.used(q, i)-x.gone(q, i)-size[i] < x.floor(q, i) }) {
			return false
		}
	}
	return x.affordable(budgets)
}

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
			x.report(victims.Violation{Law: finding.LawParts})
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
		x.report(victims.Violation{Law: finding.LawParts, Queue: x.tree.Path(q), Type: x.tree.Schema().Name(t), Have: have, Want: want})
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
			x.report(victims.Violation{Law: finding.LawLeaf})
			return
		}
		last = l.Queue
		if x.counts[l.Queue] != l.Victims {
			x.report(victims.Violation{Law: finding.LawLeaf, Queue: x.tree.Path(l.Queue)})
		}
		for t := range x.types {
			have, want := l.Freed.At(t), x.gone(l.Queue, t)
			if have != want {
				x.report(victims.Violation{Law: finding.LawLeaf, Queue: x.tree.Path(l.Queue), Type: x.tree.Schema().Name(t), Have: have, Want: want})
			}
			if most := l.Asked.At(t); x.a.Exact && x.target[t] > 0 && want > most {
				x.report(victims.Violation{Law: finding.LawExact, Queue: x.tree.Path(l.Queue), Type: x.tree.Schema().Name(t), Have: want, Want: most})
			}
		}
	}
}
