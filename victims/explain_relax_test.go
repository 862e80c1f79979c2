// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// explain returns the explanation of a planner over the fixture's cluster.
func (f *fixture) explain(p *jobs.Planner, a *victims.Ask) *victims.Explanation {
	f.t.Helper()
	p.Cluster = f.c
	var e victims.Explanation
	require.NoError(f.t, p.Explain(&e, a, now))
	return &e
}

// relaxed writes relaxations as "fence root.b: plan n1 1": the rule, what it is
// about, and what is decided without it: outcome, node and number of victims.
func (f *fixture) relaxed(e *victims.Explanation) []string {
	lines := []string{}
	for _, r := range e.Relaxations {
		about := ""
		switch rulebook.RelaxationOf(r.Rule).Subject {
		case rulebook.OfQueue:
			about = " " + r.Queue
		case rulebook.OfBudget:
			about = " " + r.Budget
		case rulebook.OfNode:
			about = " " + r.Node
		case rulebook.OfTask:
			about = " " + r.Key
		}
		lines = append(lines, fmt.Sprintf("%v%s: %v %s %d", r.Rule, about, r.Outcome, r.Place, r.Victims))
	}
	return lines
}

func policy(p string) map[string]string {
	return map[string]string{"preemption.policy": p}
}

// obstacle is a cluster in which an ask x of root.b for 10 is refused. Without
// what the row says it would stop v of root.a, which fills node n1.
type obstacle struct {
	name    string
	a, b    queue.Config // names are filled in; b is guaranteed 100 unless it says otherwise
	root    queue.Config
	task    func(*victims.Task) // changes v
	more    func(*fixture)      // adds to the cluster
	ask     func(*victims.Ask)
	planner jobs.Planner
	reason  string
	want    []string
}

var obstacles = slices.Concat([]obstacle{
	{name: "must not preempt", ask: func(a *victims.Ask) { a.MayNotPreempt = true },
		reason: "may-not-preempt", want: []string{"may-not-preempt: plan n1 1"}},
	{name: "delay", ask: func(a *victims.Ask) { a.PendingSince = now.Add(-29 * time.Second) },
		reason: "too-early", want: []string{"delay: plan n1 1"}},
	{name: "interval", ask: func(a *victims.Ask) { a.LastAttempt = now.Add(-59 * time.Second) },
		planner: jobs.Planner{Options: victims.Options{RetryInterval: time.Minute}},
		reason:  "too-soon", want: []string{"interval: plan n1 1"}},
	{name: "nothing is guaranteed", b: queue.Config{Guaranteed: resources.Limit{Value: resources.Vector{0}}},
		reason: "not-guaranteed", want: []string{"not-guaranteed: plan n1 1"}},
	{name: "has its guarantee", b: queue.Config{Guaranteed: slots(5)},
		more: func(f *fixture) {
			f.node("n2", 5)
			f.task("own", "b", "n2", 5)
		},
		reason: "over-guarantee", want: []string{"over-guarantee root.b: plan n1 1"}},
}, capObstacles(), []obstacle{
	{name: "inside the starving queue", root: queue.Config{Guaranteed: slots(100)},
		b:      queue.Config{Guaranteed: resources.Limit{Value: resources.Vector{0}}},
		reason: "nothing-in-reach", want: []string{"inside: plan n1 1"}},
	{name: "over a max", root: queue.Config{Max: slots(9)}, b: queue.Config{Guaranteed: slots(9)},
		reason: "over-max", want: []string{"max root: plan n1 1"}},
	{name: "its own max", b: queue.Config{Guaranteed: slots(9), Max: slots(9)},
		reason: "headroom-inside", want: []string{"max root.b: plan n1 1"}},
	{name: "fence", b: queue.Config{Properties: policy("fence")},
		reason: "nothing-in-reach", want: []string{"fence root.b: plan n1 1"}},
	{name: "disabled", a: queue.Config{Properties: policy("disabled")},
		reason: "nothing-in-reach", want: []string{"disabled root.a: plan n1 1"}},
	{name: "guarantee", a: queue.Config{Guaranteed: slots(1)},
		reason: "no-victims", want: []string{"guarantee root.a: plan n1 1"}},
	{name: "budget", task: func(t *victims.Task) { t.Budgets = []string{"web"} },
		reason: "no-victims", want: []string{"budget web: plan n1 1"}},
	{name: "unschedulable", more: func(f *fixture) {
		require.NoError(f.t, f.c.UpdateNode(&victims.Node{Name: "n1", Capacity: resources.Vector{10}, Unschedulable: true}))
	},
		reason: "no-victims", want: []string{"unschedulable n1: plan n1 1"}},
	{name: "reservation", more: func(f *fixture) {
		require.NoError(f.t, f.c.UpdateNode(&victims.Node{Name: "n1", Capacity: resources.Vector{10}, ReservedFor: "y"}))
	},
		reason: "no-victims", want: []string{"reservation n1: plan n1 1"}},
	{name: "same application", task: func(t *victims.Task) { t.Application = "app-x" },
		reason: "no-victims", want: []string{"same-application v: plan n1 1"}},
	{name: "priority", task: func(t *victims.Task) { t.Priority = 1 },
		reason: "no-victims", want: []string{"priority v: plan n1 1"}},
	{name: "strict priority", planner: jobs.Planner{Options: victims.Options{StrictPriority: true}},
		reason: "no-victims", want: []string{"priority v: plan n1 1"}},
	{name: "priority in a fenced branch",
		a:      queue.Config{Properties: map[string]string{"priority.policy": "fence", "priority.offset": "1"}},
		reason: "no-victims", want: []string{"priority v: plan n1 1"}},
	{name: "exemption", planner: jobs.Planner{Options: victims.Options{Exempt: func(e *victims.Question) (time.Time, bool) {
		return time.Time{}, e.Cluster.Key(e.Task) == "v"
	}}},
		reason: "no-victims", want: []string{"exempt v: plan n1 1"}},
	{name: "bound to its node", task: func(t *victims.Task) { t.RequiredNode = true },
		reason: "no-victims", want: []string{"required-node v: plan n1 1"}},
})

// capObstacles are two tasks with nothing in common that have to go, under each cap.
func capObstacles() (all []obstacle) {
	for c := range rulebook.NumCaps {
		o := obstacle{
			name: "cap on " + c.Entry().Noun + "s", root: queue.Config{Children: []queue.Config{{Name: "lent"}}},
			task: func(t *victims.Task) { t.Size = resources.Vector{5} },
			more: func(f *fixture) {
				f.task("w", "lent", "n1", 5, func(t *victims.Task) { t.Application = "other" })
			},
			reason: c.Entry().Word, want: []string{c.Entry().Word + ": plan n1 2"},
		}
		*lent.To(&o.planner.Options).Caps()[c] = 1
		all = append(all, o)
	}
	return all
}

// build returns the cluster, the planner and the ask.
func (o *obstacle) build(t *testing.T) (*fixture, *jobs.Planner, *victims.Ask) {
	root, a, b := o.root, o.a, o.b
	a.Name, b.Name = "a", "b"
	if b.Guaranteed.Value == nil {
		b.Guaranteed = slots(100)
	}
	root.Children = slices.Concat([]queue.Config{a, b}, root.Children)
	f := newFixture(t, root)
	f.node("n1", 10)
	require.NoError(t, f.c.SetBudget("web", victims.Budget{Hard: true}))
	f.task("v", "a", "n1", 10, func(t *victims.Task) {
		if o.task != nil {
			o.task(t)
		}
	})
	if o.more != nil {
		o.more(f)
	}
	ask := f.ask("x", "b", 10)
	if o.ask != nil {
		o.ask(ask)
	}
	p := o.planner
	return f, &p, ask
}

func TestExplain_SingleObstacle(t *testing.T) {
	for _, o := range obstacles {
		t.Run(o.name, func(t *testing.T) {
			f, p, ask := o.build(t)
			e := f.explain(p, ask)
			require.Equal(t, victims.Refused, e.Decision.Outcome)
			require.Equal(t, o.reason, e.Decision.Refusal.Reason)
			require.Equal(t, o.want, f.relaxed(e))
		})
	}
}

// Where two rules stand in the way, neither is found.
func TestExplain_TwoObstacles(t *testing.T) {
	for _, o := range obstacles {
		t.Run(o.name, func(t *testing.T) {
			f, p, ask := o.build(t)
			if ask.MayNotPreempt {
				ask.PendingSince = now
			}
			ask.MayNotPreempt = true
			e := f.explain(p, ask)
			require.Equal(t, "may-not-preempt", e.Decision.Refusal.Reason)
			require.Empty(t, f.relaxed(e))
		})
	}
}

// Without any obstacle there is nothing to relax.
func TestExplain_NoObstacle(t *testing.T) {
	f, p, ask := (&obstacle{}).build(t)
	e := f.explain(p, ask)
	require.Equal(t, victims.Preempts, e.Decision.Outcome)
	require.Empty(t, e.Relaxations)
}

// Every rule that can be relaxed is an obstacle above.
func TestExplain_EveryRelaxable(t *testing.T) {
	seen := make(map[string]bool)
	for _, o := range obstacles {
		f, p, ask := o.build(t)
		for _, r := range f.explain(p, ask).Relaxations {
			seen[r.Rule] = true
		}
	}
	for _, x := range rulebook.Relaxations() {
		require.True(t, seen[x.Word], "victims/explain_relax_test.go: no obstacle for %s", x.Word)
	}
}

// Several single rules may each be enough, and one of a kind may not.
func TestExplain_SeveralRelaxations(t *testing.T) {
	tests := map[string]struct {
		root  queue.Config
		build func(*fixture)
		size  int64
		want  []string
	}{
		"either of two tasks": {build: func(f *fixture) {
			f.node("n1", 6)
			f.task("v", "a", "n1", 3, high)
			f.task("w", "a", "n1", 3, high)
		}, size: 3, want: []string{"priority v: plan n1 1", "priority w: plan n1 1"}},
		"both tasks are needed": {build: func(f *fixture) {
			f.node("n1", 6)
			f.task("v", "a", "n1", 3, high)
			f.task("w", "a", "n1", 3, high)
		}, size: 4, want: []string{}},
		"one beside a candidate": {build: func(f *fixture) {
			f.node("n1", 6)
			f.task("v", "a", "n1", 3)
			f.task("w", "a", "n1", 3, high)
		}, size: 4, want: []string{"priority w: plan n1 2"}},
		"two rules for one task": {build: func(f *fixture) {
			f.node("n1", 6)
			f.task("v", "a", "n1", 6, high, func(t *victims.Task) { t.RequiredNode = true })
		}, size: 4, want: []string{}},
		"an unschedulable node with room, and one without": {build: func(f *fixture) {
			f.node("n1", 1)
			for _, name := range []string{"n2", "n3"} {
				_, err := f.c.AddNode(&victims.Node{Name: name, Capacity: resources.Vector{6}, Unschedulable: true})
				require.NoError(f.t, err)
			}
			f.task("v", "a", "n2", 6)
		}, size: 4, want: []string{"unschedulable n2: plan n2 1", "unschedulable n3: fits n3 0"}},
		"a reserved node with room to come": {build: func(f *fixture) {
			_, err := f.c.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{6}, ReservedFor: "y"})
			require.NoError(f.t, err)
			f.task("v", "a", "n1", 6, func(t *victims.Task) { t.State = victims.Releasing })
		}, size: 4, want: []string{"reservation n1: waits n1 0"}},
		"unschedulable and reserved": {build: func(f *fixture) {
			_, err := f.c.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{6}, ReservedFor: "y", Unschedulable: true})
			require.NoError(f.t, err)
		}, size: 4, want: []string{}},
		"a max above the starving queue": {root: queue.Config{Children: []queue.Config{
			{Name: "a"},
			{Name: "p", Max: slots(8), Children: []queue.Config{{Name: "b", Guaranteed: slots(8)}, {Name: "c"}}},
		}}, build: func(f *fixture) {
			f.node("n1", 4)
			f.node("n2", 8)
			f.task("v", "a", "n1", 4)
			f.task("w", "p.c", "n2", 8, high)
		}, size: 4, want: []string{"max root.p: plan n1 1", "priority w: plan n2 1"}},
		"tasks of a higher priority give headroom, too": {root: queue.Config{Children: []queue.Config{
			{Name: "p", Max: slots(8), Children: []queue.Config{{Name: "b", Guaranteed: slots(8)}, {Name: "c"}}},
		}}, build: func(f *fixture) {
			f.node("n1", 4)
			f.node("n2", 8)
			f.task("w", "p.c", "n2", 4, func(t *victims.Task) { t.RequiredNode = true })
			f.task("u", "p.c", "n2", 4, high)
		}, size: 4, want: []string{"max root.p: fits n1 0", "priority u: plan n1 1", "required-node w: plan n1 1"}},
		"a fence inside another": {root: queue.Config{Children: []queue.Config{
			{Name: "a"},
			{Name: "s", Properties: policy("fence"), Children: []queue.Config{
				{Name: "c"},
				{Name: "b", Guaranteed: slots(9), Properties: policy("fence")},
			}},
		}}, build: func(f *fixture) {
			f.node("n1", 4)
			f.node("n2", 4)
			f.task("v", "a", "n1", 4)
			f.task("w", "s.c", "n2", 4)
		}, size: 4, want: []string{"fence root.s.b: plan n2 1"}},
		"disabled twice": {root: queue.Config{Children: []queue.Config{
			{Name: "b", Guaranteed: slots(9)},
			{Name: "s", Properties: policy("disabled"), Children: []queue.Config{
				{Name: "a"},
				{Name: "c", Properties: policy("disabled")},
			}},
		}}, build: func(f *fixture) {
			f.node("n1", 4)
			f.node("n2", 4)
			f.task("v", "s.a", "n2", 4)
			f.task("w", "s.c", "n1", 4)
		}, size: 4, want: []string{"disabled root.s: plan n2 1", "disabled root.s.c: plan n1 1"}},
		"guarantees at two levels": {root: queue.Config{Children: []queue.Config{
			{Name: "b", Guaranteed: slots(9)},
			{Name: "s", Guaranteed: slots(4), Children: []queue.Config{{Name: "a", Guaranteed: slots(4)}}},
		}}, build: func(f *fixture) {
			f.node("n1", 4)
			f.task("v", "s.a", "n1", 4)
		}, size: 4, want: []string{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.root.Children == nil {
				test.root.Children = []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(100)}}
			}
			f := newFixture(t, test.root)
			test.build(f)
			asking := "b"
			for q := range queue.ID(f.c.Tree().Len()) {
				if trees.Name(f.c.Tree(), q) == "b" {
					asking = f.c.Tree().Path(q)[len("root."):]
				}
			}
			e := f.explain(&jobs.Planner{}, f.ask("x", asking, test.size))
			require.Equal(t, victims.Refused, e.Decision.Outcome)
			require.Equal(t, test.want, f.relaxed(e))
		})
	}
}

// For a required node neither fences nor guarantees nor delays are anything,
// and so they are not found either.
func TestExplain_RequiredNode(t *testing.T) {
	for _, o := range obstacles {
		t.Run(o.name, func(t *testing.T) {
			f, p, ask := o.build(t)
			ask.RequiredNode = "n1"
			e := f.explain(p, ask)
			if _, capped := rulebook.CapOf(o.reason); capped {
				require.Equal(t, o.want, f.relaxed(e))
				return
			}
			switch o.name {
			case "must not preempt", "interval", "over a max", "same application", "priority", "strict priority", "exemption", "budget":
				require.Equal(t, o.want, f.relaxed(e))
			case "its own max": // of no use to anybody, for its own leaf is empty
				require.Equal(t, "no-victims", e.Decision.Refusal.Reason)
				require.Equal(t, o.want, f.relaxed(e))
			case "bound to its node": // both are
				require.Equal(t, o.want, f.relaxed(e))
			default:
				require.Equal(t, victims.Preempts, e.Decision.Outcome)
			}
			for _, q := range e.Queues {
				require.False(t, q.Starving || q.Rule != "" || q.Room.Defined != 0, "%+v", q)
			}
		})
	}
}

// An ask that holds a grant is refused for that alone.
func TestExplain_InFlight(t *testing.T) {
	f, p, ask := (&obstacle{}).build(t)
	f.node("n2", 3)
	n1, _ := f.c.LookupNode("n1")
	_, err := f.c.GrantPlace(ask, n1, time.Time{})
	require.NoError(t, err)
	e := f.explain(p, ask)
	require.Equal(t, victims.InFlight, e.Decision.Refusal.Reason)
	require.Empty(t, e.Relaxations)
	require.Equal(t, []string{"n1 held short 10 lacks 0", "n2 not-needed short 0 lacks 0"}, f.nodeLines(e))
	require.Equal(t, []string{"v not-helping"}, f.taskLines(e))
	for _, q := range e.Queues {
		require.Equal(t, q.Queue == "root.b", q.Starving)
	}
}

// The own leaf has tasks of the asking application only, so the obstacle of the first stage is
// told. Were one of them of another application, the second stage would take it.
func TestExplain_OwnLeafOfOneApplication(t *testing.T) {
	f := newFixture(t, queue.Config{Max: slots(3), Children: []queue.Config{{Name: "x"}, {Name: "y"}}})
	f.node("n", 8)
	f.task("own", "x", "n", 2, func(t *victims.Task) { t.Application = "app" })
	ask := f.ask("ask", "x", 3)
	ask.Application, ask.Priority = "app", 5
	p := jobs.Planner{Cluster: f.c, Options: victims.Options{WithinQueue: queue.Met}}
	var e victims.Explanation
	require.NoError(t, p.Explain(&e, ask, now))
	require.NotEqual(t, "no-victims", e.Decision.Refusal.Reason)
	require.Contains(t, f.relaxed(&e), "same-application own: plan n 1")
}
