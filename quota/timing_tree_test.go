// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// treeOfPaths makes a tree of paths below the root, in that order, in which nothing is
// guaranteed.
func treeOfPaths(t require.TestingT, types []string, paths ...string) *queue.Tree {
	schema, err := resources.NewSchema(types...)
	require.NoError(t, err)
	root := queue.Config{Name: "root"}
	for _, path := range paths {
		at := &root
		for name := range strings.SplitSeq(path, ".") {
			i := 0
			for i < len(at.Children) && at.Children[i].Name != name {
				i++
			}
			if i == len(at.Children) {
				at.Children = append(at.Children, queue.Config{Name: name})
			}
			at = &at.Children[i]
		}
	}
	tree, err := queue.New(schema, root)
	require.NoError(t, err)
	return tree
}

func lookup(t require.TestingT, tree *queue.Tree, path string) queue.ID {
	q, ok := tree.Lookup(path)
	require.True(t, ok, path)
	return q
}

// TestTimingSetTree: clocks go on where their queues are now, whatever the order of queues
// and types, and usage is that of the new tree.
func TestTimingSetTree(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	tree := treeOfPaths(t, []string{"cpu", "gpu"}, "a", "b.x", "b.y", "c")
	timing := NewTiming(tree)
	observe := func(tree *queue.Tree, path string, typ int, bound int64, minutes int) {
		max := resources.Limit{Value: make(resources.Vector, tree.Schema().Len()), Defined: 1 << typ}
		max.Value[typ] = bound
		require.NoError(t, timing.Observe(Quota{Queue: lookup(t, tree, path), Max: max, Delay: 10 * time.Minute}, at(minutes)))
	}
	observe(tree, "root.b.x", 1, 4, 0)
	observe(tree, "root.a", 0, 4, 1)
	observe(tree, "root.c", 0, 4, 2)

	next := treeOfPaths(t, []string{"pods", "gpu", "cpu"}, "d", "c", "b.x")
	require.NoError(t, next.Add(lookup(t, next, "root.b.x"), resources.Vector{0, 5, 0}))
	require.NoError(t, next.Add(lookup(t, next, "root.c"), resources.Vector{0, 0, 4}))
	timing.SetTree(next)
	require.Equal(t, "root.c    waits until 2026-01-01T00:12:00Z\nroot.b.x  waits until 2026-01-01T00:10:00Z\n", timing.String())
	observe(next, "root.b.x", 1, 4, 5) // equal values are no change
	q, ok := timing.Begin(at(10))
	require.True(t, ok)
	require.Equal(t, lookup(t, next, "root.b.x"), q)
	q, ok = timing.Begin(at(12))
	require.False(t, ok, "c is within its max: %v", q)

	again := treeOfPaths(t, []string{"gpu", "cpu"}, "b.y", "b.x")
	timing.SetTree(again)
	require.True(t, timing.Running(lookup(t, again, "root.b.x")))
	require.NoError(t, timing.End(lookup(t, again, "root.b.x"), at(13)))
	_, ok = timing.Next()
	require.False(t, ok, "nothing is used in the new tree")
}

// TestTimingSetTreeBack: to another tree and back changes nothing of the queues and types
// that both have.
func TestTimingSetTreeBack(t *testing.T) {
	paths := []string{"a", "b.x", "b.y", "c"}
	rapid.Check(t, func(t *rapid.T) {
		types := []string{"cpu", "gpu"}
		tree := treeOfPaths(t, types, paths...)
		timing, now := NewTiming(tree), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for range rapid.IntRange(0, 6).Draw(t, "told") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "later")) * time.Minute)
			q := lookup(t, tree, "root."+rapid.SampledFrom(paths).Draw(t, "queue"))
			max := resources.Limit{Value: resources.Vector{rapid.Int64Range(0, 2).Draw(t, "cpu"), 1}, Defined: resources.Mask(rapid.IntRange(0, 3).Draw(t, "types"))}
			require.NoError(t, timing.Observe(Quota{q, max, time.Duration(rapid.IntRange(0, 2).Draw(t, "delay")) * time.Minute}, now))
		}
		var before, after strings.Builder
		require.NoError(t, timing.Save(&before))
		timing.SetTree(treeOfPaths(t, rapid.Permutation([]string{"cpu", "gpu", "pods"}).Draw(t, "schema"), rapid.Permutation(append([]string{"d"}, paths...)).Draw(t, "order")...))
		timing.SetTree(treeOfPaths(t, types, paths...))
		require.NoError(t, timing.Save(&after))
		require.Equal(t, before.String(), after.String())
	})
}
