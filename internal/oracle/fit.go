package oracle

import (
	"slices"

	"github.com/go-preempt/preempt/internal/world"
)

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

// place returns the first usable node that the ask fits as things are, or else
// as they will be once those already leaving have gone.
func (j *judge) place() (outcome, node string) {
	for _, n := range j.w.Nodes {
		if j.usable(&n) && j.fits(j.presentFree[n.Name], j.present) {
			return Fits, n.Name
		}
	}
	for _, n := range j.w.Nodes {
		if j.usable(&n) && j.fits(j.comingFree[n.Name], j.coming) {
			return Waits, n.Name
		}
	}
	return "", ""
}

// start decides for an ask that was given the node: it starts there, or it is
// in flight, judged with its grant taken off.
func (j *judge) start(node string) (outcome string) {
	without := *j.w
	without.Grants = slices.DeleteFunc(slices.Clone(j.w.Grants), func(g world.Grant) bool {
		return g.Ask.Key == j.ask.Key
	})
	for _, n := range j.w.Nodes {
		if n.Name == node && j.usable(&n) && j.fits(without.Free(false)[node], without.Usage(false)) {
			return Fits
		}
	}
	return Refused
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
