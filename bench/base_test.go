// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/go-preempt/preempt/internal/judge/workload"
)

// BenchmarkFloor measures a bare pass over all tasks.
func BenchmarkFloor(b *testing.B) {
	for _, w := range []workload.W{small, big} {
		b.Run(w.String(), func(b *testing.B) {
			f := workload.NewFloor(built(w))
			b.ReportAllocs()
			for b.Loop() {
				f.Pass()
			}
		})
	}
}

// BenchmarkMaps measures the decision over maps and copies of all queues, as
// schedulers commonly make it: most of its time goes into the copies.
func BenchmarkMaps(b *testing.B) {
	w := workload.W{Nodes: 100, Tasks: 30, Tree: workload.Tree4x100}
	for _, w := range []workload.W{w, small} {
		s := subjectOf(w, 4)
		b.Run(s.name, func(b *testing.B) {
			c := built(w)
			m := workload.NewMaps(c)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := m.Decide(c.Tree(), &s.Ask); !ok {
					b.Fatal("no plan")
				}
			}
		})
	}
}
