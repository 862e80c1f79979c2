// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
)

// A refusal counts when it is asked to, and not after the cluster has changed.
func TestCount(t *testing.T) {
	w := build(t, "queue q g=9\nqueue low\nnode n1 4\ntask v low n1 3\njob q 4,4")
	var d, late victims.Decision
	p := w.planner()
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.NoError(t, p.Decide(&late, &w.job, noon))
	require.Equal(t, "no-victims", d.Refusal.Reason)
	require.Empty(t, d.Refusal.Candidates)
	require.NoError(t, d.Count())
	require.Equal(t, []int{1, 1, 2}, []int{d.Refusal.Candidates, d.Refusal.Placeable, d.Refusal.Wanted})

	require.NoError(t, w.cluster.RemoveTask("v"))
	require.NoError(t, d.Count())
	require.ErrorIs(t, late.Count(), victims.ErrStale)
	require.Contains(t, late.String(), "what keeps whom is not counted\n")
	require.Zero(t, late.Refusal.Placeable)
}
