// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
)

// small is a document with the given requests: v fills n1 and can be taken by
// asks of root.b, and n2 has room for 2.
func small(requests string) string {
	return `{
  "name": "small",
  "queues": {"name": "root", "queues": [
    {"name": "a"},
    {"name": "b", "resources": {"guaranteed": {"cpu": "100"}}}
  ]},
  "priorityClasses": [{"name": "high", "value": 7}],
  "nodes": [{"name": "n1", "capacity": {"cpu": "10"}}, {"name": "n2", "capacity": {"cpu": "2"}}],
  "tasks": [{"key": "v", "queue": "root.a", "application": "app-a", "node": "n1", "resources": {"cpu": "10"}}],
  "requests": [` + requests + `]}`
}

// ask is a request of root.b with more fields of the request after the ask.
func ask(key, cpu, more string) string {
	return fmt.Sprintf(`{"ask": {"key": %q, "queue": "root.b", "application": "app-b", "resources": {"cpu": %q}}%s}`, key, cpu, more)
}

// start is a request that starts a task of root.b on n1.
func start(key, cpu string) string {
	return fmt.Sprintf(`{"start": [{"key": %q, "queue": "root.b", "application": "app-b", "node": "n1", "resources": {"cpu": %q}}]}`, key, cpu)
}

const (
	leave   = `, "then": "leave"`
	nothing = `, "then": "nothing"`
)

// mustRun carries out a document in which nothing is wrong.
func mustRun(t *testing.T, text string) *Run {
	t.Helper()
	doc, err := Parse("doc.json", []byte(text))
	require.NoError(t, err)
	run, err := doc.Run()
	require.NoError(t, err)
	return run
}

// tasks lists the tasks and grants of a cluster, sorted by key.
func tasks(c *victims.Cluster) []string {
	all := []string{}
	for id := range c.Tasks() {
		t := c.Task(id)
		all = append(all, fmt.Sprintf("%s %v on %s with %s", t.Key, t.State, c.Node(t.Node).Name, c.Schema().Format(t.Size)))
	}
	slices.Sort(all)
	return all
}

// brief lists results: key, outcome, node, victims and reason, as far as there
// are any.
func brief(r *Report) []string {
	all := []string{}
	for _, r := range r.Results {
		words := []string{r.Key, string(r.Outcome), r.Node}
		words = append(words, r.Victims...)
		words = append(words, r.Reason)
		all = append(all, strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	}
	return all
}

// What follows a decision, and what the next request sees of it.
func TestRun_Then(t *testing.T) {
	const before = "v running on n1 with cpu=10"
	for _, test := range []struct {
		name     string
		requests []string
		results  []string
		after    []string
	}{
		{"finish is the default",
			[]string{ask("x", "5", "")},
			[]string{"x plan n1 v"},
			[]string{"x running on n1 with cpu=5"}},
		{"finish",
			[]string{ask("x", "5", `, "then": "finish"`)},
			[]string{"x plan n1 v"},
			[]string{"x running on n1 with cpu=5"}},
		{"leave",
			[]string{ask("x", "5", leave)},
			[]string{"x plan n1 v"},
			[]string{"v preempting on n1 with cpu=10", "x granted on n1 with cpu=5"}},
		{"nothing",
			[]string{ask("x", "5", nothing)},
			[]string{"x plan n1 v"},
			[]string{before}},
		{"fits, and runs at once",
			[]string{ask("x", "2", "")},
			[]string{"x fits n2"},
			[]string{before, "x running on n2 with cpu=2"}},
		{"fits, with leave too",
			[]string{ask("x", "2", leave)},
			[]string{"x fits n2"},
			[]string{before, "x running on n2 with cpu=2"}},
		{"fits, a dry run",
			[]string{ask("x", "2", nothing)},
			[]string{"x fits n2"},
			[]string{before}},
		{"waits for what another one stops",
			[]string{ask("x", "5", leave), ask("y", "5", "")},
			[]string{"x plan n1 v", "y waits n1"},
			[]string{"v preempting on n1 with cpu=10", "x granted on n1 with cpu=5", "y granted on n1 with cpu=5"}},
		{"waits, a dry run",
			[]string{ask("x", "5", leave), ask("y", "5", nothing)},
			[]string{"x plan n1 v", "y waits n1"},
			[]string{"v preempting on n1 with cpu=10", "x granted on n1 with cpu=5"}},
		{"a grant asks again too early",
			[]string{ask("x", "5", leave), ask("x", "5", "")},
			[]string{"x plan n1 v", "x refused in-flight"},
			[]string{"v preempting on n1 with cpu=10", "x granted on n1 with cpu=5"}},
		{"a grant asks again, for less than it holds",
			[]string{ask("x", "5", leave), `{"finish": ["v"]}`, ask("x", "4", "")},
			[]string{"x plan n1 v", "x fits n1"},
			[]string{"x running on n1 with cpu=4"}},
		{"a start takes the place of a grant",
			[]string{ask("x", "5", leave), `{"finish": ["v"]}`, start("x", "6")},
			[]string{"x plan n1 v"},
			[]string{"x running on n1 with cpu=6"}},
		{"a key is free after a refusal",
			[]string{ask("x", "11", ""), ask("x", "5", "")},
			[]string{"x refused no-victims", "x plan n1 v"},
			[]string{"x running on n1 with cpu=5"}},
		{"a key is free after a dry run",
			[]string{ask("x", "5", nothing), ask("x", "2", "")},
			[]string{"x plan n1 v", "x fits n2"},
			[]string{before, "x running on n2 with cpu=2"}},
		{"a key is free after its task is gone",
			[]string{ask("x", "2", ""), `{"finish": ["x", "v"]}`, ask("x", "2", "")},
			[]string{"x fits n2", "x fits n1"},
			[]string{"x running on n1 with cpu=2"}},
		{"repeat once",
			[]string{ask("x", "2", `, "repeat": 1`)},
			[]string{"x-1 fits n2"},
			[]string{before, "x-1 running on n2 with cpu=2"}},
		{"repeat: each sees those before it",
			[]string{ask("x", "2", `, "repeat": 3`)},
			[]string{"x-1 fits n2", "x-2 plan n1 v", "x-3 fits n1"},
			[]string{"x-1 running on n2 with cpu=2", "x-2 running on n1 with cpu=2", "x-3 running on n1 with cpu=2"}},
		{"repeat and leave",
			[]string{ask("x", "5", `, "repeat": 3, "then": "leave"`)},
			[]string{"x-1 plan n1 v", "x-2 waits n1", "x-3 refused no-victims"},
			[]string{"v preempting on n1 with cpu=10", "x-1 granted on n1 with cpu=5", "x-2 granted on n1 with cpu=5"}},
		{"nothing is asked", nil, []string{}, []string{before}},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := mustRun(t, small(strings.Join(test.requests, ",")))
			require.Equal(t, test.results, brief(run.Report()))
			require.Equal(t, test.after, tasks(run.After))
			require.Equal(t, []string{before}, tasks(run.Before))
		})
	}
}

// Ages count back from the clock at the request, and a started ask is as old
// as its asking.
func TestRun_Clock(t *testing.T) {
	run := mustRun(t, small(`
		{"advance": "1h"},
		{"start": [{"key": "s", "queue": "root.a", "application": "app-a", "node": "n2", "resources": {},
		            "age": "20m", "scheduledAge": "5m"},
		           {"key": "u", "queue": "root.a", "application": "app-a", "node": "n2", "resources": {},
		            "scheduledAge": "never"}]},
		{"advance": "30m"},
		`+ask("fits", "1", "")+`,
		{"ask": {"key": "plan", "queue": "root.b", "application": "app-b", "resources": {"cpu": "5"}, "age": "10m"}}`))
	clock := func(h, m int) time.Time { return time.Date(2026, 1, 1, h, m, 0, 0, time.UTC) }
	require.Equal(t, clock(1, 30), run.End)
	var began []time.Time
	for _, s := range run.Steps {
		began = append(began, s.Now)
	}
	require.Equal(t, []time.Time{clock(0, 0), clock(1, 0), clock(1, 0), clock(1, 30), clock(1, 30)}, began)
	for _, test := range []struct {
		key                string
		created, scheduled time.Time
	}{
		{"s", clock(0, 40), clock(0, 55)},
		{"u", clock(0, 0), time.Time{}},
		{"fits", clock(0, 30), clock(1, 30)},
		{"plan", clock(1, 20), clock(1, 30)},
	} {
		id, ok := run.After.Lookup(test.key)
		require.True(t, ok, test.key)
		task := run.After.Task(id)
		require.Equal(t, test.created, task.Created, test.key)
		require.Equal(t, test.scheduled, task.Scheduled, test.key)
	}
}

// Everything that a document says of a task reaches the cluster.
func TestRun_Tasks(t *testing.T) {
	run := mustRun(t, small(`{"start": [
		{"key": "full", "queue": "root.b", "application": "app-f", "node": "n2", "resources": {"cpu": "1500m"},
		 "priorityClass": "high", "originator": true, "allowPreemption": false, "requiredNode": "n2", "state": "releasing"},
		{"key": "own", "queue": "root.a", "application": "app-o", "node": "n2", "resources": {},
		 "priority": -3, "priorityClass": "high"}]}`))
	hourAgo := time.Date(2025, 12, 31, 23, 0, 0, 0, time.UTC)
	n2, _ := run.After.LookupNode("n2")
	for _, want := range []victims.Task{
		{Key: "full", Application: "app-f", Queue: 2, Node: n2, Size: []int64{1500}, Priority: 7, Created: hourAgo, Scheduled: hourAgo,
			State: victims.Releasing, Originator: true, OptedOut: true, RequiredNode: true},
		{Key: "own", Application: "app-o", Queue: 1, Node: n2, Size: []int64{0}, Priority: -3, Created: hourAgo, Scheduled: hourAgo},
	} {
		id, _ := run.After.Lookup(want.Key)
		if diff := cmp.Diff(want, run.After.Task(id)); diff != "" {
			t.Errorf("%s:\n%s", want.Key, diff)
		}
	}
}

// Everything that a document says of an ask reaches the planner, and of a node
// and the options too.
func TestRun_Asks(t *testing.T) {
	const strict = `"options": {"strictPriority": true}, "name": "small",`
	for _, test := range []struct {
		name    string
		changes []string // of the text: old, new, ...
		want    string
	}{
		{"as it is", nil, "x plan n1 v"},
		{"may not preempt", []string{`"key": "x"`, `"key": "x", "allowPreemptOther": false`}, "x refused may-not-preempt"},
		{"of a class that may not preempt", []string{`"value": 7`, `"value": 7, "preemptionPolicy": "Never"`, `"key": "x"`, `"key": "x", "priorityClass": "high"`}, "x refused may-not-preempt"},
		{"of such a class, and may all the same", []string{`"value": 7`, `"value": 7, "preemptionPolicy": "Never"`,
			`"key": "x"`, `"key": "x", "priorityClass": "high", "allowPreemptOther": true`}, "x plan n1 v"},
		{"too young", []string{`"key": "x"`, `"key": "x", "age": "29s"`}, "x refused too-early"},
		{"required node", []string{`"key": "x"`, `"key": "x", "requiredNode": "n2"`}, "x refused no-victims"},
		{"lower priority", []string{`"key": "x"`, `"key": "x", "priority": -1`}, "x refused no-victims"},
		{"equal priority, strictly", []string{`"name": "small",`, strict}, "x refused no-victims"},
		{"higher priority, strictly", []string{`"name": "small",`, strict, `"key": "x"`, `"key": "x", "priorityClass": "high"`}, "x plan n1 v"},
		{"own application", []string{`"app-b"`, `"app-a"`}, "x refused no-victims"},
		{"unschedulable", []string{`{"name": "n1",`, `{"name": "n1", "unschedulable": true,`}, "x refused no-victims"},
		{"reserved for another", []string{`{"name": "n1",`, `{"name": "n1", "reservedFor": "y",`}, "x refused no-victims"},
		{"reserved for it", []string{`{"name": "n1",`, `{"name": "n1", "reservedFor": "x",`}, "x plan n1 v"},
		{"disabled", []string{`{"name": "a"}`, `{"name": "a", "properties": {"preemption.policy": "disabled"}}`}, "x refused nothing-in-reach"},
		{"at its max", []string{`{"cpu": "100"}`, `{"cpu": "4"}, "max": {"cpu": "4"}`}, "x refused headroom-inside"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := small(ask("x", "5", ""))
			for i := 0; i < len(test.changes); i += 2 {
				require.Contains(t, text, test.changes[i])
			}
			run := mustRun(t, strings.NewReplacer(test.changes...).Replace(text))
			require.Equal(t, []string{test.want}, brief(run.Report()))
		})
	}
}

// A step remembers its victims as they were, although they are gone.
func TestRun_Asked(t *testing.T) {
	run := mustRun(t, small(ask("x", "5", "")+`,{"advance": "1s"}`))
	require.Len(t, run.Steps, 2)
	asked := run.Steps[0].Asked
	require.Equal(t, victims.Preempts, asked.Decision.Outcome)
	require.Len(t, asked.Victims, 1)
	require.Equal(t, "v", asked.Victims[0].Key)
	require.Equal(t, []int64{10_000}, []int64(asked.Victims[0].Size))
	require.Equal(t, victims.Running, asked.Victims[0].State)
	require.Nil(t, run.Steps[1].Asked)
	require.Nil(t, run.Steps[1].Result)
}

// TestRunSeen_Ends: an error of who looks ends the run.
func TestRunSeen_Ends(t *testing.T) {
	doc, err := Parse("d", []byte(`{"name": "d", "queues": {"name": "root"}, "nodes": [{"name": "n", "capacity": {"cpu": "4"}}], "requests": [
		{"ask": {"key": "a", "queue": "root", "application": "a", "resources": {"cpu": "1"}}},
		{"ask": {"key": "b", "queue": "root", "application": "b", "resources": {"cpu": "1"}}}]}`))
	require.NoError(t, err)
	enough, seen := errors.New("enough"), 0
	run, err := doc.RunSeen(func(*Moment) error {
		seen++
		return enough
	})
	require.Nil(t, run)
	require.ErrorIs(t, err, enough)
	require.Equal(t, 1, seen)
}
