// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// queuesOf configures paths below the root, in that order, in which nothing is guaranteed.
func queuesOf(paths ...string) queue.Config {
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
	return root
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
	timing, tree := timed(t, []string{"cpu", "gpu"}, queuesOf("a", "b.x", "b.y", "c"))
	lower := func(path, typ string, bound int64) {
		i, ok := tree.Schema().Index(typ)
		require.True(t, ok)
		most := resources.Limit{Value: make(resources.Vector, tree.Schema().Len()), Defined: 1 << i}
		most.Value[i] = bound
		tell(t, tree, lookup(t, tree, path), most, 10*time.Minute)
	}
	for i, of := range []struct{ path, typ string }{{"root.b.x", "gpu"}, {"root.a", "cpu"}, {"root.c", "cpu"}} {
		lower(of.path, of.typ, 4)
		timing.Observe(at(i))
	}

	next, tree := timed(t, []string{"pods", "gpu", "cpu"}, queuesOf("d", "c", "b.x"))
	require.NoError(t, tree.Add(lookup(t, tree, "root.b.x"), resources.Vector{0, 5, 0}))
	require.NoError(t, tree.Add(lookup(t, tree, "root.c"), resources.Vector{0, 0, 4}))
	lower("root.b.x", "gpu", 4)
	lower("root.c", "cpu", 4)
	timing.Cluster = next.Cluster
	require.Equal(t, "root.c    waits until 2026-01-01T00:12:00Z\nroot.b.x  waits until 2026-01-01T00:10:00Z\n", timing.String())
	timing.Observe(at(5)) // equal values are no change
	require.Equal(t, lookup(t, tree, "root.b.x"), first(t, timing.Due(at(10))))
	require.Empty(t, slices.Collect(timing.Due(at(12))), "c is within its max")

	next, tree = timed(t, []string{"gpu", "cpu"}, queuesOf("b.y", "b.x"))
	timing.Cluster = next.Cluster
	require.True(t, timing.Running(lookup(t, tree, "root.b.x")))
	require.NoError(t, timing.End(lookup(t, tree, "root.b.x"), at(13)))
	_, ok := timing.Next()
	require.False(t, ok, "nothing is used in the new tree")
}

// TestTimingSetTree_Cluster: a cluster gets another tree in place, and so does its Timing.
func TestTimingSetTree_Cluster(t *testing.T) {
	timing, tree := timed(t, []string{"gpu"}, queuesOf("a", "b"))
	tell(t, tree, lookup(t, tree, "root.b"), resources.Limit{Value: resources.Vector{4}, Defined: 1}, time.Minute)
	timing.Observe(timingEpoch)
	_, other := timed(t, []string{"gpu"}, queuesOf("b"))
	require.NoError(t, timing.Cluster.SetTree(other.Clone()))
	require.Equal(t, "root.b  waits until 2026-01-01T00:01:00Z\n", timing.String())
	timing.Observe(timingEpoch) // the new tree has no delay
	require.Empty(t, timing.String())
}

// first returns the first queue that is due, and looks at no more.
func first(t require.TestingT, due iter.Seq[queue.ID]) queue.ID {
	for q := range due {
		return q
	}
	require.Fail(t, "nothing is due")
	return 0
}

// TestTimingSetTreeBack: to another tree and back changes nothing of the queues and types
// that both have.
func TestTimingSetTreeBack(t *testing.T) {
	paths := []string{"a", "b.x", "b.y", "c"}
	rapid.Check(t, func(t *rapid.T) {
		types := []string{"cpu", "gpu"}
		timing, tree := timed(t, types, queuesOf(paths...))
		now := timingEpoch
		for range rapid.IntRange(0, 6).Draw(t, "told") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "later")) * time.Minute)
			q := lookup(t, tree, "root."+rapid.SampledFrom(paths).Draw(t, "queue"))
			most := resources.Limit{Value: resources.Vector{rapid.Int64Range(0, 2).Draw(t, "cpu"), 1}, Defined: resources.Mask(rapid.IntRange(0, 3).Draw(t, "types"))}
			tell(t, tree, q, most, time.Duration(rapid.IntRange(0, 2).Draw(t, "delay"))*time.Minute)
			timing.Observe(now)
		}
		var before, after strings.Builder
		require.NoError(t, timing.Save(&before))
		other, _ := timed(t, rapid.Permutation([]string{"cpu", "gpu", "pods"}).Draw(t, "schema"), queuesOf(rapid.Permutation(append([]string{"d"}, paths...)).Draw(t, "order")...))
		same := timing.Cluster
		timing.Cluster = other.Cluster
		require.NotEmpty(t, timing.paths)
		_ = timing.String()
		timing.Cluster = same
		require.NoError(t, timing.Save(&after))
		require.Equal(t, before.String(), after.String())
	})
}
