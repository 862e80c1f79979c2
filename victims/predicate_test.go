// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// call is one question to a predicate.
type call struct {
	node    string
	victims []string
}

// recorder returns a predicate that answers by ok and notes what it is asked.
func (f *fixture) recorder(calls *[]call, ok func(call) bool) func(*victims.Question) bool {
	return func(q *victims.Question) bool {
		c := call{f.c.Node(q.Node).Name, f.names(q.Victims)}
		slices.Sort(c.victims)
		*calls = append(*calls, c)
		return ok(c)
	}
}

// threeNodes has a full node of one task, one of two and one of three: taking
// from them is ever costlier.
func threeNodes(t *testing.T) *fixture {
	f := giverAndTaker(t)
	f.node("n1", 6)
	f.node("n2", 6)
	f.node("n3", 6)
	f.task("v3a", "a", "n1", 2)
	f.task("v3b", "a", "n1", 2)
	f.task("v3c", "a", "n1", 2)
	f.task("v1", "a", "n2", 6)
	f.task("v2a", "a", "n3", 3)
	f.task("v2b", "a", "n3", 3)
	return f
}

func TestPredicate_AskedOnceWhereItAccepts(t *testing.T) {
	f := threeNodes(t)
	var calls []call
	p := &jobs.Planner{Options: victims.Options{Predicate: f.recorder(&calls, func(call) bool { return true })}}
	d := f.decide(p, f.ask("x", "b", 6))
	require.Equal(t, []string{"v1"}, keysOf(d))
	require.Equal(t, []call{{"n2", []string{"v1"}}}, calls)
}

func TestPredicate_BestFirst(t *testing.T) {
	f := threeNodes(t)
	var calls []call
	p := &jobs.Planner{Options: victims.Options{Predicate: f.recorder(&calls, func(c call) bool { return c.node == "n1" })}}
	d := f.decide(p, f.ask("x", "b", 6))
	require.Equal(t, []string{"v3a", "v3b", "v3c"}, keysOf(d))
	// On a node whose best set was all of its candidates there is nothing to
	// try again.
	require.Equal(t, []call{
		{"n2", []string{"v1"}},
		{"n3", []string{"v2a", "v2b"}},
		{"n1", []string{"v3a", "v3b", "v3c"}},
	}, calls)
}

func TestPredicate_RefusesAll(t *testing.T) {
	f := threeNodes(t)
	var calls []call
	p := &jobs.Planner{Options: victims.Options{Predicate: f.recorder(&calls, func(call) bool { return false })}}
	d := f.decide(p, f.ask("x", "b", 6))
	require.Equal(t, victims.Refused, d.Outcome)
	require.Equal(t, "predicate", d.Refusal.Reason)
	require.Len(t, calls, 3)
}

// Where the predicate wants one more victim, as one with anti-affinity to a
// running task does, the node is tried with all candidates and trimmed.
func TestPredicate_WidensAndTrims(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 6)
	f.task("a", "a", "n1", 2)
	f.task("b", "a", "n1", 2)
	f.task("c", "a", "n1", 2)
	var calls []call
	p := &jobs.Planner{Options: victims.Options{Predicate: f.recorder(&calls, func(c call) bool { return slices.Contains(c.victims, "c") })}}
	d := f.decide(p, f.ask("x", "b", 2))
	require.Equal(t, []string{"c"}, keysOf(d))
	require.False(t, d.Plan.Proof == victims.ProofCost)
	require.Equal(t, []string{"a"}, calls[0].victims)
	require.Equal(t, []string{"a", "b", "c"}, calls[1].victims)
	for _, c := range calls {
		require.NotEmpty(t, c.victims, "a set that does not meet the need was asked about")
	}
	require.LessOrEqual(t, len(calls), 5)
}

// TestPredicate_OptedOutIfOnlyThatDoes: the predicate insists on a victim that opted out, and one
// that did not is no exchange for it.
func TestPredicate_OptedOutIfOnlyThatDoes(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	f.task("a", "a", "n1", 2)
	f.task("o", "a", "n1", 2, func(t *victims.Task) { t.OptedOut = true })
	var calls []call
	p := &jobs.Planner{Options: victims.Options{Audit: true, Predicate: f.recorder(&calls, func(c call) bool { return slices.Contains(c.victims, "o") })}}
	d := f.decide(p, f.ask("x", "b", 2))
	require.Equal(t, []string{"o"}, keysOf(d))
}

// A node with room needs no victim, but the predicate is asked all the same.
func TestPredicate_FitsOnTheNextNode(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 6)
	f.node("n2", 6)
	var calls []call
	p := &jobs.Planner{Options: victims.Options{Predicate: f.recorder(&calls, func(c call) bool { return c.node == "n2" })}}
	d := f.decide(p, f.ask("x", "b", 2))
	require.Equal(t, victims.Fits, d.Outcome)
	require.Equal(t, "n2", f.c.Node(d.Plan.Places[0].Node).Name)
	require.Equal(t, []call{{"n1", nil}, {"n2", nil}}, calls)
}

// With a max that is short, victims elsewhere are part of the question.
func TestPredicate_SeesVictimsElsewhere(t *testing.T) {
	f := newFixture(t, queue.Config{Max: slots(6), Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(6)}}})
	f.node("n1", 6)
	f.node("n2", 6)
	f.task("v", "a", "n2", 6)
	var calls []call
	p := &jobs.Planner{Options: victims.Options{Predicate: f.recorder(&calls, func(c call) bool { return c.node == "n2" })}}
	d := f.decide(p, f.ask("x", "b", 6))
	require.Equal(t, []string{"v"}, keysOf(d))
	require.Equal(t, "n2", f.c.Node(d.Plan.Places[0].Node).Name)
	require.Equal(t, []call{{"n1", []string{"v"}}, {"n2", []string{"v"}}}, calls)
}

// A predicate that refuses all candidates of a node refuses any of them. Where a
// guarantee lets only some go, others than those that were tried may do.
func TestPredicate_ProvesNothingOfSetsNotTried(t *testing.T) {
	for _, guaranteed := range []int64{0, 4} {
		f := newFixture(t, queue.Config{Children: []queue.Config{{Name: "a", Guaranteed: slots(guaranteed)}, {Name: "b", Guaranteed: slots(100)}}})
		f.node("n1", 8)
		f.task("t1", "a", "n1", 4)
		f.task("t2", "a", "n1", 4)
		never := func(q *victims.Question) bool { return f.c.Node(q.Node).Name != "n1" }
		d := f.decide(&jobs.Planner{Options: victims.Options{Predicate: never}}, f.ask("x", "b", 4))
		require.Equal(t, "predicate", d.Refusal.Reason)
		require.Equal(t, guaranteed == 0, d.Refusal.Proven, "guaranteed %d", guaranteed)

		f.node("n2", 8)
		f.task("t3", "a", "n2", 8)
		d = f.decide(&jobs.Planner{Options: victims.Options{Predicate: never}}, f.ask("x", "b", 4))
		require.Equal(t, []string{"t3"}, keysOf(d))
		require.True(t, d.Plan.Proof == victims.ProofCost) // of a there is now enough that all on n1 may go
	}
}

// With a predicate more candidates can make a plan impossible, so that every
// end of an exemption is tried.
func TestPredicate_RetryAtInBetween(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 12)
	f.task("t0", "a", "n1", 4, func(t *victims.Task) { t.Priority = -1 })
	f.task("t1", "a", "n1", 4)
	f.task("t2", "a", "n1", 4)
	p := &jobs.Planner{
		Options: victims.Options{
			Exempt:    f.exemptions(map[string]int{"t0": 120, "t1": 60, "t2": 180}),
			Predicate: func(q *victims.Question) bool { return slices.Equal(f.names(q.Victims), []string{"t1"}) },
		},
	}
	d := f.decide(p, f.ask("x", "b", 4))
	require.Equal(t, victims.Refused, d.Outcome)
	require.True(t, now.Add(time.Hour).Equal(d.Refusal.RetryAt), "RetryAt %v", d.Refusal.RetryAt)
}

// A node that the predicate has refused as it is, is not asked about again for
// what will be.
func TestPredicate_NotAskedTwiceInPlace(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 6)
	f.node("n2", 6)
	f.task("going", "a", "n2", 6, func(t *victims.Task) { t.State = victims.Releasing })
	var calls []call
	p := &jobs.Planner{Options: victims.Options{Predicate: f.recorder(&calls, func(c call) bool { return c.node == "n2" })}}
	d := f.decide(p, f.ask("x", "b", 2))
	require.Equal(t, victims.Waits, d.Outcome)
	require.Equal(t, []call{{"n1", nil}, {"n2", nil}}, calls)
}

// TestPredicate_PutsNodesOff: nodes that differ in the work that is lost only. Few are
// looked at before a plan is accepted, and once it is refused the others come in turn.
func TestPredicate_PutsNodesOff(t *testing.T) {
	f := giverAndTaker(t)
	const nodes = 100
	for i := range nodes {
		n := fmt.Sprintf("n%02d", i)
		f.node(n, 2)
		f.task("v"+n, "a", n, 2, func(t *victims.Task) {
			// In an order that has nothing to do with that of the nodes.
			t.Scheduled = now.Add(-time.Duration(1+(i*37+50)%nodes) * time.Minute)
		})
	}
	var calls []call
	looks := 0
	p := &jobs.Planner{
		Options: victims.Options{
			Predicate: f.recorder(&calls, func(c call) bool { return true }),
			Filter:    func(*victims.Question) bool { looks++; return true },
		},
	}
	d := f.decide(p, f.ask("x", "b", 2))
	require.Equal(t, []string{"vn50"}, keysOf(d), "it loses a minute, the least")
	require.LessOrEqual(t, looks, 20)

	p.Predicate = f.recorder(&calls, func(c call) bool { return len(calls) == 4 })
	d = f.decide(p, f.ask("x", "b", 2))
	require.Equal(t, []call{{"n50", []string{"vn50"}}, {"n23", []string{"vn23"}}, {"n96", []string{"vn96"}}}, calls[1:])
	require.Equal(t, []string{"vn96"}, keysOf(d), "n23 loses two minutes, n96 three")
}

// TestPredicate_HeadroomFromMany: candidates that make headroom are on other nodes, and
// many. A node that the predicate refuses is out, and others are asked about. If it
// refuses all, other sets elsewhere might have done, so nothing is proven.
func TestPredicate_HeadroomFromMany(t *testing.T) {
	const others = 300
	for _, accepts := range []string{"n2", "nobody"} {
		f := newFixture(t, queue.Config{Max: slots(3 * others), Children: []queue.Config{
			{Name: "a"}, {Name: "b", Guaranteed: slots(100)},
		}})
		for _, n := range []string{"n1", "n2"} {
			f.node(n, 6)
			f.task("v"+n, "a", n, 6)
		}
		f.node("far", 10*others)
		for i := range others {
			f.task(fmt.Sprint("far", i), "a", "far", 3-int64(i%2)*2)
		}
		f.task("rest", "a", "far", 3*others-2*others-2*6)
		var calls []call
		p := &jobs.Planner{Options: victims.Options{Audit: true, Predicate: f.recorder(&calls, func(c call) bool { return c.node == accepts })}}
		d := f.decide(p, f.ask("x", "b", 6))
		if accepts == "nobody" {
			require.Equal(t, "predicate", d.Refusal.Reason)
			require.False(t, d.Refusal.Proven)
			continue
		}
		require.Equal(t, []string{"vn2"}, keysOf(d))
	}
}

// TestPredicate_RecallsBeatenPlans: n1 is searched first, and n2 beats it. The predicate
// refuses n2, and n3, which seems to need one victim, takes three, for its large task is
// protected. So the plan for n1 is the best after all.
func TestPredicate_RecallsBeatenPlans(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "a"}, {Name: "p", Guaranteed: slots(6)}, {Name: "b", Guaranteed: slots(100)},
	}})
	f.node("n1", 6)
	f.node("n2", 6)
	f.task("a1", "a", "n1", 3)
	f.task("a2", "a", "n1", 3)
	f.task("one", "a", "n2", 6)
	f.node("n3", 12)
	f.task("large", "p", "n3", 6)
	f.task("s1", "a", "n3", 2)
	f.task("s2", "a", "n3", 2)
	f.task("s3", "a", "n3", 2)
	var calls []call
	p := &jobs.Planner{Options: victims.Options{Predicate: f.recorder(&calls, func(c call) bool { return c.node != "n2" })}}
	d := f.decide(p, f.ask("x", "b", 6))
	require.Equal(t, []string{"a1", "a2"}, keysOf(d))
	require.Equal(t, []call{{"n2", []string{"one"}}, {"n3", []string{"s1", "s2", "s3"}}, {"n1", []string{"a1", "a2"}}}, calls)
}

// TestPredicate_BestSetIfNotAllMayGo: of a only 4 may go. The cheapest one by one are two
// small tasks, and the predicate wants the large one, which is the best set.
func TestPredicate_BestSetIfNotAllMayGo(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "a", Guaranteed: slots(4)}, {Name: "c"}, {Name: "b", Guaranteed: slots(100)},
	}})
	f.node("n1", 4)
	f.task("first", "c", "n1", 4)
	f.node("n2", 8)
	f.task("s1", "a", "n2", 2, func(t *victims.Task) { t.Scheduled = now.Add(-time.Minute) })
	f.task("s2", "a", "n2", 2, func(t *victims.Task) { t.Scheduled = now.Add(-time.Minute) })
	f.task("large", "a", "n2", 4, func(t *victims.Task) { t.Scheduled = now.Add(-time.Hour) })
	var calls []call
	p := &jobs.Planner{Options: victims.Options{Predicate: f.recorder(&calls, func(c call) bool { return slices.Contains(c.victims, "large") })}}
	d := f.decide(p, f.ask("x", "b", 4))
	require.Equal(t, []string{"large"}, keysOf(d))
	require.Equal(t, []call{{"n1", []string{"first"}}, {"n2", []string{"s1", "s2"}}, {"n2", []string{"large"}}}, calls)
}

// TestPredicate_AskedAboutCandidatesOnly: a node is not asked about with tasks that no
// plan may stop: of n2 one that is more important than the ask, and one of its own
// application.
func TestPredicate_AskedAboutCandidatesOnly(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	f.task("first", "a", "n1", 4)
	f.node("n2", 12)
	f.task("low", "a", "n2", 4)
	f.task("high", "a", "n2", 4, func(t *victims.Task) { t.Priority = 7 })
	f.task("mine", "a", "n2", 4, func(t *victims.Task) { t.Application = "mine" })
	ask := f.ask("x", "b", 4)
	ask.Application = "mine"
	var calls []call
	p := &jobs.Planner{Options: victims.Options{Predicate: f.recorder(&calls, func(c call) bool { return len(c.victims) > 1 })}}
	d := f.decide(p, ask)
	require.Equal(t, "predicate", d.Refusal.Reason)
	require.True(t, d.Refusal.Proven)
	require.Equal(t, []call{{"n1", []string{"first"}}, {"n2", []string{"low"}}}, calls)
}

// TestPredicate_NodesThatCostMoreThanARefusedPlan: that no plan for n2 is as cheap as the
// one that was refused is no reason to pass over it.
func TestPredicate_NodesThatCostMoreThanARefusedPlan(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	f.task("first", "a", "n1", 4)
	f.node("n2", 5)
	f.task("small", "a", "n2", 1)
	f.task("dear", "a", "n2", 4, func(t *victims.Task) { t.Priority = 2 })
	ask := f.ask("x", "b", 4)
	ask.Priority = 3
	p := &jobs.Planner{Options: victims.Options{Audit: true, Predicate: func(q *victims.Question) bool { return f.c.NodeName(q.Node) == "n2" }}}
	d := f.decide(p, ask)
	require.Equal(t, []string{"dear"}, keysOf(d))
}
