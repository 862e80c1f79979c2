// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// crowded is a branch with a max of 10 that is reached: b, which is guaranteed 6, shares it
// with a. There is room on n2, and tasks of a are on n1 and n3.
func crowded(t *testing.T) *fixture {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "p", Max: slots(10), Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(6)}}},
	}})
	for _, name := range []string{"n2", "n1", "n3"} {
		f.node(name, 6)
	}
	f.task("one", "p.a", "n1", 3)
	f.task("two", "p.a", "n1", 2)
	f.task("three", "p.a", "n3", 5)
	return f
}

// Who makes room under a max may be anywhere, unless victims are to be on the node: then
// the node is one where such tasks are, though another has room.
func TestSameNode(t *testing.T) {
	for _, test := range []struct {
		size     int64
		anywhere []string
		place    string
		nearby   []string
		at       string
	}{
		{2, []string{"two"}, "n2", []string{"two"}, "n1"},
		{5, []string{"three"}, "n2", []string{"three"}, "n3"}, // one victim, and not two on n1
		{6, []string{"three", "two"}, "n2", nil, ""},          // no node has so much
	} {
		f := crowded(t)
		ask := f.ask("x", "p.b", test.size)
		p := jobs.Planner{Options: victims.Options{Audit: true}}
		d := f.decide(&p, ask)
		require.Equal(t, test.anywhere, keysOf(d))
		require.Equal(t, test.place, d.Plan.Places[0].NodeName)

		p.VictimsOnNode = true
		d = f.decide(&p, ask)
		require.Equal(t, test.nearby, keysOf(d), "size %d", test.size)
		if test.nearby == nil {
			require.Equal(t, "no-victims", d.Refusal.Reason)
			require.True(t, d.Refusal.Proven)
			// On n1 and n3 headroom lacks one; on n2, where nobody is, all six.
			require.Equal(t, "n1", d.Refusal.Closest)
			require.EqualValues(t, []int64{1}, d.Refusal.Lacks)
			continue
		}
		require.Equal(t, test.at, d.Plan.Places[0].NodeName)
		require.Equal(t, victims.ProofCost, d.Plan.Proof)
	}
}

// The auditor says of a victim elsewhere that it is.
func TestSameNode_Audit(t *testing.T) {
	f := crowded(t)
	d := f.decide(&jobs.Planner{}, f.ask("x", "p.b", 2))
	a := victims.Auditor{Cluster: f.c}
	require.Empty(t, a.Audit(nil, d, now))
	a.VictimsOnNode = true
	found := a.Audit(nil, d, now)
	require.Len(t, found, 1)
	require.Equal(t, finding.LawNearby, found[0].Law)
}

// A job that goes whole for a member on the node takes its members elsewhere along, and
// they make headroom too. Without a member there that helps it stays.
func TestSameNode_Gangs(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "p", Max: slots(6), Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(6)}}},
	}})
	f.node("n1", 4)
	f.node("n2", 9)
	gang := func(t *victims.Task) { t.Job = "g" }
	f.task("here", "p.a", "n1", 2, gang)
	f.task("there", "p.a", "n2", 4, gang)
	p := jobs.Planner{Options: victims.Options{VictimsOnNode: true, Audit: true}}
	require.NoError(t, f.c.SetMinMembers("g", 2))
	d := f.decide(&p, f.ask("x", "p.b", 4))
	require.Equal(t, []string{"here", "there"}, keysOf(d))
	f.node("n3", 4)
	require.NoError(t, f.c.RemoveTask("here"))
	f.task("here", "p.a", "n3", 2, gang)
	d = f.decide(&p, f.ask("x", "p.b", 4))
	require.Equal(t, "n2", d.Plan.Places[0].NodeName)
}

// A refusal says what a node lacks without its jobs that could go whole, too: the node that was
// searched last, like any other.
func TestSameNode_LacksWithoutGangs(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "p", Max: slots(3), Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(3)}}},
	}})
	f.node("n1", 4)
	f.node("n2", 4)
	f.task("one", "p.a", "n1", 1)
	f.task("two", "p.a", "n2", 2, func(t *victims.Task) { t.Job = "g" })
	p := jobs.Planner{Options: victims.Options{VictimsOnNode: true, Audit: true}}
	require.NoError(t, f.c.SetMinMembers("g", 1))
	d := f.decide(&p, f.ask("x", "p.b", 3))
	require.Equal(t, "no-victims", d.Refusal.Reason)
	require.Equal(t, "n2", d.Refusal.Closest)
	require.EqualValues(t, []int64{1}, d.Refusal.Lacks)
}

// A daemon set may take of its own application if the option says so; another ask may not,
// and nor may it take from a node that it does not require.
func TestOwnApplication(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	f.task("v", "a", "n1", 4)
	ask := f.ask("x", "b", 3)
	ask.Application = "app-v"
	for _, test := range []struct {
		own     bool
		node    string
		outcome victims.Outcome
	}{
		{false, "n1", victims.Refused}, {true, "n1", victims.Preempts}, {true, "", victims.Refused},
	} {
		ask.RequiredNode = test.node
		p := jobs.Planner{Options: victims.Options{TakeOwnApplication: test.own, Audit: true}}
		d := f.decide(&p, ask)
		require.Equal(t, test.outcome, d.Outcome, "%+v", test)
		if d.Outcome == victims.Refused {
			require.Equal(t, []victims.Count{{Rule: "same-application", Tasks: 1}}, d.Refusal.Counts)
			continue
		}
		a := victims.Auditor{Cluster: f.c}
		found := a.Audit(nil, d, now)
		require.Len(t, found, 1)
		require.Equal(t, finding.LawApplication, found[0].Law)
	}
}
