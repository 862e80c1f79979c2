// SPDX-License-Identifier: Apache-2.0

package storm

import "math/bits"

// quotaActs appends what quotas do in the present state: a max that can be lowered
// is, and what is over a lowered one is enforced by any set of tasks that is
// lawful, also by more than package quota would take.
func (w *world) quotaActs(dst []plan) []plan {
	for i, q := range w.quotas {
		if w.lowered>>i&1 == 0 {
			dst = append(dst, plan{quota: q + 1, lowers: 1 << i})
			continue
		}
		candidates, useful := w.overTasks(q)
		if useful == 0 {
			continue
		}
		for victims := (0 - candidates) & candidates; victims != 0; victims = (victims - candidates) & candidates {
			if victims&useful != 0 && w.keepsMembers(victims) && w.keepsGuarantees(victims) {
				dst = append(dst, plan{quota: q + 1, victims: victims})
			}
		}
	}
	return dst
}

// overTasks returns the tasks below a queue that may go because it is over its
// max, and those of them that have some of what is over.
func (w *world) overTasks(q int) (candidates, useful uint64) {
	for left := w.running &^ w.granted & w.under[q]; left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(left)
		for t := range w.types {
			if w.used[q*w.types+t] > w.most(q, t) && w.size(i, t) > 0 {
				useful |= 1 << i
			}
		}
		if useful>>i&1 == 1 || w.Tasks[i].Job > 0 {
			candidates |= 1 << i
		}
	}
	return candidates, useful
}

// keepsMembers reports whether each job keeps its minimum or goes as a whole.
func (w *world) keepsMembers(victims uint64) bool {
	for job := 1; job < len(w.jobs); job++ {
		running := w.jobs[job] & w.running &^ w.granted
		taken := victims & running
		surplus := max(0, bits.OnesCount64(running)-w.Minimum[job])
		if taken != running && bits.OnesCount64(taken) > surplus {
			return false
		}
	}
	return true
}

// keepsGuarantees is law 2 for victims that nobody takes the place of.
func (w *world) keepsGuarantees(victims uint64) bool {
	for q := range w.Queues {
		for t := range w.types {
			before := w.used[q*w.types+t]
			g := w.guaranteed(q, t)
			if g >= 0 && before-w.sum(victims&w.under[q], t) < min(g, before) {
				return false
			}
		}
	}
	return true
}
