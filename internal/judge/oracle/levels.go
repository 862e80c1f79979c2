// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"cmp"
	"slices"
)

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
