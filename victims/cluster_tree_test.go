// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// newTree is the tree of tableCluster with another order, more queues and types.
func newTree(t testing.TB, children ...queue.Config) *queue.Tree {
	t.Helper()
	schema, err := resources.NewSchema("disk", "net", "gpu")
	require.NoError(t, err)
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: children})
	require.NoError(t, err)
	return tree
}

// TestSetTree shows that tasks, marks and grants stay where they are by name.
func TestSetTree(t *testing.T) {
	c := tableCluster(t)
	c.settle()
	view, clone := c.Tree(), c.Clone()
	most := resources.Limit{Value: vec{0, 0, 9}, Defined: 4}
	require.NoError(t, c.SetTree(newTree(t, queue.Config{Name: "new"}, queue.Config{Name: "b", Max: most}, queue.Config{Name: "a"})))
	const b, a = queue.ID(2), queue.ID(3)
	require.Equal(t, view, c.Tree(), "it shows the new queues")
	require.Equal(t, vec{2, 0, 5}, view.Usage(queue.Root))
	require.Equal(t, vec{1, 0, 2}, view.Leaving(a))
	require.Equal(t, vec{0, 0, 1}, view.Usage(b))
	require.Equal(t, vec{16, 0, 16}, c.Capacity())
	require.Equal(t, vec{6, 0, 3}, c.Free(nil, 1))
	require.Equal(t, vec{7, 0, 5}, c.ComingFree(nil, 1))
	id, _ := c.Lookup("run")
	require.Equal(t, a, c.Task(id).Queue)
	require.Equal(t, vec{1, 0, 2}, c.Task(id).Size)
	require.ErrorIs(t, c.Tree().SetMax(b, most), queue.ErrReadOnly)
	require.Equal(t, vec{5, 2}, clone.Tree().Usage(queue.Root))

	// All goes on as ever.
	require.NoError(t, c.Resize("run", vec{0, 7, 3}))
	require.Equal(t, vec{1, 7, 6}, c.Tree().Usage(queue.Root))
	require.NoError(t, c.Start("grant", noon))
	require.NoError(t, c.RemoveTask("grant"))
	clone.CopyFrom(c)
	require.Equal(t, lookAt(c).String(), lookAt(clone).String())
}

// TestSetTreeErrors shows what is no tree for a cluster, and that an error
// changes nothing.
func TestSetTreeErrors(t *testing.T) {
	a, b := queue.Config{Name: "a"}, queue.Config{Name: "b"}
	used := newTree(t, a, b)
	require.NoError(t, used.Add(1, vec{1}))
	for _, tt := range []struct {
		tree *queue.Tree
		is   error
		text string
	}{
		{newTree(t, b), invalid.Queue, `victims: new tree: queue root.a: not a leaf queue: it has "leave", "run"`},
		{newTree(t, queue.Config{Name: "a", Children: []queue.Config{b}}), invalid.Queue,
			"victims: new tree: queue root.a: not a leaf queue: it has \"leave\", \"run\"\nvictims: new tree: queue root.b: not a leaf queue: it has \"grant\""},
		{used, ErrState, "victims: new tree: usage [1 0 0] of tasks that the cluster does not know: wrong state"},
		{tableCluster(t).Tree(), queue.ErrReadOnly, "victims: new tree: the tree belongs to a cluster"},
		{func() *queue.Tree {
			schema, _ := resources.NewSchema("gpu")
			tree, _ := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{a, b}})
			return tree
		}(), queue.ErrConfig, `victims: new tree: bad configuration: no type "disk"`},
	} {
		c := tableCluster(t)
		before, version := lookAt(c).String(), c.Version()
		err := c.SetTree(tt.tree)
		require.ErrorIs(t, err, tt.is)
		require.EqualError(t, err, tt.text)
		require.Equal(t, before, lookAt(c).String())
		require.Equal(t, version, c.Version())
		require.NoError(t, apply(func(*Plan) {})(c))
	}
	require.NoError(t, used.Remove(1, vec{1}), "it stays the caller's")
	require.PanicsWithValue(t, "victims: SetTree without a tree: see queue.New", func() { _ = tableCluster(t).SetTree(nil) })
}

// BenchmarkSetTree gives 150,000 tasks another tree: of the same types, and of two
// more. What is decided next has to make the digests of all nodes anew, which is
// no part of it.
func BenchmarkSetTree(b *testing.B) {
	original := benchCluster(b, 5000, 30)
	for _, types := range [][]string{{"gpu", "disk"}, {"net", "gpu", "cpu", "disk"}} {
		b.Run(fmt.Sprintf("nodes=5000/tasks=30/types=%d", len(types)), func(b *testing.B) {
			c := new(Cluster)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				c.CopyFrom(original)
				schema, err := resources.NewSchema(types...)
				require.NoError(b, err)
				tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "b"}, {Name: "a"}}})
				require.NoError(b, err)
				b.StartTimer()
				if err := c.SetTree(tree); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSyncNode tells the cost per task of nodes with more and more of them.
func BenchmarkSyncNode(b *testing.B) {
	for _, tasks := range []int{30, 300, 3000} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			c := benchCluster(b, 2, tasks)
			var synced [2][]Task // every task has another priority each time
			node, _ := c.LookupNode("node-1")
			for id := range c.TasksOn(node) {
				for i := range synced {
					task := c.Task(id)
					task.Priority = int32(i)
					synced[i] = append(synced[i], task)
				}
			}
			if len(synced[0]) != tasks {
				b.Fatalf("%d tasks on the node, want %d", len(synced[0]), tasks)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if done, err := c.SyncNode("node-1", synced[i%2]); err != nil || len(done.NotTaken) > 0 {
					b.Fatal(err, done)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tasks), "ns/task")
		})
	}
}
