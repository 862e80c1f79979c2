// SPDX-License-Identifier: Apache-2.0

package preempttest

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// kinds are the cost of nobody, and costs that differ from another in one thing each.
func kinds() []victims.Cost {
	first := victims.Cost{MaxRank: -3, MaxPriority: 7, Victims: 2, SumRanks: -6, SumPriorities: 9, Node: 1}
	all := []victims.Cost{{}, first}
	for _, change := range []func(c *victims.Cost){
		func(c *victims.Cost) { c.MaxRank = 4 }, func(c *victims.Cost) { c.MaxRank-- },
		func(c *victims.Cost) { c.MaxPriority = -1 }, func(c *victims.Cost) { c.Own = resources.WideOf(5) },
		func(c *victims.Cost) { c.SumRanks = -20 }, func(c *victims.Cost) { c.SumPriorities = -9 },
		func(c *victims.Cost) { c.Work = resources.WideOf(int64(time.Hour)) },
		func(c *victims.Cost) { c.Excess = resources.Share{Amount: 1, Of: 10} },
		func(c *victims.Cost) { c.NodePenalty++ }, func(c *victims.Cost) { c.Node++ },
	} {
		other := first
		change(&other)
		all = append(all, other)
	}
	for _, other := range (*rulebook.Cost)(&first).Variants() {
		all = append(all, victims.Cost(other))
	}
	return all
}

// testCompare: a strict weak order, in which a set of victims never costs less than a part of it.
// The cost is O(n²).
func testCompare(compare func(a, b *victims.Cost) int, costs []victims.Cost) error {
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
