// SPDX-License-Identifier: Apache-2.0

package pending

import (
	"encoding/binary"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// Jobs returns a list of jobs, for which the planner decides.
func Jobs(p *jobs.Planner) *List[jobs.Job, jobs.Decision] {
	return list(kind[jobs.Job, jobs.Decision]{
		cluster: p.Cluster, rules: &p.Rules, decide: p.Decide,
		differ: func() bool { return p.Predicate != nil || p.Allowances != nil || p.ByPriority },
		help: func(d *jobs.Decision) *victims.Help {
			if d.Outcome != victims.Refused {
				return nil
			}
			return &d.Refusal.Help
		},
		ask: func(j *jobs.Job) victims.Ask {
			return victims.Ask{
				Key: j.Name, Application: j.Application, Queue: j.Queue, Priority: j.Priority,
				PendingSince: j.PendingSince, LastAttempt: j.LastAttempt,
				MayNot: j.MayNot, NonPreemptible: j.NonPreemptible,
			}
		},
		key: func(j *jobs.Job, i int) (string, bool) {
			if i >= len(j.Members) {
				for id := range p.Cluster.JobTasks(j.Name) {
					return p.Cluster.Key(id), i == len(j.Members)
				}
				return "", false
			}
			return j.Members[i].Key, true
		},
		same: func(dst []byte, j *jobs.Job) []byte {
			dst = binary.AppendVarint(dst, int64(j.MinMembers))
			dst = binary.AppendVarint(dst, int64(j.Domain))
			for i := range j.Members {
				dst = binary.AppendVarint(appendSize(dst, j.Members[i].Size), int64(j.Members[i].Class))
			}
			return dst
		},
	})
}
