// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/internal/units"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// problemOf poses the choice of victims for an ask on one node of a workload:
// by opted-out, originators, highest priority and number, and within what the
// queues have beyond their guarantees.
func problemOf(c *victims.Cluster, n victims.NodeID, ask *victims.Ask) *units.Problem {
	tree := c.Tree()
	short := resources.Over(nil, ask.Size, resources.Limit{Value: c.Free(nil, n), Defined: 1<<len(ask.Size) - 1})
	p := &units.Problem{
		Needs: []resources.Vector{short}, Wanted: short, Capacity: c.Capacity(),
		Order: cost.Order{Max: 1 << 2, Count: 3},
	}
	bounds := make([]int32, tree.Len()) // by queue; the root has none
	for q := range queue.ID(tree.Len()) {
		if g := tree.Guaranteed(q); g.Defined != 0 {
			bounds[q] = int32(len(p.Bounds))
			p.Bounds = append(p.Bounds, units.Bound{
				Room: resources.Limit{Value: tree.Surplus(nil, q), Defined: g.Defined},
			})
		}
	}
	for id := range c.Tasks() {
		t := c.Task(id)
		if t.Node != n {
			continue
		}
		u := units.Unit{
			Key: t.Key, Size: t.Size, Work: resources.WideOf(int64(workload.Now.Sub(t.Scheduled))), Needs: []int32{0},
			Levels: cost.Levels{0, 0, int64(t.Priority), 1},
		}
		if t.OptedOut {
			u.Levels[0] = 1
		}
		if t.Originator {
			u.Levels[1] = 1
		}
		for q := range tree.Ancestors(t.Queue) {
			if q != queue.Root {
				u.Bounds = append(u.Bounds, bounds[q])
			}
		}
		p.Units = append(p.Units, u)
	}
	return p
}

// BenchmarkNode measures the search on one node: greedy, and exact.
func BenchmarkNode(b *testing.B) {
	mixed := small
	mixed.Mixed = true
	for _, w := range []workload.W{small, mixed} {
		c := built(w)
		for _, k := range []int64{1, 4, 10} {
			ask := w.Ask(c, k)
			p := problemOf(c, 701, &ask)
			for _, search := range []struct {
				name  string
				solve func(*units.Worker, *units.Selection)
			}{
				{"greedy", func(w *units.Worker, s *units.Selection) { w.Least(s, p, 0) }},
				{"exact", func(w *units.Worker, s *units.Selection) { w.Least(s, p, 1<<16) }},
			} {
				b.Run(fmt.Sprintf("search=%s/mixed=%t/tasks=%d/k=%d", search.name, w.Mixed, w.Tasks, k), func(b *testing.B) {
					var worker units.Worker
					var s units.Selection
					b.ReportAllocs()
					for b.Loop() {
						search.solve(&worker, &s)
					}
					if !s.Found {
						b.Fatal("nothing found")
					}
					b.ReportMetric(float64(len(s.Units)), "victims")
					b.ReportMetric(float64(s.Steps), "steps")
				})
			}
		}
	}
}
