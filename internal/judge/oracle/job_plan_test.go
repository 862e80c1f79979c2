// SPDX-License-Identifier: Apache-2.0

package oracle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
)

func TestJobVictims(t *testing.T) {
	c := jobBase()
	c.Job.NonPreemptible = true
	c.World.Root.Max = cpu{"cpu": 8}                                         // 8 are in use
	c.Quotas["root"] = world.Quota{Min: cpu{"cpu": 9}, Max: cpu{"cpu": 99}}  // nothing is short there
	c.Quotas["root.x"] = world.Quota{Min: cpu{"cpu": 4}, Max: cpu{"cpu": 4}} // a2 is in its way
	jobTask(c, "a2").Queue, jobTask(c, "a2").Priority, jobTask(c, "b1").Job = "root.x", 0, "g"
	jobTask(c, "b2").Job = "g"
	c.Minimums["g"] = 2
	require.Equal(t, []oracle.JobVictim{
		{Key: "a2", Rank: -5, ForHeadroom: true, ForQuota: true},
		{Key: "b1", Rank: -5, Job: "g", Whole: true, ForNode: true, ForHeadroom: true},
		{Key: "b2", Rank: -5, Job: "g", Whole: true, ForNode: true, ForHeadroom: true},
	}, oracle.JobVictims(c, []string{"n2", "n2"}, []string{"a2", "b1", "b2"}))
}

func TestFitsAt(t *testing.T) {
	c := jobBase()
	c.World.Nodes[0].Capacity = cpu{"cpu": 8}
	require.True(t, oracle.FitsAt(c, []string{"n1", "n1"}))
	require.False(t, oracle.FitsAt(c, []string{"n1", "n2"}), "no room")
	c.World.Root.Max = cpu{"cpu": 11}
	require.False(t, oracle.FitsAt(c, []string{"n1", "n1"}), "over the max")
	c.World.Root.Max, c.Quotas["root"] = nil, world.Quota{Max: cpu{"cpu": 11}}
	require.False(t, oracle.FitsAt(c, []string{"n1", "n1"}), "over the quota")
}

func TestFurtherPlaces(t *testing.T) {
	c := jobBase()
	c.Job.MinMembers = 1
	further := []oracle.Placement{{Member: "x1", Node: "n2", Further: true}}
	require.Equal(t, further, oracle.FurtherPlaces(c, oracle.Preempts, []string{"n2"}, []string{"b1", "b2"}))
	require.Empty(t, oracle.FurtherPlaces(c, oracle.Preempts, []string{"n2"}, []string{"b1"}))
	jobTask(c, "b2").State = world.Releasing
	require.Equal(t, further, oracle.FurtherPlaces(c, oracle.Waits, []string{"n1"}, nil))
	require.Empty(t, oracle.FurtherPlaces(c, oracle.Fits, []string{"n1"}, nil), "b2 is there still")
}

func TestHasPlan(t *testing.T) {
	c := jobBase()
	jobQueue(c, "b").Guaranteed = cpu{"cpu": 2} // so that one of b1 and b2 may go
	c.Job.Members = append(c.Job.Members, world.Member{Key: "x2", Size: cpu{"cpu": 2}})
	require.True(t, oracle.HasPlan(c, 0))
	require.True(t, oracle.HasPlan(c, 2))
	require.False(t, oracle.HasPlan(c, 3))
}

// One of each rule keeps a task; a1 and b1 nobody keeps.
func TestJobCounts(t *testing.T) {
	for _, tt := range []struct {
		rule  string
		twist func(c *world.JobCase)
	}{
		{"leaving", func(c *world.JobCase) { jobTask(c, "b2").State = world.Preempting }},
		{"required-node", func(c *world.JobCase) { jobTask(c, "b2").RequiredNode = true }},
		{"same-application", func(c *world.JobCase) { jobTask(c, "b2").Application = "app-x" }},
		{"fence", func(c *world.JobCase) {
			// a and b move below a fence that has x, and b2 stays outside.
			c.World.Root.Children = []world.Queue{
				{Name: "f", Properties: map[string]string{"preemption.policy": "fence"}, Children: []world.Queue{
					{Name: "a"}, {Name: "b"}, {Name: "x"},
				}},
				{Name: "b"},
			}
			for _, key := range []string{"a1", "a2"} {
				jobTask(c, key).Queue = "root.f.a"
			}
			jobTask(c, "b1").Queue, c.Job.Queue = "root.f.b", "root.f.x"
		}},
		{"disabled", func(c *world.JobCase) {
			c.World.Root.Children = append(c.World.Root.Children,
				world.Queue{Name: "d", Properties: map[string]string{"preemption.policy": "disabled"}})
			jobTask(c, "b2").Queue = "root.d"
		}},
		{"non-preemptible", func(c *world.JobCase) { jobTask(c, "b2").NonPreemptible = true }},
		{"exempt", func(c *world.JobCase) { c.Options.Exempt = map[string]time.Time{"b2": {}} }},
		{"gang", func(c *world.JobCase) { gang(c, 2, "a2", "b2") }}, // a2 stays, and so must b2
		{"not-helping", func(c *world.JobCase) { jobTask(c, "b2").Size = nil }},
		{"guarantee", func(c *world.JobCase) {
			c.World.Root.Children = append(c.World.Root.Children, world.Queue{Name: "d", Guaranteed: cpu{"cpu": 1}})
			jobTask(c, "b2").Queue = "root.d"
		}},
		{"guarantee", func(c *world.JobCase) { // of the job with which b2 would fall
			c.World.Nodes = append(c.World.Nodes, world.Node{Name: "n3", Capacity: cpu{"cpu": 1}, Unschedulable: true})
			b3 := *jobTask(c, "b2")
			b3.Key, b3.Node, b3.Size, b3.Queue = "b3", "n3", cpu{"cpu": 1}, "root.d"
			c.World.Tasks = append(c.World.Tasks, b3)
			c.World.Root.Children = append(c.World.Root.Children, world.Queue{Name: "d", Guaranteed: cpu{"cpu": 1}})
			gang(c, 2, "b2", "b3")
		}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			c := jobBase()
			c.Job.Members[0].Size = cpu{"cpu": 9} // hopeless
			tt.twist(c)
			r := oracle.DecideJob(c)
			want := map[string]int{"priority": 1, tt.rule: 1} // a2, b2
			if len(c.World.Nodes) > 2 {
				want["not-helping"] = 1 // b3
			}
			require.Equal(t, oracle.NoVictims, r.Reason)
			require.Equal(t, want, r.Counts)
			require.Equal(t, 2, r.Candidates)
		})
	}
}
