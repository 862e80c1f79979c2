// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// One line says it all where nobody has to stop.
func TestDescribe_Placed(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 10)
	f.task("v", "a", "n1", 6, func(t *victims.Task) { t.State = victims.Releasing })
	require.Equal(t, "x (root.b, slots=4) fits on n1\n", f.decide(&jobs.Planner{}, f.ask("x", "b", 4)).String())
	require.Equal(t, "y (root.b, slots=5) waits on n1 for what is leaving already\n",
		f.decide(&jobs.Planner{}, f.ask("y", "b", 5)).String())
}

func TestDescribe_Plan(t *testing.T) {
	f := newFixture(t, queue.Config{Max: slots(12), Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(9)}}})
	f.node("n1", 4)
	f.node("n2", 8)
	f.task("both", "a", "n1", 4, func(t *victims.Task) { t.Priority, t.OptedOut = -2, true })
	f.task("max", "a", "n2", 8, func(t *victims.Task) { t.Originator = true; t.RequiredNode = true })
	require.Equal(t, ""+
		"x (root.b, slots=3) runs on n1 once these have stopped:\n"+
		"  both on n1 (root.a, slots=4, priority -2, rank -2, opted out) for room on the node and under a max\n"+
		"  cost: 1 opted out, highest rank -2, highest priority -2, 1 victim, 1h of work lost, 4 slots-hours, 8.3% of the cluster freed beyond need\n"+
		"  no legal plan costs less\n",
		f.decide(&jobs.Planner{}, f.ask("x", "b", 3)).String())
}

// Victims for headroom alone run elsewhere.
func TestDescribe_PlanForHeadroom(t *testing.T) {
	f := newFixture(t, queue.Config{Max: slots(6), Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(6)}}})
	f.node("n1", 6)
	f.node("n2", 6)
	f.task("v", "a", "n2", 3, func(t *victims.Task) { t.Originator = true })
	f.task("w", "a", "n2", 3)
	require.Equal(t, ""+
		"x (root.b, slots=5) runs on n1 once these have stopped:\n"+
		"  v on n2 (root.a, slots=3, priority 0, originator) for room under a max\n"+
		"  w on n2 (root.a, slots=3, priority 0) for room under a max\n"+
		"  cost: 1 originator, 2 victims, 2h of work lost, 6 slots-hours, 8.3% of the cluster freed beyond need\n"+
		"  no legal plan costs less\n",
		f.decide(&jobs.Planner{}, f.ask("x", "b", 5)).String())
}

// Every reason says what it means here.
func TestDescribe_Refusal(t *testing.T) {
	want := map[string]string{
		"must not preempt":          "refused (may-not-preempt): it must not preempt others\n",
		"delay":                     "refused (too-early): it has not been pending for 30s, the preemption delay of its queue\n  try again at 2026-01-01T00:00:01Z\n",
		"interval":                  "refused (too-soon): preemption was tried for it a short while ago\n  try again at 2026-01-01T00:00:01Z\n",
		"nothing is guaranteed":     "refused (not-guaranteed): no queue on its path is guaranteed anything that it asks for\n",
		"has its guarantee":         "refused (over-guarantee): root.b has its guaranteed slots=5 already\n",
		"over a max":                "refused (over-max): above the max of root: 9 slots; root is over its max of slots=9 already\n",
		"its own max":               "refused (headroom-inside): above the max of root.b: 9 slots; it would exceed the max of root.b, slots=9, and only tasks inside the starving queue could make room there\n",
		"fence":                     "refused (nothing-in-reach): no queue that it could take from is in reach\n",
		"priority":                  "refused (no-victims): no legal set of victims makes room\n  1 too high in effective priority (priority)\n  closest: n1, which would still lack slots=10\n",
		"a node that can't be used": "refused (no-victims): there is no node that it may use; no legal set of victims makes room\n  1 of no help with what is short (not-helping)\n",
	}
	described := 0
	for _, o := range obstacles {
		if o.name == "unschedulable" {
			o.name = "a node that can't be used"
		}
		if text, ok := want[o.name]; ok {
			f, p, ask := o.build(t)
			d := f.decide(p, ask)
			require.Equal(t, text, d.DescribeRefusal())
			require.Equal(t, "x (root.b, slots=10) is "+text, d.String())
			described++
		}
	}
	require.Equal(t, len(want), described)
}

func TestDescribe_InFlight(t *testing.T) {
	f, p, ask := (&obstacle{}).build(t)
	n1, _ := f.c.LookupNode("n1")
	_, err := f.c.GrantPlace(ask, n1, time.Time{})
	require.NoError(t, err)
	require.Equal(t, "refused (in-flight): a place is held for it, and it cannot start there yet\n",
		f.decide(p, ask).DescribeRefusal())
}

// What the closest node lacks, and what is left open.
func TestDescribe_Closest(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{{Name: "a", Guaranteed: slots(2)}, {Name: "b", Guaranteed: slots(100)}}})
	f.node("n1", 4)
	f.task("v1", "a", "n1", 2)
	f.task("v2", "a", "n1", 2)
	refused := &jobs.Planner{Options: victims.Options{Predicate: func(*victims.Question) bool { return false }}}
	require.Equal(t, "refused (no-victims): no legal set of victims makes room\n"+
		"  2 could be taken\n  closest: n1, which would lack nothing if all of them could be taken at once\n",
		f.decide(&jobs.Planner{}, f.ask("x", "b", 4)).DescribeRefusal())
	d := f.decide(refused, f.ask("x", "b", 2))
	d.Plan.Steps = 76
	require.Equal(t, "refused (predicate): the predicate refuses the nodes that could be made free\n"+
		"  2 could be taken\n  closest: n1, which would lack nothing\n"+
		"  not proven: no plan was found in 76 steps\n", // v2 alone was not tried
		d.DescribeRefusal())

	d = f.decide(&jobs.Planner{}, f.ask("x", "b", 4))
	d.Refusal.Proven, d.Plan.Steps = false, 1
	require.Contains(t, d.DescribeRefusal(), "\n  not proven: no plan was found in 1 step\n")
	d = f.decide(&jobs.Planner{}, f.ask("x", "b", 2))
	d.Plan.Proof, d.Plan.Steps = victims.NoProof, 17
	require.Equal(t, "cost: 1 victim, 1h of work lost, 2 slots-hours\nthe best that was found, in 17 steps\n",
		lent.To(d).CostText(f.c.Schema()))
}

func TestVictim_Purpose(t *testing.T) {
	require.Equal(t, "on the node", (&victims.Victim{ForNode: true}).Purpose())
	require.Equal(t, "under a max", (&victims.Victim{ForHeadroom: true}).Purpose())
	require.Equal(t, "on the node and under a max", (&victims.Victim{ForNode: true, ForHeadroom: true}).Purpose())
}

func TestCost_String(t *testing.T) {
	for _, test := range []struct {
		cost victims.Cost
		want string
	}{
		{victims.Cost{Node: 3}, "no victims"},
		{victims.Cost{Victims: 1}, "1 victim"},
		{victims.Cost{
			OptedOut: 2, Originators: 1, MaxRank: -3, MaxPriority: 4, Jobs: 1, Victims: 5, SumRanks: -20,
			Excess: resources.Share{Amount: 6 << 30, Of: 8 << 30}, Work: resources.WideOf(int64(90 * time.Second)), LostTime: 90 * time.Second, Node: 7,
		}, "2 opted out, 1 originator, highest rank -3, highest priority 4, 1 job stopped, 5 victims, " +
			"ranks sum up to -20, 1m30s of work lost, 75% of the cluster freed beyond need"},
	} {
		require.Equal(t, test.want, test.cost.String())
	}
}

// What things are called reaches a terminal neither as control characters nor as
// lines of its own.
func TestDescribe_PlainText(t *testing.T) {
	const bad = "\x1b[31m\n\u202e"
	schema, err := resources.NewSchema("cpu" + bad)
	require.NoError(t, err)
	hundred := resources.Limit{Value: resources.Vector{100}, Defined: 1}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a" + bad}, {Name: "b" + bad, Guaranteed: hundred},
	}})
	require.NoError(t, err)
	f := &fixture{t: t, c: victims.NewCluster(tree)}
	f.node("n1"+bad, 10)
	f.task("v"+bad, "a"+bad, "n1"+bad, 4)
	f.task("w"+bad, "a"+bad, "n1"+bad, 6, func(t *victims.Task) { t.Priority = 1 })
	require.NoError(t, f.c.UpdateNode(&victims.Node{Name: "n1" + bad, Capacity: resources.Vector{10}, ReservedFor: "y" + bad}))

	check := func(text string, lines int) {
		t.Helper()
		require.Equal(t, lines, strings.Count(text, "\n"), "%s", text)
		for _, r := range text {
			require.True(t, r == '\n' || unicode.IsPrint(r), "%q in %s", r, text)
		}
	}
	ask := f.ask("x"+bad, "b"+bad, 4)
	e := f.explain(&jobs.Planner{}, ask)
	check(e.Decision.String(), 3)                     // the reason, two counts
	check(e.String(), 4+2+3+2)                        // queues, nodes, tasks, relaxations
	ask.Key = "y" + bad                               // whom the node is reserved for
	check(f.decide(&jobs.Planner{}, ask).String(), 4) // head, victim, cost and proof
}

// A plan is described later as at once, though its victims have gone and others
// have their rows.
func TestDescribe_AfterTheVictims(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	f.task("v", "a", "n1", 4)
	d := f.decide(&jobs.Planner{}, f.ask("x", "b", 4))
	before := d.String()
	require.NoError(t, f.c.Apply(d))
	require.NoError(t, f.c.RemoveTask("v"))
	f.task("other", "b", "n1", 1)
	require.Equal(t, before, d.String())
}
