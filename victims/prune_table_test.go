// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// pruneCase is a small cluster in which a bound that promises too much, or a
// summary that forgets something, gives a wrong plan. It says in words what
// could be overlooked.
type pruneCase struct {
	name  string
	build func(t *testing.T) (*fixture, *victims.Ask)
	node  string
	want  []string
}

// ago sets when a task was scheduled, opted and originator what it is.
func ago(d time.Duration) func(*victims.Task) {
	return func(t *victims.Task) { t.Scheduled = now.Add(-d) }
}

func unscheduled(t *victims.Task) { t.Scheduled = time.Time{} }
func opted(t *victims.Task)       { t.OptedOut = true }
func originator(t *victims.Task)  { t.Originator = true }

func priority(p int32) func(*victims.Task) {
	return func(t *victims.Task) { t.Priority = p }
}

var pruneCases = []pruneCase{
	{
		// Near and far are alike. Far goes first by work lost, but only near
		// makes headroom below root.p, and nobody else does.
		name: "two that are alike, one makes headroom as well",
		build: func(t *testing.T) (*fixture, *victims.Ask) {
			f := newFixture(t, queue.Config{Children: []queue.Config{
				{Name: "far"},
				{Name: "p", Max: slots(1), Children: []queue.Config{{Name: "near"}, {Name: "b", Guaranteed: slots(1)}}},
			}})
			f.node("n1", 2)
			f.task("far", "far", "n1", 1, ago(time.Minute))
			f.task("near", "p.near", "n1", 1, ago(time.Hour))
			return f, f.ask("x", "p.b", 1)
		},
		node: "n1", want: []string{"near"},
	},
	{
		// None of them loses work, so that the key decides. Among tasks that
		// will be scheduled later, c is the last and a the first.
		name: "keys tell apart who has no work to lose",
		build: func(t *testing.T) (*fixture, *victims.Ask) {
			f := giverAndTaker(t)
			f.node("n1", 3)
			f.task("c", "a", "n1", 1, unscheduled)
			f.task("b", "a", "n1", 1, ago(-2*time.Hour))
			f.task("a", "a", "n1", 1, ago(-time.Hour))
			return f, f.ask("x", "b", 1)
		},
		node: "n1", want: []string{"a"},
	},
	{
		// Root and root.p are at their max. On n1 two must go: here makes no
		// headroom, and off, on the closed n3, makes both. On n2 one task makes
		// room and both headrooms, though it is of the inner queue.
		name: "who makes headroom inside makes it outside",
		build: func(t *testing.T) (*fixture, *victims.Ask) {
			f := newFixture(t, queue.Config{Max: slots(3), Children: []queue.Config{
				{Name: "free"},
				{Name: "p", Max: slots(2), Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(1)}}},
			}})
			f.node("n1", 1)
			f.node("n2", 1)
			f.node("n3", 1)
			f.task("here", "free", "n1", 1, ago(time.Minute))
			f.task("both", "p.a", "n2", 1, ago(time.Hour))
			f.task("off", "p.a", "n3", 1, ago(time.Minute))
			f.close("n3")
			return f, f.ask("x", "p.b", 1)
		},
		node: "n2", want: []string{"both"},
	},
	{
		// On n2 the sums say: without opted-out tasks cpu is short, and without
		// originators gpu is. One opted-out task that is no originator has both.
		name: "an opted-out task spares the originator",
		build: func(t *testing.T) (*fixture, *victims.Ask) {
			f := newTypedFixture(t, "cpu", "gpu")
			f.sized("n1", 1, 1)
			f.sized("n2", 1, 2)
			f.run("high", "n1", resources.Vector{1, 1}, opted, priority(1))
			f.run("low", "n2", resources.Vector{1, 1}, opted)
			f.run("first", "n2", resources.Vector{0, 1}, originator)
			ask := f.ask("x", "b", 1)
			ask.Size, ask.Priority = resources.Vector{1, 1}, 1
			return f, ask
		},
		node: "n2", want: []string{"low"},
	},
	{
		// Whoever makes headroom is elsewhere and ranks lower than whoever is on
		// the nodes. So two victims need not cost twice the rank of one here.
		name: "a victim elsewhere ranks lower",
		build: func(t *testing.T) (*fixture, *victims.Ask) {
			f := newFixture(t, queue.Config{Children: []queue.Config{
				{Name: "free"},
				{Name: "p", Max: slots(1), Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(1)}}},
			}})
			f.node("n1", 1)
			f.node("n2", 1)
			f.node("n3", 1)
			f.task("old", "free", "n1", 1, ago(2*time.Hour))
			f.task("new", "free", "n2", 1, ago(time.Hour))
			f.task("low", "p.a", "n3", 1, priority(-5))
			f.close("n3")
			return f, f.ask("x", "p.b", 1)
		},
		node: "n2", want: []string{"low", "new"},
	},
	{
		// Root.p lacks one and the root lacks two. Inner makes one of each, and the
		// root's other one is outside: who makes headroom further down is not all
		// that it takes.
		name: "headroom outside lacks more than inside",
		build: func(t *testing.T) (*fixture, *victims.Ask) {
			f := newFixture(t, queue.Config{Max: slots(3), Children: []queue.Config{
				{Name: "free"},
				{Name: "p", Max: slots(2), Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(2)}}},
			}})
			f.node("n1", 2)
			f.node("n2", 4)
			f.task("inner", "p.a", "n2", 1, ago(time.Minute))
			f.task("outer", "free", "n2", 2, ago(time.Minute))
			return f, f.ask("x", "p.b", 2)
		},
		node: "n1", want: []string{"inner", "outer"},
	},
	{
		// Root and root.p lack one each. Inner makes both; outer lost less work, but
		// then somebody of root.p would have to go besides.
		name: "headroom inside is headroom outside",
		build: func(t *testing.T) (*fixture, *victims.Ask) {
			f := newFixture(t, queue.Config{Max: slots(2), Children: []queue.Config{
				{Name: "free"},
				{Name: "p", Max: slots(1), Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(1)}}},
			}})
			f.node("n1", 1)
			f.node("n2", 2)
			f.task("inner", "p.a", "n2", 1, ago(time.Hour))
			f.task("outer", "free", "n2", 1, ago(time.Minute))
			return f, f.ask("x", "p.b", 1)
		},
		node: "n1", want: []string{"inner"},
	},
	{
		// Own costs come before numbers: two of 4 on n1 cost less than one of 9 on n2,
		// and one of 7 on n3 less than either, though it is the oldest.
		name: "own costs before victims",
		build: func(t *testing.T) (*fixture, *victims.Ask) {
			f := giverAndTaker(t)
			f.node("n1", 2)
			f.node("n2", 2)
			f.node("n3", 2)
			f.task("a1", "a", "n1", 1, own(4))
			f.task("a2", "a", "n1", 1, own(4))
			f.task("b", "a", "n2", 2, own(9))
			f.task("c", "a", "n3", 2, own(7), ago(time.Hour))
			return f, f.ask("x", "b", 2)
		},
		node: "n3", want: []string{"c"},
	},
	{
		// On n1 one task of cost 6 has all of it. On n2 tasks of cost 1 have a third
		// each: three of them are needed, and cost 3.
		name: "many that cost little before one that costs more",
		build: func(t *testing.T) (*fixture, *victims.Ask) {
			f := newTypedFixture(t, "cpu", "gpu")
			f.sized("n1", 3, 3)
			f.sized("n2", 3, 3)
			f.run("whole", "n1", resources.Vector{3, 3}, own(6))
			for _, key := range []string{"x1", "x2", "x3"} {
				f.run(key, "n2", resources.Vector{1, 1}, own(1))
			}
			ask := f.ask("x", "b", 1)
			ask.Size = resources.Vector{3, 3}
			return f, ask
		},
		node: "n2", want: []string{"x1", "x2", "x3"},
	},
	{
		// Half of n1 is out of reach by law 6. What is within reach is just enough, one
		// of them by having the ask's own priority.
		name: "tasks that are too high leave enough",
		build: func(t *testing.T) (*fixture, *victims.Ask) {
			f := giverAndTaker(t)
			f.node("n1", 4)
			f.node("n2", 4)
			f.task("equal", "a", "n1", 1, priority(5))
			f.task("high", "a", "n1", 2, priority(6))
			f.task("low", "a", "n1", 1)
			f.task("all", "a", "n2", 4, priority(6))
			ask := f.ask("x", "b", 2)
			ask.Priority = 5
			return f, ask
		},
		node: "n1", want: []string{"equal", "low"},
	},
}

// own sets what a task costs.
func own(v int64) func(*victims.Task) { return func(t *victims.Task) { t.Cost = v } }

// TestPruning_ByHand decides each case as it comes and exhaustively.
func TestPruning_ByHand(t *testing.T) {
	for _, test := range pruneCases {
		t.Run(test.name, func(t *testing.T) {
			f, ask := test.build(t)
			for _, exhaustive := range []bool{false, true} {
				d := f.decide(&jobs.Planner{Options: *new(victims.Options).Exhaust(exhaustive)}, ask)
				require.Equal(t, victims.Preempts, d.Outcome, "exhaustive: %t", exhaustive)
				require.Equal(t, test.want, keysOf(d), "exhaustive: %t", exhaustive)
				require.Equal(t, test.node, f.c.Node(d.Plan.Places[0].Node).Name, "exhaustive: %t", exhaustive)
				require.True(t, proven(d), "exhaustive: %t", exhaustive)
			}
		})
	}
}

// newTypedFixture is giverAndTaker with types of the caller's.
func newTypedFixture(t *testing.T, types ...string) *fixture {
	t.Helper()
	schema, err := resources.NewSchema(types...)
	require.NoError(t, err)
	most := resources.Limit{Value: make(resources.Vector, len(types))}
	for i := range types {
		most.Value[i], most.Defined = 100, most.Defined|1<<i
	}
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a"}, {Name: "b", Guaranteed: most},
	}})
	require.NoError(t, err)
	return &fixture{t: t, c: victims.NewCluster(tree)}
}

// sized adds a node with amounts of several types.
func (f *fixture) sized(name string, amounts ...int64) {
	f.t.Helper()
	_, err := f.c.AddNode(&victims.Node{Name: name, Capacity: amounts})
	require.NoError(f.t, err)
}

// run adds a task of queue a with amounts of several types.
func (f *fixture) run(key, node string, size resources.Vector, change ...func(*victims.Task)) {
	f.t.Helper()
	f.task(key, "a", node, 0, append(change, func(t *victims.Task) { t.Size = size })...)
}

// close makes a node take no new tasks.
func (f *fixture) close(name string) {
	f.t.Helper()
	id, ok := f.c.LookupNode(name)
	require.True(f.t, ok, "node %s", name)
	n := f.c.Node(id)
	n.Unschedulable = true
	require.NoError(f.t, f.c.UpdateNode(&n))
}
