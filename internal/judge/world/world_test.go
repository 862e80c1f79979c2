// SPDX-License-Identifier: Apache-2.0

package world_test

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

func TestUp(t *testing.T) {
	require.Equal(t, []string{"root.ab.c", "root.ab", "root"}, world.Up("root.ab.c"))
	require.Equal(t, []string{"root"}, world.Up("root"))
}

func TestInside(t *testing.T) {
	for _, tt := range []struct {
		path, above string
		want        bool
	}{
		{"root.a.b", "root.a.b", true},
		{"root.a.b", "root.a", true},
		{"root.a.b", "root", true},
		{"root.a", "root.a.b", false},
		{"root.ab", "root.a", false}, // the beginning of a name is no queue
		{"root.a.b", "root.b", false},
	} {
		require.Equal(t, tt.want, world.Inside(tt.path, tt.above), "%s in %s", tt.path, tt.above)
	}
}

func TestExempts(t *testing.T) {
	o := world.Options{Now: world.Epoch, Exempt: map[string]time.Time{
		"for ever": {}, "still": world.Epoch.Add(1), "no more": world.Epoch,
	}}
	for key, want := range map[string]bool{"for ever": true, "still": true, "no more": false, "never": false} {
		_, exempt := o.Exempts(key)
		require.Equal(t, want, exempt, key)
	}
}

// small has a leaf that runs 3 cpus, of which 1 is leaving, and was granted 4.
func small() *world.World {
	return &world.World{
		Types: []string{"cpu"},
		Root: world.Queue{Name: "root", Children: []world.Queue{
			{Name: "a", Guaranteed: world.Amounts{"cpu": 2}, Properties: map[string]string{"priority.offset": "1"}},
			{Name: "b", Max: world.Amounts{"cpu": 5}},
		}},
		Nodes: []world.Node{{Name: "n1", Capacity: world.Amounts{"cpu": 9}}, {Name: "n2", Unschedulable: true}},
		Tasks: []world.Task{
			{Key: "t1", Queue: "root.a", Application: "app", Node: "n1", Size: world.Amounts{"cpu": 2}, OptedOut: true},
			{Key: "t2", Queue: "root.a", Application: "app", Node: "n1", Size: world.Amounts{"cpu": 1}, State: world.Releasing},
		},
		Grants: []world.Grant{{Node: "n1", Ask: world.Ask{Key: "g", Queue: "root.b", Size: world.Amounts{"cpu": 4}}}},
	}
}

func TestUsageAndFree(t *testing.T) {
	w := small()
	require.Equal(t, map[string]world.Amounts{
		"root": {"cpu": 7}, "root.a": {"cpu": 3}, "root.b": {"cpu": 4},
	}, w.Usage(false))
	require.Equal(t, map[string]world.Amounts{
		"root": {"cpu": 6}, "root.a": {"cpu": 2}, "root.b": {"cpu": 4},
	}, w.Usage(true))
	require.Equal(t, map[string]world.Amounts{"n1": {"cpu": 2}, "n2": {}}, w.Free(false))
	require.Equal(t, map[string]world.Amounts{"n1": {"cpu": 3}, "n2": {}}, w.Free(true))
	require.Equal(t, world.Amounts{"cpu": 9}, w.Capacity())
}

func TestString(t *testing.T) {
	require.Equal(t, `queue  root           used map[cpu:7]
queue  root.a         used map[cpu:3] guaranteed map[cpu:2] priority.offset="1"
queue  root.b         used map[cpu:4] max map[cpu:5]
node   n1 capacity map[cpu:9] free map[cpu:2]
node   n2 capacity map[] free map[], unschedulable
task   t1 root.a app on n1 map[cpu:2] priority 0 scheduled never, opted out
task   t2 root.a app on n1 map[cpu:1] priority 0 scheduled never, releasing
grant  g root.b  map[cpu:4] priority 0 since never on n1
`, small().String())
}

func TestBuildErrors(t *testing.T) {
	for name, breakIt := range map[string]func(w *world.World){
		"no such node":        func(w *world.World) { w.Tasks[0].Node = "n3" },
		"no such queue":       func(w *world.World) { w.Tasks[0].Queue = "root.c" },
		"grant without node":  func(w *world.World) { w.Grants[0].Node = "n3" },
		"grant without queue": func(w *world.World) { w.Grants[0].Ask.Queue = "root.c" },
		"type twice":          func(w *world.World) { w.Types = []string{"cpu", "cpu"} },
		"bad queue":           func(w *world.World) { w.Root.Children[0].Name = "" },
		"node twice":          func(w *world.World) { w.Nodes[1].Name = "n1" },
		"task twice":          func(w *world.World) { w.Tasks[1].Key = "t1" },
		"grant of a task":     func(w *world.World) { w.Grants[0].Ask.Key = "t1" },
	} {
		t.Run(name, func(t *testing.T) {
			w := small()
			breakIt(w)
			_, err := world.Build(w)
			require.Error(t, err)
		})
	}
}

// The cluster that is built keeps the same books as the plain model, of any
// random world, and has its nodes in order.
func TestBuild(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.Cases(world.Large).Draw(t, "case")
		cluster, err := world.Build(&c.World)
		require.NoError(t, err)
		sameBooks(t, &c.World, cluster)

		ask, err := world.AskOf(cluster, &c.Ask)
		require.NoError(t, err)
		require.Equal(t, c.Ask.Queue, cluster.Tree().Path(ask.Queue))
		require.Equal(t, c.Ask.Size[c.World.Types[0]], ask.Size[0])
	})
}

func sameBooks(t require.TestingT, w *world.World, c *victims.Cluster) {
	present, coming := w.Usage(false), w.Usage(true)
	tree := c.Tree()
	for q := range queue.ID(tree.Len()) {
		path := tree.Path(q)
		require.Equal(t, plain(present[path]), world.AmountsOf(c, tree.Usage(q)), "usage of %s", path)
		require.Equal(t, plain(coming[path]), world.AmountsOf(c, tree.Effective(nil, q)), "coming usage of %s", path)
	}
	presentFree, comingFree := w.Free(false), w.Free(true)
	i := 0
	for n := range c.Nodes() {
		name := c.Node(n).Name
		require.Equal(t, w.Nodes[i].Name, name)
		require.Equal(t, plain(presentFree[name]), world.AmountsOf(c, c.Free(nil, n)), "free on %s", name)
		require.Equal(t, plain(comingFree[name]), world.AmountsOf(c, c.ComingFree(nil, n)), "coming free on %s", name)
		i++
	}
	require.Equal(t, len(w.Nodes), i)
	require.Equal(t, len(w.Tasks)+len(w.Grants), c.TaskLen())
	require.Equal(t, plain(w.Capacity()), world.AmountsOf(c, c.Capacity()))
}

// plain returns amounts without their zeros.
func plain(a world.Amounts) world.Amounts {
	a = maps.Clone(a)
	maps.DeleteFunc(a, func(_ string, v int64) bool { return v == 0 })
	if a == nil {
		a = world.Amounts{}
	}
	return a
}

// Workloads have asks of leaves, with keys of their own.
func TestWorkloads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world.Workloads(world.Crowded).Draw(t, "workload")
		cluster, err := world.Build(&w.World)
		require.NoError(t, err)
		keys := make(map[string]bool)
		for i := range w.Asks {
			ask, err := world.AskOf(cluster, &w.Asks[i])
			require.NoError(t, err)
			require.True(t, cluster.Tree().IsLeaf(ask.Queue))
			require.False(t, keys[ask.Key], ask.Key)
			keys[ask.Key] = true
		}
	})
}
