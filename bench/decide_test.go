// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/victims"
)

// BenchmarkDecide measures a warm decision: by size of the ask, by kind of
// workload, by number of queues.
func BenchmarkDecide(b *testing.B) {
	for _, w := range []workload.W{small, big} {
		for _, k := range []int64{1, 4, 10} {
			subjectOf(w, k).bench(b)
		}
	}
	for _, w := range small.Kinds()[1:] {
		subjectOf(w, 4).bench(b)
	}
	for _, tree := range [][]int{workload.Tree2x10, workload.Tree4x1000} {
		w := small
		w.Tree = tree
		subjectOf(w, 4).bench(b)
	}
	if *large {
		w := workload.W{Nodes: 50_000, Tasks: 20, Tree: workload.Tree4x100}
		for _, k := range []int64{1, 4, 10} {
			subjectOf(w, k).bench(b)
		}
	}
}

// BenchmarkRefuse measures refusals: where every queue is at its guarantee, and
// where all tasks are of a priority as high as the ask's and must be lower.
func BenchmarkRefuse(b *testing.B) {
	for _, w := range []workload.W{small, big} {
		protected := w
		protected.Protected = true
		s := subjectOf(protected, 4)
		s.name += "/rule=guarantee"
		s.bench(b)

		s = subjectOf(w, 4)
		s.name += "/rule=priority"
		s.Planner.StrictPriority = true
		s.want = victims.Refused
		s.bench(b)
	}
}

// BenchmarkRequired measures decisions for a required node.
func BenchmarkRequired(b *testing.B) {
	for _, w := range []workload.W{small, big} {
		s := subjectOf(w, 4)
		s.Ask.RequiredNode = "n700"
		s.bench(b)
	}
}

// BenchmarkTrace measures the asks of the production trace, if it is there.
func BenchmarkTrace(b *testing.B) {
	trace, err := readTrace()
	if err != nil {
		b.Skip("no trace: ", err)
	}
	benchMoment(b, trace)
}

// BenchmarkTwin measures the asks of the generated twin of the trace.
func BenchmarkTwin(b *testing.B) { benchMoment(b, workload.NewTwin()) }

func benchMoment(b *testing.B, m *workload.Trace) {
	plans := m.Decide() // warm up
	b.ReportAllocs()
	for b.Loop() {
		plans = m.Decide()
	}
	b.ReportMetric(float64(plans), "plans")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(m.Asks)), "ns/ask")
}
