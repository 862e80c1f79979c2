// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"cmp"
	"slices"
)

// order has the levels of DESIGN.md, Cost, that count if nobody says otherwise.
var order = []string{
	"opted-out", "overrun", "originators", "rank", "priority", "jobs", "own-cost", "victims", "sum-ranks", "sum-priorities", "work", "excess",
}

// compareBy orders losses by levels, named by their words and the most important first; nil is the order of
// DESIGN.md. The number of victims counts whatever is named: before the first sum over victims, and in the end.
func (c *Losses) compareBy(levels []string, d *Losses) int {
	if len(levels) == 0 {
		levels = order
	}
	victims := cmp.Compare(c.Victims, d.Victims)
	for _, level := range levels {
		var order int
		switch level {
		case "opted-out":
			order = cmp.Compare(c.OptedOut, d.OptedOut)
		case "overrun":
			order = cmp.Compare(c.Overrun, d.Overrun)
		case "originators":
			order = cmp.Compare(c.Originators, d.Originators)
		case "rank":
			order = cmp.Compare(c.MaxRank, d.MaxRank)
		case "priority":
			order = cmp.Compare(c.MaxPriority, d.MaxPriority)
		case "jobs":
			order = cmp.Compare(c.Jobs, d.Jobs)
		case "own-cost":
			order = c.Own.Cmp(d.Own)
		case "preemptions":
			order = cmp.Compare(c.Preemptions, d.Preemptions)
		case "victims":
			order = victims
		case "sum-ranks":
			order = cmp.Or(victims, cmp.Compare(c.SumRanks, d.SumRanks))
		case "sum-priorities":
			order = cmp.Or(victims, cmp.Compare(c.SumPriorities, d.SumPriorities))
		case "excess":
			order = c.Excess.Cmp(d.Excess)
		case "work":
			order = c.Work.Cmp(d.Work)
		default:
			panic("oracle: no level " + level)
		}
		if order != 0 {
			return order
		}
	}
	return victims
}

// Compare orders costs by levels, and then by nodes and keys.
func (c *Cost) Compare(levels []string, d *Cost) int {
	return cmp.Or(
		c.compareBy(levels, &d.Losses),
		cmp.Compare(c.NodePenalty, d.NodePenalty),
		cmp.Compare(c.Node, d.Node),
		slices.Compare(c.Keys, d.Keys),
	)
}

// Compare orders costs by levels, and then by nodes and keys.
func (c *JobCost) Compare(levels []string, d *JobCost) int {
	return cmp.Or(
		c.compareBy(levels, &d.Losses),
		c.NodePenalty.Cmp(d.NodePenalty),
		cmp.Compare(c.Domain, d.Domain),
		slices.Compare(c.Nodes, d.Nodes),
		slices.Compare(c.Keys, d.Keys),
	)
}
