// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// BenchmarkMoves measures decisions in which tasks may move, beside the same without: if
// victims would do, if all are within their guarantees and every hundredth node has room for
// three units of four, and if no node has room for a mover.
func BenchmarkMoves(b *testing.B) {
	for _, test := range []struct {
		name      string
		protected bool
		room      bool
	}{{"victims", false, true}, {"protected", true, true}, {"nowhere", true, false}} {
		w := big
		w.Protected = test.protected
		c := built(w).Clone()
		s := w.Subject(c, 4)
		for n := range c.Nodes() {
			if !test.room || int(n)%100 != 1 {
				continue
			}
			units := int64(0)
			for id := range c.TasksOn(n) {
				if t := c.TaskView(id); units < 2800 {
					units += t.Size[0]
					require.NoError(b, c.SetState(t.Key, victims.Releasing))
				}
			}
		}
		for id := range c.Tasks() {
			if c.State(id) == victims.Releasing {
				require.NoError(b, c.RemoveTask(c.Key(id)))
			}
		}
		var d victims.Decision
		b.Run(test.name+"/without", func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, s.Planner.Decide(&d, &s.Ask, workload.Now))
			}
		})
		p := jobs.Planner{Cluster: c, Options: s.Planner.Options}
		p.Moves = victims.MovesEntitled
		world.LetMove(s.Planner.Cluster, 0, nil)
		b.Run(test.name+"/with", func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, p.Decide(&d, &s.Ask, workload.Now))
			}
			b.ReportMetric(float64(len(d.Plan.Moves)), "moves")
		})
	}
}
