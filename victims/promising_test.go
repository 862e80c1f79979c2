// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/victims"
)

// No plan for a node that is not listed has lesser levels than what is said of these, and if
// there are said to be no others, none of them has a plan.
func TestPromising(t *testing.T) {
	others, bounded := 0, 0
	law.CheckMany(t, 150, func(t *rapid.T) {
		of := func(name string, list ...int) int { return rapid.SampledFrom(list).Draw(t, name) }
		h := workload.Hard{
			Nodes: of("nodes", 1, 5, 30), Tasks: of("tasks", 1, 3, 8), Seed: rapid.Uint64().Draw(t, "seed"),
			Types: of("types", 1, 2, 4), Shapes: of("shapes", 0, 2, 12), Priorities: of("priorities", 1, 3, 10),
			OptOuts: of("opted out", 0, 0, 30), Gangs: of("gangs", 0, 0, 3), Budgets: of("budgets", 0, 0, 6),
			Levels: of("levels", 0, 0, 1), OwnCosts: of("costs", 0, 0, 1) == 1, Labels: of("zones", 0, 0, 4),
			OwnLeaf: of("own leaf", 0, 0, 0, 1) == 1,
		}
		c := h.Build()
		s := h.Subject(c, int64(of("k", 1, 2, 4)))
		keeper := lent.To(&s.Planner)
		nodes, least := keeper.Promising(&s.Ask, workload.Now, of("most", 1, 3, 10))
		nodes = slices.Clone(nodes)
		defer keeper.Among(nil)
		for n := range c.Nodes() {
			if slices.Contains(nodes, n) {
				continue
			}
			others++
			keeper.Among([]victims.NodeID{n})
			var d victims.Decision
			require.NoError(t, s.Planner.Decide(&d, &s.Ask, workload.Now))
			if d.Outcome == victims.Refused {
				continue
			}
			bounded++
			if least.OptedOut == math.MaxInt {
				t.Fatalf("%v: node %s has a plan and is not listed", h, c.NodeName(n))
			}
			if levels := levelsOnly(&d.Plan.Cost); levels.Compare(&least) < 0 {
				t.Fatalf("%v: node %s has a plan of\n%+v, and others have at least\n%+v", h, c.NodeName(n), levels, least)
			}
		}
	})
	require.Greater(t, bounded, others/10)
	t.Logf("%d of %d nodes that are not listed have plans", bounded, others)
}

// levelsOnly returns what a cost has of levels.
func levelsOnly(c *victims.Cost) victims.Cost {
	levels := *c
	levels.Work, levels.Excess, levels.NodePenalty, levels.Node = victims.Cost{}.Work, victims.Cost{}.Excess, 0, 0
	return levels
}

// Who asks among all nodes is answered as if it asked for no such thing.
func TestAmong_All(t *testing.T) {
	h := workload.Hard{Nodes: 40, Tasks: 8, Seed: 3}
	c := h.Build()
	s := h.Subject(c, 4)
	keeper := lent.To(&s.Planner)
	var want, got victims.Decision
	require.NoError(t, s.Planner.Decide(&want, &s.Ask, workload.Now))
	keeper.Among(slices.Collect(c.Nodes()))
	require.NoError(t, s.Planner.Decide(&got, &s.Ask, workload.Now))
	require.Equal(t, victims.Preempts, got.Outcome)
	require.Equal(t, want.Plan, got.Plan)
	other := slices.Collect(c.Nodes())[20:21]
	require.NotEqual(t, other[0], want.Plan.Places[0].Node)
	keeper.Among(other)
	require.NoError(t, s.Planner.Decide(&got, &s.Ask, workload.Now))
	require.Equal(t, other[0], got.Plan.Places[0].Node)
	keeper.Among(nil)
	require.NoError(t, s.Planner.Decide(&got, &s.Ask, workload.Now))
	require.Equal(t, want.Plan, got.Plan)
}
