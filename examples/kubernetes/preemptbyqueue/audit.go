// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"slices"
	"time"

	"k8s.io/klog/v2"

	"github.com/go-preempt/preempt/victims"
)

// audit holds the plan that was decided against the laws, by code that shares nothing
// with the planner. A plan that breaks one is told of, counted, and refused.
func (c *core) audit(now time.Time) {
	d := &c.decision
	if d.Outcome == victims.Refused {
		return
	}
	found := c.auditor.Audit(nil, d, now)
	if tell(c.log.WithValues("pod", d.Plan.Ask.Name), "Plan breaks a law", found); len(found) > 0 {
		d.Outcome, d.Refusal = victims.Refused, victims.Refusal{Reason: victims.Unlawful}
	}
}

// auditGang is audit for the gang of the cycle. The planner has had its plan audited already,
// but trusts what it is told of members that run, such as that they have its priority.
func (c *core) auditGang(now time.Time) {
	d := &c.jobDecision
	if d.Outcome == victims.Refused {
		return
	}
	found := c.jobAuditor.Audit(nil, d, now)
	if tell(c.log.WithValues("podGroup", d.Plan.Ask.Key), "Plan for a group breaks a law", found); len(found) > 0 {
		d.Outcome, d.Refusal = victims.Refused, victims.Refusal{Reason: victims.Unlawful}
	}
}

// tell counts and logs what a plan breaks.
func tell(log klog.Logger, message string, found []victims.Violation) {
	for _, v := range found {
		violations.WithLabelValues(v.Law).Inc()
		log.Error(nil, message, "violation", v)
	}
}

// settle gives the members of a gang the places that the scheduler found for them, if
// the plan is lawful with these. Otherwise the places of the plan stay, with which the
// planner has audited it: with others a victim may be one too many, for example.
func (c *core) settle(places map[string]string, now time.Time) {
	d := &c.jobDecision
	plan := &d.Plan
	before := slices.Clone(plan.Places)
	for i := range plan.Places {
		p := &plan.Places[i]
		place := places[plan.Ask.Members[p.Member].Key]
		if id, ok := c.cluster.LookupNode(place); ok {
			p.Node, p.NodeName = id, place
		}
	}
	if found := c.jobAuditor.Audit(nil, d, now); len(found) > 0 {
		c.log.V(2).Info("Places of the scheduler not taken", "podGroup", plan.Ask.Key, "violation", found[0])
		plan.Places = before
	}
}
