// SPDX-License-Identifier: Apache-2.0

package pending

import (
	"encoding/binary"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// Jobs returns a list of jobs, for which the planner decides.
func Jobs(p *jobs.Planner) *List[victims.Ask, jobs.Decision] {
	return list(kind[victims.Ask, jobs.Decision]{
		cluster: p.Cluster, rules: &p.Options, decide: p.Decide,
		differ: func() bool { return p.Predicate != nil || p.Blockers != nil || p.Admit != nil || p.ByPriority },
		help: func(d *jobs.Decision) *victims.Help {
			if d.Outcome != victims.Refused {
				return nil
			}
			return &d.Refusal.Help
		},
		ask: func(j *victims.Ask) victims.Ask {
			return victims.Ask{
				Key: j.Key, Application: j.Application, Queue: j.Queue, Priority: j.Priority,
				PendingSince: j.PendingSince, LastAttempt: j.LastAttempt,
				NeverPreempts: j.NeverPreempts, NonPreemptible: j.NonPreemptible,
			}
		},
		key: func(j *victims.Ask, i int) (string, bool) {
			if i >= len(j.Members) {
				for id := range p.Cluster.JobTasks(j.Key) {
					return p.Cluster.Key(id), i == len(j.Members)
				}
				return "", false
			}
			return j.Members[i].Key, true
		},
		same: func(dst []byte, j *victims.Ask) []byte {
			dst = binary.AppendVarint(dst, int64(j.MinMembers))
			dst = binary.AppendVarint(dst, int64(j.DomainDepth))
			for i := range j.Members {
				m := j.MemberAsk(i)
				dst = binary.AppendVarint(appendSize(dst, m.Size), int64(m.Class))
			}
			return dst
		},
	})
}
