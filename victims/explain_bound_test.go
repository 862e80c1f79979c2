// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// What a bound tells of a node is true: a search there finds no plan that costs as
// little as the one decided, nor less than the bound.
func TestExplain_ByBound(t *testing.T) {
	for _, w := range []workload.W{
		{Nodes: 100, Tasks: 10, Tree: workload.Tree2x10},
		{Nodes: 100, Tasks: 10, Tree: workload.Tree2x10, Mixed: true},
		{Nodes: 100, Tasks: 10, Tree: workload.Tree2x10, MaxSlack: 2},
		{Nodes: 60, Tasks: 10, Tree: workload.Tree2x10}, // few enough to search all
	} {
		c := w.Build()
		s := w.Subject(c, 4)
		var e, exact victims.Explanation
		require.NoError(t, s.Planner.Explain(&e, &s.Ask, workload.Now))
		exhaustive := jobs.Planner{Cluster: c}
		exhaustive.Exhaust(true)
		require.NoError(t, exhaustive.Explain(&exact, &s.Ask, workload.Now))
		bounded := 0
		var said struct{ Nodes []struct{ ByBound bool } }
		text, err := json.Marshal(e)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &said))
		for i := range e.Nodes {
			f, x := &e.Nodes[i], &exact.Nodes[i]
			require.Equal(t, x.Short, f.Short)
			require.Equal(t, x.Lacks, f.Lacks)
			if !said.Nodes[i].ByBound {
				require.Equal(t, x.Verdict, f.Verdict, "%v: node %d", w, f.Node)
				continue
			}
			bounded++
			require.Equal(t, "costlier", f.Verdict)
			require.Contains(t, []string{"costlier", "no-legal-set", "lacks"}, x.Verdict)
			if x.Verdict == "costlier" {
				require.LessOrEqual(t, f.Cost.Compare(&x.Cost), 0, "%v: %v, but bound by %v", w, &x.Cost, &f.Cost)
			}
		}
		if w.Nodes > 64 {
			require.Positive(t, bounded)
			require.Regexp(t, `: at least .*\d victims`, e.String())
		} else {
			require.Zero(t, bounded)
		}
	}
}

// What bounds have found out of gangs serves the search for headroom after them.
func TestExplain_BoundsOfGangs(t *testing.T) {
	for seed := range uint64(4) {
		h := workload.Hard{Nodes: 100, Tasks: 30, Levels: 2, Gangs: 3, Seed: seed}
		s := h.Subject(h.Build(), 3)
		var e victims.Explanation
		require.NoError(t, s.Planner.Explain(&e, &s.Ask, workload.Now), "%v", h)
		require.Equal(t, victims.Preempts, e.Decision.Outcome, "%v", h)
		require.Regexp(t, `: at least .*\d victims?`, e.String(), "%v", h)
	}
}

// If its memory is reused, an explanation allocates nothing for a node more.
func TestExplain_Warm(t *testing.T) {
	var allocated []float64
	for _, nodes := range []int{100, 300} {
		w := workload.W{Nodes: nodes, Tasks: 10, Tree: workload.Tree2x10}
		s := w.Subject(w.Build(), 4)
		var e victims.Explanation
		explain := func() { require.NoError(t, s.Planner.Explain(&e, &s.Ask, workload.Now)) }
		explain()
		allocated = append(allocated, testing.AllocsPerRun(5, explain))
	}
	require.Equal(t, allocated[0], allocated[1])
}
