// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// typed returns a tree of two leaves, of which b is guaranteed so much of each type.
func typed(t *testing.T, guaranteed map[string]string, types ...string) *queue.Tree {
	t.Helper()
	schema, err := resources.NewSchema(types...)
	require.NoError(t, err)
	limit, err := schema.Limit(guaranteed)
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: limit}}})
	require.NoError(t, err)
	return tree
}

// A resource type appears in a cluster that lives: nodes have some of it, tasks use it, and
// a queue is guaranteed some. Marks and grants of before stay, a planner that has decided
// goes on, and its decisions are those over a cluster that knew the type from the start.
func TestSetTree_NewType(t *testing.T) {
	size := func(cpu, gpu int64, types []string) resources.Vector {
		if types[0] == "gpu" {
			return resources.Vector{gpu, cpu}
		}
		return resources.Vector{cpu}
	}
	fill := func(c *victims.Cluster, types []string) {
		for _, name := range []string{"n1", "n2"} {
			_, err := c.AddNode(&victims.Node{Name: name, Capacity: size(8, 0, types)})
			require.NoError(t, err)
		}
		a, _ := c.Tree().Lookup("root.a")
		b, _ := c.Tree().Lookup("root.b")
		for i, key := range []string{"old-1", "old-2", "leaves"} {
			_, err := c.AddTask(&victims.Task{
				Key: key, Queue: a, NodeName: []string{"n1", "n2", "n2"}[i], Size: size(4, 0, types), Scheduled: now.Add(-time.Hour),
			})
			require.NoError(t, err)
		}
		require.NoError(t, c.SetState("leaves", victims.Marked))
		n2, _ := c.LookupNode("n2")
		_, err := c.GrantPlace(&victims.Ask{Key: "granted", Queue: b, Size: size(2, 0, types)}, n2, time.Time{})
		require.NoError(t, err)
	}
	ask := func(c *victims.Cluster, key string, amounts resources.Vector) *victims.Ask {
		b, _ := c.Tree().Lookup("root.b")
		return &victims.Ask{Key: key, Queue: b, Size: amounts}
	}
	both := []string{"gpu", "cpu"} // the new one comes first
	guaranteed := map[string]string{"cpu": "6m", "gpu": "4"}

	live := victims.NewCluster(typed(t, map[string]string{"cpu": "6m"}, "cpu"))
	fill(live, []string{"cpu"})
	p := jobs.Planner{Cluster: live, Options: victims.Options{Audit: true}}
	var d victims.Decision
	require.NoError(t, p.Decide(&d, ask(live, "x", resources.Vector{3}), now))
	require.Equal(t, victims.Fits, d.Outcome)
	w := victims.WhatIf{Cluster: live}
	require.NoError(t, w.Open(ask(live, "x", resources.Vector{3}), now))
	require.True(t, w.MayFit())

	require.NoError(t, live.SetTree(typed(t, guaranteed, both...)))
	require.False(t, w.MayFit(), "it was opened over other types")
	known := victims.NewCluster(typed(t, guaranteed, both...))
	fill(known, both)
	for _, c := range []*victims.Cluster{live, known} {
		for _, name := range []string{"n1", "n2"} {
			require.NoError(t, c.UpdateNode(&victims.Node{Name: name, Capacity: resources.Vector{4, 8}}))
		}
		a, _ := c.Tree().Lookup("root.a")
		_, err := c.SyncNode("n1", []victims.Task{
			{Key: "old-1", Queue: a, Size: resources.Vector{0, 4}, Scheduled: now.Add(-time.Hour)},
			{Key: "gpus", Queue: a, Size: resources.Vector{3, 1}, Scheduled: now.Add(-time.Minute)},
		})
		require.NoError(t, err)
		_, err = c.AddTask(&victims.Task{Key: "more", Queue: a, NodeName: "n2", Size: resources.Vector{3, 0}, Scheduled: now.Add(-time.Hour)})
		require.NoError(t, err)
	}

	q := jobs.Planner{Cluster: known, Options: victims.Options{Audit: true}}
	var e victims.Decision
	var outcomes []string
	for _, amounts := range []resources.Vector{{1, 1}, {2, 1}, {4, 1}, {2, 7}, {5, 1}, {0, 4}} {
		require.NoError(t, p.Decide(&d, ask(live, "y", amounts), now))
		require.NoError(t, q.Decide(&e, ask(known, "y", amounts), now))
		require.Equal(t, e.Summary(), d.Summary())
		have, err := json.Marshal(d)
		require.NoError(t, err)
		want, err := json.Marshal(e)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(have))
		outcomes = append(outcomes, d.Outcome.String())
		if d.Outcome == victims.Preempts {
			outcomes = append(outcomes, keysOf(&d)...)
		}
	}
	require.Equal(t, []string{"fits", "plan", "gpus", "plan", "gpus", "plan", "gpus", "old-1", "refused", "plan", "gpus"}, outcomes)
}
