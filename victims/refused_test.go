// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// Whoever would not stop is let alone until its time, as if it were exempt until then; and longer if its queue lets it
// run for some time.
func propertyRefused(t *rapid.T) {
	k := world.Cases(world.Small.With(world.Everything)).Draw(t, "case")
	until := map[string]time.Time{}
	for i := range k.World.Tasks {
		if task := &k.World.Tasks[i]; !task.State.Leaving() && rapid.IntRange(0, 2).Draw(t, "refuses") == 0 {
			until[task.Key] = k.Options.Now.Add(time.Duration(rapid.IntRange(-1, 3).Draw(t, "minutes")) * time.Minute)
		}
	}
	k.Options.Exempt = nil
	c := build(t, &k.World)
	p, ask := world.CasePlanner(c, k), askOf(t, c, &k.Ask)
	p.Exempt = func(e *victims.Question) (time.Time, bool) {
		at, ok := until[c.Key(e.Task)]
		return at, ok && at.After(e.Now)
	}
	var want, got victims.Decision
	require.NoError(t, p.Decide(&want, &ask, k.Options.Now))
	require.NoError(t, want.Count())

	p.Exempt = nil
	for key, at := range until {
		asks, err := c.Refuse(key, at)
		require.NoError(t, err)
		require.Empty(t, asks)
	}
	require.NoError(t, p.Decide(&got, &ask, k.Options.Now))
	require.NoError(t, got.Count())
	for _, n := range got.Refusal.Counts {
		if n.Rule == "refused" {
			refusedTasks += n.Tasks
		}
	}
	require.Equal(t, want.Outcome, got.Outcome, k)
	require.Equal(t, keysOf(&want), keysOf(&got), k)
	require.Equal(t, want.Refusal.Reason, got.Refusal.Reason, k)
	require.Equal(t, world.LetAlone(want.Refusal.Counts), world.LetAlone(got.Refusal.Counts), k)
	require.True(t, want.Refusal.RetryAt.Equal(got.Refusal.RetryAt), "%v, want %v\n%v", got.Refusal.RetryAt, want.Refusal.RetryAt, k)
	if !got.Refusal.RetryAt.IsZero() {
		refusedRetries++
	}
	a := victims.Auditor{Cluster: c, Options: p.Options}
	if got.Outcome == victims.Refused {
		return
	}
	require.Empty(t, a.Audit(nil, &got, k.Options.Now))
	for i := range got.Plan.Victims {
		_, err := c.Refuse(got.Plan.Victims[i].Key, k.Options.Now.Add(time.Second))
		require.NoError(t, err)
		got.Plan.Version = c.Version()
		laws := map[string]bool{}
		for _, v := range a.Audit(nil, &got, k.Options.Now) {
			laws[v.Law] = true
		}
		require.True(t, laws["refused"])
	}
}

var refusedTasks, refusedRetries int

func TestRefused_AsExempt(t *testing.T) {
	law.CheckUntil(t, func() bool { return refusedTasks > 20 && refusedRetries > 3 }, propertyRefused)
}
