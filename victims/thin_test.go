// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// motley is a cluster with 2,000 tasks of which no two are alike, so that a pool of
// them is thinned: half of priority 0 and half of priority 5, in queues low and
// high. The node has room, and the root lacks headroom of what is asked for.
func motley(t *testing.T, lowGives int64) *fixture {
	const tasks, first = 1000, 1000
	low := int64(0)
	for i := range int64(tasks) {
		low += first + i
	}
	f := newFixture(t, queue.Config{Max: slots(2 * low), Children: []queue.Config{
		{Name: "high"}, {Name: "low", Guaranteed: slots(max(low-lowGives, 0))}, {Name: "b", Guaranteed: slots(1 << 40)},
	}})
	f.node("n1", 1<<40)
	for i := range int64(tasks) {
		f.task(fmt.Sprint("low-", i), "low", "n1", first+i)
		f.task(fmt.Sprint("high-", i), "high", "n1", first+i, func(t *victims.Task) { t.Priority = 5 })
	}
	return f
}

// Of very many candidates the best by themselves are kept.
func TestThin_KeepsTheBest(t *testing.T) {
	f := motley(t, 1<<40)
	ask := f.ask("x", "b", 3000)
	ask.Priority = 10
	d := f.decide(&jobs.Planner{Options: victims.Options{Audit: true}}, ask)
	require.Equal(t, victims.Preempts, d.Outcome)
	require.EqualValues(t, 0, d.Plan.Cost.MaxPriority)
	require.Equal(t, 2, d.Plan.Cost.Victims, "two of at least 1500")
}

// If those are not enough, for a guarantee lets few of them go, all are looked at.
func TestThin_AllIfTheBestAreNotEnough(t *testing.T) {
	f := motley(t, 2000)
	ask := f.ask("x", "b", 5000)
	ask.Priority = 10
	d := f.decide(&jobs.Planner{Options: victims.Options{Audit: true}}, ask)
	require.Equal(t, victims.Preempts, d.Outcome)
	require.EqualValues(t, 5, d.Plan.Cost.MaxPriority)
}

// If the predicate wants more than the cheapest set, an opted-out task beside it is
// exchanged for no other that law 2 keeps: of v and w only one may go.
func TestWiden_ExchangesKeepLaw2(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "a", Guaranteed: slots(2)}, {Name: "c"}, {Name: "b", Guaranteed: slots(100)},
	}})
	f.node("n1", 6)
	f.task("v", "a", "n1", 2)
	f.task("w", "a", "n1", 2)
	f.task("o", "c", "n1", 2, func(t *victims.Task) { t.OptedOut = true })
	p := &jobs.Planner{Options: victims.Options{Predicate: func(p *victims.Question) bool { return len(p.Victims) >= 2 }}}
	d := f.decide(p, f.ask("x", "b", 2))
	require.Equal(t, []string{"o", "v"}, keysOf(d))
}

// Met: a queue that is under its guarantee may fall in types that the ask uses, and
// in no other. It has 2 of 4 gpus, and v would take one of them.
func TestOwnMet_OtherTypesStay(t *testing.T) {
	schema, err := resources.NewSchema("cpu", "gpu")
	require.NoError(t, err)
	limit := func(cpu, gpu int64) resources.Limit {
		return resources.Limit{Value: resources.Vector{cpu, gpu}, Defined: 3}
	}
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "q", Guaranteed: limit(1, 4)}}})
	require.NoError(t, err)
	for gpu, want := range map[int64]victims.Outcome{0: victims.Preempts, 1: victims.Refused} {
		c := victims.NewCluster(tree.Clone())
		_, err = c.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{4000, 4}})
		require.NoError(t, err)
		q, _ := c.Tree().Lookup("root.q")
		for key, size := range map[string]resources.Vector{"v": {4000, gpu}, "w": {0, 2 - gpu}} {
			_, err = c.AddTask(&victims.Task{Key: key, Queue: q, Node: 1, Size: size})
			require.NoError(t, err)
		}
		p := jobs.Planner{Cluster: c, Options: victims.Options{WithinQueue: queue.Met, Audit: true}}
		ask := victims.Ask{Key: "x", Queue: q, Size: resources.Vector{4000, 0}, Priority: 9}
		var d victims.Decision
		require.NoError(t, p.Decide(&d, &ask, now))
		require.Equal(t, want, d.Outcome, "v has %d gpus", gpu)
		if want == victims.Refused {
			require.NotEqual(t, victims.Unlawful, d.Refusal.Reason)
		}
	}
}

// An ask for which preemption was tried a moment ago takes of its own leaf no more
// than of others.
func TestOwnLeaf_Interval(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{{Name: "q"}}})
	f.node("n1", 2)
	f.task("v", "q", "n1", 2)
	ask := f.ask("x", "q", 2)
	ask.Priority = 9
	p := &jobs.Planner{Options: victims.Options{WithinQueue: queue.Met, RetryInterval: 60e9}}
	require.Equal(t, victims.Preempts, f.decide(p, ask).Outcome)
	ask.LastAttempt = now.Add(-1e9)
	require.Equal(t, "too-soon", f.decide(p, ask).Refusal.Reason)
}

// With a predicate, nodes wait in the order of bounds. A node with room of its own,
// which lacks headroom only, has no bound that ranks below 0 could pass.
func TestPredicate_NodeWithRoomIsNotPassedOver(t *testing.T) {
	f := newFixture(t, queue.Config{Max: slots(3), Children: []queue.Config{
		{Name: "a"}, {Name: "b", Guaranteed: slots(100)},
	}})
	f.node("n1", 3)
	f.node("n2", 1)
	for _, key := range []string{"t1", "t2"} {
		f.task(key, "a", "n1", 1)
	}
	f.task("t3", "a", "n2", 1)
	ask := f.ask("x", "b", 1)
	ask.Priority = 3 // so that ranks are -3
	d := f.decide(&jobs.Planner{Options: victims.Options{Predicate: func(*victims.Question) bool { return true }}}, ask)
	require.Equal(t, victims.Preempts, d.Outcome)
	require.Equal(t, "n1", f.c.Node(d.Plan.Places[0].Node).Name, "of equal plans the first node's")
	require.Equal(t, []string{"t1"}, keysOf(d))
}
