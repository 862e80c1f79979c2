package victims_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// nodeLines writes findings as "n1 costlier short 4 lacks 0".
func (f *fixture) nodeLines(e *victims.Explanation) (lines []string) {
	for _, n := range e.Nodes {
		lines = append(lines, fmt.Sprintf("%s %v short %d lacks %d", f.c.Node(n.Node).Name, n.Verdict, n.Short[0], n.Lacks[0]))
	}
	return lines
}

// taskLines writes findings as "t1 priority".
func (f *fixture) taskLines(e *victims.Explanation) (lines []string) {
	for _, t := range e.Tasks {
		word := "candidate"
		switch {
		case t.Victim:
			word = "victim"
		case t.Rule != 0:
			word = t.Rule.String()
		}
		lines = append(lines, t.Key+" "+word)
	}
	return lines
}

// A task is kept by the first rule that keeps it.
func TestExplain_Tasks(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "out"},
		{Name: "in", Properties: policy("fence"), Children: []queue.Config{
			{Name: "off", Properties: policy("disabled")},
			{Name: "open"},
			{Name: "poor", Guaranteed: slots(5)},
			{Name: "hungry", Guaranteed: slots(100), Children: []queue.Config{{Name: "asking"}, {Name: "sibling"}}},
		}},
	}})
	f.node("n1", 40)
	f.node("n2", 1)
	require.NoError(t, f.c.UpdateNode(&victims.Node{Name: "n2", Capacity: resources.Vector{1}, Unschedulable: true}))
	with := func(do ...func(*victims.Task)) func(*victims.Task) {
		return func(t *victims.Task) {
			for _, change := range do {
				change(t)
			}
		}
	}
	leaving := func(t *victims.Task) { t.State = victims.Preempting }
	bound := func(t *victims.Task) { t.RequiredNode = true }
	same := func(t *victims.Task) { t.Application = "app-x" }
	high := func(t *victims.Task) { t.Priority = 1 }
	f.task("a-leaving", "out", "n1", 1, with(leaving, bound, same, high))
	f.task("b-bound", "out", "n1", 1, with(bound, same, high))
	f.task("c-same", "out", "n1", 1, with(same, high))
	f.task("d-outside", "out", "n1", 1, high)
	f.task("e-own", "in.hungry.asking", "n1", 1, high)
	f.task("f-disabled", "in.off", "n1", 1, high)
	f.task("g-inside", "in.hungry.sibling", "n1", 1, high)
	f.task("h-high", "in.open", "n1", 1, high)
	f.task("i-exempt", "in.open", "n1", 0)
	f.task("j-empty", "in.open", "n1", 0)
	f.task("k-elsewhere", "in.poor", "n2", 1)
	f.task("l-guaranteed", "in.poor", "n1", 4)
	f.task("m-candidate", "in.open", "n1", 26)

	p := &victims.Planner{Exempt: f.exemptions(map[string]int{"i-exempt": 5})}
	ask := f.ask("x", "in.hungry.asking", 40)
	e := f.explain(p, ask)
	require.Equal(t, victims.NoVictims, e.Decision.Refusal.Reason)
	require.Equal(t, []string{
		"a-leaving leaving",
		"b-bound required-node",
		"c-same same-application",
		"d-outside fence",
		"e-own fence",
		"f-disabled disabled",
		"g-inside inside",
		"h-high priority",
		"i-exempt exempt",
		"j-empty not-helping",
		"k-elsewhere not-helping",
		"l-guaranteed guarantee",
		"m-candidate candidate",
	}, f.taskLines(e))
	require.Equal(t, []string{"n1 lacks short 37 lacks 11", "n2 unschedulable short 40 lacks 40"}, f.nodeLines(e))

	type row struct {
		path                    string
		onPath, starving, fence bool
		rule                    victims.Rule
		room                    int64 // -1 where there is no guarantee
		tasks, candidates       int
	}
	var got []row
	for _, q := range e.Queues {
		r := row{f.c.Tree().Path(q.Queue), q.OnPath, q.Starving, q.Fence, q.Rule, -1, q.Tasks, q.Candidates}
		if v, ok := q.Room.Bound(0); ok {
			r.room = v
		}
		require.Nil(t, q.Lacks)
		got = append(got, r)
	}
	require.Equal(t, []row{
		{"root", true, false, false, 0, -1, 0, 0},
		{"root.out", false, false, false, victims.RuleFence, -1, 4, 0},
		{"root.in", true, false, true, 0, -1, 0, 0},
		{"root.in.off", false, false, false, victims.RuleDisabled, -1, 1, 0},
		{"root.in.open", false, false, false, 0, -1, 4, 1},
		{"root.in.poor", false, false, false, 0, 0, 2, 0},
		{"root.in.hungry", true, true, false, 0, 40, 0, 0},
		{"root.in.hungry.asking", true, false, false, victims.RuleFence, -1, 1, 0},
		{"root.in.hungry.sibling", false, false, false, victims.RuleInside, -1, 1, 0},
	}, got)

	// With less to ask for there is a plan, and the candidate is a victim.
	e = f.explain(p, f.ask("x", "in.hungry.asking", 28))
	require.Equal(t, "m-candidate victim", f.taskLines(e)[12])
}

// What came of nodes, in node order.
func TestExplain_Nodes(t *testing.T) {
	high := func(t *victims.Task) { t.Priority = 1 }
	leaving := func(t *victims.Task) { t.State = victims.Releasing }
	refuses := func(names ...string) func(f *fixture, p *victims.Planner, a *victims.Ask) {
		return func(f *fixture, p *victims.Planner, a *victims.Ask) {
			p.Predicate = func(_ *victims.Ask, n victims.NodeID, _ []victims.TaskID) bool {
				for _, name := range names {
					if f.c.Node(n).Name == name {
						return false
					}
				}
				return true
			}
		}
	}
	tests := []struct {
		name   string
		root   queue.Config
		build  func(*fixture)
		change func(*fixture, *victims.Planner, *victims.Ask)
		size   int64
		want   []string
	}{
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
		}, change: func(f *fixture, p *victims.Planner, a *victims.Ask) {
			p.Predicate = func(_ *victims.Ask, n victims.NodeID, ids []victims.TaskID) bool { return len(ids) == 2 }
		}, size: 3, want: []string{"n1 chosen short 3 lacks 0", "n2 predicate short 3 lacks 0"}},
		{name: "never come to", build: func(f *fixture) {
			f.node("n1", 6)
			f.node("n2", 6)
			f.task("v1", "a", "n1", 3)
			f.task("v2", "a", "n1", 3)
			f.task("w1", "a", "n2", 6)
		}, change: func(f *fixture, p *victims.Planner, a *victims.Ask) {
			p.Predicate = func(_ *victims.Ask, n victims.NodeID, ids []victims.TaskID) bool {
				return len(ids) == 2 || f.c.Node(n).Name == "n2"
			}
		}, size: 3, want: []string{"n1 chosen short 3 lacks 0", "n2 unproven short 3 lacks 0"}},
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
		{name: "withheld", build: func(f *fixture) {
			f.node("n1", 4)
			f.node("n2", 3)
			f.task("v1", "a", "n1", 4)
			f.task("v2", "a", "n2", 3)
		}, change: func(_ *fixture, _ *victims.Planner, a *victims.Ask) { a.MayNot = true },
			size: 4, want: []string{"n1 withheld short 4 lacks 0", "n2 lacks short 4 lacks 1"}},
		{name: "required", build: func(f *fixture) {
			f.node("n1", 4)
			f.node("n2", 4)
			f.task("v1", "a", "n2", 4)
		}, change: func(_ *fixture, _ *victims.Planner, a *victims.Ask) { a.RequiredNode = "n2" },
			size: 4, want: []string{"n1 not-required short 0 lacks 0", "n2 chosen short 4 lacks 0"}},
		{name: "the caller's costs", build: func(f *fixture) {
			f.node("n1", 4)
			f.node("n2", 4)
			f.node("n3", 4)
			f.task("v1", "a", "n1", 4)
			f.task("v2", "a", "n2", 2)
			f.task("v3", "a", "n2", 2)
			f.task("v4", "a", "n3", 2)
			f.task("v5", "a", "n3", 2)
		}, change: func(_ *fixture, p *victims.Planner, _ *victims.Ask) {
			p.Compare = func(a, b *victims.Cost) int { return 0 } // nothing matters
		}, size: 4, want: []string{
			"n1 chosen short 4 lacks 0", "n2 costlier short 4 lacks 0", "n3 costlier short 4 lacks 0"}},
	}
	seen := make(map[victims.NodeVerdict]bool)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.root.Children == nil {
				test.root.Children = []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(100)}}
			}
			f := newFixture(t, test.root)
			test.build(f)
			p, ask := &victims.Planner{}, f.ask("x", "b", test.size)
			if test.change != nil {
				test.change(f, p, ask)
			}
			e := f.explain(p, ask)
			require.Equal(t, test.want, f.nodeLines(e))
			for _, n := range e.Nodes {
				seen[n.Verdict] = true
			}
		})
	}
	seen[victims.NodeHeld] = true // TestExplain_InFlight
	for v := victims.NodeChosen; v <= victims.NodeHeld; v++ {
		require.True(t, seen[v], "%v", v)
	}
}

// The cost of every plan that there could have been.
func TestExplain_NodeCosts(t *testing.T) {
	f := threeNodes(t)
	e := f.explain(&victims.Planner{}, f.ask("x", "b", 6))
	var got []string
	for _, n := range e.Nodes {
		got = append(got, fmt.Sprintf("%s %v: %d", f.c.Node(n.Node).Name, n.Verdict, n.Cost.Victims))
	}
	require.Equal(t, []string{"n1 costlier: 3", "n2 chosen: 1", "n3 costlier: 2"}, got)
}

// An ask that starts on the node of its grant is chosen there, wherever that is.
func TestExplain_GrantThatFits(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	f.node("n2", 4)
	ask := f.ask("x", "b", 4)
	n2, _ := f.c.LookupNode("n2")
	_, err := f.c.Grant(ask, n2)
	require.NoError(t, err)
	e := f.explain(&victims.Planner{}, ask)
	require.Equal(t, victims.Fits, e.Decision.Outcome)
	require.Equal(t, []string{"n1 not-needed short 0 lacks 0", "n2 chosen short 0 lacks 0"}, f.nodeLines(e))
}

// What is wrong with an ask is told, and an explanation stays as it was.
func TestExplain_Error(t *testing.T) {
	f := threeNodes(t)
	p := &victims.Planner{}
	e := f.explain(p, f.ask("x", "b", 6))
	before := f.c.Describe(&e.Decision) + f.c.DescribeExplanation(e)
	err := p.Explain(e, f.ask("", "b", 6), now)
	require.ErrorIs(t, err, victims.ErrEmpty)
	require.ErrorIs(t, p.Explain(e, f.ask("x", "b", 6), time.Time{}), victims.ErrRange)
	require.Equal(t, before, f.c.Describe(&e.Decision)+f.c.DescribeExplanation(e))
}

// An explanation is the caller's: the next one shares nothing with it.
func TestExplain_Owned(t *testing.T) {
	f := threeNodes(t)
	p := &victims.Planner{}
	first := f.explain(p, f.ask("x", "b", 6))
	before := fmt.Sprint(first.Queues, first.Nodes, first.Tasks, first.Relaxed)
	f.explain(p, f.ask("y", "b", 2))
	require.Equal(t, before, fmt.Sprint(first.Queues, first.Nodes, first.Tasks, first.Relaxed))
}
