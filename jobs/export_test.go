// SPDX-License-Identifier: Apache-2.0

package jobs

// SetQuick keeps a planner from searching small cases completely, so that tests
// see on them what large ones get.
func (p *Planner) SetQuick(quick bool) { p.quick = quick }

// GatherWork is what it takes in steps to gather a task as a candidate.
const GatherWork = lookWork + candidateWork

// JointSteps is what DecideAll may take at least.
const JointSteps = jointSteps
