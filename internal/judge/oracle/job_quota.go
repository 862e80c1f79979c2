// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"github.com/go-preempt/preempt/internal/judge/world"
)

// notAdmitted returns every queue and type, as "path type", whose quota does
// not admit rem more of the job in some state:
//
//	non-preemptible  N + rem ≤ min and U + rem ≤ max
//	preemptible      min(min, NR) + P + rem ≤ max
//
// at every queue of the path that has an entry, and only for types with rem > 0.
func (h *jobJudge) notAdmitted(s stock, rem world.Amounts) (where []string) {
	return h.formulas(rem, func(q, t string, quota *world.Quota) bool {
		most, bounded := quota.Max[t]
		u, n := s.used[q][t], s.fixed[q][t]
		if h.c.Job.NonPreemptible {
			return n+rem[t] <= quota.Min[t] && (!bounded || u+rem[t] <= most)
		}
		return !bounded || min(quota.Min[t], n+h.waiting(q, t))+(u-n)+rem[t] <= most
	})
}

// mayNotTrigger returns every queue and type, as "path type", for which the job
// may not trigger preemption on coming amounts:
//
//	non-preemptible  unless N + rem ≤ min
//	preemptible      unless admitted
func (h *jobJudge) mayNotTrigger() (where []string) {
	if !h.c.Job.NonPreemptible {
		return h.notAdmitted(h.later, h.ask.Size)
	}
	return h.formulas(h.ask.Size, func(q, t string, quota *world.Quota) bool {
		return h.later.fixed[q][t]+h.ask.Size[t] <= quota.Min[t]
	})
}

// formulas returns where a formula does not hold.
func (h *jobJudge) formulas(rem world.Amounts, holds func(q, t string, quota *world.Quota) bool) (where []string) {
	for _, q := range h.path {
		quota, ok := h.c.Quotas[q]
		for _, t := range h.w.Types {
			if ok && rem[t] > 0 && !holds(q, t, &quota) {
				where = append(where, q+" "+t)
			}
		}
	}
	return where
}

// waiting returns what non-preemptible members wait for in a queue and in those
// below it.
func (h *jobJudge) waiting(queue, t string) (total int64) {
	for path, quota := range h.c.Quotas {
		if world.Inside(path, queue) {
			total += quota.Waiting[t]
		}
	}
	return total
}

// overMax returns every queue of the path and type in which the members would
// bring the queue over its max, in some state.
func (h *jobJudge) overMax(s stock) (where []string) {
	for _, q := range h.path {
		for _, t := range h.wants {
			if most, ok := h.queues[q].Max[t]; ok && s.used[q][t]+h.ask.Size[t] > most {
				where = append(where, q+" "+t)
			}
		}
	}
	return where
}

// quotaNeed returns by how much the members would bring a queue over the max of
// its quota: met by victims below that queue, on any node.
func (h *jobJudge) quotaNeed(queue string) world.Amounts {
	need := make(world.Amounts)
	for _, t := range h.wants {
		most, ok := h.c.Quotas[queue].Max[t]
		short := h.later.used[queue][t] + h.ask.Size[t] - most
		if !h.c.Job.NonPreemptible {
			n := h.later.fixed[queue][t]
			short += min(h.c.Quotas[queue].Min[t], n+h.waiting(queue, t)) - n
		}
		if ok && short > 0 {
			need[t] = short
		}
	}
	return need
}
