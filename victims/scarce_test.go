// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// borrowedGPUs has b over its guarantee in gpu and far within that of cpu; x of a wants its gpu
// back.
func borrowedGPUs() *world.Case {
	hour := func(n time.Duration) time.Time { return world.Epoch.Add(-n * time.Hour) }
	half := world.Amounts{"cpu": 64, "gpu": 4}
	c := &world.Case{World: world.World{
		Types: []string{"cpu", "gpu"},
		Root: world.Queue{Name: "root", Children: []world.Queue{
			{Name: "a", Guaranteed: half}, {Name: "b", Guaranteed: half},
		}},
		Nodes: []world.Node{{Name: "n1", Capacity: world.Amounts{"cpu": 128, "gpu": 8}}},
		Tasks: []world.Task{
			{Key: "b1", Queue: "root.b", Application: "b", Node: "n1", Size: world.Amounts{"cpu": 8, "gpu": 4}, Scheduled: hour(2)},
			{Key: "b2", Queue: "root.b", Application: "b", Node: "n1", Size: world.Amounts{"cpu": 8, "gpu": 4}, Scheduled: hour(1)},
		},
	}}
	c.Ask = world.Ask{Key: "x", Queue: "root.a", Application: "x", Size: world.Amounts{"cpu": 8, "gpu": 4}}
	c.Options.Now = world.Epoch
	return c
}

// Planners with different types share one cluster, and so does what each says of a set.
func TestScarce_OneClusterManyPlanners(t *testing.T) {
	c := borrowedGPUs()
	cluster := build(t, &c.World)
	ask := askOf(t, cluster, &c.Ask)
	b2, _ := cluster.Lookup("b2")
	for range 2 {
		for _, tt := range []struct {
			scarce *resources.Mask
			reason string // "": b2 goes
		}{
			{nil, "no-victims"}, {new(resources.Mask(0b11)), "no-victims"}, {new(resources.Mask(0b10)), ""},
			{new(resources.Mask(0b01)), "no-victims"}, {new(resources.Mask(0)), "not-guaranteed"},
		} {
			p := jobs.Planner{Cluster: cluster, Options: victims.Options{Scarce: tt.scarce}}
			var d victims.Decision
			require.NoError(t, p.Decide(&d, &ask, c.Options.Now))
			require.Equal(t, tt.reason, d.Refusal.Reason)
			require.Equal(t, tt.reason == "", d.Outcome == victims.Preempts && d.Plan.Victims[0].Key == "b2")

			w := victims.WhatIf{Cluster: cluster, Options: p.Options}
			require.NoError(t, w.Open(&ask, c.Options.Now))
			w.Preempt(b2)
			require.Equal(t, tt.reason == "", w.Lawful())

			a := victims.Auditor{Cluster: cluster, Options: p.Options}
			n1, _ := cluster.LookupNode("n1")
			plan := victims.Plan{Ask: ask, Places: []victims.Place{{Node: n1}}, Victims: []victims.Victim{{Task: b2, Key: "b2"}}}
			require.Equal(t, tt.reason == "", len(a.Audit(nil, decided(&plan), c.Options.Now)) == 0)
		}
	}
}

// What a refused ask waits for is said of the types that count.
func TestScarce_Worth(t *testing.T) {
	c := borrowedGPUs()
	c.World.Tasks[0].Size, c.World.Tasks[1].Size = world.Amounts{"cpu": 60, "gpu": 2}, world.Amounts{"cpu": 60, "gpu": 2}
	c.World.Nodes[0].Capacity["gpu"] = 4
	cluster := build(t, &c.World)
	ask := askOf(t, cluster, &c.Ask)
	p := jobs.Planner{Cluster: cluster, Options: victims.Options{Scarce: new(resources.Mask(0b10))}}
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &ask, c.Options.Now))
	require.Equal(t, "no-victims", d.Refusal.Reason)
	// More usage of cpu gives nothing that counts.
	require.NoError(t, world.AddTask(cluster, &world.Task{Key: "b3", Queue: "root.b", Node: "n1", Size: world.Amounts{"cpu": 1}}))
	require.False(t, d.Refusal.Help.MayHaveChanged(cluster, c.Options.Now))
}

func TestScarce_UnknownType(t *testing.T) {
	c := borrowedGPUs()
	cluster := build(t, &c.World)
	ask := askOf(t, cluster, &c.Ask)
	p := jobs.Planner{Cluster: cluster, Options: victims.Options{Scarce: new(resources.Mask(0b110))}}
	var d victims.Decision
	require.ErrorIs(t, p.Decide(&d, &ask, c.Options.Now), queue.ErrConfig)
	w := victims.WhatIf{Cluster: cluster, Options: p.Options}
	require.ErrorIs(t, w.Open(&ask, c.Options.Now), queue.ErrConfig)
}
