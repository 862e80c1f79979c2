// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"math/bits"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An Auditor says what is wrong with an outcome, whoever made it. It shares no code with
// the [Enforcer]. Only Cluster must be set.
type Auditor struct {
	Cluster *victims.Cluster
	victims.Options
	Miss Miss // as the enforcer's

	charge victims.Charge
	tree   *queue.Tree
	o      *Outcome
	types  int
	target resources.Vector // what usage has over the max of the outcome
	taken  []int64          // by the victims, a row of amounts per queue
	counts []int            // of the victims per leaf
	most   []int64          // what each queue can release, a row of amounts per queue
	parts  []int64          // as the outcome says, likewise
}

// Audit appends to dst what is wrong with outcome o before any of it is applied, in a
// fixed order, as [victims.Auditor.Audit] does. It judges queue, max, amounts, result,
// victims, parts and leaves. The cost is linear in queues·types and victims·depth·types,
// or in tasks·depth·types if usage stays over.
func (a *Auditor) Audit(dst []victims.Violation, o *Outcome) []victims.Violation {
	a.tree, a.o = a.Cluster.Tree(), o
	defer func() { a.tree, a.o = nil, nil }()
	a.types = a.tree.Schema().Len()
	a.target = rows.Zeros(a.target, a.types)
	known := 0 <= o.Queue && int(o.Queue) < a.tree.Len()
	for t := range a.types {
		if most, ok := o.Max.Bound(t); ok && known {
			a.target[t] = max(a.used(o.Queue, t)-most, 0)
		}
	}
	ch := &a.charge
	ch.Of, ch.Cluster, ch.Ask.Queue, ch.Victims, ch.Laws = "quota", a.Cluster, o.Queue, o.Victims, a.said
	ch.Now = o.At
	ch.Target, ch.NeverOvershoot, ch.Enforced = a.target, a.NeverOvershoot, a.Enforced
	if dst = ch.Audit(dst); known {
		dst = a.shares(dst)
		dst = a.leaves(dst)
	}
	return dst
}

// used returns the effective usage of q of type t before the plan.
func (a *Auditor) used(q queue.ID, t int) int64 {
	return a.tree.Usage(q)[t] - a.tree.Leaving(q)[t]
}

// gone returns what the victims free of type t below q.
func (a *Auditor) gone(q queue.ID, t int) int64 { return a.taken[int(q)*a.types+t] }

// short returns what of the target is left of type t.
func (a *Auditor) short(t int) int64 { return max(a.target[t]-a.gone(a.o.Queue, t), 0) }

// atQueue appends a law that amounts of a queue break.
func (a *Auditor) atQueue(dst []victims.Violation, v victims.Violation, q queue.ID, t int) []victims.Violation {
	v.Of, v.Queue, v.Type = "quota", a.tree.Path(q), a.tree.Schema().Name(t)
	return append(dst, v)
}

// said appends what the outcome says of itself and is not so, given the victims that count.
func (a *Auditor) said(dst []victims.Violation, gone []victims.TaskID) []victims.Violation {
	o, q := a.o, a.o.Queue
	overrun := a.count(gone)
	for _, amounts := range [...]struct {
		law  string
		said resources.Vector
		is   func(t int) int64
	}{
		{finding.LawUsage, o.Usage, func(t int) int64 { return a.used(q, t) }},
		{finding.LawTarget, o.Target, func(t int) int64 { return a.target[t] }},
		{finding.LawFreed, o.Freed, func(t int) int64 { return a.gone(q, t) }},
		{finding.LawShort, o.Shortfall, a.short},
	} {
		for t := range a.types {
			if have, want := amounts.said.At(t), amounts.is(t); have != want {
				dst = append(dst, victims.Violation{Law: amounts.law, Type: a.tree.Schema().Name(t), Have: have, Want: want})
			}
		}
	}
	if o.Result != a.result() {
		dst = append(dst, victims.Violation{Law: finding.LawResult})
	}
	if o.Overrun != overrun {
		dst = append(dst, victims.Violation{Law: finding.LawOverrun, Have: o.Overrun, Want: overrun})
	}
	return dst
}

// count adds up what the victims free, and returns by how much they overrun soft budgets.
func (a *Auditor) count(gone []victims.TaskID) (overrun int64) {
	a.taken, a.counts = rows.Zeros(a.taken, a.types*a.tree.Len()), rows.Zeros(a.counts, a.tree.Len())
	spent := make(map[string]int64)
	for _, id := range gone {
		t := a.Cluster.TaskView(id)
		a.counts[t.Queue]++
		for q := range a.tree.Ancestors(t.Queue) {
			taken := rows.At(a.taken, int(q), a.types)
			resources.Add(taken, taken, t.Size)
		}
		for _, name := range t.Budgets {
			spent[name]++
		}
	}
	for name, b := range a.Cluster.Budgets() {
		if !b.Hard {
			overrun += max(0, spent[name]-max(0, b.Left))
		}
	}
	return overrun
}

// result returns the word for it all.
func (a *Auditor) result() string {
	shortfall := make(resources.Vector, a.types)
	for t := range a.types {
		shortfall[t] = a.short(t)
	}
	switch {
	case resources.IsZero(shortfall):
		return met
	case a.Miss.Allows(shortfall, a.target):
		return metWithinMiss
	case len(a.o.Victims) > 0:
		return partial
	}
	return impossible
}

// shares appends what is wrong with how the target was divided: with the parts of the first
// round, from the queue downwards.
func (a *Auditor) shares(dst []victims.Violation) []victims.Violation {
	q := a.o.Queue
	a.most, a.parts = rows.Zeros(a.most, a.types*a.tree.Len()), rows.Zeros(a.parts, a.types*a.tree.Len())
	for p := trees.End(a.tree, q) - 1; p >= q; p-- {
		a.release(p)
	}
	last := q
	for _, p := range a.o.Parts {
		if p.Queue <= last || p.Queue >= trees.End(a.tree, q) {
			return append(dst, victims.Violation{Of: "quota", Law: finding.LawParts})
		}
		last = p.Queue
		for t := range a.types {
			a.parts[int(p.Queue)*a.types+t] = p.Amount.At(t)
		}
	}
	for t := range a.types {
		a.parts[int(q)*a.types+t] = min(a.target[t], a.most[int(q)*a.types+t])
		for p := q; p < trees.End(a.tree, q); p++ {
			dst = a.divided(dst, p, t)
		}
	}
	return dst
}

// release works out what a queue can release: its surplus, and no more than its children
// can.
func (a *Auditor) release(p queue.ID) {
	if p != a.o.Queue && a.Enforced != nil && a.Enforced(p) {
		return
	}
	for t := range a.types {
		most := a.used(p, t)
		if g, ok := a.tree.Guaranteed(p).Bound(t); ok {
			most -= min(g, most)
		}
		if !a.tree.IsLeaf(p) {
			most = min(most, a.sum(a.most, p, t))
		}
		a.most[int(p)*a.types+t] = most
	}
}

// sum returns what the children of p have of type t in a block.
func (a *Auditor) sum(block []int64, p queue.ID, t int) (sum int64) {
	for c := range a.tree.Children(p) {
		sum += block[int(c)*a.types+t]
	}
	return sum
}

// divided appends the children of p whose part of type t is not within one unit of their
// share, or above what they can release; and p if they do not sum to its part.
func (a *Auditor) divided(dst []victims.Violation, p queue.ID, t int) []victims.Violation {
	if a.tree.IsLeaf(p) {
		return dst
	}
	whole, total := a.parts[int(p)*a.types+t], a.sum(a.most, p, t)
	if have := a.sum(a.parts, p, t); have != whole {
		dst = a.atQueue(dst, victims.Violation{Law: finding.LawParts, Have: have, Want: whole}, p, t)
	}
	for c := range a.tree.Children(p) {
		part, most := a.parts[int(c)*a.types+t], a.most[int(c)*a.types+t]
		if part < 0 || part > most || !near(part, whole, most, total) {
			dst = a.atQueue(dst, victims.Violation{Law: finding.LawParts, Have: part, Want: most}, c, t)
		}
	}
	return dst
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

// leaves appends what the outcome says of leaves and is not so.
func (a *Auditor) leaves(dst []victims.Violation) []victims.Violation {
	last := a.o.Queue - 1
	for i := range a.o.Leaves {
		l := &a.o.Leaves[i]
		if l.Queue <= last || l.Queue >= trees.End(a.tree, a.o.Queue) || !a.tree.IsLeaf(l.Queue) {
			return append(dst, victims.Violation{Of: "quota", Law: finding.LawLeaf})
		}
		last = l.Queue
		if a.counts[l.Queue] != l.Victims {
			dst = append(dst, victims.Violation{Of: "quota", Law: finding.LawLeaf, Queue: a.tree.Path(l.Queue)})
		}
		for t := range a.types {
			have, want := l.Freed.At(t), a.gone(l.Queue, t)
			if have != want {
				dst = a.atQueue(dst, victims.Violation{Law: finding.LawLeaf, Have: have, Want: want}, l.Queue, t)
			}
			if most := l.Asked.At(t); a.NeverOvershoot && a.target[t] > 0 && want > most {
				dst = a.atQueue(dst, victims.Violation{Law: finding.LawExact, Have: want, Want: most}, l.Queue, t)
			}
		}
	}
	return dst
}
