package victims

import (
	"time"

	"github.com/go-preempt/preempt/queue"
)

// A gate says whether an ask may trigger preemption at all.
type gate struct{ *decision }

// precondition refuses an ask that must not trigger preemption, the cheapest
// reason first, and reports whether it did. For a required node neither delay
// nor guarantees count. (DESIGN.md, The decision.)
func (d gate) precondition(dst *Decision) bool {
	// Refusals that need no look at tasks come first. Their order is part of
	// what is promised: of two reasons the first is told.
	switch {
	case d.required() && len(d.nodes) == 0:
		d.refuse(dst, UnknownNode)
		return true
	case d.ask.MayNot && !d.without.rule(RelaxMayNot):
		d.refuse(dst, MayNotPreempt)
		return true
	case d.early(dst):
		return true
	case d.overMax(dst):
		return true
	case d.required():
		return false
	}
	if q, t, lawful := d.trigger(); !lawful {
		d.refuseTrigger(dst, q, t)
		return true
	}
	return d.headroomInside(dst)
}

// early refuses an ask that is not pending for long enough, or for which
// preemption was tried too recently. RetryAt is the time at which neither is so.
func (d gate) early(dst *Decision) bool {
	reason := Reason(0)
	var retry time.Time
	if !d.required() && !d.without.rule(RelaxDelay) {
		// At the very end of the delay the ask may preempt. The zero time is
		// long ago, so that an ask without one never waits.
		if end := d.ask.PendingSince.Add(d.tree.PreemptionDelay(d.ask.Queue)); d.now.Before(end) {
			reason, retry = TooEarly, end
		}
	}
	if d.p.Interval > 0 && !d.ask.LastAttempt.IsZero() && !d.without.rule(RelaxInterval) {
		if end := d.ask.LastAttempt.Add(d.p.Interval); d.now.Before(end) {
			if reason == 0 {
				reason = TooSoon
			}
			// Both must have passed, and so the later one is told.
			if retry.Before(end) {
				retry = end
			}
		}
	}
	if reason == 0 {
		return false
	}
	d.refuse(dst, reason)
	dst.Refusal.RetryAt = retry
	return true
}

// overMax refuses if a queue on the path is over its max already in a type
// that the ask wants: bringing it back is the business of package quota.
func (d gate) overMax(dst *Decision) bool {
	for q := range d.tree.Up(d.ask.Queue) {
		most := d.max(q)
		for t := range most.Defined.All() {
			// Coming usage: what is leaving will have left by the time the ask
			// starts.
			if usageAt(d.tree, q, t, coming) > most.Value[t] {
				d.refuseAt(dst, OverMax, q, t)
				return true
			}
		}
	}
	return false
}

// trigger notes E and reports whether law 4 lets the ask preempt. If not, q and
// t say which queue is at its guarantee; without any governing queue t is -1.
func (d gate) trigger() (q queue.ID, t int, lawful bool) {
	x := d.findE()
	// A type that no queue of the path guarantees gives no right to anything.
	// DESIGN.md, Preconditions.
	if !x.Governed && !d.without.rule(RelaxUngoverned) {
		return 0, -1, false
	}
	for t := range x.Met.All() {
		if q, _ := d.tree.Governing(d.ask.Queue, t); !d.without.queue(RelaxTrigger, q) {
			return q, t, false
		}
	}
	// Without storm freedom nothing is inside: that is what Explain tries.
	d.hasE = d.hasE && !d.without.rule(RelaxInside)
	return 0, 0, true
}

// refuseTrigger refuses for law 4.
func (d gate) refuseTrigger(dst *Decision, q queue.ID, t int) {
	if t < 0 {
		d.refuse(dst, NotGuaranteed)
		return
	}
	d.refuseAt(dst, OverGuarantee, q, t)
}

// findE notes E, the needy queue, and returns what the guarantees say.
func (d gate) findE() queue.Trigger {
	x := d.tree.Trigger(d.ask.Queue, d.wants)
	d.starving, d.hasE = x.Needy, x.Governed
	return x
}

// headroomInside refuses if a max at E or below it is short: only victims
// inside E could make room there, and those would leave E as starved as it is.
func (d gate) headroomInside(dst *Decision) bool {
	if !d.hasE {
		return false
	}
	for q := range d.tree.Up(d.ask.Queue) {
		most := d.max(q)
		for t := range most.Defined.All() {
			if usageAt(d.tree, q, t, coming)+d.size[t] > most.Value[t] {
				d.refuseAt(dst, HeadroomInside, q, t)
				return true
			}
		}
		// Above E others can make room, and that is what victims are for.
		if q == d.starving {
			break
		}
	}
	return false
}

func (d gate) refuseAt(dst *Decision, r Reason, q queue.ID, t int) {
	d.refuse(dst, r)
	dst.Refusal.Queue, dst.Refusal.Type = q, t
}
