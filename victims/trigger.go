package victims

import "github.com/go-preempt/preempt/internal/trigger"

// A gate says whether an ask may trigger preemption at all. What it asks is in package
// trigger, which jobs ask as well.
type gate struct{ *decision }

// reasonOf are the obstacles as reasons.
var reasonOf = [...]Reason{
	trigger.MayNot:         MayNotPreempt,
	trigger.Early:          TooEarly,
	trigger.Soon:           TooSoon,
	trigger.OverMax:        OverMax,
	trigger.NotGuaranteed:  NotGuaranteed,
	trigger.OverGuarantee:  OverGuarantee,
	trigger.HeadroomInside: HeadroomInside,
}

// precondition refuses an ask that must not trigger preemption, the cheapest
// reason first, and reports whether it did. For a required node neither delay
// nor guarantees count. (DESIGN.md, Preconditions.)
func (d gate) precondition(dst *Decision) bool {
	if d.required() && len(d.nodes) == 0 {
		d.refuse(dst, UnknownNode)
		return true
	}
	a := d.asks().Ask()
	if !d.required() {
		d.trigger()
	}
	if a.Obstacle == 0 {
		return false
	}
	d.refuse(dst, reasonOf[a.Obstacle])
	dst.Refusal.Queue, dst.Refusal.Type, dst.Refusal.RetryAt = a.Queue, a.Type, a.RetryAt
	return true
}

// asks returns what the ask has to say at the gate.
func (d gate) asks() *trigger.Case {
	c := &d.scratch.gate
	c.Tree, c.Leaf, c.Arriving, c.OnNode = d.tree, d.ask.Queue, d.size, d.required()
	c.MayNot, c.PendingSince, c.LastAttempt = d.ask.MayNot, d.ask.PendingSince, d.ask.LastAttempt
	c.Interval, c.Now, c.Waived = d.p.Interval, d.now, nil
	if d.without.Rule != 0 {
		c.Waived = d.without.waives
	}
	return c
}

// trigger notes E, and reports whether law 4 lets the ask preempt.
func (d gate) trigger() (lawful bool) {
	x, a := d.asks().Law4()
	d.starving, d.hasE = x.Needy, x.Governed
	return a.Obstacle == 0
}
