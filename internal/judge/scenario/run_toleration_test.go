// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tolerant is a document of one node that takes tasks, and an ask of priority 5
// for all of it at its end.
// The class "hour" tolerates it for an hour, "ever" for ever; "spared" has
// opted out.
func tolerant(options, tasks, requests string) string {
	const prefix = `preemption-toleration.scheduling.x-k8s.io/`
	return fmt.Sprintf(`{
  "name": "tolerant",
  "queues": {"name": "root", "queues": [
    {"name": "a"},
    {"name": "b", "resources": {"guaranteed": {"cpu": "100"}}},
    {"name": "c", "resources": {"guaranteed": {"cpu": "2"}}}
  ]},
  "priorityClasses": [
    {"name": "hour", "value": 1, "annotations": {"%[1]sminimum-preemptable-priority": "9", "%[1]stoleration-seconds": "3600"}},
    {"name": "ever", "value": 1, "annotations": {"%[1]sminimum-preemptable-priority": "9", "%[1]stoleration-seconds": "-1"}},
    {"name": "spared", "value": 1, "annotations": {"yunikorn.apache.org/allow-preemption": "false"}}
  ],
  "nodes": [{"name": "n1", "capacity": {"cpu": "2"}}, {"name": "n2", "capacity": {"cpu": "2"}, "unschedulable": true}],
  "tasks": [%[3]s],
  "requests": [%[4]s
    {"ask": {"key": "last", "queue": "root.b", "application": "app-last", "resources": {"cpu": "2"}, "priority": 5}}],
  "options": %[2]s}`, prefix, options, tasks, requests)
}

const (
	on  = `{"toleration": true}`
	off = `{}`
)

// task is a task of root.a that fills the node, with more fields.
func task(more string) string {
	return `{"key": "v", "queue": "root.a", "application": "app-v", "node": "n1", "resources": {"cpu": "2"}` + more + `}`
}

// askA is a request for the same, with more fields of the ask.
func askA(key, more, then string) string {
	return fmt.Sprintf(`{"ask": {"key": %q, "queue": "root.a", "application": "app-v", "resources": {"cpu": "2"}%s}%s},`, key, more, then)
}

// fromC makes an ask of root.c for all of n1, and starts a task on n2, so that
// root.c is not short of what it is guaranteed where it loses the first.
func fromC(key, more string) string {
	return fmt.Sprintf(`{"ask": {"key": %q, "queue": "root.c", "application": "app-w", "resources": {"cpu": "2"}%s}},
    {"start": [{"key": "rest", "queue": "root.c", "application": "app-w", "node": "n2", "resources": {"cpu": "2"}, "requiredNode": "n2"}]},`, key, more)
}

func TestRun_Toleration(t *testing.T) {
	const (
		hour  = `, "priorityClass": "hour", "age": "10m"`
		ever  = `, "priorityClass": "ever"`
		young = `, "scheduledAge": "59m59.999999999s"`
		never = `, "scheduledAge": "never"`
		free  = "plan"
		held  = "refused exempt"
	)
	for _, test := range []struct {
		name     string
		options  string
		tasks    string
		requests string
		want     string // the outcome of the last ask, and whether one task is exempt
		retry    time.Duration
	}{
		{"protected", on, task(hour), "", held, 50 * time.Minute},
		{"until the last nanosecond", on, task(hour + young), "", held, 1},
		{"for ever", on, task(ever), "", held, 0},
		{"the option is off", off, task(hour), "", free, 0},
		{"no class", on, task(""), "", free, 0},
		{"not scheduled yet", on, task(hour + never), "", free, 0},
		{"not scheduled yet, and for ever", on, task(ever + never), "", free, 0},
		{"time passes", on, task(hour), `{"advance": "49m"},`, held, time.Minute},
		{"the end", on, task(hour), `{"advance": "50m"},`, free, 0},

		{"started", on, "", `{"start": [` + task(hour) + `]},`, held, 50 * time.Minute},
		{"an ask that fits", on, "", askA("v", hour, "") + `{"advance": "20m"},`, held, 40 * time.Minute},
		{"an ask that had a victim", on, task(""), fromC("w", hour), held, time.Hour},
		{"an ask of no class that had a victim with one", on, task(hour), `{"advance": "50m"},` + fromC("w", `, "priority": 5`), free, 0},
		{"an ask that repeats", on, "", askA("v", ever, `, "repeat": 1`), held, 0},
		{"a grant that was started in another class", on, task(`, "state": "releasing"`),
			askA("w", ever, leave) + `{"finish": ["v"]}, {"start": [` + strings.Replace(task(hour), `"v"`, `"w"`, 1) + `]},`,
			held, 50 * time.Minute},
		{"a dry run", on, "", askA("v", ever, nothing) + `{"start": [` + task("") + `]},`, free, 0},
		{"a key that had a class before", on, task(ever), `{"finish": ["v"]}, {"start": [` + task("") + `]},`, free, 0},
		{"a key whose victim had a class before", on, task(hour), `{"advance": "1h"},` +
			`{"ask": {"key": "w", "queue": "root.b", "application": "app-w", "resources": {"cpu": "2"}, "priority": 5}},` +
			`{"finish": ["w"]}, {"start": [` + task("") + `]},`, free, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := mustRun(t, tolerant(test.options, test.tasks, test.requests))
			step := run.Steps[len(run.Steps)-1]
			got := string(step.Result.Outcome)
			if step.Result.Counts["exempt"] == 1 {
				got += " exempt"
			}
			require.Equal(t, test.want, got)
			want := time.Time{}
			if test.retry > 0 {
				want = step.Now.Add(test.retry)
			}
			require.True(t, want.Equal(step.Result.RetryAt), "%v, want %v", step.Result.RetryAt, want)
			require.Empty(t, run.Warnings)
		})
	}
}

// A task asks to be spared by itself, or else by its class, with toleration or
// without; once it runs, an ask does by its class.
func TestRun_ClassOptsOut(t *testing.T) {
	const spared = `, "priorityClass": "spared"`
	for _, test := range []struct {
		name     string
		tasks    string
		requests string
		want     int // opted-out victims
	}{
		{"neither", task(""), "", 0},
		{"by its class", task(spared), "", 1},
		{"by itself", task(`, "allowPreemption": false`), "", 1},
		{"its own word counts", task(spared + `, "allowPreemption": true`), "", 0},
		{"started", "", `{"start": [` + task(spared) + `]},`, 1},
		{"an ask that fits", "", askA("v", spared, ""), 1},
		{"an ask of no class", "", askA("v", "", ""), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, options := range []string{on, off} {
				run := mustRun(t, tolerant(options, test.tasks, test.requests))
				last := run.Steps[len(run.Steps)-1]
				require.Equal(t, []string{"v"}, last.Result.Victims)
				require.Equal(t, test.want, last.Asked.Decision.Plan.Cost.OptedOut)
			}
		})
	}
}

// Malformed annotations are found in every class, used or not, whether or not
// toleration is on.
func TestRun_MalformedAnnotations(t *testing.T) {
	const prefix = "preemption-toleration.scheduling.x-k8s.io/"
	for _, test := range []struct {
		key, text string
		why       string
	}{
		{prefix + "minimum-preemptable-priority", "", "not a whole number"},
		{prefix + "minimum-preemptable-priority", "-2147483649", "out of range"},
		{prefix + "toleration-seconds", " 600", "not a whole number"},
		{prefix + "toleration-seconds", "9223372036854775808", "out of range"},
		{"yunikorn.apache.org/allow-preemption", "no", `neither "true" nor "false"`},
	} {
		for _, options := range []string{on, off} {
			text := strings.Replace(tolerant(options, "", ""), `{"name": "hour"`,
				fmt.Sprintf(`{"name": "unused", "value": 3, "annotations": {%q: %q}}, {"name": "hour"`, test.key, test.text), 1)
			text = strings.Replace(text, `{"name": "unused"`, `{"name": "fine", "value": 4}, {"name": "unused"`, 1)
			doc, err := Parse("doc.json", []byte(text))
			require.NoError(t, err)
			run, err := doc.Run()
			require.Nil(t, run)
			e, ok := errors.AsType[*Error](err)
			require.True(t, ok)
			require.Equal(t, found{`priorityClasses[1].annotations["` + test.key + `"]`, `"` + test.text + `"`},
				found{e.Path.String(), e.Value})
			require.ErrorContains(t, err, test.why)
		}
	}
}

// What is legal and hardly meant is told, for victims of strictly lower
// priority more than otherwise.
func TestRun_ClassWarnings(t *testing.T) {
	const idle = `"annotations": {"preemption-toleration.scheduling.x-k8s.io/toleration-seconds": "5"}`
	text := strings.Replace(tolerant(on, "", ""), `{"name": "hour"`, `{"name": "idle", "value": 3, `+idle+`}, {"name": "hour"`, 1)
	require.Empty(t, mustRun(t, text).Warnings)
	run := mustRun(t, strings.Replace(text, on, `{"toleration": true, "strictPriority": true}`, 1))
	require.Len(t, run.Warnings, 1)
	require.EqualError(t, run.Warnings[0], `toleration: class "idle": the policy protects nobody: `+
		`no preemptor of a task of priority 3 is below the minimum 4`)
}
