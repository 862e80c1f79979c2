// SPDX-License-Identifier: Apache-2.0

package preempttest

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/victims"
)

// TestCompare tests Compare of [victims.Planner]: a strict weak order, as in [TestOrder],
// in which a set of victims never costs less than a part of it. Give ranks below zero,
// too. The cost is O(n²).
func TestCompare(compare func(a, b *victims.Cost) int, costs []victims.Cost) error {
	c := comparison[victims.Cost]{
		what: "compare", compare: compare, inputs: costs,
		clone: func(c *victims.Cost) victims.Cost { return *c },
		name:  func(i int) string { return fmt.Sprintf("costs[%d] (%v)", i, &costs[i]) },
	}
	if err := c.test(); err != nil {
		return err
	}
	for i := range costs {
		empty := victims.Cost{NodePenalty: costs[i].NodePenalty, Node: costs[i].Node}
		if compare(&costs[i], &empty) < 0 {
			return c.broken(errPart, "%s against no victims", c.name(i))
		}
		for j := range costs {
			whole, part := together(costs[i], costs[j]), costs[i]
			if compare(&whole, &part) < 0 {
				return c.broken(errPart, "%s together with %s (%v) against the first alone", c.name(i), c.name(j), &whole)
			}
		}
	}
	return nil
}

// together returns the cost of two sets without a common victim, on the node of
// the first. What they free beyond need is at least the larger of the two.
func together(a, b victims.Cost) victims.Cost {
	if b.Victims > 0 && (a.Victims == 0 || a.Excess.Compare(b.Excess) < 0) {
		a.Excess = b.Excess
	}
	(*rulebook.Cost)(&a).Join((*rulebook.Cost)(&b))
	return a
}
