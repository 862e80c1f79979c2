package workload

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
)

// everything has all rules on.
var everything = Hard{
	Nodes: 60, Tasks: 20, Gangs: 3, Budgets: 8, Ports: 25, Labels: 3, OptOuts: 10, Priorities: 5, OwnCosts: true, OwnLeaf: true,
}

// Whatever the load, a decision ends with a plan that the auditor passes, and
// within its budget it takes no more than a bounded number of steps.
func TestHard(t *testing.T) {
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
				few := victims.Planner{Cluster: c, Audit: true}
				h.set(&few)
				many := few
				few.Budget, many.Budget = 1, 1<<25
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

// A plan whose levels are proven has those of the thorough search.
func TestHard_LevelsAreLeast(t *testing.T) {
	proven := 0
	for seed := range uint64(12) {
		h := Hard{Nodes: 20, Tasks: 12, Seed: seed, Shapes: int(seed%3) * 5, Levels: int(seed % 2)}
		c := h.Build()
		ask := h.Ask(c, 2+int64(seed%3))
		var some, all victims.Decision
		p := victims.Planner{Cluster: c}
		p.Budget = 1 << 16
		require.NoError(t, p.Decide(&some, &ask, Now))
		p.Budget = 1 << 40
		require.NoError(t, p.Decide(&all, &ask, Now))
		require.Equal(t, victims.ProofCost, all.Plan.Proof, "seed %d", seed)
		if some.Plan.Proof == victims.NoProof {
			continue
		}
		proven++
		a, b := some.Plan.Cost, all.Plan.Cost
		require.Equal(t, fmt.Sprint(a.OptedOut, a.Originators, a.MaxRank, a.MaxPriority, a.Victims, a.SumRanks),
			fmt.Sprint(b.OptedOut, b.Originators, b.MaxRank, b.MaxPriority, b.Victims, b.SumRanks), "seed %d", seed)
	}
	require.Positive(t, proven)
}

// The same for levels in an order of the caller's, in clusters that are large enough
// that little is spent on what comes after them.
func TestHard_LevelsInSequence(t *testing.T) {
	proven := 0
	for seed := range uint64(6) {
		h := Hard{Nodes: 700, Tasks: 12, Seed: seed, Shapes: int(seed%2) * 20, Priorities: 1 + int(seed%3)}
		c := h.Build()
		ask := h.Ask(c, 3)
		for _, levels := range []victims.Levels{
			{victims.LevelVictims, victims.LevelPriority, victims.LevelWork},
			{victims.LevelSumRanks, victims.LevelExcess, victims.LevelPriority},
			victims.DefaultLevels(),
		} {
			var some, all victims.Decision
			p := victims.Planner{Cluster: c, Levels: levels, Audit: true}
			require.NoError(t, p.Decide(&some, &ask, Now))
			p.Budget = 1 << 40
			require.NoError(t, p.Decide(&all, &ask, Now))
			require.Equal(t, victims.ProofCost, all.Plan.Proof, "seed %d", seed)
			if some.Plan.Proof != victims.ProofLevels {
				continue
			}
			proven++
			before := levels[:slices.IndexFunc(levels, func(l victims.Level) bool { return l == victims.LevelExcess || l == victims.LevelWork })]
			a, b := some.Plan.Cost, all.Plan.Cost
			a.Node, a.NodeRank = b.Node, b.NodeRank
			require.Zero(t, before.Compare(&a, &b), "seed %d, levels %v: %v and %v", seed, levels, a, b)
		}
	}
	require.Positive(t, proven)
}
