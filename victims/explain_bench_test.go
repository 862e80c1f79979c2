// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// BenchmarkExplain explains a refusal on full nodes, all of whose tasks are too
// high in priority, so that each of them is tried; with a max that is short no
// task is tried on its node alone.
func BenchmarkExplain(b *testing.B) {
	for _, nodes := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("nodes=%d/tasks=10", nodes), func(b *testing.B) {
			benchmarkExplain(b, nodes, nil)
		})
	}
	b.Run("nodes=100/tasks=10/max", func(b *testing.B) {
		benchmarkExplain(b, 100, world.Amounts{"cpu": 1000})
	})
}

func benchmarkExplain(b *testing.B, nodes int, most world.Amounts) {
	w := &world.World{Types: []string{"cpu"}, Root: world.Queue{Name: "root", Max: most, Children: []world.Queue{
		{Name: "a"}, {Name: "b", Guaranteed: world.Amounts{"cpu": 100}},
	}}}
	for n := range nodes {
		node := fmt.Sprintf("n%d", n)
		w.Nodes = append(w.Nodes, world.Node{Name: node, Capacity: world.Amounts{"cpu": 10}})
		for i := range 10 {
			key := fmt.Sprintf("%s-%d", node, i)
			w.Tasks = append(w.Tasks, world.Task{
				Key: key, Application: key, Queue: "root.a", Node: node, Priority: 1, Size: world.Amounts{"cpu": 1},
			})
		}
	}
	c, err := world.Build(w)
	if err != nil {
		b.Fatal(err)
	}
	ask, err := world.AskOf(c, &world.Ask{Key: "x", Queue: "root.b", Size: world.Amounts{"cpu": 2}, PendingSince: now.Add(-time.Hour)})
	if err != nil {
		b.Fatal(err)
	}
	p := &jobs.Planner{Cluster: c}
	var e victims.Explanation
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Explain(&e, &ask, now); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(e.Tasks)), "ns/task")
}
