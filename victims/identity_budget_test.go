// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// An answer that is not proven depends on what is in the cluster, and not on how it came
// to be. (DESIGN.md, Identity.)
func TestIdentity_UnprovenAnswers(t *testing.T) {
	for _, test := range []struct {
		name  string
		cases *rapid.Generator[*world.Case]
	}{
		{"plain", world.Cases(world.Large)},
		{"gangs and budgets", world.DenseCases(world.Small)},
		{"everything", world.Cases(world.Large.With(world.Everything))},
	} {
		t.Run(test.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := test.cases.Draw(t, "case")
				budget := rapid.Int64Range(1, 5000).Draw(t, "budget")
				one, other := build(t, &c.World), build(t, &c.World)
				reshuffle(t, other, c.World.Tasks)
				var said [2]victims.Decision
				for i, cluster := range []*victims.Cluster{one, other} {
					planner := world.CasePlanner(cluster, c)
					planner.Steps = budget
					ask := askOf(t, cluster, &c.Ask)
					if err := planner.Decide(&said[i], &ask, c.Options.Now); err != nil {
						t.Fatal(err)
					}
				}
				got, want := resultOf(other, &said[1]), resultOf(one, &said[0])
				if diff := cmp.Diff(want, got, compareNumbers, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("as built (-) and shuffled (+), with a budget of %d:\n%s\n%v", budget, diff, c)
				}
			})
		})
	}
}
