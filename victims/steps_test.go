// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// manyOnFewNodes makes a full cluster with hardly two tasks alike, where a queue above the
// ask of x lacks half of it besides.
func manyOnFewNodes(t *testing.T, nodes, tasks int, size int64) (*fixture, *victims.Ask) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "p", Children: []queue.Config{{Name: "a"}, {Name: "x", Guaranteed: slots(1 << 60)}}},
	}})
	r := rand.New(rand.NewPCG(1, 2))
	names, sums := make([]string, nodes), make([]int64, nodes)
	for i := range nodes {
		names[i] = fmt.Sprint("n", i)
		f.node(names[i], 1<<50)
	}
	for i := range tasks {
		amount := 1 + r.Int64N(1<<20)
		sums[i%nodes] += amount
		f.task(fmt.Sprint("t", i), "p.a", names[i%nodes], amount, func(k *victims.Task) {
			k.Priority = r.Int32N(100)
			k.Scheduled = now.Add(-time.Duration(r.IntN(1e6)) * time.Second)
		})
	}
	sum := int64(0)
	for i := range nodes {
		sum += sums[i]
		require.NoError(t, f.c.UpdateNode(&victims.Node{Name: names[i], Capacity: resources.Vector{sums[i]}}))
	}
	require.NoError(t, f.c.SetMax(f.queue("p"), slots(sum+size/2)))
	ask := f.ask("x", "p.x", size)
	ask.Priority = 200
	return f, ask
}

// The caller is asked at least every 1,000 steps whether a decision is to end, or once a
// choice is made among all tasks of a node, if that takes longer.
func TestStop_IsAskedEvery1000Steps(t *testing.T) {
	for _, test := range [][2]int{{1, 1000}, {1, 10_000}, {20, 10_000}} {
		if testing.Short() && test[1] > 1000 {
			break
		}
		for _, size := range []int64{1 << 10, 1 << 22} {
			f, ask := manyOnFewNodes(t, test[0], test[1], size)
			calls := 0
			d := f.decide(&jobs.Planner{Options: victims.Options{Stop: func() bool { calls++; return false }}}, ask)
			require.Equal(t, victims.Preempts, d.Outcome)
			choice := 40 * int64(test[1]/test[0]) // each row is stated, priced and sorted
			require.GreaterOrEqual(t, int64(calls), d.Plan.Steps/(1000+choice), "%d tasks on %d nodes, %d asked", test[1], test[0], size)
		}
	}
}

// No decision takes more than twice its budget, with a plan or without.
func TestBudget_Holds(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds clusters of 10,000 tasks")
	}
	for _, test := range [][2]int{{1, 1000}, {1, 10_000}, {20, 10_000}, {500, 10_000}} {
		for _, size := range []int64{1 << 10, 1 << 22, 1 << 28} {
			f, ask := manyOnFewNodes(t, test[0], test[1], size)
			budget := lent.To(new(victims.Options)).DefaultSteps(f.c)
			d := f.decide(&jobs.Planner{}, ask)
			require.LessOrEqual(t, d.Plan.Steps, 2*budget, "%d tasks on %d nodes, %d asked", test[1], test[0], size)
			// Until there is any plan a decision may take as much as the default, and one
			// search on a node in any case.
			most := max(budget, 1024*int64(test[1]/test[0]))
			for _, given := range []int64{1, 1000, budget / 8} {
				outcome := d.Outcome
				d := f.decide(&jobs.Planner{Options: victims.Options{Steps: given}}, ask)
				require.Equal(t, outcome, d.Outcome, "budget %d for %d tasks on %d nodes, %d asked", given, test[1], test[0], size)
				require.LessOrEqual(t, d.Plan.Steps, given+most, "budget %d for %d tasks on %d nodes, %d asked", given, test[1], test[0], size)
			}
		}
	}
}

// Law 1 holds where the budget ends, too: with gangs, which make a proof
// long, a plan without opted-out victims is found.
func TestLaw1_HoldsWhereTheBudgetEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("a long proof over 5,000 nodes")
	}
	load := workload.Hard{
		Nodes: 5000, Tasks: 30, Seed: 6352617325879458989, Gangs: 4, Shapes: 5, Priorities: 4, OptOuts: 30,
	}
	s := load.Subject(load.Build(), 10)
	world.SetEveryMinimum(s.Planner.Cluster, func(string) int { return 2 }) // of 4
	s.Decide()
	d := &s.Decision
	require.Equal(t, victims.Preempts, d.Outcome)
	require.Zero(t, d.Plan.Cost.OptedOut)
	require.LessOrEqual(t, d.Plan.Steps, 2*lent.To(new(victims.Options)).DefaultSteps(s.Planner.Cluster))
}

// A plan is found where laws of many queues bind, headroom is short, and nearly all of the
// budget goes to nodes without one.
func TestBudget_FindsSomePlan(t *testing.T) {
	r := rand.New(rand.NewPCG(5331615915163166982, 31))
	of := func(list ...int) int { return list[r.IntN(len(list))] }
	load := workload.Hard{Nodes: 1000, Tasks: 30, Seed: r.Uint64()}
	k := int64(of(2, 4, 10, 20))
	load.Types, load.Shapes, load.Levels = of(2, 4, 8), of(0, 3, 10), of(0, 1, 2)
	load.OptOuts, load.Priorities = of(0, 10, 90), of(1, 3, 20)
	load.Gangs, load.Budgets, load.OwnCosts = of(0, 2, 4), of(0, 5, 40), of(0, 1) == 1
	require.Equal(t, 0, of(0, 1), "the ask wants all types")
	c := load.Build()
	s := load.Subject(c, k)
	require.Equal(t, 1, of(0, 1), "guarantees bind")
	for q := range queue.ID(c.Tree().Len()) {
		if c.Tree().Contains(q, s.Ask.Queue) || r.IntN(5) == 0 {
			continue
		}
		most := int64(2)
		if !c.Tree().IsLeaf(q) {
			most = 5
		}
		used := c.Tree().Usage(q)
		l := resources.Limit{Value: make(resources.Vector, len(used))}
		for i := range used {
			if r.IntN(2) == 0 {
				l.Defined |= 1 << i
				l.Value[i] = max(0, used[i]-r.Int64N(most*1000+500))
			}
		}
		require.NoError(t, c.SetGuaranteed(q, l))
	}
	s.Decide()
	d := &s.Decision
	require.Equal(t, victims.Preempts, d.Outcome)
	require.LessOrEqual(t, d.Plan.Steps, 2*lent.To(new(victims.Options)).DefaultSteps(c))
}
