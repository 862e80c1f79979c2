// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// BenchmarkPlannersTogether decides with one planner per processor over one
// unchanged cluster. The times of one and of two processors, on a machine that
// does nothing else, tell what planners cost each other:
//
//	go test ./victims -run '^$' -bench PlannersTogether -cpu 1,2
//
// Cluster and planners are warm before the clock starts, and all work on the same
// asks, so that no more is measured than decisions.
func BenchmarkPlannersTogether(b *testing.B) {
	w := workload.W{Nodes: 200, Tasks: 20, Tree: workload.Tree4x100}
	cluster := w.Build()
	asks := make([]victims.Ask, 64)
	for i := range asks {
		asks[i] = w.Ask(cluster, int64(1+i))
	}
	type worker struct {
		planner  jobs.Planner
		decision victims.Decision
	}
	workers := make([]*worker, runtime.GOMAXPROCS(0))
	for i := range workers {
		x := &worker{planner: jobs.Planner{Cluster: cluster}}
		for j := range asks {
			require.NoError(b, x.planner.Decide(&x.decision, &asks[j], workload.Now))
		}
		workers[i] = x
	}
	var begun atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		x := workers[int(begun.Add(1)-1)%len(workers)]
		for i := 0; pb.Next(); i = (i + 1) % len(asks) {
			if err := x.planner.Decide(&x.decision, &asks[i], workload.Now); err != nil {
				b.Error(fmt.Errorf("ask %d: %w", i, err))
				return
			}
		}
	})
	require.Equal(b, int64(len(workers)), begun.Load())
}
