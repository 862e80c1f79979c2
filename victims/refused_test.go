// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
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
		asks, err := c.Spare(key, at)
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
	require.Equal(t, oracle.LetAlone(want.Refusal.Counts), oracle.LetAlone(got.Refusal.Counts), k)
	require.True(t, want.Refusal.RetryAt.Equal(got.Refusal.RetryAt), "%v, want %v\n%v", got.Refusal.RetryAt, want.Refusal.RetryAt, k)
	if !got.Refusal.RetryAt.IsZero() {
		refusedRetries++
	}
	// Its time may pass unnoticed: until then it counts as one who may go once there is more.
	for q := range queue.ID(c.Tree().Len()) {
		require.Equal(t, want.Refusal.Help.IfMore(c, q), got.Refusal.Help.IfMore(c, q), k)
	}
	for name := range k.World.Budgets {
		require.Equal(t, want.Refusal.Help.IfBudget(name), got.Refusal.Help.IfBudget(name), k)
	}
	a := victims.Auditor{Cluster: c, Options: p.Options}
	if got.Outcome == victims.Refused {
		return
	}
	require.Empty(t, a.Audit(nil, &got, k.Options.Now))
	for i := range got.Plan.Victims {
		_, err := c.Spare(got.Plan.Victims[i].Key, k.Options.Now.Add(time.Second))
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

// Whoever would not stop may go later, and may need more usage of its queue by then: such more is told to help,
// though at the time of the refusal it would not.
func TestRefused_MoreMayHelpLater(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{{Name: "a", Guaranteed: slots(4)}, {Name: "b", Guaranteed: slots(100)}}})
	f.node("n1", 4)
	f.task("v", "a", "n1", 4)
	_, err := f.c.AddNode(&victims.Node{Name: "n2", Unschedulable: true, Capacity: resources.Vector{4}})
	require.NoError(t, err)
	_, err = f.c.Spare("v", now.Add(time.Minute))
	require.NoError(t, err)
	p, ask := &jobs.Planner{}, f.ask("x", "b", 4)
	d := f.decide(p, ask)
	require.Equal(t, []victims.Count{{Rule: "refused", Tasks: 1}}, d.Refusal.Counts)
	require.True(t, d.Refusal.RetryAt.IsZero(), "law 2 keeps it then")

	require.True(t, d.Refusal.Help.IfMore(f.c, f.queue("a")))
	f.task("w", "a", "n2", 4)
	require.True(t, d.Refusal.Help.MayHaveChanged(f.c, now.Add(time.Minute)))
	var then victims.Decision
	require.NoError(t, (&jobs.Planner{Cluster: f.c}).Decide(&then, ask, now.Add(time.Minute)))
	require.Equal(t, []string{"v"}, keysOf(&then))
}

// A gang with members on other nodes hides nothing of who is counted after it.
func TestRefusal_CountsAfterGang(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	f.node("n2", 4)
	ofGang := func(t *victims.Task) { t.Job = "g" }
	f.task("g-2", "a", "n2", 2, ofGang)
	f.task("h-2", "a", "n2", 1, high)
	f.task("g-1", "a", "n1", 0, ofGang)
	f.task("empty", "a", "n1", 0)
	f.task("h-1", "a", "n1", 1, high)
	require.NoError(t, f.c.SetMinMembers("g", 1))
	p := jobs.Planner{}
	p.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
		for id := range f.c.TasksOn(q.Node) {
			if f.c.Task(id).Job == "" {
				dst = append(dst, id)
			}
		}
		return dst
	}
	d := f.decide(&p, f.ask("x", "b", 3))
	require.Equal(t, victims.Refused, d.Outcome)
	require.Equal(t, []victims.Count{{Rule: "priority", Tasks: 2}}, d.Refusal.Counts)
	require.Equal(t, 3, d.Refusal.Candidates)
}
