// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// In a tenant that alone has a guarantee, with a fenced team of three leaves and a leaf
// beside it, the own branch gives lower tasks: no equal, none beyond the fence of the ask,
// none of a disabled queue.
func TestOwnBranch_Rules(t *testing.T) {
	for _, test := range []struct {
		priority int32 // of the task in team.y
		victims  []string
		counts   []victims.Count
	}{
		{4, []string{"y"}, nil},
		{5, nil, []victims.Count{{Rule: "fence", Tasks: 1}, {Rule: "disabled", Tasks: 1}, {Rule: "priority", Tasks: 1}}},
	} {
		f := newFixture(t, queue.Config{Children: []queue.Config{{Name: "t", Guaranteed: slots(8), Children: []queue.Config{
			{Name: "team", Properties: map[string]string{"preemption.policy": "fence"}, Children: []queue.Config{
				{Name: "x"}, {Name: "y"}, {Name: "off", Properties: map[string]string{"preemption.policy": "disabled"}},
			}},
			{Name: "z"},
		}}}})
		f.node("n1", 6)
		f.task("y", "t.team.y", "n1", 2, func(task *victims.Task) { task.Priority = test.priority })
		f.task("off", "t.team.off", "n1", 2)
		f.task("z", "t.z", "n1", 2)
		ask := f.ask("x", "t.team.x", 2)
		ask.Priority = 5
		p := jobs.Planner{Options: victims.Options{WithinQueue: queue.Met, Audit: true}}
		require.Equal(t, "nothing-in-reach", f.decide(&p, ask).Refusal.Reason)
		p.WithinQueue = queue.Branch
		d := f.decide(&p, ask)
		require.Equal(t, test.victims, keysOf(d))
		require.Equal(t, test.victims != nil, d.Plan.WithinQueue)
		if test.victims == nil {
			require.Equal(t, "no-victims", d.Refusal.Reason)
			require.True(t, lent.To(&d.Refusal).OwnLeaf)
			require.Equal(t, test.counts, d.Refusal.Counts)
		}
	}
}
