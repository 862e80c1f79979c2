// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"github.com/go-preempt/preempt/victims"
)

// decide asks the planner about a pod that is pending or holds a grant, and
// does what it says.
func (x *player) decide(i int32) error {
	if err := x.share(); err != nil {
		return err
	}
	p := &x.pods[i]
	x.ask = victims.Ask{
		Key: p.Name, Application: p.Name, Queue: p.leaf, Size: p.size,
		Priority: x.priorityOf(p.Pod), PendingSince: instant(p.since), MayNotPreempt: x.Patient, Class: int(x.index[p.Name]),
	}
	held := p.state == granted
	began := x.clock()
	if err := x.planner.Decide(&x.decision, &x.ask, instant(x.now)); err != nil {
		return err
	}
	took := x.clock() - began
	x.figures.LastSecond = x.now
	x.figures.decided(&x.decision, held)
	if x.Observe != nil {
		x.Observe(&Step{Now: x.now, Decision: &x.decision, Held: held, Took: took, Created: x.created})
	}
	if x.decision.Outcome == victims.Refused {
		x.refused(i)
		return nil
	}
	return x.carryOut(i, held)
}

func (x *player) clock() time.Duration {
	if x.Clock == nil {
		return 0
	}
	return x.Clock()
}

// instant returns a second of the trace as a time.
func instant(second int64) time.Time { return time.Unix(second, 0).UTC() }

// refused lets a pod that is too young to preempt come back when it no longer
// is.
func (x *player) refused(i int32) {
	p, r := &x.pods[i], &x.decision.Refusal
	if r.Reason != "too-early" {
		return
	}
	due := r.RetryAt.Add(time.Second - 1).Unix() // rounded up
	if p.matures != due {
		p.matures = due
		x.calendar.add(event{due, matures, i})
	}
}

// carryOut applies a plan: its victims begin to leave and the pod has its
// place, where it starts at once if there is room.
func (x *player) carryOut(i int32, held bool) error {
	p, plan := &x.pods[i], &x.decision.Plan
	x.violations = x.auditor.Audit(x.violations[:0], &x.decision, instant(x.now))
	x.figures.Laws.audited(p.Name, x.violations)
	if err := x.apply(); err != nil {
		return err
	}
	x.figures.used(x.cluster.Tree())
	for _, v := range plan.Victims {
		victim := x.index[v.Key]
		x.pods[victim].state, x.pods[victim].stopped = leaving, true
		x.calendar.add(event{x.now + x.Grace, leaves, victim})
	}
	if !held {
		x.line = without(x.line, i)
		x.granted = append(x.granted, i)
		p.state, p.placed = granted, true
	}
	if x.decision.Outcome != victims.Fits {
		return nil
	}
	x.granted = without(x.granted, i)
	p.state = running
	return x.cluster.Start(p.Name, instant(x.now))
}

// apply applies the decision. A plan with victims is watched.
func (x *player) apply() error {
	if len(x.decision.Plan.Victims) == 0 {
		return x.cluster.Apply(&x.decision)
	}
	return x.watch.plan(func() error { return x.cluster.Apply(&x.decision) })
}
