// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/golden"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// indented returns a value as JSON.
func indented(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	require.NoError(t, err)
	return string(text) + "\n"
}

// The texts that programs get, to be read: testdata/report.golden has a plan, the
// places without victims, and every obstacle of the tables of explanations.
func TestReport_Golden(t *testing.T) {
	var b strings.Builder
	f := giverAndTaker(t)
	f.node("n1", 10)
	f.task("v", "a", "n1", 6)
	f.task("w", "a", "n1", 2, func(t *victims.Task) { t.State = victims.Releasing })
	for _, size := range []int64{2, 4, 5} {
		d := f.decide(&jobs.Planner{}, f.ask("x", "b", size))
		fmt.Fprintf(&b, "== %v\n%s", d.Outcome, indented(t, d))
	}
	for _, o := range obstacles {
		f, p, ask := o.build(t)
		d := f.decide(p, ask)
		fmt.Fprintf(&b, "== %s\n%s", o.name, indented(t, d))
	}
	f, p, ask := everyRule(t)
	fmt.Fprintf(&b, "== every rule\n%s", indented(t, f.explain(p, ask)))
	// How many steps it takes is the search's affair.
	text := regexp.MustCompile(`"steps": [1-9][0-9]*`).ReplaceAllString(b.String(), `"steps": 1`)
	golden.Compare(t, "testdata/report.golden", text)
}

// A decision and an explanation tell things as they were then, after their tasks, nodes and queues have gone.
func TestDecision_AfterTheCluster(t *testing.T) {
	schema, err := resources.NewSchema("slots")
	require.NoError(t, err)
	others, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "new"}}})
	require.NoError(t, err)
	empty := func(f *fixture) {
		for _, id := range slices.Collect(f.c.Tasks()) {
			require.NoError(t, f.c.RemoveTask(f.c.Key(id)))
		}
		for ask := range f.c.Grants() {
			require.NoError(t, f.c.Drop(ask.Ask))
		}
		for _, id := range slices.Collect(f.c.Nodes()) {
			require.NoError(t, law.ErrOf(f.c.RemoveNode(f.c.NodeName(id))))
		}
		require.NoError(t, f.c.SetTree(others.Clone()))
	}
	for _, o := range obstacles {
		t.Run(o.name, func(t *testing.T) {
			f, p, ask := o.build(t)
			d, e := f.decide(p, ask), f.explain(p, ask)
			require.NoError(t, d.Count())
			said := func() string {
				return fmt.Sprint(d, d.DescribeRefusal(), d.Refusal.Help, e, indented(t, d), indented(t, e))
			}
			before := said()
			empty(f)
			require.Equal(t, before, said())
		})
	}
	f := giverAndTaker(t)
	f.node("n1", 6)
	f.task("v", "a", "n1", 6)
	d := f.decide(&jobs.Planner{}, f.ask("x", "b", 4))
	before := fmt.Sprint(d, indented(t, d))
	require.Contains(t, before, "v on n1 (root.a, slots=6, priority 0)")
	empty(f)
	require.Equal(t, before, fmt.Sprint(d, indented(t, d)))
}

// A plan of another scheduler is printed, too: with types by number.
func TestDecision_Foreign(t *testing.T) {
	d := victims.Decision{Outcome: victims.Preempts, Plan: victims.Plan{
		Ask:     victims.Ask{Key: "x", Size: resources.Vector{4}},
		Places:  []victims.Place{{NodeName: "n1"}},
		Victims: []victims.Victim{{Key: "v", Path: "root.a", NodeName: "n1", Size: resources.Vector{6}}},
	}}
	require.Contains(t, fmt.Sprint(d), `x ("", #0=4) runs on n1 once these have stopped:
  v on n1 (root.a, #0=6, priority 0)`)
	require.Contains(t, indented(t, d), `"node": "n1"`)
}

// A summary is a line of at most 1 KB, whatever names say.
func TestSummary_Short(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 100)
	for i := range 100 {
		f.task(fmt.Sprintf("größe\n%090d", i), "a", "n1", 1)
	}
	d := f.decide(&jobs.Planner{}, f.ask("x", "b", 100))
	require.Equal(t, victims.Preempts, d.Outcome)
	line := d.Summary()
	require.LessOrEqual(t, len(line), 1024)
	require.Greater(t, len(line), 1000)
	require.True(t, strings.HasPrefix(line, `x (root.b, slots=100) runs on n1 once these have stopped: "größe\n0`), line)
	require.True(t, strings.HasSuffix(line, "…"), line)
	require.NotContains(t, line, "\n")

	require.Equal(t, "nothing is decided", (&victims.Decision{}).Summary())
	require.Equal(t, "y (root.b, slots=0) fits on n1", strings.ReplaceAll(
		f.decide(&jobs.Planner{}, f.ask("y", "b", 0)).Summary(), "none", "slots=0"))
}

// Texts ask no planner: one that prints an old refusal while it decides has the same answer, and another goroutine may
// print it meanwhile.
func TestDecision_PrintsBeside(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 6)
	f.task("v", "a", "n1", 6)
	planner := &jobs.Planner{Cluster: f.c}
	var old, plain, d victims.Decision
	require.NoError(t, planner.Decide(&old, f.ask("large", "b", 7), now))
	require.Equal(t, victims.Refused, old.Outcome)
	require.NoError(t, planner.Decide(&plain, f.ask("x", "b", 4), now))
	said := fmt.Sprint(old, indented(t, old))
	printed := 0
	planner.Filter = func(*victims.Question) bool {
		printed++
		return fmt.Sprint(old, indented(t, old)) == said
	}
	done := make(chan string)
	go func() { done <- fmt.Sprint(old) }()
	require.NoError(t, planner.Decide(&d, f.ask("x", "b", 4), now))
	require.Contains(t, said, <-done)
	require.Positive(t, printed)
	require.Equal(t, fmt.Sprint(plain), fmt.Sprint(d))
}
