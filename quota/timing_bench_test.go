// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// timed returns a timing of so many leaves that each use more than their max, as of now.
func timed(b *testing.B, leaves int) *quota.Timing {
	schema, err := resources.NewSchema("cpu")
	require.NoError(b, err)
	root, one := queue.Config{Name: "root"}, resources.Limit{Value: resources.Vector{1}, Defined: 1}
	for i := range leaves {
		root.Children = append(root.Children, queue.Config{
			Name: fmt.Sprint("w", i), Max: one, Policies: queue.Policies{QuotaDelay: new(time.Minute)},
		})
	}
	tree, err := queue.New(schema, root)
	require.NoError(b, err)
	timing := &quota.Timing{Cluster: victims.NewCluster(tree)}
	for w := range tree.Leaves(queue.Root) {
		_, err := timing.Cluster.AddTask(&victims.Task{Key: tree.Path(w), Queue: w, NodeName: "n1", Size: resources.Vector{2}})
		require.NoError(b, err)
	}
	timing.Observe(now)
	return timing
}

// What a host pays per look, and per question.
func BenchmarkTiming(b *testing.B) {
	for _, leaves := range []int{10, 1000} {
		name := fmt.Sprintf("/queues=%d", leaves)
		b.Run("observe=same"+name, func(b *testing.B) {
			timing := timed(b, leaves)
			b.ReportAllocs()
			for b.Loop() {
				timing.Observe(now)
			}
		})
		b.Run("observe=changed"+name, func(b *testing.B) {
			timing := timed(b, leaves)
			b.ReportAllocs()
			for i := int64(0); b.Loop(); i++ {
				require.NoError(b, timing.Cluster.SetMax(1, resources.Limit{Value: resources.Vector{i % 2}, Defined: 1}))
				timing.Observe(now)
			}
		})
		b.Run("due=none"+name, func(b *testing.B) {
			timing := timed(b, leaves)
			var due []queue.ID
			b.ReportAllocs()
			for b.Loop() {
				due = timing.AllDue(due[:0], now)
			}
			require.Empty(b, due)
		})
		b.Run("due=all"+name, func(b *testing.B) {
			timing := timed(b, leaves)
			var due []queue.ID
			b.ReportAllocs()
			for b.Loop() {
				due = timing.AllDue(due[:0], now.Add(time.Hour))
			}
			require.Len(b, due, leaves)
		})
		b.Run("due=run"+name, func(b *testing.B) {
			timing := timed(b, leaves)
			at := now.Add(time.Hour)
			b.ReportAllocs()
			for b.Loop() {
				for q := range timing.Due(at) {
					require.NoError(b, timing.End(q, at)) // it is due again in a minute
				}
				at = at.Add(time.Minute)
			}
		})
	}
}
