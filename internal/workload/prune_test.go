package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/victims"
)

// checkPruning decides an ask with nodes pruned and without, and returns how
// the decisions differ. Steps are what pruning is to save.
func checkPruning(t require.TestingT, p victims.Planner, ask *victims.Ask) string {
	var pruned, exhaustive victims.Decision
	require.NoError(t, p.Decide(&pruned, ask, Now))
	q := victims.Planner{Cluster: p.Cluster, StrictPriority: p.StrictPriority, Exhaustive: true}
	require.NoError(t, q.Decide(&exhaustive, ask, Now))
	return cmp.Diff(&exhaustive, &pruned,
		cmpopts.IgnoreFields(victims.Plan{}, "Steps"), cmpopts.IgnoreFields(victims.Refusal{}, "Steps"),
		cmpopts.EquateEmpty(), cmp.Comparer(func(a, b victims.Work) bool { return a.Compare(b) == 0 }))
}

// TestPruning shows that pruning changes no decision on workloads of each kind.
func TestPruning(t *testing.T) {
	for _, tree := range [][]int{Tree2x10, Tree4x100} {
		for _, w := range (W{Nodes: 15, Tasks: 12, Tree: tree}).Kinds() {
			c := w.Build()
			for _, strict := range []bool{false, true} {
				p := victims.Planner{Cluster: c, StrictPriority: strict}
				for _, k := range []int64{1, 2, 4, 10} {
					ask := w.Ask(c, k)
					if diff := checkPruning(t, p, &ask); diff != "" {
						t.Errorf("%v k=%d strict=%t (-exhaustive +pruned):\n%s", w, k, strict, diff)
					}
				}
				ask := w.Ask(c, 3)
				ask.RequiredNode = "n11"
				if diff := checkPruning(t, p, &ask); diff != "" {
					t.Errorf("%v on n11 strict=%t (-exhaustive +pruned):\n%s", w, strict, diff)
				}
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
		if diff := checkPruning(t, victims.Planner{Cluster: trace.Cluster}, &trace.Asks[i]); diff != "" {
			t.Errorf("%s (-exhaustive +pruned):\n%s", trace.Asks[i].Key, diff)
		}
	}
}

// TestPruningAnywhere does so for small random workloads.
func TestPruningAnywhere(t *testing.T) { rapid.Check(t, propertyPruning) }

func FuzzPruning(f *testing.F) { fuzz(f, propertyPruning) }

func propertyPruning(t *rapid.T) {
	w := drawW(t)
	c := w.Build()
	ask := w.Ask(c, rapid.Int64Range(1, 12).Draw(t, "k"))
	if rapid.Bool().Draw(t, "required") {
		ask.RequiredNode = "n0"
	}
	p := victims.Planner{Cluster: c, StrictPriority: rapid.Bool().Draw(t, "strict")}
	if diff := checkPruning(t, p, &ask); diff != "" {
		t.Fatalf("%v (-exhaustive +pruned):\n%s", w, diff)
	}
}
