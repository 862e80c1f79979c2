// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/victims"
)

// BenchmarkLevels decides by levels in other orders than the default.
func BenchmarkLevels(b *testing.B) {
	backwards := victims.DefaultLevels()
	slices.Reverse(backwards)
	for _, levels := range [][]string{
		nil, victims.DefaultLevels(), {"victims", "opted-out", "priority", "work"}, backwards,
	} {
		for _, h := range []workload.Hard{{Shapes: 30}, {}, {Levels: 1}} {
			h.Nodes, h.Tasks = 5000, 30
			name := "default"
			if len(levels) > 0 {
				name = fmt.Sprintf("%v-%v", levels[0], levels[len(levels)-1])
			}
			b.Run(fmt.Sprintf("%v/levels=%s", h, name), func(b *testing.B) {
				s := h.Subject(h.Build(), 4)
				s.Planner.Levels = levels
				s.Decide()
				for b.Loop() {
					s.Decide()
				}
				b.ReportMetric(float64(s.Decision.Plan.Proof), "proof")
				b.ReportMetric(float64(s.Decision.Plan.Cost.Victims), "victims")
			})
		}
	}
}
