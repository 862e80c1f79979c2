// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"math/big"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// A JobCost is that of a plan for a job, which has a place for each member: the first in which two plans differ
// counts.
type JobCost struct {
	Losses
	NodePenalty *big.Int // of the nodes of the unplaced members of the minimum, summed
	Domain      int      // the place in node order of the first node of the domain; 0 if none is required
	Nodes       []int    // the places in node order, by unplaced member of the minimum
}

// JobCostOf returns the cost of victims for places of the members of the
// minimum, in their order. Keys must be of tasks and nodes must be known.
func JobCostOf(c *world.JobCase, places, victims []string) JobCost {
	h := newJobJudge(c)
	tasks := h.named(victims)
	cost := h.cost(tasks)
	h.placeAt(&cost, tasks, h.numbered(places))
	return cost
}

// numbered returns the places in node order of nodes.
func (h *jobJudge) numbered(names []string) (nodes []int) {
	for _, name := range names {
		nodes = append(nodes, slices.IndexFunc(h.w.Nodes, func(n world.Node) bool { return n.Name == name }))
	}
	return nodes
}

// names is the inverse of numbered.
func (h *jobJudge) names(nodes []int) (names []string) {
	for _, n := range nodes {
		names = append(names, h.w.Nodes[n].Name)
	}
	return names
}

// cost returns all parts of the cost of a set of victims that do not depend on
// the places of the members.
func (h *jobJudge) cost(victims []*world.Task) JobCost {
	c := h.costOf(victims)
	whole, _ := h.stopped(victims)
	c.Jobs = len(whole)
	return JobCost{Losses: c}
}

// placeAt sets the parts of a cost that depend on the places of the members.
func (h *jobJudge) placeAt(c *JobCost, victims []*world.Task, nodes []int) {
	c.Nodes = slices.Clone(nodes)
	c.Excess = h.excess(victims, nodes)
	c.Domain = h.firstOf(h.domainOf(h.names(nodes)))
	c.NodePenalty = new(big.Int)
	for _, n := range nodes {
		c.NodePenalty.Add(c.NodePenalty, big.NewInt(h.w.Nodes[n].Rank))
	}
}

// excess returns the largest share, over all types, of the capacity of all
// nodes that is freed beyond need. A type is needed to the largest of what all
// nodes together are short of for the members placed there, and of what any
// queue is short of under its max or its quota.
func (h *jobJudge) excess(victims []*world.Task, nodes []int) *big.Rat {
	needed := make(world.Amounts)
	for n := range h.w.Nodes {
		for t, short := range h.seatNeed(n, nodes) {
			needed[t] += short
		}
	}
	for _, q := range h.path {
		for _, need := range []world.Amounts{h.headroomNeed(q), h.quotaNeed(q)} {
			for t, short := range need {
				needed[t] = max(needed[t], short)
			}
		}
	}
	return h.beyond(needed, victims)
}

// seatNeed returns what a node is short of, once the leaving have gone, for the
// members placed there.
func (h *jobJudge) seatNeed(node int, nodes []int) world.Amounts {
	var there []*world.Member
	for i, m := range h.members {
		if nodes[i] == node {
			there = append(there, m)
		}
	}
	need := make(world.Amounts)
	for t, v := range sum(there) {
		if short := v - h.later.free[h.w.Nodes[node].Name][t]; v > 0 && short > 0 {
			need[t] = short
		}
	}
	return need
}
