// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// Whoever would not stop is let alone until its time, as if it were exempt until then; and longer if its queue lets it
// run for some time.
func propertyRefused(t *rapid.T) {
	h := newHarness(t, world.JobCases(world.Small.With(everything)).Draw(t, "case"))
	until, now := map[string]time.Time{}, h.c.Options.Now
	for i := range h.c.World.Tasks {
		if task := &h.c.World.Tasks[i]; !task.State.Leaving() && rapid.IntRange(0, 2).Draw(t, "refuses") == 0 {
			until[task.Key] = now.Add(time.Duration(rapid.IntRange(-1, 3).Draw(t, "minutes")) * time.Minute)
		}
	}
	h.c.Options.Exempt = until
	h.decide("exempt")
	stops, outcome, want := h.stops(), h.d.Outcome, h.d.Refusal
	if outcome == victims.Refused {
		require.NoError(t, h.d.Count())
		want = h.d.Refusal
	}
	counts := oracle.LetAlone(want.Counts)
	h.c.Options.Exempt = nil
	for key, at := range until {
		_, err := h.cluster.Spare(key, at)
		require.NoError(t, err)
	}
	retry := want.RetryAt
	h.decide("refused")
	require.Equal(t, outcome, h.d.Outcome, h.c)
	require.Equal(t, stops, h.stops(), h.c)
	if outcome != victims.Refused {
		return
	}
	require.NoError(t, h.d.Count())
	require.Equal(t, want.Reason, h.d.Refusal.Reason, h.c)
	require.Equal(t, counts, oracle.LetAlone(h.d.Refusal.Counts), h.c)
	for _, n := range h.d.Refusal.Counts {
		if n.Rule == "refused" {
			refusedTasks += n.Tasks
		}
	}
	require.True(t, retry.Equal(h.d.Refusal.RetryAt), "%v, want %v\n%v", h.d.Refusal.RetryAt, retry, h.c)
	if !retry.IsZero() {
		refusedRetries++
	}
}

var refusedTasks, refusedRetries int

func TestRefused_AsExempt(t *testing.T) {
	law.CheckUntil(t, func() bool { return refusedTasks > 20 && refusedRetries > 3 }, propertyRefused)
}
