package jobs

import "github.com/go-preempt/preempt/victims"

// This file audits whether the job may preempt at all.

func (x *audit) byPriority() bool { return x.a.Trigger == ByPriority }

// priority yields the members that run at another raw priority than their job has: then
// two jobs could take each other's members for ever. What runs is the caller's to say.
func (x *audit) priority(yield func(Violation) bool) {
	if x.a.trusts {
		return
	}
	for i := range x.job.Members {
		key := x.job.Members[i].Key
		id, ok := x.c.Lookup(key)
		if !ok || x.standing(key) != placedMember {
			continue
		}
		if have := x.c.TaskView(id).Priority; have != x.job.Priority &&
			!yield(Violation{Law: LawMember, Member: key, Have: int64(have), Want: int64(x.job.Priority)}) {
			return
		}
	}
}

// precondition yields what forbids the job to have victims now.
func (x *audit) precondition(yield func(Violation) bool) {
	if x.job.MayNot && !yield(Violation{Law: LawMayPreempt}) || x.byPriority() {
		return
	}
	pending, delay := x.now.Sub(x.job.PendingSince), x.tree.PreemptionDelay(x.job.Queue)
	if pending < delay && !yield(Violation{Law: LawDelay, Have: int64(pending), Want: int64(delay)}) {
		return
	}
	since := x.now.Sub(x.job.LastAttempt)
	if x.a.Interval > 0 && !x.job.LastAttempt.IsZero() && since < x.a.Interval &&
		!yield(Violation{Law: LawInterval, Have: int64(since), Want: int64(x.a.Interval)}) {
		return
	}
	if x.a.OwnLeaf == victims.OwnNever && !x.underMaxima(yield) {
		return
	}
	// With the option, tasks of the own leaf may go whatever its guarantee says. So law 4
	// is asked about the others only.
	if x.a.OwnLeaf == victims.OwnNever || x.takesFromOthers() {
		x.under(yield)
	}
}

// underMaxima yields the queues of the path that are over their max already in a type
// that the job wants. With the option of the own leaf its tasks make headroom there.
func (x *audit) underMaxima(yield func(Violation) bool) bool {
	for q := range x.tree.Up(x.job.Queue) {
		most := x.tree.Max(q)
		for t := range most.Defined.All() {
			m, _ := most.Bound(t)
			if e := x.usage(q, t); x.asked[t] > 0 && e > m && !yield(ofQueue(LawMax, q, t, e, m)) {
				return false
			}
		}
	}
	return true
}

// takesFromOthers reports whether some victim is of another leaf.
func (x *audit) takesFromOthers() bool {
	for i := range x.plan.Victims {
		if id, ok := x.c.Lookup(x.plan.Victims[i].Key); ok && x.c.TaskView(id).Queue != x.job.Queue {
			return true
		}
	}
	return false
}

// under yields why law 4 does not let the job have victims of other leaves: no type is
// governed, or a governing queue is not under its guarantee once all members but the
// largest have come. It notes E, the lowest governing queue.
func (x *audit) under(yield func(Violation) bool) {
	if !x.starving {
		yield(Violation{Law: LawTrigger})
		return
	}
	for t, all := range x.asked {
		q, ok := x.tree.Governing(x.job.Queue, t)
		if all <= 0 || !ok {
			continue
		}
		largest := int64(0)
		for _, at := range x.plan.Placements {
			if !at.Further {
				largest = max(largest, x.job.Members[at.Member].Size.At(t))
			}
		}
		g, _ := x.tree.Guaranteed(q).Bound(t)
		if have := capped(x.usage(q, t), all-largest); have >= g && !yield(ofQueue(LawTrigger, q, t, have, g)) {
			return
		}
	}
}

// findNeedy notes E, the lowest queue that governs a type of the members that are placed.
func (x *auditCase) findNeedy() {
	x.starving = false
	for t, all := range x.asked {
		if q, ok := x.tree.Governing(x.job.Queue, t); all > 0 && ok && (!x.starving || q > x.inside) {
			x.inside, x.starving = q, true
		}
	}
}
