// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/victims"
)

// What only a run can find out has a place and a value, as everything that
// Parse finds.
func TestRun_Errors(t *testing.T) {
	for _, test := range []struct {
		name     string
		old, bad string // in small, with the requests below
		requests string
		path     string
		value    string
		kind     error
		alsoSaid string
	}{
		{"finish of nobody", "", "", `{"finish": ["v", "w"]}`,
			"requests[0].finish[1]", `"w"`, victims.ErrUnknown, ""},
		{"finish of a victim that has left", "", "", ask("x", "5", "") + `,{"finish": ["v"]}`,
			"requests[1].finish[0]", `"v"`, victims.ErrUnknown, ""},
		{"finish of a grant, which is no task", "", "", ask("x", "5", leave) + `,{"finish": ["x"]}`,
			"requests[1].finish[0]", `"x"`, victims.ErrUnknown, ""},
		{"start of a task that runs", "", "", start("v", "1"),
			"requests[0].start[0].key", `"v"`, victims.ErrDuplicate, ""},
		{"ask with the key of a task", "", "", ask("v", "1", ""),
			"requests[0].ask.key", `"v"`, victims.ErrDuplicate, ""},
		{"dry run with the key of a task", "", "", ask("v", "1", nothing),
			"requests[0].ask.key", `"v"`, victims.ErrDuplicate, ""},
		{"ask that runs asks again", "", "", ask("x", "1", "") + "," + ask("x", "1", ""),
			"requests[1].ask.key", `"x"`, victims.ErrDuplicate, ""},
		{"repeat into a key that is taken", "", "", start("x-2", "0") + "," + ask("x", "1", `, "repeat": 3`),
			"requests[1].ask.key", `"x-2"`, victims.ErrDuplicate, ""},

		{"capacities sum over 63 bits", `{"cpu": "2"}`, `{"cpu": "9223372036854775"}`, "",
			"nodes[1].capacity", "cpu=9223372036854775", invalid.Range, `node "n2"`},
		{"sizes sum over 63 bits", "", "", start("x", "9223372036854775"),
			"requests[0].start[0].resources", "cpu=9223372036854775", invalid.Range, ""},
		{"ask sums over 63 bits", "", "", ask("x", "9223372036854775", ""),
			"requests[0].ask.resources", "cpu=9223372036854775", invalid.Range, ""},

		{"now is long ago", `"name": "small",`, `"name": "small", "now": "1677-12-31T23:59:59Z",`, "",
			"now", `"1677-12-31T23:59:59Z"`, ErrValue, "1678 to 2261"},
		{"now is far ahead", `"name": "small",`, `"name": "small", "now": "2262-01-01T00:00:00Z",`, "",
			"now", `"2262-01-01T00:00:00Z"`, ErrValue, ""},
		{"created longer ago than can be told", `"name": "small",`, `"name": "small", "now": "1678-01-01T00:30:00Z",`, "",
			"tasks[0].age", `"1h0m0s"`, ErrValue, ""},
		{"scheduled longer ago than can be told", `"name": "small",`, `"name": "small", "now": "1678-01-01T02:00:00Z",`,
			strings.Replace(start("x", "1"), `"key"`, `"scheduledAge": "3h", "key"`, 1),
			"requests[0].start[0].scheduledAge", `"3h0m0s"`, ErrValue, ""},
		{"pending for longer than can be told", `"name": "small",`, `"name": "small", "now": "1678-01-01T02:00:00Z",`,
			strings.Replace(ask("x", "1", ""), `"key"`, `"age": "3h", "key"`, 1),
			"requests[0].ask.age", `"3h0m0s"`, ErrValue, ""},
		{"time passes too far", "", "", `{"advance": "1100000h"}, {"advance": "1100000h"}`,
			"requests[1].advance", `"1100000h0m0s"`, ErrValue, ""},

		{"guaranteed above max", `{"cpu": "100"}`, `{"cpu": "100"}, "max": {"cpu": "99"}`, "",
			"queues.queues[1].resources.guaranteed", `"root.b"`, lent.ErrAboveMax, "guaranteed 100, max 99"},
		{"max to enforce is below guaranteed", "", "", enforce(`"queue": "root.b", "max": {"cpu": "99"}`, ""),
			"requests[0].enforceQuota.max", "cpu=99", lent.ErrAboveMax, "guaranteed 100, max 99"},
		{"dry run of a max below guaranteed", "", "", enforce(`"queue": "root.b", "max": {"cpu": "99"}`, nothing),
			"requests[0].enforceQuota.max", "cpu=99", lent.ErrAboveMax, "root.b"},
		{"max to enforce at guaranteed, with a delay", `{"cpu": "100"}}`, `{"cpu": "100"}}, "properties": {"quota.preemption.delay": "1s"}`,
			enforce(`"queue": "root.b", "max": {"cpu": "100"}`, ""),
			"requests[0].enforceQuota.max", "cpu=100", nil, "max not above guaranteed with delay"},
		{"own max at guaranteed, with a delay", `{"cpu": "100"}}`,
			`{"cpu": "100"}, "max": {"cpu": "100"}}, "properties": {"quota.preemption.delay": "1s"}`,
			enforce(`"queue": "root.b"`, ""),
			"requests[0].enforceQuota", `"root.b"`, nil, "max not above guaranteed with delay"},
		{"max to enforce above that of the parent, strictly", `"name": "small",`, `"name": "small", "strict": true,`,
			enforce(`"queue": "root", "max": {"cpu": "99"}`, ""),
			"requests[0].enforceQuota.max", "cpu=99", lent.ErrOverCommitted, "children are guaranteed 100"},
		{"dry run of it", `"name": "small",`, `"name": "small", "strict": true,`,
			enforce(`"queue": "root", "max": {"cpu": "99"}`, nothing),
			"requests[0].enforceQuota.max", "cpu=99", lent.ErrOverCommitted, ""},

		{"member with the key of a task", "", "", place(`{"key": "v", "resources": {}}`),
			"requests[0].job.members[0].key", `"v"`, victims.ErrDuplicate, `member of job "j"`},
		{"member that runs with the key of a task", "", "", place(`{"key": "v", "resources": {}, "node": "n1"}`),
			"requests[0].job.members[0].key", `"v"`, victims.ErrDuplicate, ""},
		{"member with the key of an ask that is granted", "", "", ask("x", "5", leave) + "," + place(`{"key": "x", "resources": {}}`),
			"requests[1].job.members[0].key", `"x"`, victims.ErrDuplicate, ""},
		{"member that runs sums over 63 bits", "", "", place(`{"key": "j-0", "resources": {"cpu": "9223372036854775"}, "node": "n1"}`),
			"requests[0].job.members[0].resources", "cpu=9223372036854775", invalid.Range, ""},
		{"members sum over 63 bits", "", "", place(`{"key": "j-0", "resources": {"cpu": "9223372036854775"}}`),
			"requests[0].job", `"j"`, invalid.Range, `member "j-0"`},
		{"min above max, strictly", `"name": "small",`,
			`"name": "small", "strict": true, "quotas": [{"queue": "root.a", "min": {"cpu": "5"}, "max": {"cpu": "4"}}],`, "",
			"quotas[0]", `"root.a"`, nil, "min above max: cpu: min 5, max 4"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := small(test.requests)
			require.Contains(t, text, test.old)
			doc, err := Parse("doc.json", []byte(strings.Replace(text, test.old, test.bad, 1)))
			require.NoError(t, err)
			run, err := doc.Run()
			require.Nil(t, run)
			e, ok := errors.AsType[*Error](err)
			require.True(t, ok)
			require.Equal(t, "doc.json", e.File)
			require.Equal(t, found{test.path, test.value}, found{e.Path.String(), e.Value})
			require.ErrorContains(t, err, test.alsoSaid)
			if test.kind != nil { // else what it says is all
				require.ErrorIs(t, err, test.kind)
			}
		})
	}
}

// Queues tell all that is wrong with them, one line each.
func TestRun_QueueErrors(t *testing.T) {
	const text = `{
  "name": "queues", "strict": true,
  "queues": {"name": "root", "resources": {"guaranteed": {"cpu": "5"}}, "queues": [
    {"name": "a", "resources": {"guaranteed": {"cpu": "3"}, "max": {"cpu": "2"}}},
    {"name": "p", "resources": {"max": {"memory": "1Gi"}}, "queues": [
      {"name": "b", "resources": {"max": {"memory": "2Gi"}}},
      {"name": "c", "resources": {"guaranteed": {"cpu": "1"}, "max": {"cpu": "0"}}}]},
    {"name": "d", "resources": {"guaranteed": {"cpu": "4"}}}]}}`
	doc, err := Parse("q.json", []byte(text))
	require.NoError(t, err)
	_, err = doc.Run()
	require.Equal(t, []string{
		`q.json: queues.resources: "root": over-committed: cpu: children are guaranteed 7 of the guaranteed 5`,
		`q.json: queues.queues[0].resources.guaranteed: "root.a": guaranteed above max: cpu: guaranteed 3, max 2`,
		`q.json: queues.queues[1].resources: "root.p": over-committed: memory: max 2Gi of child "b" is above the max 1Gi`,
		`q.json: queues.queues[1].queues[1].resources.guaranteed: "root.p.c": guaranteed above max: cpu: guaranteed 1, max 0`,
	}, strings.Split(err.Error(), "\n"))
}
