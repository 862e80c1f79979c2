// SPDX-License-Identifier: Apache-2.0

package jobs

import "github.com/go-preempt/preempt/victims"

// fill sets dst to a gang whose members have all that they leave to it; memory is kept. A lone ask
// becomes a gang of itself, by its own key.
func fill(dst, job *victims.Ask) {
	members := append(dst.Members[:0], job.Members...)
	for i := range members {
		members[i] = job.Member(i)
	}
	if len(members) == 0 {
		members = append(members, victims.Member{
			Key: job.Key, Name: job.Name, Tag: job.Tag, Size: job.Size, Class: job.Class,
			Originator: job.Originator, OptedOut: job.OptedOut, Cost: job.Cost, Budgets: job.Budgets,
		})
	}
	*dst = *job
	dst.Members, dst.Job = members, jobOf(job)
}

// isLone reports whether a job is a lone ask: it has no members but itself.
func isLone(job *victims.Ask) bool {
	return len(job.Members) == 0 || len(job.Members) == 1 && job.Members[0].Key == job.Key
}

// jobOf returns the name of the job that the members are of, or will be.
func jobOf(job *victims.Ask) string {
	if isLone(job) {
		return job.Job
	}
	return job.Key
}

// A stage says whose tasks are candidates.
type stage uint8

const (
	byPriority  stage = iota // lower ones of all leaves in reach, the own one included
	outsideLeaf              // those of other leaves
	withOwnLeaf              // and lower ones of the job's own
)
