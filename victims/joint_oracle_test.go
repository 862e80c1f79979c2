// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// Decisions over large clusters show the least levels by bounds on all needs at once
// and by bands. Forced upon small worlds, what they claim is what the oracle finds: a
// plan that claims levels has the least, and a refusal is one.
func TestOracle_LevelsOfHastyDecisions(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs many cases")
	}
	claims, shown := 0, 0
	for _, with := range []world.Features{0, world.WithBudgets, world.WithCosts | world.WithRanks, world.WithLabels, world.WithGrants, world.WithOwnLeaf, world.WithGangs} {
		law.CheckMany(t, 1000, func(t *rapid.T) {
			c := world.Cases(world.Small.With(with)).Draw(t, "case")
			want := oracle.Decide(c)
			cluster := build(t, &c.World)
			planner := world.CasePlanner(cluster, c)
			planner.Audit = true
			planner.Hasten()
			ask := askOf(t, cluster, &c.Ask)
			var d victims.Decision
			require.NoError(t, planner.Decide(&d, &ask, c.Options.Now))
			require.Equal(t, want.Outcome, d.Outcome.String(), "%v %v", c, d.Refusal.Reason)
			if d.Outcome != victims.Preempts || d.Plan.Proof == victims.NoProof {
				return
			}
			if claims++; d.Plan.Proof == victims.ProofLevels {
				shown++
			}
			got := resultOf(cluster, &d)
			require.Equal(t, levelsOf(&want.Cost), levelsOf(&got.Cost), "%v", c)
		})
	}
	t.Log(claims, "claims,", shown, "of levels only")
	require.Greater(t, shown, 10)
}

// levelsOf returns what decides before excess.
func levelsOf(c *oracle.Cost) any {
	return []any{
		c.OptedOut, c.Overrun, c.Originators, c.MaxRank, c.MaxPriority, c.Jobs, c.Own.String(),
		c.Victims, c.SumRanks, c.SumPriorities,
	}
}
