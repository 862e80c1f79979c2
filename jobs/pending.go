// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"encoding/binary"

	"github.com/go-preempt/preempt/victims"
)

// NewPending returns a queue of jobs that wait, for which the planner decides; see
// [victims.Pending]. Jobs are alike if their members are, in their order, and none of them
// has a place.
func NewPending(p *Planner) *victims.Pending[Job, Decision] {
	return victims.PendingOf(victims.Kind[Job, Decision]{
		Cluster: p.Cluster, Rules: &p.Rules, Decide: p.Decide,
		Differ: func() bool { return p.Predicate != nil || p.Allowances != nil || p.ByPriority },
		Help: func(d *Decision) *victims.Help {
			if d.Outcome != victims.Refused {
				return nil
			}
			return &d.Refusal.Help
		},
		Ask: func(j *Job) victims.Ask {
			return victims.Ask{
				Key: j.Name, Application: j.Application, Queue: j.Queue, Priority: j.Priority,
				PendingSince: j.PendingSince, LastAttempt: j.LastAttempt,
				MayNot: j.MayNot, NonPreemptible: j.NonPreemptible,
			}
		},
		Key: func(j *Job, i int) (string, bool) {
			if i >= len(j.Members) {
				for id := range p.Cluster.JobTasks(j.Name) {
					return p.Cluster.Key(id), i == len(j.Members)
				}
				return "", false
			}
			return j.Members[i].Key, true
		},
		Same: func(dst []byte, j *Job) []byte {
			dst = binary.AppendVarint(dst, int64(j.MinMembers))
			dst = binary.AppendVarint(dst, int64(j.Domain))
			for i := range j.Members {
				dst = binary.AppendVarint(victims.AppendSize(dst, j.Members[i].Size), int64(j.Members[i].Class))
			}
			return dst
		},
	})
}
