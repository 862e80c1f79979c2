// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// changes are pairs of changes that leave a cluster as it was, but for rows.
var changes = []struct {
	name string
	do   func(*victims.Cluster, *victims.Task) error
}{
	{"remove+add", func(c *victims.Cluster, t *victims.Task) error {
		if err := c.RemoveTask(t.Key); err != nil {
			return err
		}
		_, err := c.AddTask(t)
		return err
	}},
	{"mark+unmark", func(c *victims.Cluster, t *victims.Task) error {
		if err := c.SetState(t.Key, victims.Releasing); err != nil {
			return err
		}
		return c.SetState(t.Key, victims.Running)
	}},
	{"resize+resize", func(c *victims.Cluster, t *victims.Task) error {
		if err := c.Resize(t.Key, resources.Vector{1, 1, 1, 1}); err != nil {
			return err
		}
		return c.Resize(t.Key, t.Size)
	}},
}

// BenchmarkChange measures two changes of a task at once, another task each
// time.
func BenchmarkChange(b *testing.B) {
	for _, w := range []workload.W{small, big} {
		tasks := w.Input().Tasks
		for _, change := range changes {
			b.Run(fmt.Sprintf("op=%s/%v", change.name, w), func(b *testing.B) {
				c := built(w)
				at := 0
				b.ReportAllocs()
				for b.Loop() {
					if err := change.do(c, &tasks[at]); err != nil {
						b.Fatal(err)
					}
					at = (at + workload.Stride) % len(tasks)
				}
			})
		}
	}
}

// BenchmarkApply measures a plan applied and undone.
func BenchmarkApply(b *testing.B) {
	for _, k := range []int64{1, 10} {
		s := subjectOf(small, k)
		b.Run("op=apply+undo/"+s.name, func(b *testing.B) {
			s.decide(b)
			c := s.Planner.Cluster
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Apply(&s.Decision); err != nil {
					b.Fatal(err)
				}
				if err := c.Undo(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(s.Decision.Plan.Victims)), "victims")
		})
	}
}

// BenchmarkChurn measures rounds of a cluster at work: a hundred tasks end and
// begin, ten are marked and unmarked, and an ask takes its place and ends.
func BenchmarkChurn(b *testing.B) {
	for _, w := range []workload.W{small, big} {
		b.Run(fmt.Sprintf("changes=%d/%v/k=4", workload.Changes, w), func(b *testing.B) {
			x := workload.NewChurn(w.Subject(built(w).Clone(), 4))
			b.ReportAllocs()
			for b.Loop() {
				if err := x.Round(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBuild measures a cluster built from nothing.
func BenchmarkBuild(b *testing.B) {
	for _, w := range []workload.W{small, big} {
		b.Run(w.String(), func(b *testing.B) {
			in := w.Input()
			b.ReportAllocs()
			for b.Loop() {
				if in.Build().TaskLen() != len(in.Tasks) {
					b.Fatal("tasks are missing")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(in.Tasks)), "ns/task")
		})
	}
}
