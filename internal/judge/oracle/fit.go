// SPDX-License-Identifier: Apache-2.0

package oracle

import "github.com/go-preempt/preempt/internal/judge/world"

// fits reports whether the ask fits the node and every headroom with the given
// free space and usage.
func (j *judge) fits(free world.Amounts, usage map[string]world.Amounts) bool {
	for _, t := range j.wants {
		if j.ask.Size[t] > free[t] {
			return false
		}
		for _, q := range j.path {
			if most, ok := j.queues[q].Max[t]; ok && usage[q][t]+j.ask.Size[t] > most {
				return false
			}
		}
	}
	return true
}

// placed returns the first usable node that the ask fits as things are, or else
// as they will be once those already leaving have gone. Nobody may block it
// there.
func (j *judge) placed() (outcome, node string) {
	for _, n := range j.w.Nodes {
		if j.usable(&n) && j.open(n.Name, false) && j.fits(j.presentFree[n.Name], j.present) {
			return Fits, n.Name
		}
	}
	for _, n := range j.w.Nodes {
		if j.usable(&n) && j.open(n.Name, true) && j.fits(j.comingFree[n.Name], j.coming) {
			return Waits, n.Name
		}
	}
	return "", ""
}

// nodeNeed returns what the node is short of once the leaving have gone, of the
// ask's types: met by victims on the node only.
func (j *judge) nodeNeed(node string) world.Amounts {
	need := make(world.Amounts)
	for _, t := range j.wants {
		if short := j.ask.Size[t] - j.comingFree[node][t]; short > 0 {
			need[t] = short
		}
	}
	return need
}

// headroomNeed returns by how much the ask would bring a queue of its path over
// its max: met by victims below that queue, on any node.
func (j *judge) headroomNeed(queue string) world.Amounts {
	need := make(world.Amounts)
	for _, t := range j.wants {
		most, ok := j.queues[queue].Max[t]
		if short := j.coming[queue][t] + j.ask.Size[t] - most; ok && short > 0 {
			need[t] = short
		}
	}
	return need
}
