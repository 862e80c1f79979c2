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
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// nodeLines writes findings as "n1 costlier short 4 lacks 0".
func (f *fixture) nodeLines(e *victims.Explanation) (lines []string) {
	for _, n := range e.Nodes {
		lines = append(lines, fmt.Sprintf("%s %v short %d lacks %d", n.Node, n.Verdict, n.Short[0], n.Lacks[0]))
	}
	return lines
}

// A nodeCase is a cluster of nodes for an ask x of root.b, and what is found of
// them. Queues a and b, which is guaranteed 100, are there unless root says
// otherwise.
type nodeCase struct {
	name   string
	root   queue.Config
	build  func(*fixture)
	change func(*fixture, *jobs.Planner, *victims.Ask)
	size   int64
	want   []string
}

func high(t *victims.Task) { t.Priority = 1 }

func leaving(t *victims.Task) { t.State = victims.Releasing }

// refuses returns a change to a planner: its predicate refuses the nodes named.
func refuses(names ...string) func(*fixture, *jobs.Planner, *victims.Ask) {
	return func(f *fixture, p *jobs.Planner, _ *victims.Ask) {
		p.Predicate = func(q *victims.Question) bool {
			return !slices.Contains(names, f.c.Node(q.Node).Name)
		}
	}
}

var nodeCases = []nodeCase{
	{name: "fits on the second", build: func(f *fixture) {
		f.node("n1", 3)
		f.node("n2", 4)
		f.node("n3", 4)
	}, size: 4, want: []string{
		"n1 no-room short 1 lacks 1", "n2 chosen short 0 lacks 0", "n3 not-needed short 0 lacks 0"}},
	{name: "fits on the second, and later on the first", build: func(f *fixture) {
		f.node("n1", 4)
		f.node("n2", 4)
		f.task("l", "a", "n1", 1, leaving)
	}, size: 4, want: []string{"n1 no-room short 0 lacks 0", "n2 chosen short 0 lacks 0"}},
	{name: "fits where the predicate accepts", build: func(f *fixture) {
		f.node("n1", 4)
		f.node("n2", 4)
	}, change: refuses("n1"), size: 4, want: []string{"n1 predicate short 0 lacks 0", "n2 chosen short 0 lacks 0"}},
	{name: "waits for the second", build: func(f *fixture) {
		f.node("n1", 4)
		f.node("n2", 4)
		f.node("n3", 4)
		f.task("v", "a", "n1", 4)
		f.task("l", "a", "n2", 4, leaving)
		f.task("m", "a", "n3", 4, leaving)
	}, size: 4, want: []string{
		"n1 no-room short 4 lacks 0", "n2 chosen short 0 lacks 0", "n3 not-needed short 0 lacks 0"}},
	{name: "a plan", build: func(f *fixture) {
		f.node("n1", 4)
		f.node("n2", 4)
		f.node("n3", 4)
		f.node("n4", 3)
		f.task("v1", "a", "n1", 2)
		f.task("v2", "a", "n1", 2)
		f.task("v3", "a", "n2", 4)
		f.task("v4", "a", "n3", 4)
		f.task("v5", "a", "n4", 3)
		for _, n := range []victims.Node{{Name: "n5", Unschedulable: true}, {Name: "n6", ReservedFor: "y"}} {
			n.Capacity = resources.Vector{9}
			_, err := f.c.AddNode(&n)
			require.NoError(f.t, err)
		}
	}, size: 4, want: []string{
		"n1 costlier short 4 lacks 0", "n2 chosen short 4 lacks 0", "n3 costlier short 4 lacks 0", "n4 lacks short 4 lacks 1",
		"n5 unschedulable short 0 lacks 0", "n6 reserved short 0 lacks 0"}},
	{name: "another plan than the predicate refuses", build: func(f *fixture) {
		f.node("n1", 4)
		f.node("n2", 4)
		f.node("n3", 4)
		f.task("v1", "a", "n1", 4)
		f.task("v2", "a", "n2", 4)
	}, change: refuses("n1", "n3"), size: 4, want: []string{
		"n1 predicate short 4 lacks 0", "n2 chosen short 4 lacks 0", "n3 predicate short 0 lacks 0"}},
	{name: "the predicate refuses all", build: func(f *fixture) {
		f.node("n1", 4)
		f.node("n2", 4)
		f.task("v1", "a", "n1", 4)
		f.task("v2", "a", "n2", 2, high)
	}, change: refuses("n1"), size: 4, want: []string{"n1 predicate short 4 lacks 0", "n2 lacks short 2 lacks 2"}},
	{name: "a widened set is chosen", build: func(f *fixture) {
		f.node("n1", 6)
		f.node("n2", 6)
		f.task("v1", "a", "n1", 3)
		f.task("v2", "a", "n1", 3)
		f.task("w1", "a", "n2", 6)
	}, change: func(f *fixture, p *jobs.Planner, a *victims.Ask) {
		p.Predicate = func(q *victims.Question) bool { return len(q.Victims) == 2 }
	}, size: 3, want: []string{"n1 chosen short 3 lacks 0", "n2 predicate short 3 lacks 0"}},
	{name: "never come to", build: func(f *fixture) {
		f.node("n1", 6)
		f.node("n2", 6)
		f.task("v1", "a", "n1", 3)
		f.task("v2", "a", "n1", 3)
		f.task("w1", "a", "n2", 6)
	}, change: func(f *fixture, p *jobs.Planner, a *victims.Ask) {
		p.Predicate = func(q *victims.Question) bool {
			return len(q.Victims) == 2 || f.c.Node(q.Node).Name == "n2"
		}
	}, size: 3, want: []string{"n1 chosen short 3 lacks 0", "n2 unproven short 3 lacks 0"}},
	{name: "filtered", build: func(f *fixture) {
		f.node("n1", 4)
		f.node("n2", 4)
	}, change: func(f *fixture, p *jobs.Planner, a *victims.Ask) {
		p.Filter = func(q *victims.Question) bool { return f.c.Node(q.Node).Name != "n1" }
	}, size: 4, want: []string{"n1 filter short 0 lacks 0", "n2 chosen short 0 lacks 0"}},
	{name: "blocked", build: func(f *fixture) {
		f.node("n1", 4)
		f.node("n2", 4)
		f.task("v1", "a", "n1", 1, high)
		f.task("v2", "a", "n2", 1)
	}, change: func(f *fixture, p *jobs.Planner, a *victims.Ask) {
		p.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
			return slices.AppendSeq(dst, f.c.TasksOn(q.Node))
		}
	}, size: 3, want: []string{"n1 blocked short 0 lacks 0", "n2 chosen short 0 lacks 0"}},
	{name: "no legal set", root: queue.Config{Children: []queue.Config{
		{Name: "a", Guaranteed: slots(2)}, {Name: "b", Guaranteed: slots(100)},
	}}, build: func(f *fixture) {
		f.node("n1", 4)
		f.node("n2", 1)
		f.task("v1", "a", "n1", 2)
		f.task("v2", "a", "n1", 2)
	}, size: 4, want: []string{"n1 no-legal-set short 4 lacks 0", "n2 lacks short 3 lacks 3"}},
	{name: "no headroom", root: queue.Config{Max: slots(4), Children: []queue.Config{
		{Name: "a", Guaranteed: slots(1)}, {Name: "b", Guaranteed: slots(3)},
	}}, build: func(f *fixture) {
		f.node("n1", 4)
		f.node("n2", 4)
		f.node("n3", 2)
		f.task("v1", "a", "n1", 2)
		f.task("v2", "a", "n3", 2, high)
	}, size: 3, want: []string{"n1 headroom short 1 lacks 0", "n2 headroom short 0 lacks 0", "n3 lacks short 3 lacks 3"}},
	{name: "headroom from elsewhere, where law 2 keeps the first choice", root: queue.Config{Max: slots(5), Children: []queue.Config{
		{Name: "a", Guaranteed: slots(2)}, {Name: "b", Guaranteed: slots(1)}, {Name: "c"},
	}}, build: func(f *fixture) {
		f.node("n1", 5)
		f.node("n2", 2)
		f.task("v1", "a", "n1", 1)
		f.task("v2", "a", "n1", 1)
		f.task("v3", "c", "n1", 1)
		f.task("v4", "c", "n1", 1)
		f.task("v5", "a", "n2", 1)
	}, size: 2, want: []string{"n1 chosen short 1 lacks 0", "n2 costlier short 1 lacks 0"}},
	{name: "withheld", build: func(f *fixture) {
		f.node("n1", 4)
		f.node("n2", 3)
		f.task("v1", "a", "n1", 4)
		f.task("v2", "a", "n2", 3)
	}, change: func(_ *fixture, _ *jobs.Planner, a *victims.Ask) { a.MayNotPreempt = true },
		size: 4, want: []string{"n1 withheld short 4 lacks 0", "n2 lacks short 4 lacks 1"}},
	{name: "required", build: func(f *fixture) {
		f.node("n1", 4)
		f.node("n2", 4)
		f.task("v1", "a", "n2", 4)
	}, change: func(_ *fixture, _ *jobs.Planner, a *victims.Ask) { a.RequiredNode = "n2" },
		size: 4, want: []string{"n1 not-required short 0 lacks 0", "n2 chosen short 4 lacks 0"}},
	{name: "a place is held", build: func(f *fixture) {
		f.node("n1", 4)
		f.node("n2", 4)
		f.task("v1", "a", "n2", 1, leaving)
	}, change: func(f *fixture, _ *jobs.Planner, a *victims.Ask) {
		n2, _ := f.c.LookupNode("n2")
		_, err := f.c.GrantPlace(a, n2, time.Time{})
		require.NoError(f.t, err)
	},
		size: 4, want: []string{"n1 not-needed short 0 lacks 0", "n2 held short 1 lacks 0"}},
	{name: "the caller's costs", build: func(f *fixture) {
		f.node("n1", 4)
		f.node("n2", 4)
		f.node("n3", 4)
		f.task("v1", "a", "n1", 4)
		f.task("v2", "a", "n2", 2)
		f.task("v3", "a", "n2", 2)
		f.task("v4", "a", "n3", 2)
		f.task("v5", "a", "n3", 2)
	}, change: func(_ *fixture, p *jobs.Planner, _ *victims.Ask) {
		p.Compare = func(a, b *victims.Cost) int { return b.Node - a.Node } // the last node that will do
	}, size: 4, want: []string{
		"n1 costlier short 4 lacks 0", "n2 costlier short 4 lacks 0", "n3 chosen short 4 lacks 0"}},
}

// explain returns what is found.
func (c *nodeCase) explain(t *testing.T) (*fixture, *victims.Explanation) {
	root := c.root
	if root.Children == nil {
		root.Children = []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(100)}}
	}
	f := newFixture(t, root)
	c.build(f)
	p, ask := &jobs.Planner{}, f.ask("x", "b", c.size)
	if c.change != nil {
		c.change(f, p, ask)
	}
	return f, f.explain(p, ask)
}

// What came of nodes, in node order.
func TestExplain_Nodes(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range nodeCases {
		t.Run(c.name, func(t *testing.T) {
			f, e := c.explain(t)
			require.Equal(t, c.want, f.nodeLines(e))
			for _, n := range e.Nodes {
				seen[n.Verdict] = true
			}
		})
	}
	require.Len(t, seen, 16, "a verdict of NodeFinding.Verdict that no case has")
}

// The cost of every plan that there could have been.
func TestExplain_NodeCosts(t *testing.T) {
	f := threeNodes(t)
	f.node("n4", 6)
	p := &jobs.Planner{}
	refuses("n2", "n4")(f, p, nil)
	e := f.explain(p, f.ask("x", "b", 6))
	var got []string
	for _, n := range e.Nodes {
		got = append(got, fmt.Sprintf("%s %v: %d", n.Node, n.Verdict, n.Cost.Victims))
	}
	require.Equal(t, []string{"n1 costlier: 3", "n2 predicate: 1", "n3 chosen: 2", "n4 predicate: 0"}, got)
}

// An ask that starts on the node of its grant is chosen there, wherever that is.
func TestExplain_GrantThatFits(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	f.node("n2", 4)
	ask := f.ask("x", "b", 4)
	n2, _ := f.c.LookupNode("n2")
	_, err := f.c.GrantPlace(ask, n2, time.Time{})
	require.NoError(t, err)
	e := f.explain(&jobs.Planner{}, ask)
	require.Equal(t, victims.Fits, e.Decision.Outcome)
	require.Equal(t, []string{"n1 not-needed short 0 lacks 0", "n2 chosen short 0 lacks 0"}, f.nodeLines(e))
}

// Every node has a step budget of its own: what is found of the last does not
// depend on how many there are before it.
func TestExplain_StepsPerNode(t *testing.T) {
	const nodes = 300
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "a", Guaranteed: slots(4*nodes - 3)}, {Name: "b", Guaranteed: slots(100)},
	}})
	for i := range nodes {
		name := fmt.Sprintf("n%d", i)
		f.node(name, 4)
		f.task(name+"-a", "a", name, 2)
		f.task(name+"-b", "a", name, 2)
	}
	e := f.explain(&jobs.Planner{}, f.ask("x", "b", 3))
	for _, n := range e.Nodes {
		require.Equal(t, "no-legal-set", n.Verdict)
	}
}
