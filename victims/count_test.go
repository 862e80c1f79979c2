// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// A refusal counts when it is asked to, once, and not after the cluster has changed.
func TestCount(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 2)
	f.task("v", "a", "n1", 2, func(t *victims.Task) { t.Priority = 9 })
	p := &jobs.Planner{Cluster: f.c}
	var d, late victims.Decision
	require.NoError(t, p.Decide(&d, f.ask("x", "b", 2), now))
	require.NoError(t, p.Decide(&late, f.ask("y", "b", 1), now))
	require.Empty(t, d.Refusal.Counts)
	require.Zero(t, d.Refusal.Closest)

	require.NoError(t, d.Count())
	counts := []victims.Count{{Rule: "priority", Tasks: 1}}
	require.Equal(t, counts, d.Refusal.Counts)
	require.NotZero(t, d.Refusal.Closest)

	f.task("w", "a", "n1", 1)
	require.NoError(t, d.Count(), "it has counted")
	require.Equal(t, counts, d.Refusal.Counts)
	require.Contains(t, d.String(), "1 too high in effective priority (priority)")
	require.ErrorIs(t, late.Count(), victims.ErrStale)
	require.Empty(t, late.Refusal.Counts)
	require.Contains(t, late.String(), "what keeps whom is not counted\n")
	require.Contains(t, late.String(), `y (root.b, slots=1) is refused (no-victims)`)

	var plan, none victims.Decision
	require.NoError(t, none.Count())
	f.node("n2", 2)
	require.NoError(t, p.Decide(&plan, f.ask("x", "b", 2), now))
	require.NoError(t, plan.Count())
	require.Equal(t, victims.Fits, plan.Outcome)
}
