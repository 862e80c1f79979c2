// SPDX-License-Identifier: Apache-2.0

package jobs

import "github.com/go-preempt/preempt/victims"

// fill sets dst to a gang whose members have all that they leave to it; memory is kept.
func fill(dst, job *victims.Ask) {
	members := append(dst.Members[:0], job.Members...)
	for i := range members {
		members[i] = job.Member(i)
	}
	*dst = *job
	dst.Members, dst.Job = members, job.Key
}

// A stage says whose tasks are candidates.
type stage uint8

const (
	byPriority  stage = iota // lower ones of all leaves in reach, the own one included
	outsideLeaf              // those of other leaves
	withOwnLeaf              // and lower ones of the job's own
)
