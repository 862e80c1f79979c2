// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/victims"
)

// TestLoop decides one ask of a queue after another. The victims of each go, and it
// runs. The more of the queue runs the more nodes have tasks that the next ask cannot
// take, and their decisions take no more steps than the first.
func TestLoop(t *testing.T) {
	const asks, edge = 200, 20
	w := workload.W{Nodes: 1000, Tasks: 30, Tree: workload.Tree2x10}
	c := w.Build()
	s := w.Subject(c, 4)
	var steps [asks]int64
	for i := range asks {
		s.Ask.Key = fmt.Sprint("ask-", i)
		s.Decide()
		d := &s.Decision
		require.Equal(t, victims.Preempts, d.Outcome)
		require.GreaterOrEqual(t, d.Plan.Proof, victims.ProofLevels)
		steps[i] = d.Plan.Steps
		require.NoError(t, c.Apply(d))
		for _, v := range d.Plan.Victims {
			require.NoError(t, c.RemoveTask(v.Key))
		}
		require.NoError(t, c.Start(s.Ask.Key, workload.Now))
	}
	var first, last int64
	for i := range edge {
		first, last = first+steps[i], last+steps[asks-1-i]
	}
	require.Less(t, last, 3*first, "%d and %d steps", first, last)
}

// TestLoopFresh decides asks of two applications in turn, and now and then over a copy, by a
// planner that has decided all before and by one that has decided nothing: what is kept
// from one decision to the next changes neither plans nor what a search spends.
func TestLoopFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("it decides hundreds of asks in large clusters")
	}
	const asks = 120
	w := workload.W{Nodes: 400, Tasks: 30, Tree: workload.Tree2x10}
	h := workload.Hard{Nodes: 400, Tasks: 30, Shapes: 30}
	for name, load := range map[string]struct {
		c       *victims.Cluster
		subject func(c *victims.Cluster) *workload.Subject
	}{
		"plain": {w.Build(), func(c *victims.Cluster) *workload.Subject { return w.Subject(c, 4) }},
		"hard":  {h.Build(), func(c *victims.Cluster) *workload.Subject { return h.Subject(c, 4) }},
	} {
		t.Run(name, func(t *testing.T) {
			c, other := load.c, victims.Cluster{}
			s := load.subject(c)
			for i := range asks {
				if i%40 == 39 { // the same planner, another cluster, whose digests are copied
					other.CopyFrom(c)
					c, s.Planner.Cluster = &other, &other
				}
				fresh := load.subject(c)
				for _, subject := range []*workload.Subject{s, fresh} {
					subject.Ask.Key, subject.Ask.Application = fmt.Sprint("ask-", i), "asking"
					if i%10 > 6 {
						for id := range c.TasksOn(victims.NodeID(1 + i)) { // some task that is there still
							subject.Ask.Application = c.Task(id).Application
							break
						}
					}
					subject.Decide()
				}
				d := &s.Decision
				require.Equal(t, victims.Preempts, d.Outcome)
				require.Equal(t, fresh.Decision.Plan, d.Plan)
				require.NoError(t, c.Apply(d))
				for _, v := range d.Plan.Victims {
					require.NoError(t, c.RemoveTask(v.Key))
				}
				require.NoError(t, c.Start(s.Ask.Key, workload.Now))
			}
		})
	}
}
