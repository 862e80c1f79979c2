package victims_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/workload"
	"github.com/go-preempt/preempt/victims"
)

// BenchmarkPlannersTogether decides with one planner per processor over one
// unchanged cluster. The times of one and of two processors, on a machine that
// does nothing else, tell what planners cost each other:
//
//	go test ./victims -run '^$' -bench PlannersTogether -cpu 1,2
func BenchmarkPlannersTogether(b *testing.B) {
	w := workload.W{Nodes: 200, Tasks: 20, Tree: workload.Tree4x100}
	cluster := w.Build()
	var planners atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		p := &victims.Planner{Cluster: cluster}
		var d victims.Decision
		for k := planners.Add(1); pb.Next(); k++ {
			ask := w.Ask(cluster, k%64)
			if err := p.Decide(&d, &ask, workload.Now); err != nil {
				b.Error(err)
				return
			}
		}
	})
	require.Positive(b, planners.Load())
}
