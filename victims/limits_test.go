// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// Tasks that make headroom from other nodes are held to hard budgets together.
func TestHeadroom_HardBudgets(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "p", Max: slots(6), Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(6)}}},
	}})
	require.NoError(t, f.c.SetBudget("web", victims.Budget{Left: 1, Hard: true}))
	f.node("n1", 6)
	f.node("n2", 6)
	web := func(t *victims.Task) { t.Budgets = []string{"web"} }
	f.task("one", "p.a", "n2", 2, web)
	f.task("two", "p.a", "n2", 2, web)
	f.task("three", "p.a", "n2", 2, func(t *victims.Task) { t.Priority = 1 })
	ask := f.ask("x", "p.b", 4)
	ask.Priority = 2
	d := f.decide(&jobs.Planner{Options: victims.Options{Audit: true}}, ask)
	require.Equal(t, "n1", d.Plan.Places[0].NodeName)
	require.Equal(t, []string{"one", "three"}, keysOf(d))
}

// Tasks of two leaves that are alike in all else make headroom together, if neither leaf by
// itself has enough beyond its guarantee.
func TestHeadroom_TwoLeaves(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "p", Max: slots(8), Children: []queue.Config{
			{Name: "a", Guaranteed: slots(2)}, {Name: "b", Guaranteed: slots(8)}, {Name: "c", Guaranteed: slots(2)},
		}},
	}})
	f.node("n1", 6)
	f.node("n2", 8)
	for _, key := range []string{"a1", "a2", "c1", "c2"} {
		f.task(key, "p."+key[:1], "n2", 2)
	}
	d := f.decide(&jobs.Planner{Options: victims.Options{Audit: true}}, f.ask("x", "p.b", 4))
	require.Equal(t, "n1", d.Plan.Places[0].NodeName)
	require.Equal(t, []string{"a1", "c1"}, keysOf(d))
}

// A predicate is not offered all candidates of a node if one queue of several keeps them from
// going together.
func TestPredicate_InnermostGuarantee(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "a", Guaranteed: slots(1), Children: []queue.Config{{Name: "aa", Guaranteed: slots(2)}, {Name: "ab"}}},
		{Name: "b", Guaranteed: slots(100)},
	}})
	f.node("n1", 4)
	f.node("n2", 9)
	f.task("v1", "a.aa", "n1", 2)
	f.task("v2", "a.aa", "n1", 2)
	f.task("v3", "a.ab", "n2", 9)
	p := &jobs.Planner{Options: victims.Options{Audit: true, Predicate: func(q *victims.Question) bool { return len(q.Victims) == 2 }}}
	d := f.decide(p, f.ask("x", "b", 2))
	require.Equal(t, victims.Refused, d.Outcome)
	require.Equal(t, "predicate", d.Refusal.Reason)
}

// Of candidates that a predicate accepts together the costliest are given back first.
func TestPredicate_GivesBackTheCostliest(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 6)
	for i, key := range []string{"v1", "v2", "v3"} {
		f.task(key, "a", "n1", 2, func(t *victims.Task) { t.Priority = int32(i) })
	}
	p := &jobs.Planner{Options: victims.Options{Audit: true, Predicate: func(q *victims.Question) bool { return len(q.Victims) > 1 }}}
	ask := f.ask("x", "b", 2)
	ask.Priority = 5
	require.Equal(t, []string{"v1", "v2"}, keysOf(f.decide(p, ask)))
}

// A candidate that a guarantee keeps beside cheaper ones takes nothing from those after it.
func TestPredicate_PassesOverTheLarge(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{{Name: "a", Guaranteed: slots(2)}, {Name: "b", Guaranteed: slots(100)}}})
	f.node("n1", 5)
	f.task("v1", "a", "n1", 2)
	f.task("v2", "a", "n1", 2)
	f.task("v3", "a", "n1", 1, func(t *victims.Task) { t.Priority = 1 })
	p := &jobs.Planner{Options: victims.Options{Audit: true, Predicate: func(q *victims.Question) bool { return len(q.Victims) > 1 }}}
	ask := f.ask("x", "b", 2)
	ask.Priority = 5
	require.Equal(t, []string{"v1", "v3"}, keysOf(f.decide(p, ask)))
}

// A plan that a predicate has widened overruns soft budgets by all that it has of them.
func TestPredicate_Overrun(t *testing.T) {
	f := giverAndTaker(t)
	require.NoError(t, f.c.SetBudget("web", victims.Budget{Left: 1}))
	f.node("n1", 4)
	web := func(t *victims.Task) { t.Budgets = []string{"web"} }
	f.task("v1", "a", "n1", 2, web)
	f.task("v2", "a", "n1", 2, web)
	d := f.decide(&jobs.Planner{Options: victims.Options{Predicate: func(q *victims.Question) bool { return len(q.Victims) > 1 }}}, f.ask("x", "b", 2))
	require.Equal(t, []string{"v1", "v2"}, keysOf(d))
	require.EqualValues(t, 1, d.Plan.Cost.Overrun)
}

// Of more kinds of tasks than a search is given, those that are left out might have made a
// cheaper plan.
func TestHeadroom_ManyKinds(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "p", Max: slots(20100), Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(100)}}},
	}})
	f.node("n1", 200)
	f.node("n2", 20100)
	for i := range int64(200) {
		f.task(fmt.Sprintf("v%03d", i+1), "p.a", "n2", i+1, func(t *victims.Task) { t.Priority = int32(i % 2) })
	}
	_, err := f.c.RemoveNode("n2") // nobody can run there, but who does counts
	require.NoError(t, err)
	ask := f.ask("x", "p.b", 50)
	ask.Priority = 2
	d := f.decide(&jobs.Planner{Options: victims.Options{Audit: true}}, ask)
	require.Len(t, d.Plan.Victims, 1)
	require.EqualValues(t, 0, d.Plan.Victims[0].Priority)
	require.Equal(t, victims.NoProof, d.Plan.Proof)
}

// Nobody is stopped instead of a victim that opted out, if a guarantee keeps both from going.
func TestExchange_KeepsGuarantees(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "p", Max: slots(5200), Children: []queue.Config{{Name: "a", Guaranteed: slots(50)}, {Name: "b", Guaranteed: slots(100)}, {Name: "c"}}},
	}})
	f.node("n1", 100)
	f.node("n2", 5200)
	f.task("a1", "p.a", "n2", 50)
	f.task("a2", "p.a", "n2", 50)
	for i := range int64(200) { // so many kinds that nothing is shown
		f.task(fmt.Sprintf("c%03d", i), "p.c", "n2", 1+i%50, func(t *victims.Task) { t.OptedOut, t.Priority = true, int32(i/50) })
	}
	_, err := f.c.RemoveNode("n2")
	require.NoError(t, err)
	ask := f.ask("x", "p.b", 100)
	ask.Priority = 5
	d := f.decide(&jobs.Planner{Options: victims.Options{Audit: true}}, ask)
	require.Equal(t, victims.NoProof, d.Plan.Proof)
	require.Equal(t, []string{"a1", "c049"}, keysOf(d))
}

// In a large cluster, too, a search that begins anew has a budget: the first set that made headroom
// broke law 2.
func TestHeadroom_AgainInALargeCluster(t *testing.T) {
	f := newFixture(t, queue.Config{Max: slots(10), Guaranteed: slots(10), Children: []queue.Config{
		{Name: "a", Guaranteed: slots(2)}, {Name: "b"},
	}})
	f.node("n1", 12)
	f.node("n2", 8)
	priority := func(p int32) func(*victims.Task) { return func(t *victims.Task) { t.Priority = p } }
	f.task("three", "b", "n1", 3)
	f.task("other", "b", "n2", 3)
	f.task("own", "a", "n1", 1)
	f.task("one", "b", "n1", 1)
	f.task("two", "b", "n1", 2, priority(1))
	p := &jobs.Planner{Options: victims.Options{Audit: true}}
	p.Hasten()
	ask := f.ask("x", "a", 5)
	ask.Priority = 3
	require.Equal(t, []string{"other", "two"}, keysOf(f.decide(p, ask)))
}

// If tasks that make headroom are of many kinds, the best of them by themselves are tried first. If
// these are not enough, all are: here all but the smallest have to go, whose sizes are 1 to 31.
func TestHeadroom_BestKindsAreNotEnough(t *testing.T) {
	f := newFixture(t, queue.Config{Max: slots(9870), Guaranteed: slots(9870), Children: []queue.Config{
		{Name: "a", Guaranteed: slots(9370)}, {Name: "b"},
	}})
	f.node("n1", 9370)
	f.node("n2", 9870)
	for i := range int64(140) {
		f.task(fmt.Sprintf("of-%03d", i+1), "b", "n2", i+1)
	}
	_, err := f.c.RemoveNode("n2")
	require.NoError(t, err)
	ask := f.ask("x", "a", 9370)
	ask.Priority = 3
	require.Len(t, f.decide(&jobs.Planner{Options: victims.Options{Audit: true}}, ask).Plan.Victims, 109)
}
