// SPDX-License-Identifier: Apache-2.0

package oracle_test

import (
	"iter"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
)

// Looking at every set of tasks and every list of nodes finds nothing that is
// cheaper, and nothing at all where the oracle finds none.
func TestDecideJobLooksAtAll(t *testing.T) {
	tiny := world.Shape{Types: 2, Queues: 5, Depth: 3, Nodes: 3, Tasks: 5}
	rapid.Check(t, func(t *rapid.T) {
		full := tiny.With(world.Everything)
		c := rapid.OneOf(world.JobCases(tiny), world.PickyJobCases(tiny), world.JobCases(full), world.JobCases(full)).Draw(t, "case")
		c.Options.Levels = rapid.SampledFrom([][]string{nil, {"work", "preemptions"}, {"sum-ranks"}, {"excess", "jobs"}}).Draw(t, "levels")
		r := oracle.DecideJob(c)
		if r.Reason != oracle.NoVictims && r.Reason != oracle.QuotaMax && r.Outcome != oracle.Preempts {
			return
		}
		if !c.ByPriority && c.World.OwnLeaf(c.Job.Queue, c.Options.OwnLeaf) != "" {
			return // of two stages the first decides, whatever the second one would cost
		}
		best, ok := cheapest(c)
		switch {
		case ok && r.Reason == oracle.QuotaMax && !c.Job.NonPreemptible: // it may not trigger
		case ok != (r.Outcome == oracle.Preempts):
			t.Fatalf("%s (%s), and the cheapest of all: %v\n%v", r.Outcome, r.Reason, best, c)
		case ok && best.Compare(c.Options.Levels, &r.Cost) != 0:
			t.Fatalf("%v, and the cheapest of all: %v\n%v", r.Cost, best, c)
		}
	})
}

// cheapest returns the cost of the cheapest plan that breaks no law.
func cheapest(c *world.JobCase) (best oracle.JobCost, ok bool) {
	members := oracle.Unplaced(c)
	for chosen := range 1 << len(c.World.Tasks) {
		var victims []string
		for i := range c.World.Tasks {
			if chosen>>i&1 != 0 {
				victims = append(victims, c.World.Tasks[i].Key)
			}
		}
		for places := range lists(c, len(members)) {
			if len(oracle.JobBreaks(c, places, victims)) > 0 {
				continue
			}
			if cost := oracle.JobCostOf(c, places, victims); !ok || cost.Compare(c.Options.Levels, &best) < 0 {
				best, ok = cost, true
			}
		}
	}
	return best, ok
}

// lists yields every list of n nodes.
func lists(c *world.JobCase, n int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		total := 1
		for range n {
			total *= len(c.World.Nodes)
		}
		for k := range total {
			var list []string
			for range n {
				list = append(list, c.World.Nodes[k%len(c.World.Nodes)].Name)
				k /= len(c.World.Nodes)
			}
			if !yield(list) {
				return
			}
		}
	}
}
