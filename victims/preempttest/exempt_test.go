// SPDX-License-Identifier: Apache-2.0

package preempttest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/toleration"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/preempttest"
)

type exemption = func(*victims.Question) (time.Time, bool)

func TestExemptions(t *testing.T) {
	c, list := cluster(t), asks()
	got := preempttest.Exemptions(c, list, now)
	require.Len(t, got, 8, "four running tasks, two asks")
	for i, task := range map[int]victims.TaskID{0: 0, 7: 3} {
		want := lent.To(new(victims.Options)).Question(c, &list[i/4], now)
		want.Task = task
		require.Equal(t, want, got[i])
	}
}

// scheduled returns when the task was.
func scheduled(e *victims.Question) time.Time { return e.Cluster.Task(e.Task).Scheduled }

func TestTestExempt_Sound(t *testing.T) {
	policy := func(p toleration.Policy) exemption {
		return func(e *victims.Question) (time.Time, bool) { return p.Until(scheduled(e), e.Ask.Priority) }
	}
	for name, f := range map[string]exemption{
		"nobody":                 func(*victims.Question) (time.Time, bool) { return time.Time{}, false },
		"everybody":              func(*victims.Question) (time.Time, bool) { return time.Time{}, true },
		"a toleration":           policy(toleration.Policy{MinimumPreemptablePriority: 50, Seconds: 90}),
		"a toleration for ever":  policy(toleration.Policy{MinimumPreemptablePriority: 50, Seconds: -1}),
		"one that is of the ask": policy(toleration.Policy{MinimumPreemptablePriority: 200, Seconds: 1}),
		"in another zone": func(e *victims.Question) (time.Time, bool) {
			zone := time.FixedZone("", e.Now.Second()*60)
			return now.Add(time.Hour).In(zone), true
		},
		"that looks at the time": func(e *victims.Question) (time.Time, bool) {
			until := scheduled(e).Add(150 * time.Second)
			return until, until.After(e.Now)
		},
	} {
		require.NoError(t, preempttest.TestExempt(f, preempttest.Exemptions(cluster(t), asks(), now)), name)
		require.NoError(t, preempttest.TestExempt(f, nil), name)
	}
}

func TestTestExempt_Broken(t *testing.T) {
	calls := 0
	for _, test := range []struct {
		name string
		f    exemption
		want error
		said string
	}{
		{"in the second hour", func(e *victims.Question) (time.Time, bool) {
			until := now.Add(2 * time.Hour)
			return until, !e.Now.Before(now.Add(time.Hour)) && e.Now.Before(until)
		}, preempttest.ErrAgain, "not exempt, and at 2026-01-01 01:00:00 +0000 UTC exempt until 2026-01-01 02:00:00 +0000 UTC"},
		{"a minute from now on, always", func(e *victims.Question) (time.Time, bool) {
			return e.Now.Add(time.Minute), true
		}, preempttest.ErrEnd, "exempt until 2026-01-01 00:01:00 +0000 UTC, and at 2026-01-01 00:00:00.000000001 +0000 UTC exempt until"},
		{"that ends early", func(e *victims.Question) (time.Time, bool) {
			return now.Add(time.Hour), e.Now.Before(now.Add(time.Minute))
		}, preempttest.ErrEnd, "exempt until 2026-01-01 01:00:00 +0000 UTC, and at 2026-01-01 00:01:00 +0000 UTC not exempt"},
		{"that includes its end", func(e *victims.Question) (time.Time, bool) {
			until := now.Add(77 * time.Second)
			if e.Now.Equal(until) {
				return until.Add(1), true
			}
			return until, true
		}, preempttest.ErrEnd, "00:01:17 +0000 UTC exempt until"},
		{"for ever, and then not", func(e *victims.Question) (time.Time, bool) {
			return time.Time{}, e.Now.Before(now.Add(time.Hour))
		}, preempttest.ErrEnd, "exempt for ever, and at 2026-01-01 01:00:00 +0000 UTC not exempt"},
		{"counts its calls", func(*victims.Question) (time.Time, bool) {
			calls++
			return time.Time{}, calls < 20
		}, preempttest.ErrUnsteady, "exempt for ever, and then not exempt"},
		{"writes to the ask", func(e *victims.Question) (time.Time, bool) {
			e.Ask.Size[0]++
			return time.Time{}, false
		}, preempttest.ErrWrites, "2026-01-01"},
		{"changes the cluster", func(e *victims.Question) (time.Time, bool) {
			return time.Time{}, e.Cluster.SetState("t3", victims.Releasing) == nil
		}, preempttest.ErrWrites, "2026-01-01"},
	} {
		err := preempttest.TestExempt(test.f, preempttest.Exemptions(cluster(t), asks(), now))
		require.ErrorIs(t, err, test.want, test.name)
		require.ErrorContains(t, err, `preempttest: exempt: `, test.name)
		require.ErrorContains(t, err, `task "t0" and ask "x" at 2026-01-01 `, test.name)
		require.ErrorContains(t, err, test.said, test.name)
	}
}
