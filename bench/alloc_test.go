// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/victims"
)

// TestNoAllocs shows that warm decisions, and what a scheduler does beside them
// all day, allocate nothing, on workloads of each kind.
func TestNoAllocs(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the clusters of every benchmark; packages have tests of their own for this")
	}
	for _, w := range (workload.W{Nodes: 40, Tasks: 30, Tree: workload.Tree4x100}).Kinds() {
		for _, k := range []int64{1, 4, 10} {
			s := subjectOf(w, k)
			noAllocs(t, "decide "+s.name, func() { s.decide(t) })
			c := s.Planner.Cluster
			if s.want == victims.Preempts {
				a := victims.Auditor{Cluster: c}
				noAllocs(t, "audit "+s.name, func() { require.Empty(t, a.Audit(nil, &s.Decision, workload.Now)) })
				noAllocs(t, "apply and undo "+s.name, func() {
					if c.Apply(&s.Decision) != nil || c.Undo() != nil {
						t.Fatal("a plan that cannot be applied and undone")
					}
				})
			}

			exhaustive := subjectOf(w, k)
			lent.To(&exhaustive.Planner.Options).Exhaust()
			noAllocs(t, "exhaustive "+s.name, func() { exhaustive.decide(t) })

			if w.MaxDepth > 0 {
				continue // no node by itself has victims for the headroom
			}
			required := subjectOf(w, k)
			required.Ask.RequiredNode = "n7"
			required.want = victims.Preempts // whatever is guaranteed
			noAllocs(t, "required "+s.name, func() { required.decide(t) })
		}
	}
}

// TestNoAllocsRefused shows the same for refusals by priority.
func TestNoAllocsRefused(t *testing.T) {
	s := subjectOf(workload.W{Nodes: 40, Tasks: 30, Tree: workload.Tree4x100}, 4)
	s.Planner.StrictPriority, s.want = true, victims.Refused
	noAllocs(t, s.name, func() {
		s.decide(t)
		if err := s.Decision.Count(); err != nil {
			t.Error(err)
		}
	})
	require.Equal(t, []victims.Count{{Rule: "priority", Tasks: 1200}}, s.Decision.Refusal.Counts)
}

// TestNoAllocsThinned shows the same where tasks that all differ are so many that
// only the best are searched: on one node, and for headroom.
func TestNoAllocsThinned(t *testing.T) {
	for _, h := range []workload.Hard{{Nodes: 1, Tasks: 9000}, {Nodes: 300, Tasks: 30, Levels: 3}} {
		s := h.Subject(h.Build(), 4)
		noAllocs(t, h.String(), s.Decide)
	}
}

// TestNoAllocsRules shows the same with each rule that users ask for, and with all
// of them at once.
func TestNoAllocsRules(t *testing.T) {
	const nodes, tasks = 40, 12
	for _, h := range []workload.Hard{
		{Labels: 3}, {Ports: tasks + 5}, {Gangs: 4}, {Budgets: 6}, {OwnCosts: true}, {OwnLeaf: true},
		allRules(nodes, tasks),
	} {
		h.Nodes, h.Tasks = nodes, tasks
		c := h.Build()
		hard := func(k int64, of string) *workload.Subject {
			s := h.Subject(c, k)
			s.Planner.Steps = 1 << 20
			noAllocs(t, fmt.Sprintf("%v/k=%d, %s", h, k, of), s.Decide)
			return s
		}
		for _, k := range []int64{1, 4} {
			s := hard(k, "a plan")
			require.Equal(t, victims.Preempts, s.Decision.Outcome)
			a := victims.Auditor{Cluster: c, Options: victims.Options{Filter: s.Planner.Filter, WithinQueue: s.Planner.WithinQueue, Blockers: s.Planner.Blockers}}
			noAllocs(t, fmt.Sprintf("audit of %v/k=%d", h, k), func() { require.Empty(t, a.Audit(nil, &s.Decision, workload.Now)) })
		}
		require.Equal(t, victims.Refused, hard(1000, "a refusal").Decision.Outcome)

		for name := range c.Budgets() {
			require.NoError(t, c.SetBudget(name, victims.Budget{Hard: true, Left: 1}))
		}
		hard(4, "hard budgets")
	}
}

// TestNoAllocsTrace shows the same for all asks of the production trace.
func TestNoAllocsTrace(t *testing.T) {
	trace, err := readTrace()
	if err != nil {
		t.Skip("no trace: ", err)
	}
	plans := 0
	noAllocs(t, "trace", func() { plans = trace.Decide() })
	require.Positive(t, plans)
}

// TestNoAllocsChurn shows the same for rounds of a cluster at work.
func TestNoAllocsChurn(t *testing.T) {
	w := workload.W{Nodes: 40, Tasks: 30, Tree: workload.Tree4x100}
	x := workload.NewChurn(w.Subject(w.Build(), 4))
	for range 20 { // lists of tasks grow to their largest
		require.NoError(t, x.Round())
	}
	n := testing.AllocsPerRun(10, func() {
		if err := x.Round(); err != nil {
			t.Fatal(err)
		}
	})
	require.LessOrEqual(t, n, 1.0, "the list of grants of a change")
}

// noAllocs runs f once to warm up, and then shows that it allocates nothing. The runtime
// counts for the whole process, so that a count above 0 is taken again.
func noAllocs(t *testing.T, name string, f func()) {
	t.Helper()
	n := testing.AllocsPerRun(1, f)
	for range 10 {
		if n == 0 {
			return
		}
		n = testing.AllocsPerRun(1, f)
	}
	t.Errorf("%s: %v allocations, want 0", name, n)
}

// TestNoAllocsPredicate shows the same with predicates that accept few nodes, or none.
func TestNoAllocsPredicate(t *testing.T) {
	const nodes, tasks = 40, 12
	for _, h := range []workload.Hard{{}, {Shapes: 3, Levels: 2}, {Gangs: 4}, allRules(nodes, tasks)} {
		h.Nodes, h.Tasks = nodes, tasks
		c := h.Build()
		for _, every := range []int{2, 0} {
			s := h.Subject(c, 4)
			s.Planner.Steps = 1 << 20
			s.Planner.Predicate = func(p *victims.Question) bool { return every > 0 && int(p.Node-1)%every == every-1 }
			noAllocs(t, fmt.Sprintf("%v, one node in %d is accepted", h, every), s.Decide)
			require.Equal(t, every > 0, s.Decision.Outcome == victims.Preempts)
		}
	}
}
