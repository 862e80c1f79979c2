// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// Planners that have decided before go by the tree that a cluster was given since, though it shows it
// as the same one, and that may have more queues.
func TestMinRuntime_OfAnotherTree(t *testing.T) {
	config := func(least time.Duration, more ...queue.Config) queue.Config {
		return queue.Config{Children: append(more, queue.Config{Name: "a", Policies: queue.Policies{MinRuntime: &least}}, queue.Config{Name: "b", Guaranteed: slots(100)})}
	}
	f := newFixture(t, config(time.Minute))
	f.node("n1", 4)
	f.task("v", "a", "n1", 4, func(t *victims.Task) { t.Scheduled = now.Add(-2 * time.Minute) })
	lone, gangs := jobs.Planner{Cluster: f.c}, jobs.Planner{Cluster: f.c}
	decide := func() (all []string) {
		ask, gang := f.ask("x", "b", 4), *f.ask("y", "b", 4)
		gang.Members = []victims.Member{{Key: "m"}}
		var d victims.Decision
		require.NoError(t, lone.Decide(&d, ask, now))
		all = append(all, d.Outcome.String())
		require.NoError(t, gangs.Decide(&d, &gang, now))
		return append(all, d.Outcome.String())
	}
	require.Equal(t, []string{"plan", "plan"}, decide())
	more := []queue.Config{{Name: "c"}, {Name: "d"}}
	for _, least := range []time.Duration{time.Hour, time.Second} {
		other := newFixture(t, config(least, more...))
		require.NoError(t, f.c.SetTree(other.c.Tree().Clone()))
		want := map[bool]string{true: "refused", false: "plan"}[least == time.Hour]
		require.Equal(t, []string{want, want}, decide())
	}
}

// A task is no victim until it has run for as long as the nearest queue says: to the nanosecond, for
// asks that need their node too, and to auditors. The end is told, and then it goes.
func TestMinRuntime(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "a", Policies: queue.Policies{MinRuntime: new(10 * time.Minute)}, Children: []queue.Config{
			{Name: "long"}, {Name: "none", Policies: queue.Policies{MinRuntime: new(time.Duration)}},
		}},
		{Name: "b", Guaranteed: slots(100)},
	}})
	f.node("n1", 4)
	f.task("v", "a.long", "n1", 4, func(t *victims.Task) { t.Scheduled = now.Add(-6 * time.Minute) })
	p, ask := &jobs.Planner{Cluster: f.c, Options: victims.Options{Audit: true}}, f.ask("x", "b", 4)
	decide := func(at time.Time) *victims.Decision {
		var d victims.Decision
		require.NoError(t, p.Decide(&d, ask, at))
		require.NoError(t, d.Count())
		return &d
	}
	end := now.Add(4 * time.Minute)
	for _, node := range []string{"", "n1"} {
		ask.RequiredNode = node
		d := decide(end.Add(-1))
		require.Equal(t, "no-victims", d.Refusal.Reason)
		require.Equal(t, []victims.Count{{Rule: "exempt", Tasks: 1}}, d.Refusal.Counts)
		require.True(t, end.Equal(d.Refusal.RetryAt), "RetryAt %v", d.Refusal.RetryAt)
		require.True(t, d.Refusal.Help.Policies, "the queue may say less")
		require.True(t, d.Refusal.Help.MayHaveChanged(f.c, end))
		require.False(t, d.Refusal.Help.MayHaveChanged(f.c, end.Add(-1)))

		d = decide(end)
		require.Equal(t, []string{"v"}, keysOf(d))
		found := (&victims.Auditor{Cluster: f.c}).Audit(nil, d, end.Add(-1))
		require.NotEmpty(t, found)
		require.Equal(t, finding.LawExempt, found[0].Law)
	}

	ask.RequiredNode = ""
	p.Exempt = func(*victims.Question) (time.Time, bool) { return end.Add(time.Minute), true }
	require.True(t, end.Add(time.Minute).Equal(decide(now).Refusal.RetryAt), "the later end counts")
	p.Exempt = func(*victims.Question) (time.Time, bool) { return now.Add(time.Second), true }
	require.True(t, end.Equal(decide(now).Refusal.RetryAt))
	p.Exempt = func(*victims.Question) (time.Time, bool) { return time.Time{}, true }
	require.True(t, decide(end).Refusal.RetryAt.IsZero(), "for ever")
	p.Exempt = nil

	never := f.c.Task(mustLookup(f, "v"))
	never.Scheduled = time.Time{}
	_, err := f.c.SetTask(&never)
	require.NoError(t, err)
	require.Equal(t, []string{"v"}, keysOf(decide(now)), "nominated only")
	never.Scheduled, never.Queue = now, f.queue("a.none")
	_, err = f.c.SetTask(&never)
	require.NoError(t, err)
	require.Equal(t, []string{"v"}, keysOf(decide(now)), "a queue below takes it back")
}

func mustLookup(f *fixture, key string) victims.TaskID {
	id, ok := f.c.Lookup(key)
	require.True(f.t, ok)
	return id
}
