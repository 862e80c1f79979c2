// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// taskLines writes findings as "t1 priority".
func (f *fixture) taskLines(e *victims.Explanation) (lines []string) {
	for _, t := range e.Tasks {
		word := "candidate"
		switch {
		case t.Victim:
			word = "victim"
		case t.Rule != "":
			word = t.Rule
		}
		lines = append(lines, t.Key+" "+word)
	}
	return lines
}

// everyRule is a cluster with a task for every rule: it is kept by that, and
// most also by rules that come later.
func everyRule(t *testing.T) (*fixture, *jobs.Planner, *victims.Ask) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "out"},
		{Name: "in", Properties: policy("fence"), Children: []queue.Config{
			{Name: "off", Properties: policy("disabled")},
			{Name: "open"},
			{Name: "poor", Guaranteed: slots(5)},
			{Name: "hungry", Guaranteed: slots(100), Children: []queue.Config{{Name: "asking"}, {Name: "sibling"}}},
		}},
	}})
	f.node("n1", 40)
	f.node("n2", 1)
	require.NoError(t, f.c.UpdateNode(&victims.Node{Name: "n2", Capacity: resources.Vector{1}, Unschedulable: true}))
	with := func(do ...func(*victims.Task)) func(*victims.Task) {
		return func(t *victims.Task) {
			for _, change := range do {
				change(t)
			}
		}
	}
	bound := func(t *victims.Task) { t.RequiredNode = true }
	same := func(t *victims.Task) { t.Application = "app-x" }
	f.task("a-leaving", "out", "n1", 1, with(leaving, bound, same, high))
	f.task("b-bound", "out", "n1", 1, with(bound, same, high))
	f.task("c-same", "out", "n1", 1, with(same, high))
	f.task("d-outside", "out", "n1", 1, high)
	f.task("e-own", "in.hungry.asking", "n1", 1, high)
	f.task("f-disabled", "in.off", "n1", 1, high)
	f.task("g-inside", "in.hungry.sibling", "n1", 1, high)
	f.task("h-high", "in.open", "n1", 1, high)
	f.task("i-exempt", "in.open", "n1", 0)
	f.task("j-empty", "in.open", "n1", 0)
	f.task("k-elsewhere", "in.poor", "n2", 1)
	f.task("l-guaranteed", "in.poor", "n1", 4)
	f.task("m-candidate", "in.open", "n1", 26)

	p := &jobs.Planner{Options: victims.Options{Exempt: f.exemptions(map[string]int{"i-exempt": 5})}}
	return f, p, f.ask("x", "in.hungry.asking", 40)
}

// A task is kept by the first rule that keeps it.
func TestExplain_Tasks(t *testing.T) {
	f, p, ask := everyRule(t)
	e := f.explain(p, ask)
	require.Equal(t, "no-victims", e.Decision.Refusal.Reason)
	require.Equal(t, []string{
		"a-leaving leaving",
		"b-bound required-node",
		"c-same same-application",
		"d-outside fence",
		"e-own fence",
		"f-disabled disabled",
		"g-inside inside",
		"h-high priority",
		"i-exempt exempt",
		"j-empty not-helping",
		"k-elsewhere not-helping",
		"l-guaranteed guarantee",
		"m-candidate candidate",
	}, f.taskLines(e))
	require.Equal(t, []string{"n1 lacks short 37 lacks 11", "n2 unschedulable short 40 lacks 40"}, f.nodeLines(e))

	type row struct {
		path, said        string
		starving          bool
		rule              string
		room              int64 // -1 where there is no guarantee
		tasks, candidates int
	}
	var got []row
	for i, q := range e.Queues {
		r := row{q.Queue, lent.To(e).Queue(i), q.Starving, q.Rule, -1, q.Tasks, q.Candidates}
		if v, ok := q.Room.Bound(0); ok {
			r.room = v
		}
		require.Nil(t, q.Lacks)
		got = append(got, r)
	}
	require.Equal(t, []row{
		{"root", "on the path", false, "", -1, 0, 0},
		{"root.out", "fence: beyond the fence", false, "fence", -1, 4, 0},
		{"root.in", "on the path, fenced in", false, "", -1, 0, 0},
		{"root.in.off", "disabled: where preemption is disabled", false, "disabled", -1, 1, 0},
		{"root.in.open", "", false, "", -1, 4, 1},
		{"root.in.poor", "", false, "", 0, 2, 0},
		{"root.in.hungry", "on the path, starving", true, "", 40, 0, 0},
		{"root.in.hungry.asking", "the asking queue", false, "fence", -1, 1, 0},
		{"root.in.hungry.sibling", "inside the starving queue", false, "inside", -1, 1, 0},
	}, got)

	// With less to ask for there is a plan, and the candidate is a victim.
	e = f.explain(p, f.ask("x", "in.hungry.asking", 28))
	require.Equal(t, "m-candidate victim", f.taskLines(e)[12])
}

// What is wrong with an ask is told, and an explanation stays as it was.
func TestExplain_Error(t *testing.T) {
	f := threeNodes(t)
	p := &jobs.Planner{}
	e := f.explain(p, f.ask("x", "b", 6))
	before := e.Decision.String() + e.String()
	err := p.Explain(e, f.ask("", "b", 6), now)
	require.ErrorIs(t, err, invalid.Empty)
	require.ErrorIs(t, p.Explain(e, f.ask("x", "b", 6), time.Time{}), invalid.Range)
	require.Equal(t, before, e.Decision.String()+e.String())
}

// An explanation is the caller's: the next one shares nothing with it.
func TestExplain_Owned(t *testing.T) {
	f := threeNodes(t)
	p := &jobs.Planner{}
	first := f.explain(p, f.ask("x", "b", 6))
	before := fmt.Sprint(first.Queues, first.Nodes, first.Tasks, first.Relaxations)
	f.explain(p, f.ask("y", "b", 2))
	require.Equal(t, before, fmt.Sprint(first.Queues, first.Nodes, first.Tasks, first.Relaxations))
}
