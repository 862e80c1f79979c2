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

// TestRequiredNode_WholeGangMakesHeadroom: leaf a may use 2, and its only task
// runs on n2 in the same job as one on n1. An ask of a that requires n1 can only
// have headroom by stopping the job as a whole, which its member on n1 allows.
func TestRequiredNode_WholeGangMakesHeadroom(t *testing.T) {
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	max, err := schema.ParseLimit("gpu=2")
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "a", Max: max}, {Name: "b"}}})
	require.NoError(t, err)
	a, _ := tree.Lookup("root.a")
	b, _ := tree.Lookup("root.b")
	c := victims.NewCluster(tree)
	gpus := func(n int64) resources.Vector { return resources.Vector{n} }
	n1, err := c.AddNode(&victims.Node{Name: "n1", Capacity: gpus(3)})
	require.NoError(t, err)
	n2, err := c.AddNode(&victims.Node{Name: "n2", Capacity: gpus(2)})
	require.NoError(t, err)
	for _, task := range []victims.Task{
		{Key: "far", Queue: a, Node: n2, Size: gpus(2), Job: "g"},
		{Key: "near", Queue: b, Node: n1, Size: gpus(1), Job: "g"},
		{Key: "other", Queue: b, Node: n1, Size: gpus(1)},
		{Key: "third", Queue: b, Node: n1, Size: gpus(1), Priority: 1},
	} {
		task.Application = "app"
		_, err := c.AddTask(&task)
		require.NoError(t, err)
	}
	ask := victims.Ask{Key: "x", Application: "daemon", Queue: a, Size: gpus(2), Priority: 3, RequiredNode: "n1"}
	require.NoError(t, c.SetMinMembers("g", 2))
	for _, exhaustive := range []bool{false, true} {
		p := jobs.Planner{Cluster: c, Options: victims.Options{Audit: true}}
		p.Exhaust(exhaustive)
		var d victims.Decision
		require.NoError(t, p.Decide(&d, &ask, time.Unix(1e9, 0)))
		require.Equal(t, victims.Preempts, d.Outcome, "%s", d.String())
		var stops []string
		for _, v := range d.Plan.Victims {
			stops = append(stops, v.Key)
		}
		require.Equal(t, []string{"far", "near", "other"}, stops)
		require.Equal(t, 1, d.Plan.Cost.Jobs)
	}
}

// A gang takes of the room of its queue on other nodes, too: with it tasks may go too far that by themselves, all of
// the node, keep law 2. There is another set, which costs more.
func TestDecide_GangElsewhere(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "a", Guaranteed: slots(6)}, {Name: "c"}, {Name: "b", Guaranteed: slots(100)},
	}})
	f.node("n1", 12)
	f.node("n2", 6)
	inGang := func(t *victims.Task) { t.Job = "g" }
	f.task("m1", "a", "n1", 4, inGang)
	f.task("m2", "a", "n2", 6, inGang)
	require.NoError(t, f.c.SetMinMembers("g", 2))
	f.task("s1", "a", "n1", 4)
	f.task("t1", "c", "n1", 4, func(t *victims.Task) { t.OptedOut = true })
	d := f.decide(&jobs.Planner{}, f.ask("x", "b", 8))
	require.Equal(t, victims.Preempts, d.Outcome, d)
	require.Equal(t, []string{"s1", "t1"}, keysOf(d))
}
