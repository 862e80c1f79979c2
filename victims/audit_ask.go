package victims

import (
	"math"

	"github.com/go-preempt/preempt/queue"
)

// This file audits what a plan says of its ask, and whether the ask may
// preempt at all.

// wellFormed yields what keeps the plan from being one.
func (x *audit) wellFormed(yield func(Violation) bool) {
	// Without a key no grant could be found again, and a task's key would make
	// it its own victim.
	if _, taken := x.c.Lookup(x.ask.Key); (taken || x.ask.Key == "") && !yield(Violation{Law: LawKey}) {
		return
	}
	q := x.ask.Queue
	switch {
	// An ID of no queue has no name to report.
	case q < 0 || int(q) >= x.tree.Len():
		if !yield(Violation{Law: LawLeaf}) {
			return
		}
	case !x.tree.IsLeaf(q):
		if !yield(Violation{Law: LawLeaf, Queue: q, HasQueue: true}) {
			return
		}
	}
	for i, v := range x.ask.Size {
		// With the ask, usage must stay in range; a type that the schema does not
		// have has no room.
		most := int64(0)
		if i < len(x.size) {
			most = math.MaxInt64 - x.present(queue.Root, i)
		}
		if (v < 0 || v > most) && !yield(Violation{Law: LawSize, Type: i, HasType: true, Have: v, Want: most}) {
			return
		}
	}
	// By going through them: a row number says nothing, for rows are used
	// again.
	for id := range x.c.Nodes() {
		if id == x.plan.Node {
			return
		}
	}
	yield(Violation{Law: LawNode})
}

// precondition yields what forbids the ask to have victims now.
func (x *audit) precondition(yield func(Violation) bool) {
	if x.ask.MayNot && !yield(Violation{Law: LawMayPreempt}) {
		return
	}
	// An ask that requires its node has waited long enough: nothing else can
	// ever serve it.
	pending, delay := x.now.Sub(x.ask.PendingSince), x.tree.PreemptionDelay(x.ask.Queue)
	if !x.required() && pending < delay &&
		!yield(Violation{Law: LawDelay, Have: int64(pending), Want: int64(delay)}) {
		return
	}
	since := x.now.Sub(x.ask.LastAttempt)
	if x.a.Interval > 0 && !x.ask.LastAttempt.IsZero() && since < x.a.Interval &&
		!yield(Violation{Law: LawInterval, Have: int64(since), Want: int64(x.a.Interval)}) {
		return
	}
	if x.second {
		return // the tasks of the own leaf make headroom at every queue of the path
	}
	for q := range x.tree.Up(x.ask.Queue) {
		most := x.tree.Max(q)
		for i := range (most.Defined & x.wants).All() {
			m, _ := most.Bound(i)
			if e := x.usage(q, i); e > m && !yield(ofQueue(LawMax, q, i, e, m)) {
				return
			}
		}
	}
}

// trigger yields what forbids the ask to have victims at all.
func (x *audit) trigger(yield func(Violation) bool) {
	if !x.required() && !(x.second && x.takes.own && !x.takes.others) {
		x.under(yield)
	}
}

// under yields why law 4 does not let the ask have victims of other leaves: a
// governing queue at or over its guarantee, or no governing queue at all. Only
// the nearest definition of each type counts.
func (x *audit) under(yield func(Violation) bool) {
	// No type of the ask is governed: nobody was promised anything.
	if !x.starving {
		yield(Violation{Law: LawTrigger})
		return
	}
	for i := range x.wants.All() {
		q, ok := x.tree.Governing(x.ask.Queue, i)
		// An ungoverned type neither helps nor hinders.
		if !ok {
			continue
		}
		g, _ := x.tree.Guaranteed(q).Bound(i)
		if e := x.usage(q, i); e >= g && !yield(ofQueue(LawTrigger, q, i, e, g)) {
			return
		}
	}
}

// entitled reports whether law 4 lets the ask have victims of other leaves.
func (x *audit) entitled() bool {
	for range x.under {
		return false
	}
	return true
}
