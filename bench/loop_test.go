package bench

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/workload"
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
		require.NoError(t, c.Apply(&d.Plan))
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
