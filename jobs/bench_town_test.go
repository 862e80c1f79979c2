// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"testing"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// towns are random cases of a shape, the same ones every time.
func towns(shape world.Shape, n int) (cases []*world.JobCase) {
	draw := world.JobCases(shape.With(everything))
	for seed := range n {
		cases = append(cases, draw.Example(seed))
	}
	return cases
}

// BenchmarkTowns decides random cases with all that jobs know, of sizes around those
// at which one engine takes over from another, and full clusters of some nodes. What
// it reports does not depend on the machine: elementary steps, plans, victims, and
// how many answers are proven. Constants of the searches say what half and twice
// their values come to here.
func BenchmarkTowns(b *testing.B) {
	for _, test := range []struct {
		name  string
		shape world.Shape
		n     int
	}{{"crowded", world.Crowded, 600}, {"large", world.Large, 600}} {
		b.Run(test.name, func(b *testing.B) {
			var all []*harness
			for i, c := range towns(test.shape, test.n) {
				h := newHarness(b, c)
				if i%2 == 1 { // no two members on one node
					c.Apart, h.planner.Predicate = true, h.accepts
				}
				all = append(all, h)
			}
			for b.Loop() {
				var sum tally
				for _, h := range all {
					h.decide(test.name)
					sum.add(&h.d)
				}
				sum.report(b)
			}
		})
	}
	for _, nodes := range []int{8, 16, 32, 64} {
		b.Run(fmt.Sprintf("full/nodes=%d", nodes), func(b *testing.B) {
			c := fullCluster(b, nodes, 6)
			world.SetEveryMinimum(c, func(string) int { return 3 })
			p := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: c}
			var d victims.Decision
			for b.Loop() {
				var sum tally
				for members := 1; members <= 12; members++ {
					for sizes := 1; sizes <= 3; sizes++ {
						job := gang(c, members, func(i int) resources.Vector { return resources.Vector{5000 + 500*int64(i%sizes), 8 << 30} })
						if err := p.Decide(&d, job, benchNow); err != nil {
							b.Fatal(err)
						}
						sum.add(&d)
					}
				}
				sum.report(b)
			}
		})
	}
}

// A tally adds decisions up.
type tally struct{ steps, plans, victims, proven, levels float64 }

func (s *tally) add(d *victims.Decision) {
	if d.Outcome == victims.Refused {
		s.steps += float64(d.Plan.Steps)
		if d.Refusal.Proven {
			s.proven++
		}
		return
	}
	s.steps += float64(d.Plan.Steps)
	if d.Outcome != victims.Preempts {
		return
	}
	s.plans++
	s.victims += float64(len(d.Plan.Victims))
	switch d.Plan.Proof {
	case victims.ProofCost:
		s.proven++
	case victims.ProofLevels:
		s.levels++
	}
}

func (s *tally) report(b *testing.B) {
	b.ReportMetric(s.steps, "steps")
	b.ReportMetric(s.plans, "plans")
	b.ReportMetric(s.victims, "victims")
	b.ReportMetric(s.proven, "proven")
	b.ReportMetric(s.levels, "levels")
}
