// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"hash/fnv"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// everything has all rules on.
var everything = Hard{
	Nodes: 60, Tasks: 20, Gangs: 3, Budgets: 8, Ports: 25, Labels: 3, OptOuts: 10, Priorities: 5, OwnCosts: true, OwnLeaf: true,
}

// Whatever the load, a decision ends with a plan that the auditor passes, and
// within its budget it takes no more than a bounded number of steps.
func TestHard(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches to the end")
	}
	loads := []Hard{
		{Nodes: 60, Tasks: 20}, {Nodes: 60, Tasks: 20, Shapes: 10}, {Nodes: 60, Tasks: 20, Types: 16},
		{Nodes: 80, Tasks: 30, Levels: 2}, {Nodes: 4, Tasks: 300}, {Nodes: 60, Tasks: 20, OptOuts: 80, Priorities: 10},
		{Nodes: 60, Tasks: 20, Gangs: 4}, {Nodes: 60, Tasks: 20, Budgets: 8}, {Nodes: 60, Tasks: 20, OwnCosts: true},
		{Nodes: 60, Tasks: 20, Ports: 25}, {Nodes: 60, Tasks: 20, Labels: 7}, {Nodes: 60, Tasks: 20, OwnLeaf: true},
		everything,
	}
	for _, h := range loads {
		t.Run(h.String(), func(t *testing.T) {
			c := h.Build()
			for _, k := range []int64{1, 3, 6} {
				few := jobs.Planner{Cluster: c, Options: victims.Options{Audit: true}}
				h.set(&few)
				many := few
				few.Steps, many.Steps = 1, 1<<25
				ask := h.Ask(c, k)
				var hasty, thorough victims.Decision
				require.NoError(t, few.Decide(&hasty, &ask, Now))
				require.NoError(t, many.Decide(&thorough, &ask, Now))
				require.Equal(t, victims.Preempts, hasty.Outcome, "k=%d", k)
				require.Equal(t, victims.Preempts, thorough.Outcome, "k=%d", k)
				require.LessOrEqual(t, thorough.Plan.Cost.Compare(&hasty.Plan.Cost), 0, "k=%d", k)
				require.Less(t, hasty.Plan.Steps, int64(1<<20), "k=%d", k)
			}
		})
	}
}

// A plan whose levels are proven has no more of any than what a search finds that
// passes over no node, however small its budget was.
func TestHard_LevelsAreLeast(t *testing.T) { rapid.Check(t, propertyLevelsAreLeast) }

func propertyLevelsAreLeast(t *rapid.T) {
	of := func(name string, list ...int) int { return rapid.SampledFrom(list).Draw(t, name) }
	h := Hard{
		Nodes: of("nodes", 2, 10, 70, 140), Types: of("types", 1, 2, 4), Seed: rapid.Uint64().Draw(t, "seed"),
		Tasks: rapid.IntRange(2, 8).Draw(t, "tasks"), Shapes: of("shapes", 0, 2, 5), Priorities: of("priorities", 1, 1, 3),
		OptOuts: of("opted out", 0, 0, 20, 80), Gangs: of("gangs", 0, 0, 0, 2, 2, 3), Budgets: of("budgets", 0, 0, 3),
		Levels: of("levels", 0, 0, 0, 0, 0, 2), OwnCosts: of("costs", 0, 0, 1) == 1,
	}
	c := h.Build()
	some := h.Subject(c, int64(of("k", 1, 2, 3, 4)))
	other := Subject{Planner: some.Planner, Ask: some.Ask}
	some.Planner.Steps = int64(1) << rapid.IntRange(8, 20).Draw(t, "budget")
	other.Planner.Steps = 1 << 21
	lent.To(&other.Planner.Options).Exhaust()
	leastLevels(t, h, some, &other)
}

// leastLevels holds a decision whose levels are proven to one by another search.
func leastLevels(t *rapid.T, h Hard, some, other *Subject) {
	some.Decide()
	other.Decide()
	if some.Decision.Plan.Proof == victims.NoProof || other.Decision.Outcome != victims.Preempts {
		return
	}
	a, b := some.Decision.Plan.Cost, other.Decision.Plan.Cost
	if some.Decision.Plan.Proof == victims.ProofLevels {
		a.Excess, a.Work, a.NodePenalty, a.Node = b.Excess, b.Work, b.NodePenalty, b.Node
	}
	require.LessOrEqual(t, a.Compare(&b), 0, "%v: has %v, another has %v", h, a, b)
}

// The same if headroom is short at queues one inside the other, at each of them by other
// amounts, and tasks that make it are scarce or not.
func TestHard_LevelsAreLeastWithHeadroomShort(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches to the end")
	}
	proven := 0
	rapid.Check(t, func(t *rapid.T) {
		of := func(name string, list ...int) int { return rapid.SampledFrom(list).Draw(t, name) }
		h := Hard{
			Nodes: of("nodes", 40, 90, 140), Types: of("types", 1, 2, 4), Seed: rapid.Uint64().Draw(t, "seed"),
			Tasks: rapid.IntRange(8, 12).Draw(t, "tasks"), Shapes: of("shapes", 0, 2, 5), Levels: rapid.IntRange(1, 3).Draw(t, "levels"),
			Priorities: of("priorities", 1, 1, 1, 3), OptOuts: of("opted out", 0, 0, 0, 20), OwnCosts: of("costs", 0, 0, 0, 1) == 1,
		}
		c := h.Build()
		k := int64(of("k", 1, 2, 3, 4))
		// A queue that is further down lacks less than those above it, or as much.
		for q := queue.ID(1); int(q) < h.Levels; q++ {
			limit := append(resources.Vector(nil), c.Tree().Usage(q)...)
			for i := range limit {
				limit[i] += rapid.Int64Range(0, k*meanSize*3/4).Draw(t, "spare")
			}
			must(c.SetMax(q, resources.Limit{Value: limit, Defined: resources.Mask(1)<<len(limit) - 1}))
		}
		some := h.Subject(c, k)
		other := Subject{Planner: some.Planner, Ask: some.Ask}
		some.Planner.Audit = true
		other.Planner.Steps = 1 << 21
		lent.To(&other.Planner.Options).Exhaust()
		some.Decide()
		other.Decide()
		if other.Decision.Outcome != victims.Preempts || some.Decision.Plan.Proof == victims.NoProof {
			return
		}
		require.Equal(t, victims.Preempts, some.Decision.Outcome)
		proven++
		a, b := some.Decision.Plan.Cost, other.Decision.Plan.Cost
		if some.Decision.Plan.Proof == victims.ProofLevels {
			a.Excess, a.Work, a.NodePenalty, a.Node = b.Excess, b.Work, b.NodePenalty, b.Node
		}
		require.LessOrEqual(t, a.Compare(&b), 0, "%v: has %v, another has %v", h, a, b)
	})
	if !testing.Short() { // few draws need not have one
		require.Positive(t, proven)
	}
}

// The same for gangs of all sizes, some of which can spare members, with all else that
// tells gangs apart.
func TestHard_LevelsOfGangsAreLeast(t *testing.T) { rapid.Check(t, propertyGangsAreLeast) }

func propertyGangsAreLeast(t *rapid.T) {
	of := func(name string, list ...int) int { return rapid.SampledFrom(list).Draw(t, name) }
	h := Hard{
		Nodes: of("nodes", 2, 3, 5, 10, 30), Types: of("types", 1, 2, 4), Seed: rapid.Uint64().Draw(t, "seed"),
		Tasks: rapid.IntRange(2, 8).Draw(t, "tasks"), Shapes: of("shapes", 0, 2, 5), Priorities: of("priorities", 1, 1, 3),
		OptOuts: of("opted out", 0, 0, 20, 80), Gangs: of("gangs", 2, 3, 4, 5), Budgets: of("budgets", 0, 0, 3),
		OwnCosts: of("costs", 0, 0, 1) == 1, OwnLeaf: of("own leaf", 0, 0, 1) == 1,
		Labels: of("zones", 0, 0, 2), Ports: of("ports", 0, 0, 5), Levels: of("levels", 0, 0, 0, 0, 0, 1),
	}
	c := h.Build()
	some := h.Subject(c, int64(of("k", 1, 2, 3, 4)))
	spare := of("spare", 0, 0, 1)
	world.SetEveryMinimum(c, func(job string) int { return h.Gangs - spare*(len(job)%2) })
	some.Planner.Audit = true
	other := Subject{Planner: some.Planner, Ask: some.Ask}
	some.Planner.Steps = int64(1) << rapid.IntRange(8, 20).Draw(t, "budget")
	other.Planner.Steps = 1 << 21
	lent.To(&other.Planner.Options).Exhaust()
	leastLevels(t, h, some, &other)
}

// The levels of gangs are proven in clusters that are as large as real ones, by bounds
// over units: a hundred times the budget finds no lesser ones.
func TestHard_LevelsOfGangs(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches to the end")
	}
	for _, h := range []Hard{{Gangs: 2}, {Gangs: 5}, {Gangs: 3, Shapes: 10}, {Gangs: 7, Shapes: 10}, {Gangs: 4, OptOuts: 5, Priorities: 3, OwnCosts: true}} {
		h.Nodes, h.Tasks, h.Seed = 700, 12, 3
		c := h.Build()
		some, all := h.Subject(c, 3), h.Subject(c, 3)
		some.Planner.Audit = true
		all.Planner.Steps = 100 * lent.To(new(victims.Options)).DefaultSteps(c)
		some.Decide()
		all.Decide()
		require.NotEqual(t, victims.NoProof, some.Decision.Plan.Proof, "%v", h)
		a, b := some.Decision.Plan.Cost, all.Decision.Plan.Cost
		a.Excess, a.Work, a.NodePenalty, a.Node = b.Excess, b.Work, b.NodePenalty, b.Node
		require.Zero(t, a.Compare(&b), "%v: has %v, another has %v", h, a, b)
	}
}

// The same for levels in an order of the caller's, in clusters that are large enough
// that little is spent on what comes after them.
func TestHard_LevelsInSequence(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches to the end")
	}
	proven := 0
	for seed := range uint64(6) {
		h := Hard{Nodes: 700, Tasks: 12, Seed: seed, Shapes: int(seed%2) * 20, Priorities: 1 + int(seed%3)}
		c := h.Build()
		ask := h.Ask(c, 3)
		for _, levels := range [][]string{
			{"victims", "priority", "work"},
			{"sum-ranks", "excess", "priority"},
			{"work", "victims"},
			victims.DefaultLevels(),
		} {
			var some, all victims.Decision
			p := jobs.Planner{Cluster: c, Options: victims.Options{Levels: levels, Audit: true}}
			require.NoError(t, p.Decide(&some, &ask, Now))
			p.Steps = 1 << 40
			require.NoError(t, p.Decide(&all, &ask, Now))
			require.Equal(t, victims.ProofCost, all.Plan.Proof, "seed %d", seed)
			if some.Plan.Proof != victims.ProofLevels {
				continue
			}
			proven++
			before := levels[:slices.IndexFunc(levels, func(l string) bool { return l == "excess" || l == "work" })]
			for _, level := range before {
				a, b := levelOf(level, &some.Plan.Cost), levelOf(level, &all.Plan.Cost)
				require.Equal(t, b, a, "seed %d, levels %v: %s", seed, levels, level)
			}
		}
	}
	require.Positive(t, proven)
}

// levelOf returns what a cost has at a level, and at what counts with it.
func levelOf(level string, c *victims.Cost) any {
	switch level {
	case "opted-out":
		return c.OptedOut
	case "overrun":
		return c.Overrun
	case "originators":
		return c.Originators
	case "rank":
		return c.MaxRank
	case "priority":
		return c.MaxPriority
	case "jobs":
		return c.Jobs
	case "own-cost":
		return c.Own
	case "victims":
		return c.Victims
	case "sum-ranks":
		return [...]int64{int64(c.Victims), c.SumRanks}
	case "sum-priorities":
		return [...]int64{int64(c.Victims), c.SumPriorities}
	}
	panic(level)
}

// If hundreds of gangs make headroom, the best of them by themselves are looked at: a plan
// is lawful, and has no more than one gang more than one for which time is no matter.
func TestHard_HeadroomOfManyGangs(t *testing.T) {
	for seed := range uint64(4) {
		h := Hard{Nodes: 160, Tasks: 8, Types: 2, Shapes: 10, Gangs: 4, Levels: 1, Seed: seed}
		c := h.Build()
		few, many := h.Subject(c, 4), h.Subject(c, 4)
		few.Planner.Audit, many.Planner.Steps = true, 1<<26
		few.Decide()
		many.Decide()
		require.Equal(t, victims.Preempts, few.Decision.Outcome)
		a, b := &few.Decision.Plan, &many.Decision.Plan
		require.LessOrEqual(t, a.Cost.Victims, b.Cost.Victims+4)
		if a.Proof >= victims.ProofLevels {
			require.LessOrEqual(t, a.Cost.Victims, b.Cost.Victims)
		}
	}
}

// Answers about draws of a Hard are saved outside of the module: what a seed draws never
// changes. What is new is drawn after the rest, and only if a field of its own asks for it.
func TestHard_DrawsAsEver(t *testing.T) {
	hash := fnv.New64a()
	drawn := []Hard{everything, {Nodes: 7, Tasks: 11, Types: 9, Levels: 3}, {Nodes: 5, Tasks: 8, Shapes: 3, Levels: 1}, {Nodes: 3, Tasks: 40}}
	for seed, h := range drawn {
		h.Seed = uint64(seed)
		c := h.Build()
		tree := c.Tree()
		for q := queue.Root; int(q) < tree.Len(); q++ {
			fmt.Fprintln(hash, tree.Path(q), tree.Guaranteed(q), tree.Max(q), tree.Usage(q))
		}
		for n := range c.Nodes() {
			v := c.NodeView(n)
			fmt.Fprintln(hash, v.Name, v.Capacity)
			for id := range c.TasksOn(n) {
				k := c.TaskView(id)
				fmt.Fprintln(hash, k.Key, k.Application, tree.Path(k.Queue), k.Size, k.Created.UnixNano(), k.Scheduled.UnixNano(),
					k.Priority, k.OptedOut, k.Originator, k.Job, k.Budgets, k.Cost)
			}
		}
		a := h.Ask(c, 3)
		fmt.Fprintln(hash, a.Key, a.Application, tree.Path(a.Queue), a.Size, a.Priority, a.PendingSince.UnixNano())
	}
	require.Equal(t, uint64(0xdc3d0a8062283bb5), hash.Sum64())
}
