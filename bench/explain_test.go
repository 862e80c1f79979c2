// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/victims"
)

// BenchmarkAudit measures the audit of a lawful plan.
func BenchmarkAudit(b *testing.B) {
	for _, w := range []workload.W{small, big} {
		s := subjectOf(w, 4)
		b.Run(s.name, func(b *testing.B) {
			s.decide(b)
			a := victims.Auditor{Cluster: s.Planner.Cluster}
			var found []victims.Violation
			b.ReportAllocs()
			for b.Loop() {
				found = a.Audit(found[:0], &s.Decision, workload.Now)
			}
			if len(found) > 0 {
				b.Fatal(found)
			}
		})
	}
}

// BenchmarkExplain measures explanations. They are for people, and those of a
// refusal decide again for each rule that could be relaxed.
func BenchmarkExplain(b *testing.B) {
	hundred := workload.W{Nodes: 100, Tasks: 30, Tree: workload.Tree4x100}
	refused := hundred
	refused.Protected = true
	for _, w := range []workload.W{hundred, refused, small} {
		s := subjectOf(w, 4)
		b.Run(s.name, func(b *testing.B) {
			s.decide(b)
			var e victims.Explanation
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Planner.Explain(&e, &s.Ask, workload.Now); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(e.Relaxations)), "relaxations")
		})
	}
}
