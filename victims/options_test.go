// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"cmp"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// By default three tasks of a low priority go rather than one of a higher; a
// caller for whom fewer restarts count most turns that round.
func TestCompare_ReplacesTheOrderOfCosts(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 9)
	f.node("n2", 9)
	for i := range 3 {
		f.task(fmt.Sprint("low", i), "a", "n1", 3)
	}
	f.task("high", "a", "n2", 9, func(t *victims.Task) { t.Priority = 5 })
	ask := f.ask("x", "b", 9)
	ask.Priority = 5

	require.Equal(t, []string{"low0", "low1", "low2"}, keysOf(f.decide(&jobs.Planner{}, ask)))

	fewest := func(a, b *victims.Cost) int { return cmp.Or(cmp.Compare(a.Victims, b.Victims), a.Compare(b)) }
	d := f.decide(&jobs.Planner{Options: victims.Options{Compare: fewest}}, ask)
	require.Equal(t, []string{"high"}, keysOf(d))
	require.True(t, d.Plan.Proof == victims.ProofCost)
}

// On one node, too: and where the caller's order cannot tell sets apart the
// plan is still minimal.
func TestCompare_OnOneNode(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 10)
	f.task("a", "a", "n1", 2)
	f.task("b", "a", "n1", 2)
	f.task("c", "a", "n1", 4)
	f.task("d", "a", "n1", 2)
	indifferent := func(a, b *victims.Cost) int { return 0 }
	d := f.decide(&jobs.Planner{Options: victims.Options{Compare: indifferent}}, f.ask("x", "b", 4))
	require.Equal(t, victims.Preempts, d.Outcome)
	freed := int64(0)
	for _, v := range d.Plan.Victims {
		freed += f.c.Task(v.Task).Size[0]
	}
	require.Equal(t, int64(4), freed, "victims %v", keysOf(d))
}

// twelveOddSizes makes a node on which no two tasks are alike and the cheapest
// set takes a search.
func twelveOddSizes(t *testing.T) *fixture {
	f := giverAndTaker(t)
	f.node("n1", 1000)
	sum := int64(0)
	for i, size := range []int64{97, 89, 83, 79, 73, 71, 67, 61, 59, 53, 47, 43} {
		f.task(fmt.Sprint("t", i), "a", "n1", size)
		sum += size
	}
	f.task("rest", "a", "n1", 1000-sum, func(t *victims.Task) { t.RequiredNode = true })
	return f
}

func TestBudget_BoundsTheSearch(t *testing.T) {
	f := twelveOddSizes(t)
	ask := f.ask("x", "b", 90+84+60)
	full := f.decide(&jobs.Planner{}, ask)
	require.True(t, full.Plan.Proof == victims.ProofCost)
	require.Greater(t, full.Plan.Steps, int64(1000))

	short := f.decide(&jobs.Planner{Options: victims.Options{Steps: 1}}, ask)
	require.Equal(t, victims.Preempts, short.Outcome)
	require.False(t, short.Plan.Proof == victims.ProofCost)
	require.Less(t, short.Plan.Steps, full.Plan.Steps, "only what it takes to state the problem")
	require.LessOrEqual(t, full.Plan.Cost.Compare(&short.Plan.Cost), 0)
	audit := &victims.Auditor{Cluster: f.c}
	require.Empty(t, audit.Audit(nil, short, now))
}

// The largest budget is as good as no bound.
func TestBudget_Unlimited(t *testing.T) {
	f := twelveOddSizes(t)
	ask := f.ask("x", "b", 90+84+60)
	want := f.decide(&jobs.Planner{}, ask)
	got := f.decide(&jobs.Planner{Options: victims.Options{Steps: math.MaxInt64}}, ask)
	require.True(t, got.Plan.Proof == victims.ProofCost)
	require.Equal(t, keysOf(want), keysOf(got))
}

// A planner that moves to a cluster with fewer types forgets the others.
func TestPlanner_MovesToAnotherCluster(t *testing.T) {
	schema, err := resources.NewSchema("a", "b", "c")
	require.NoError(t, err)
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Guaranteed: resources.Limit{Value: resources.Vector{9, 9, 9}, Defined: 7},
		Children: []queue.Config{{Name: "x"}}})
	require.NoError(t, err)
	wide := victims.NewCluster(tree)
	_, err = wide.AddNode(&victims.Node{Name: "n", Capacity: resources.Vector{1, 1, 1}})
	require.NoError(t, err)
	p := &jobs.Planner{Cluster: wide}
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &victims.Ask{Key: "k", Queue: 1, Size: resources.Vector{2, 2, 2}}, now))

	f := giverAndTaker(t)
	f.node("n1", 4)
	f.task("v", "a", "n1", 4, func(t *victims.Task) { t.Priority = 1 })
	p.Cluster = f.c
	require.NoError(t, p.Decide(&d, f.ask("x", "b", 2), now))
	require.NoError(t, d.Count())
	require.Equal(t, resources.Vector{2}, d.Refusal.Lacks)
}

// What could not be applied is not decided.
func TestDecide_RejectsTimesOutOfRange(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	ask := f.ask("x", "b", 2)
	ask.PendingSince = time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)
	var d victims.Decision
	require.ErrorIs(t, (&jobs.Planner{Cluster: f.c}).Decide(&d, ask, now), invalid.Range)
}

func TestStrictPriority(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	f.task("equal", "a", "n1", 2)
	f.task("lower", "a", "n1", 2, func(t *victims.Task) { t.Priority = -1 })
	require.Equal(t, victims.Preempts, f.decide(&jobs.Planner{}, f.ask("x", "b", 4)).Outcome)
	d := f.decide(&jobs.Planner{Options: victims.Options{StrictPriority: true}}, f.ask("x", "b", 4))
	require.Equal(t, victims.Refused, d.Outcome)
	require.Contains(t, d.Refusal.Counts, victims.Count{Rule: "priority", Tasks: 1})
	require.Equal(t, 1, d.Refusal.Candidates)
	require.Equal(t, []string{"lower"}, keysOf(f.decide(&jobs.Planner{Options: victims.Options{StrictPriority: true}}, f.ask("x", "b", 2))))
}

func TestInterval(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	f.task("v", "a", "n1", 4)
	ask := f.ask("x", "b", 4)
	ask.LastAttempt = now.Add(-time.Minute)
	tests := map[string]struct {
		interval time.Duration
		delayed  bool
		reason   string
		retry    time.Duration
	}{
		"none":                           {0, false, "", 0},
		"over":                           {time.Minute, false, "", 0},
		"a nanosecond left":              {time.Minute + 1, false, "too-soon", 1},
		"delay and interval, the longer": {2 * time.Minute, true, "too-early", time.Minute},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := *ask
			if test.delayed {
				a.PendingSince = now.Add(-10 * time.Second) // of 30
			}
			d := f.decide(&jobs.Planner{Options: victims.Options{RetryInterval: test.interval}}, &a)
			if test.reason == "" {
				require.Equal(t, []string{"v"}, keysOf(d))
				return
			}
			require.Equal(t, test.reason, d.Refusal.Reason)
			require.True(t, now.Add(test.retry).Equal(d.Refusal.RetryAt), "RetryAt %v", d.Refusal.RetryAt)
		})
	}
}

// A warm planner allocates nothing, whatever it decides.
func TestDecide_DoesNotAllocate(t *testing.T) {
	f := threeNodes(t)
	f.task("own", "b", "n1", 1)
	headroom := twelveOddSizes(t)
	tests := map[string]struct {
		f    *fixture
		ask  *victims.Ask
		want victims.Outcome
		plan jobs.Planner
	}{
		"plan":       {f, f.ask("x", "b", 6), victims.Preempts, jobs.Planner{}},
		"exhaustive": {f, f.ask("x", "b", 6), victims.Preempts, jobs.Planner{Options: *new(victims.Options).Exhaust(true)}},
		"refusal":    {f, f.ask("x", "b", 7), victims.Refused, jobs.Planner{}},
		"fits":       {f, f.ask("x", "b", 0), victims.Fits, jobs.Planner{}},
		"search":     {headroom, headroom.ask("x", "b", 234), victims.Preempts, jobs.Planner{}},
		"exempt": {f, f.ask("x", "b", 6), victims.Preempts, jobs.Planner{
			Options: victims.Options{Exempt: func(*victims.Question) (time.Time, bool) { return time.Time{}, false }},
		}},
		"predicate": {f, f.ask("x", "b", 6), victims.Preempts, jobs.Planner{
			Options: victims.Options{Predicate: func(*victims.Question) bool { return true }},
		}},
	}
	compare := tests["plan"]
	compare.plan.Compare = (*victims.Cost).Compare
	tests["compare"] = compare
	refuse := tests["plan"]
	refuse.want = victims.Refused
	refuse.plan.Predicate = func(*victims.Question) bool { return false }
	tests["predicate that refuses"] = refuse
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := &test.plan
			p.Cluster = test.f.c
			var d victims.Decision
			require.NoError(t, p.Decide(&d, test.ask, now))
			require.Equal(t, test.want, d.Outcome)
			allocs := testing.AllocsPerRun(100, func() {
				if err := p.Decide(&d, test.ask, now); err != nil {
					t.Error(err)
				}
			})
			require.Zero(t, allocs)
		})
	}
}

// Counts times sizes may be beyond int64 where the sizes themselves are not.
func TestDecide_HugeSizes(t *testing.T) {
	const huge = 1 << 62
	f := giverAndTaker(t)
	f.node("n1", 2)
	f.node("n2", huge)
	f.task("a", "a", "n1", 1)
	f.task("b", "a", "n1", 1)
	f.task("c", "a", "n2", huge)
	d := f.decide(&jobs.Planner{}, f.ask("x", "b", 2))
	require.Equal(t, []string{"c"}, keysOf(d), "one victim, and not two that fit better")
}
