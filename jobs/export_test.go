// SPDX-License-Identifier: Apache-2.0

package jobs

import "github.com/go-preempt/preempt/victims"

// SetQuick keeps a planner from searching small cases completely, so that tests
// see on them what large ones get.
func (p *Planner) SetQuick(quick bool) { p.quick = quick }

// GatherWork is what it takes in steps to gather a task as a candidate.
const GatherWork = lookWork + candidateWork

// JointSteps is what DecideAll may take at least.
const JointSteps = jointSteps

// Shortlisted reports whether the last decision asked members among some nodes, and took what
// they had there.
func (p *Planner) Shortlisted() bool {
	x := &p.d.turn
	for _, others := range x.others {
		if others != (victims.Cost{}) {
			return len(x.near) > 0 && len(x.near) < p.Cluster.NodeLen()
		}
	}
	return false
}
