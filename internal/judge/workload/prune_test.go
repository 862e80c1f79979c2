// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// bothWays decides an ask with nodes pruned and without.
func bothWays(p *jobs.Planner, ask *victims.Ask) (pruned, exhaustive Subject) {
	pruned = Subject{Planner: *p, Ask: *ask}
	exhaustive = Subject{Planner: *p, Ask: *ask}
	lent.To(&exhaustive.Planner.Options).Exhaust()
	pruned.Planner.Steps = 1 << 40 // the other one has none
	pruned.Decide()
	exhaustive.Decide()
	return pruned, exhaustive
}

// differ returns how two decisions differ. Steps are what pruning is to save.
func differ(pruned, exhaustive *Subject) string {
	must(errors.Join(exhaustive.Decision.Count(), pruned.Decision.Count()))
	pruned.Decision.Plan.Steps = exhaustive.Decision.Plan.Steps
	return law.Diff(&exhaustive.Decision, &pruned.Decision, cmpopts.IgnoreUnexported(victims.Decision{}, victims.Help{}), cmpopts.EquateComparable(victims.Version{}),
		cmp.AllowUnexported(victims.Refusal{}, victims.Protector{}),
		cmpopts.EquateEmpty(), cmp.Comparer(func(a, b resources.Wide) bool { return a.Compare(b) == 0 }))
}

// checkPruning holds a proven decision with nodes pruned to the one without.
func checkPruning(t *testing.T, p *jobs.Planner, ask *victims.Ask) {
	t.Helper()
	pruned, exhaustive := bothWays(p, ask)
	if !exhaustive.Proven() {
		t.Errorf("%s: not proven", ask.Key)
	}
	if diff := differ(&pruned, &exhaustive); diff != "" {
		t.Errorf("%s (-exhaustive +pruned):\n%s", ask.Key, diff)
	}
}

// TestPruning shows that pruning changes no decision on workloads of each kind.
func TestPruning(t *testing.T) {
	for _, tree := range [][]int{Tree2x10, Tree4x100} {
		kinds := (W{Nodes: 15, Tasks: 12, Tree: tree}).Kinds()
		for _, w := range kinds {
			if w.MaxSlack > 0 {
				w.Mixed = true // headroom is short, and ranks tell victims apart
				kinds = append(kinds, w)
			}
		}
		for _, w := range law.Some(kinds) {
			c := w.Build()
			for _, strict := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v/strict=%t", w, strict), func(t *testing.T) {
					p := &jobs.Planner{Cluster: c, Options: victims.Options{StrictPriority: strict}}
					for _, k := range []int64{1, 2, 4, 10} {
						ask := w.Ask(c, k)
						checkPruning(t, p, &ask)
						ask.RequiredNode = "n11"
						checkPruning(t, p, &ask)
					}
				})
			}
		}
	}
}

// TestPruningOfTrace does so for the asks of the production trace, where it is
// there.
func TestPruningOfTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	trace := readTrace(t)
	for i := range trace.Asks {
		checkPruning(t, &jobs.Planner{Cluster: trace.Cluster}, &trace.Asks[i])
	}
}

// TestPruningAnywhere does so for small random workloads.
func TestPruningAnywhere(t *testing.T) { law.Check3000(t, propertyPruning) }

func FuzzPruning(f *testing.F) { fuzz(f, propertyPruning) }

func propertyPruning(t *rapid.T) {
	w := drawW(t)
	c := w.Build()
	ask := w.Ask(c, rapid.Int64Range(1, 12).Draw(t, "k"))
	if rapid.Bool().Draw(t, "required") {
		ask.RequiredNode = "n0"
	}
	p := &jobs.Planner{Cluster: c, Options: victims.Options{StrictPriority: rapid.Bool().Draw(t, "strict")}}
	pruned, exhaustive := bothWays(p, &ask)
	a, b := &pruned.Decision, &exhaustive.Decision
	switch {
	case exhaustive.Proven():
		if diff := differ(&pruned, &exhaustive); diff != "" {
			t.Fatalf("%v (-exhaustive +pruned):\n%s", w, diff)
		}
	case pruned.Proven() && b.Outcome == victims.Preempts:
		// Without pruning the budget of steps may end first.
		if a.Outcome != victims.Preempts || a.Plan.Cost.Compare(&b.Plan.Cost) > 0 {
			t.Fatalf("%v: %v, %v, though there is %v", w, a.Outcome, &a.Plan.Cost, &b.Plan.Cost)
		}
	}
}
