package bench

import (
	"fmt"
	"testing"

	"github.com/go-preempt/preempt/internal/workload"
	"github.com/go-preempt/preempt/victims"
)

func BenchmarkDecide(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		w := workload.W{Nodes: nodes, Tasks: 30, Tree: workload.Tree4x100}
		for _, k := range []int64{1, 4, 10} {
			b.Run(fmt.Sprintf("nodes=%d/tasks=%d/tree=4x100/k=%d", nodes, w.Tasks, k), func(b *testing.B) {
				c := w.Build()
				ask := w.Ask(c, k)
				p := victims.Planner{Cluster: c}
				var d victims.Decision
				b.ReportAllocs()
				for b.Loop() {
					if err := p.Decide(&d, &ask, workload.Now); err != nil {
						b.Fatal(err)
					}
				}
				if d.Outcome != victims.Preempts || !d.Plan.Proven {
					b.Fatalf("outcome %v, proven %v", d.Outcome, d.Plan.Proven)
				}
				b.ReportMetric(float64(len(d.Plan.Victims)), "victims")
				b.ReportMetric(float64(d.Plan.Steps), "steps")
			})
		}
	}
}
