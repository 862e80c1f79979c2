// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An ask that is not worth another try is refused still, whatever has happened.
func propertyWorth(t *rapid.T) {
	shape := world.Small
	if rapid.IntRange(0, 9).Draw(t, "crowded") == 9 {
		shape = world.Crowded
	}
	switch rapid.IntRange(0, 3).Draw(t, "features") {
	case 0:
		shape = shape.With(world.Everything)
	case 1:
		shape = shape.With(world.WithBudgets | world.WithGrants)
	}
	k := world.Cases(shape).Draw(t, "case")
	c := build(t, &k.World)
	p, ask := world.CasePlanner(c, k), askOf(t, c, &k.Ask)
	var before, after victims.Decision
	var help victims.Help
	m := &meanwhile{t: t, c: c, k: k, help: &help, now: k.Options.Now, any: true}
	for range rapid.IntRange(0, 2).Draw(t, "before") {
		m.next()
	}
	require.NoError(t, p.Decide(&before, &ask, m.now))
	if before.Outcome != victims.Refused {
		return
	}
	help.CopyFrom(&before.Refusal.Help)
	m.until = before.Refusal.RetryAt
	for range 6 {
		m.next()
		if help.MayHaveChanged(c, m.now) {
			continue
		}
		require.NoError(t, p.Decide(&after, &ask, m.now))
		if after.Outcome != victims.Refused {
			t.Fatalf("%v after %q\n%s%s%v", after.Outcome, m.done, before.String(), help.String(), &k.World)
		}
	}
}

func TestWorth_NeverTooFew(t *testing.T) { law.Check3000(t, propertyWorth) }

// A sync closes the node that an ask requires, for one of its tasks has a bad size, and the
// next one opens it.
func TestWorth_NodeOpens(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	bad := victims.Task{Key: "bad", Queue: f.queue("a"), Size: resources.Vector{-1}}
	_, err := f.c.SyncNode("n1", []victims.Task{bad})
	require.NoError(t, err)
	ask := f.ask("x", "b", 2)
	ask.RequiredNode = "n1"
	d := f.decide(&jobs.Planner{}, ask)
	require.Equal(t, "unknown-node", d.Refusal.Reason)
	_, err = f.c.SyncNode("n1", []victims.Task{bad})
	require.NoError(t, err)
	require.False(t, d.Refusal.Help.MayHaveChanged(f.c, now), "it is closed still")
	_, err = f.c.SyncNode("n1", nil)
	require.NoError(t, err)
	require.True(t, d.Refusal.Help.MayHaveChanged(f.c, now))
	require.Equal(t, victims.Fits, f.decide(&jobs.Planner{}, ask).Outcome)
}

// A cluster that becomes a copy of another one has changed, whatever has happened to that. And
// what is refused by a copy that was changed and is as it was is refused by the original.
func TestWorth_Copies(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	ask := f.ask("x", "b", 9)
	refused := func(c *victims.Cluster) *victims.Help {
		var d victims.Decision
		require.NoError(t, (&jobs.Planner{Cluster: c}).Decide(&d, ask, now))
		require.Equal(t, victims.Refused, d.Outcome)
		return &d.Refusal.Help
	}
	roomy := f.c.Clone()
	_, err := roomy.AddNode(&victims.Node{Name: "n2", Capacity: resources.Vector{9}})
	require.NoError(t, err)
	for range 9 {
		require.NoError(t, f.c.SetBudget("b", victims.Budget{}))
	}
	help := refused(f.c)
	require.False(t, help.MayHaveChanged(f.c, now))
	was := f.c.Clone()
	f.c.CopyFrom(roomy)
	require.True(t, help.MayHaveChanged(f.c, now))

	f.c.CopyFrom(was)
	for range 9 {
		small := f.ask("y", "b", 1)
		n1, _ := was.LookupNode("n1")
		require.NoError(t, was.Apply(decided(&victims.Plan{Ask: *small, Version: was.Version(), Places: []victims.Place{{Node: n1}}})))
		require.NoError(t, was.Undo())
	}
	original := was.Clone()
	original.CopyFrom(f.c)
	help = refused(was)
	require.False(t, help.MayHaveChanged(f.c, now))
	require.NoError(t, f.c.UpdateNode(&victims.Node{Name: "n1", Capacity: resources.Vector{9}}))
	require.True(t, help.MayHaveChanged(f.c, now))
}

func FuzzWorth(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyWorth))
}
