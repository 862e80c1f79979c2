// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"

	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// allRules is a load with all rules on.
func allRules(nodes, tasks int) workload.Hard {
	return workload.Hard{
		Nodes: nodes, Tasks: tasks, Gangs: 4, Budgets: 10, Ports: tasks + 5, Labels: 3,
		OptOuts: 5, Priorities: 5, OwnCosts: true, OwnLeaf: true,
	}
}

// BenchmarkHard makes decisions on loads that are not friendly. What they take
// is bounded by the budget; the metric proof is 2 if a plan is proven to the
// last key, 1 if in its levels, 0 if not.
func BenchmarkHard(b *testing.B) {
	const nodes, tasks = 1000, 30
	for _, h := range []workload.Hard{
		{Nodes: nodes, Tasks: tasks, Shapes: 30}, {Nodes: nodes, Tasks: tasks}, {Nodes: nodes, Tasks: tasks, Types: 16},
		{Nodes: nodes, Tasks: tasks, Levels: 2}, {Nodes: nodes / 10, Tasks: 10 * tasks},
		{Nodes: nodes, Tasks: tasks, Gangs: 4}, {Nodes: nodes, Tasks: tasks, Budgets: 10}, {Nodes: nodes, Tasks: tasks, OwnCosts: true},
		{Nodes: nodes, Tasks: tasks, Ports: tasks + 5}, {Nodes: nodes, Tasks: tasks, Labels: 10}, {Nodes: nodes, Tasks: tasks, OwnLeaf: true},
		allRules(nodes, tasks),
	} {
		b.Run(fmt.Sprintf("%v/k=4", h), func(b *testing.B) {
			s := h.Subject(h.Build(), 4)
			s.Decide()
			b.ReportAllocs()
			for b.Loop() {
				s.Decide()
			}
			b.ReportMetric(float64(len(s.Decision.Plan.Victims)), "victims")
			b.ReportMetric(float64(s.Decision.Plan.Proof), "proof")
		})
	}
}

// BenchmarkDecideAll decides ten asks that share their victims.
func BenchmarkDecideAll(b *testing.B) {
	w := workload.W{Nodes: 1000, Tasks: 30, Tree: workload.Tree4x100}
	c := w.Build()
	p := jobs.Planner{Cluster: c}
	asks := make([]victims.Ask, 10)
	for i := range asks {
		asks[i] = w.Ask(c, 4)
		asks[i].Key = fmt.Sprint("ask", i)
	}
	var all []victims.Decision
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if all, err = p.DecideAll(all, asks, workload.Now); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRooms computes what law 2 lets go in a tree of 131 queues.
func BenchmarkRooms(b *testing.B) {
	w := workload.W{Nodes: 100, Tasks: 30, Tree: workload.Tree4x100}
	c := w.Build()
	ask := w.Ask(c, 4)
	var rooms eligible.Rooms
	b.ReportAllocs()
	for b.Loop() {
		rooms.Reset(c.Tree(), ask.Queue, ask.Size)
	}
}
