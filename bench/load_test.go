// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"flag"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/victims"
)

var large = flag.Bool("bench-large", false, "run the benchmarks that need a cluster of a million tasks")

// The workloads of most benchmarks.
var (
	small = workload.W{Nodes: 1000, Tasks: 30, Tree: workload.Tree4x100}
	big   = workload.W{Nodes: 5000, Tasks: 30, Tree: workload.Tree4x100}
)

// clusters has the clusters that were built, by workload.
var clusters sync.Map

// built returns the cluster of a workload, which is built once. Benchmarks must
// leave it as they found it.
func built(w workload.W) *victims.Cluster {
	key := fmt.Sprintf("%#v", w)
	c, ok := clusters.Load(key)
	if !ok {
		c, _ = clusters.LoadOrStore(key, w.Build())
	}
	return c.(*victims.Cluster)
}

// readTrace reads the production trace once, or fails where it is not there.
var readTrace = sync.OnceValues(func() (*workload.Trace, error) {
	return workload.ReadTrace(filepath.Join("..", "..", "shared", "traces"))
})

// A subject is a decision to be made again and again, with a name and what
// should come of it.
type subject struct {
	*workload.Subject
	name string
	want victims.Outcome
}

// subjectOf returns the decision for k units on a workload.
func subjectOf(w workload.W, k int64) *subject {
	s := &subject{w.Subject(built(w), k), fmt.Sprintf("%v/k=%d", w, k), victims.Preempts}
	if w.Protected {
		s.want = victims.Refused
	}
	return s
}

// decide decides, and checks that the decision is the expected one and that nobody
// stops fewer or less important tasks.
func (s *subject) decide(tb testing.TB) {
	s.Decide()
	shown := s.Proven() || s.Decision.Plan.Proof == victims.ProofLevels
	if got := s.Decision.Outcome; got != s.want || !shown {
		tb.Helper()
		tb.Fatalf("%s: %v, proven %t, want %v", s.name, got, shown, s.want)
	}
}

// bench measures warm decisions under the name of the subject.
func (s *subject) bench(b *testing.B) {
	b.Run(s.name, func(b *testing.B) {
		s.decide(b)
		b.ReportAllocs()
		for b.Loop() {
			s.Decide()
		}
		b.ReportMetric(float64(len(s.Decision.Plan.Victims)), "victims")
		b.ReportMetric(float64(s.Steps()), "steps")
	})
}
