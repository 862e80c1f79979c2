// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// A Subject is a decision to be made again and again.
type Subject struct {
	Planner  jobs.Planner
	Ask      victims.Ask
	Decision victims.Decision // of the last time
}

// Subject returns the decision about k units for leaf 0 of a cluster of the
// workload.
func (w W) Subject(c *victims.Cluster, k int64) *Subject {
	return &Subject{Planner: jobs.Planner{Cluster: c}, Ask: w.Ask(c, k)}
}

// Decide makes the decision at [Now].
func (s *Subject) Decide() { must(s.Planner.Decide(&s.Decision, &s.Ask, Now)) }

// Proven reports whether the decision is certain to be the best that there is.
func (s *Subject) Proven() bool {
	if s.Decision.Outcome == victims.Refused {
		return s.Decision.Refusal.Proven
	}
	return s.Decision.Plan.Proof == victims.ProofCost
}

// Steps returns the elementary steps that the decision took.
func (s *Subject) Steps() int64 {
	if s.Decision.Outcome == victims.Refused {
		return s.Decision.Plan.Steps
	}
	return s.Decision.Plan.Steps
}
