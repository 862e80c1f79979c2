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
)

// timed returns a timing of so many leaves that each use more than their max, and
// what each was told.
func timed(b *testing.B, leaves int) (*quota.Timing, quota.Quota) {
	schema, err := resources.NewSchema("cpu")
	require.NoError(b, err)
	root := queue.Config{Name: "root"}
	for i := range leaves {
		root.Children = append(root.Children, queue.Config{Name: fmt.Sprint("w", i)})
	}
	tree, err := queue.New(schema, root)
	require.NoError(b, err)
	timing := quota.NewTiming(tree)
	s := quota.Quota{Max: resources.Limit{Value: resources.Vector{1}, Defined: 1}, Delay: time.Minute}
	for w := range tree.Leaves(queue.Root) {
		require.NoError(b, tree.Add(w, resources.Vector{2}))
		s.Queue = w
		require.NoError(b, timing.Observe(s, now))
	}
	s.Queue = 1
	return timing, s
}

// What a host pays per queue that it tells of, and per question.
func BenchmarkTiming(b *testing.B) {
	for _, leaves := range []int{10, 1000} {
		name := fmt.Sprintf("/queues=%d", leaves)
		b.Run("observe=same"+name, func(b *testing.B) {
			timing, s := timed(b, leaves)
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, timing.Observe(s, now))
			}
		})
		b.Run("observe=changed"+name, func(b *testing.B) {
			timing, s := timed(b, leaves)
			b.ReportAllocs()
			for i := int64(0); b.Loop(); i++ {
				s.Delay = time.Minute + time.Duration(i%2)
				require.NoError(b, timing.Observe(s, now))
			}
		})
		b.Run("due=none"+name, func(b *testing.B) {
			timing, _ := timed(b, leaves)
			var due []queue.ID
			b.ReportAllocs()
			for b.Loop() {
				due = timing.Due(due[:0], now)
			}
			require.Empty(b, due)
		})
		b.Run("due=all"+name, func(b *testing.B) {
			timing, _ := timed(b, leaves)
			var due []queue.ID
			b.ReportAllocs()
			for b.Loop() {
				due = timing.Due(due[:0], now.Add(time.Hour))
			}
			require.Len(b, due, leaves)
		})
		b.Run("begin"+name, func(b *testing.B) {
			timing, s := timed(b, leaves)
			at := now.Add(time.Hour)
			b.ReportAllocs()
			for b.Loop() {
				q, ok := timing.Begin(at)
				if !ok {
					b.Fatal("nothing is due")
				}
				require.NoError(b, timing.End(q, at)) // it is due again in a minute
				at = at.Add(s.Delay)
			}
		})
	}
}
