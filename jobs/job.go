// SPDX-License-Identifier: Apache-2.0

package jobs

import "github.com/go-preempt/preempt/victims"

// fill sets dst to a gang whose members have all that they leave to it; memory is kept. A lone ask
// becomes a gang of itself, by its own key.
func fill(dst, job *victims.Ask) {
	members := dst.Members[:0]
	for i := range max(len(job.Members), 1) {
		members = append(members, job.Member(i))
	}
	*dst = *job
	dst.Members, dst.Job = members, jobOf(job)
}

// jobOf returns the name of the job that the members are of, or will be.
func jobOf(job *victims.Ask) string { return job.MemberAsk(0).Job }

// A stage says whose tasks are candidates.
type stage uint8

const (
	byPriority  stage = iota // lower ones of all leaves in reach, the own one included
	outsideLeaf              // those of other leaves
	withOwnLeaf              // and lower ones of the job's own
)
