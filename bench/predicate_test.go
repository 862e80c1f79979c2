// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/victims"
)

// BenchmarkPredicate decides with a predicate that accepts one node in so many: all
// of them, a few, or none. On each load it says how many questions it took.
func BenchmarkPredicate(b *testing.B) {
	for _, every := range []int{1, 100, 1000, 0} {
		b.Run(fmt.Sprintf("load=plain/accepts=%d", every), func(b *testing.B) {
			w := workload.W{Nodes: 5000, Tasks: 30, Tree: workload.Tree4x100}
			predicate(b, w.Subject(w.Build(), 4), every)
		})
		for _, h := range []workload.Hard{{}, {Shapes: 30}, {Levels: 1}, {Shapes: 3, Levels: 2}, {Gangs: 4}} {
			h.Nodes, h.Tasks = 1000, 30
			b.Run(fmt.Sprintf("%s/accepts=%d", h, every), func(b *testing.B) {
				predicate(b, h.Subject(h.Build(), 4), every)
			})
		}
	}
}

func predicate(b *testing.B, s *workload.Subject, every int) {
	questions := 0
	s.Planner.Predicate = func(p *victims.Question) bool {
		questions++
		return every > 0 && int(p.Node-1)%every == every-1
	}
	s.Decide()
	asked := questions
	b.ReportAllocs()
	for b.Loop() {
		s.Decide()
	}
	b.ReportMetric(float64(asked), "questions")
	b.ReportMetric(float64(s.Steps()), "steps")
	b.ReportMetric(float64(s.Decision.Plan.Proof), "proof")
}
