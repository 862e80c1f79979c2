// SPDX-License-Identifier: Apache-2.0

package world_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "github.com/go-preempt/preempt/internal/judge/law" // draws the same cases in every run
	"github.com/go-preempt/preempt/internal/judge/world"
)

// smallJob wants a cpu for each of two members beside what small runs.
func smallJob() *world.JobCase {
	c := &world.JobCase{
		World: *small(),
		Job: world.Job{
			Name: "x", Application: "app-x", Queue: "root.b", Priority: 7, MinMembers: 1,
			Members: []world.Member{
				{Key: "x0", Size: world.Amounts{"cpu": 1}}, {Key: "x1", Size: world.Amounts{"cpu": 1}},
			},
		},
		Quotas:   map[string]world.Quota{"root.b": {Min: world.Amounts{"cpu": 2}, Max: world.Amounts{"cpu": 3}}},
		Minimums: map[string]int{"g": 1},
		Options:  world.Options{Now: world.Epoch},
		Refused:  map[string][]string{"x1": {"n2"}},
	}
	c.World.Tasks[0].Job, c.World.Tasks[1].NonPreemptible = "g", true
	return c
}

func TestJobString(t *testing.T) {
	c := smallJob()
	c.Apart = true
	require.Equal(t, `queue  root           used map[cpu:7]
queue  root.a         used map[cpu:3] guaranteed map[cpu:2] priority.offset="1"
queue  root.b         used map[cpu:4] max map[cpu:5]
node   n1 capacity map[cpu:9] free map[cpu:2]
node   n2 capacity map[] free map[], unschedulable
task   t1 root.a app on n1 map[cpu:2] priority 0 scheduled never, opted out, of job g
task   t2 root.a app on n1 map[cpu:1] priority 0 scheduled never, releasing, not preemptible
grant  g root.b  map[cpu:4] priority 0 since never on n1
quota  root.b min map[cpu:2] max map[cpu:3] waiting map[]
gang   g keeps 1
job    x root.b app-x priority 7, minimum 1
member x0 map[cpu:1]
member x1 map[cpu:1]
no two members on one node
not    x1 on [n2]
now    12:00:00
`, c.String())
}

func TestRefuses(t *testing.T) {
	c := smallJob()
	require.False(t, c.Refuses("x0", "n1", nil))
	require.False(t, c.Refuses("x1", "n1", []string{"n1"}))
	require.True(t, c.Refuses("x1", "n2", nil))
	c.Apart = true
	require.True(t, c.Refuses("x0", "n1", []string{"n2", "n1"}))
	require.False(t, c.Refuses("x0", "n1", []string{"n2"}))
}

// The tasks that members become know their job.
func TestJobAsk(t *testing.T) {
	j := &smallJob().Job
	j.NonPreemptible = true
	ask := j.Ask(&j.Members[1])
	started := ask.Started("n1", world.Epoch)
	require.Equal(t, "x1", started.Key)
	require.Equal(t, "x", started.Job)
	require.True(t, started.NonPreemptible)
	require.Equal(t, int32(7), started.Priority)
}

// Random jobs are of a leaf, have members with keys of their own, and as many
// of them as they need; quotas and minimums are of queues and jobs that exist.
func TestJobCases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.PickyJobCases(world.Large).Draw(t, "case")
		cluster, err := world.Build(&c.World)
		require.NoError(t, err)
		sameBooks(t, &c.World, cluster)

		leaf, ok := cluster.Tree().Lookup(c.Job.Queue)
		require.True(t, ok)
		require.True(t, cluster.Tree().IsLeaf(leaf))
		require.NotEmpty(t, c.Job.Members)
		require.LessOrEqual(t, c.Job.MinMembers, len(c.Job.Members))
		keys := make(map[string]bool)
		for _, m := range c.Job.Members {
			require.False(t, keys[m.Key], m.Key)
			keys[m.Key] = true
			for _, v := range m.Size {
				require.GreaterOrEqual(t, v, int64(0))
			}
		}
		for path := range c.Quotas {
			_, ok := cluster.Tree().Lookup(path)
			require.True(t, ok, path)
		}
		for job := range c.Minimums {
			require.True(t, slices.ContainsFunc(c.World.Tasks, func(t world.Task) bool { return t.Job == job }), job)
		}
	})
}
