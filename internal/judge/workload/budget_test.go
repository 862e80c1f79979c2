// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/victims"
)

// drawHard draws a workload of any family: all that makes asks hard, alone and together.
func drawHard(t *rapid.T, nodes, tasks int) Hard {
	of := func(name string, list ...int) int { return rapid.SampledFrom(list).Draw(t, name) }
	return Hard{
		Nodes: nodes, Tasks: tasks, Seed: rapid.Uint64().Draw(t, "seed"),
		Types: of("types", 1, 2, 4, 8), Shapes: of("shapes", 0, 2, 5), Priorities: of("priorities", 1, 1, 3),
		OptOuts: of("opted out", 0, 0, 20, 80), Gangs: of("gangs", 0, 0, 0, 2, 3), Budgets: of("budgets", 0, 0, 3),
		Levels: of("levels", 0, 0, 0, 1, 2), OwnCosts: of("costs", 0, 0, 1) == 1,
		Labels: of("zones", 0, 0, 0, 2), Ports: of("ports", 0, 0, 0, 5),
	}
}

// agree holds two decisions about one ask to each other: what either claims to have proven
// is not bettered by the other.
func agree(t *rapid.T, h Hard, one, other *Subject) {
	for _, pair := range [][2]*Subject{{one, other}, {other, one}} {
		sure, any := pair[0], pair[1]
		switch {
		case any.Decision.Outcome != victims.Preempts || !sure.Proven() && sure.Decision.Plan.Proof == victims.NoProof:
			continue
		case sure.Decision.Outcome == victims.Refused:
			require.NotEqual(t, victims.Preempts, any.Decision.Outcome, "%v: a plan exists, and a refusal is called proven", h)
			continue
		}
		a, b := sure.Decision.Plan.Cost, any.Decision.Plan.Cost
		if sure.Decision.Plan.Proof == victims.ProofLevels {
			a.Excess, a.Work, a.NodePenalty, a.Node = b.Excess, b.Work, b.NodePenalty, b.Node
		}
		require.LessOrEqual(t, a.Compare(&b), 0, "%v: has %v, another has %v", h, a, b)
	}
}

// In clusters of a middle size the default budget claims what a search over every node
// confirms, and the other way round.
func TestBudget_MiddleClusters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHard(t, rapid.IntRange(31, 70).Draw(t, "nodes"), rapid.IntRange(2, 8).Draw(t, "tasks"))
		c := h.Build()
		usual := h.Subject(c, rapid.Int64Range(1, 4).Draw(t, "k"))
		if h.Gangs > 0 {
			world.SetEveryMinimum(c, func(job string) int { return h.Gangs - len(job)%2 })
		}
		usual.Planner.Audit = true
		full := Subject{Planner: usual.Planner, Ask: usual.Ask}
		full.Planner.Steps = 1 << 22
		lent.To(&full.Planner.Options).Exhaust()
		usual.Decide()
		full.Decide()
		agree(t, h, usual, &full)
		if full.Decision.Outcome == victims.Preempts {
			require.Equal(t, victims.Preempts, usual.Decision.Outcome, "%v: a plan is missed", h)
		}
	})
}

// Ten budgets, from one step to more than any search needs, give lawful answers, of which
// none betters what another claims to have proven.
func TestBudget_TenBudgets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHard(t, rapid.SampledFrom([]int{1, 2, 5, 20}).Draw(t, "nodes"), rapid.IntRange(2, 10).Draw(t, "tasks"))
		c := h.Build()
		first := h.Subject(c, rapid.Int64Range(1, 4).Draw(t, "k"))
		first.Planner.Audit = true
		var all []*Subject
		for i := range 10 {
			s := &Subject{Planner: first.Planner, Ask: first.Ask}
			s.Planner.Steps = 1 << (2 * i) // the last is 262,144
			s.Decide()
			for _, before := range all {
				agree(t, h, before, s)
			}
			all = append(all, s)
		}
	})
}

// With many tasks on each node, too, a decision takes no more than twice its budget if
// that is the default; with less than it, no more than that and the default. Neither
// answer betters what the other claims to have proven.
func TestBudget_ManyTasksOnANode(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches to the end")
	}
	rapid.Check(t, func(t *rapid.T) {
		h := drawHard(t, rapid.SampledFrom([]int{1, 2, 10}).Draw(t, "nodes"), rapid.SampledFrom([]int{300, 1000}).Draw(t, "tasks"))
		c := h.Build()
		s := h.Subject(c, rapid.SampledFrom([]int64{1, 4, 20, 100}).Draw(t, "k"))
		usual := lent.To(new(victims.Options)).DefaultSteps(c)
		s.Decide()
		require.LessOrEqual(t, s.Steps(), 2*usual, "%v", h)
		less := &Subject{Planner: s.Planner, Ask: s.Ask}
		less.Planner.Steps = usual >> rapid.IntRange(1, 12).Draw(t, "less")
		less.Decide()
		require.LessOrEqual(t, less.Steps(), less.Planner.Steps+max(usual, 1024*int64(h.Tasks)), "%v", h)
		agree(t, h, s, less)
	})
}

// One task blocks a port, and the room that law 2 leaves its leaf is gone once cheaper
// tasks have taken theirs. A small budget finds the plan, too.
func TestBudget_BlockerUnderABound(t *testing.T) {
	h := Hard{Nodes: 1, Tasks: 1000, Types: 1, Priorities: 1, Gangs: 3, OwnCosts: true, Ports: 5}
	c := h.Build()
	s := h.Subject(c, 1)
	for less := range 8 {
		s.Planner.Steps = lent.To(new(victims.Options)).DefaultSteps(c) >> less
		s.Decide()
		require.Equal(t, victims.Preempts, s.Decision.Outcome, "with a budget of %d", s.Planner.Steps)
		require.Len(t, s.Decision.Plan.Victims, 1)
	}
}
