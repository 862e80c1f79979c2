// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
)

// place is a request for a job j of root.b, priority 5, with some members.
func place(members ...string) string { return placeThen("", "", members...) }

// placeThen is place with more fields of the job, and of the request after it.
func placeThen(job, more string, members ...string) string {
	return fmt.Sprintf(`{"job": {"name": "j", "queue": "root.b", "application": "app-j", "priority": 5, "members": [%s]%s}%s}`,
		strings.Join(members, ","), job, more)
}

// member is a member of some cpus.
func member(key, cpu string) string {
	return fmt.Sprintf(`{"key": %q, "resources": {"cpu": %q}}`, key, cpu)
}

// What follows a decision about a job, and what the next request sees of it. The
// node n1 is full with v, and n2 has room for 2.
func TestRun_Job(t *testing.T) {
	const v = "v running on n1 with cpu=10"
	j0, j1 := member("j-0", "2"), member("j-1", "4")
	runs := `{"key": "j-0", "resources": {"cpu": "2"}, "node": "n2"}`
	for _, test := range []struct {
		name     string
		requests []string
		results  []string
		after    []string
	}{
		{"finish is the default", []string{place(j0, j1)}, []string{"j plan v"},
			[]string{"j-0 running on n1 with cpu=2", "j-1 running on n1 with cpu=4"}},
		{"leave", []string{placeThen("", leave, j0, j1)}, []string{"j plan v"},
			[]string{"j-0 granted on n1 with cpu=2", "j-1 granted on n1 with cpu=4", "v preempting on n1 with cpu=10"}},
		{"a dry run", []string{placeThen("", nothing, j0, j1)}, []string{"j plan v"}, []string{v}},
		{"fits, and runs at once", []string{place(j0)}, []string{"j fits"}, []string{"j-0 running on n2 with cpu=2", v}},
		{"fits, a dry run", []string{placeThen("", nothing, j0)}, []string{"j fits"}, []string{v}},
		{"waits for what an ask stops", []string{ask("x", "3", leave), place(j1)}, []string{"x plan n1 v", "j waits"},
			[]string{"j-1 granted on n1 with cpu=4", "v preempting on n1 with cpu=10", "x granted on n1 with cpu=3"}},
		{"waits, a dry run", []string{ask("x", "3", leave), placeThen("", nothing, j1)}, []string{"x plan n1 v", "j waits"},
			[]string{"v preempting on n1 with cpu=10", "x granted on n1 with cpu=3"}},
		{"a grant is started", []string{placeThen("", leave, j1), `{"finish": ["v"]}`, start("j-1", "4")}, []string{"j plan v"},
			[]string{"j-1 running on n1 with cpu=4"}},
		{"once more while its victims leave", []string{placeThen("", leave, j1), place(j1)}, []string{"j plan v", "j refused in-flight"},
			[]string{"j-1 granted on n1 with cpu=4", "v preempting on n1 with cpu=10"}},
		{"once more for more members while its victims leave", []string{placeThen("", leave, j1), place(j1, j0)},
			[]string{"j plan v", "j waits"},
			[]string{"j-0 granted on n1 with cpu=2", "j-1 granted on n1 with cpu=4", "v preempting on n1 with cpu=10"}},
		{"once more when its victims have left", []string{placeThen("", leave, j1), `{"finish": ["v"]}`, place(j1)}, []string{"j plan v", "j fits"},
			[]string{"j-1 running on n1 with cpu=4"}},
		{"once more when its victims have left, a dry run", []string{placeThen("", leave, j1), `{"finish": ["v"]}`, placeThen("", nothing, j1)},
			[]string{"j plan v", "j fits"}, []string{"j-1 granted on n1 with cpu=4"}},
		{"once more when its member has started", []string{placeThen("", leave, j1), `{"finish": ["v"]}`, start("j-1", "4"), place(j1)},
			[]string{"j plan v", "j fits"}, []string{"j-1 running on n1 with cpu=4"}},
		{"all or nothing", []string{place(j0, j1, member("j-2", "11"))}, []string{"j refused no-victims"}, []string{v}},
		{"the minimum", []string{placeThen(`, "minMembers": 1`, "", j0, j1)}, []string{"j fits"},
			[]string{"j-0 running on n2 with cpu=2", v}},
		{"a member that runs", []string{place(runs, j1)}, []string{"j plan v"},
			[]string{"j-0 running on n2 with cpu=2", "j-1 running on n1 with cpu=4"}},
		{"a member that runs still does after a refusal", []string{placeThen(`, "preemptionPolicy": "Never"`, "", runs, j1)},
			[]string{"j refused may-not-preempt"}, []string{"j-0 running on n2 with cpu=2", v}},
		{"members that an earlier request has placed", []string{placeThen(`, "minMembers": 1`, "", j0, j1), place(j0, j1)},
			[]string{"j fits", "j plan v"}, []string{"j-0 running on n2 with cpu=2", "j-1 running on n1 with cpu=4"}},
		{"a running member is said to run again", []string{placeThen("", nothing, runs, j1), place(runs, j1)},
			[]string{"j plan v", "j plan v"}, []string{"j-0 running on n2 with cpu=2", "j-1 running on n1 with cpu=4"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := mustRun(t, small(strings.Join(test.requests, ",")))
			require.Equal(t, test.results, brief(run.Report()))
			require.Equal(t, test.after, tasks(run.After))
		})
	}
}

// The result document has placements, and counts of a refusal.
func TestRun_JobResult(t *testing.T) {
	run := mustRun(t, small(placeThen("", nothing, member("j-0", "2"), member("j-1", "4"))+","+
		placeThen("", nothing, member("j-0", "11"))))
	text, err := json.Marshal(run.Report().Results)
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"request": 0, "key": "j", "outcome": "plan", "victims": ["v"], "placements": {"j-0": "n1", "j-1": "n1"}, "proven": true, "proof": "cost"},
		{"request": 1, "key": "j", "outcome": "refused", "victims": [], "reason": "no-victims", "proven": true,
			"cause": {"kind": "too-large", "type": "cpu", "most": "10", "node": "n1"}}]`, string(text))
}

// Silence about being preemptible means yes, or no where the option says so.
func TestRun_JobsNeedPreemptibleLabel(t *testing.T) {
	text := small(place(member("j-0", "3")))
	require.Equal(t, []string{"j plan v"}, brief(mustRun(t, text).Report()))
	text = strings.Replace(text, `"name": "small",`, `"name": "small", "options": {"jobsNeedPreemptibleLabel": true},`, 1)
	run := mustRun(t, text)
	require.Equal(t, []string{"j refused no-victims"}, brief(run.Report()))
	require.Contains(t, run.Steps[0].Placed.Decision.Refusal.Counts, victims.Count{Rule: "non-preemptible", Tasks: 1})
	require.True(t, run.Steps[0].Placed.Decision.Plan.Ask.NonPreemptible)
}

// An ask that runs says nothing of being preemptible either.
func TestRun_JobsNeedPreemptibleLabel_Asks(t *testing.T) {
	text := small(ask("x", "2", "") + "," + placeThen(`, "preemptible": true`, "", member("j-0", "2")))
	text = strings.Replace(text, `"resources": {"cpu": "10"}}],`, `"resources": {"cpu": "10"}, "priority": 9}],`, 1)
	text = strings.Replace(text, `"name": "small",`, `"name": "small", "options": {"jobTrigger": "priority"},`, 1)
	require.Equal(t, []string{"x fits n2", "j plan x"}, brief(mustRun(t, text).Report()))
	text = strings.Replace(text, `"options": {`, `"options": {"jobsNeedPreemptibleLabel": true, `, 1)
	require.Equal(t, []string{"x fits n2", "j refused no-victims"}, brief(mustRun(t, text).Report()))
}

// A member that runs already is not repeated in the tasks.
func TestRun_JobMemberAmongTasks(t *testing.T) {
	text := small(place(`{"key": "v", "resources": {"cpu": "10"}, "node": "n1"}`))
	text = strings.Replace(text, `{"key": "v", "queue": "root.a"`, `{"key": "v", "job": "j", "queue": "root.b"`, 1)
	doc, err := Parse("doc.json", []byte(text))
	require.NoError(t, err)
	_, err = doc.Run()
	require.ErrorIs(t, err, victims.ErrDuplicate)
	require.ErrorContains(t, err, `requests[0].job.members[0].key: "v"`)
}

// Jobs go by the classes of tasks as asks do, and by the minimums and quotas of
// the document.
func TestRun_JobComposition(t *testing.T) {
	const gang = `"tasks": [{"job": "g", `
	text := small(place(member("j-0", "3")))
	text = strings.Replace(text, `"tasks": [{`, gang, 1)
	for _, test := range []struct{ name, more, want string }{
		{"no minimum", ``, "j plan v"},
		{"goes as a whole", `, "jobMinimums": {"g": 1}`, "j plan v"},
		{"quota", `, "quotas": [{"queue": "root.b", "max": {"cpu": "2"}}]`, "j refused quota-max"},
		{"quota of another queue", `, "quotas": [{"queue": "root.a", "max": {"cpu": "2"}}]`, "j plan v"},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := mustRun(t, text[:len(text)-1]+test.more+"}")
			require.Equal(t, []string{test.want}, brief(run.Report()))
		})
	}
}

// What waits below a queue counts in it, and a min above a max is told.
func TestRun_Quotas(t *testing.T) {
	const quotas = `, "quotas": [{"queue": "root", "min": {"cpu": "%s"}, "max": {"cpu": "20"}}, {"queue": "root.b", "min": {"cpu": "2"}, "waitingNonPreemptible": {"cpu": "%s"}}]}`
	for _, test := range []struct{ least, waiting, want string }{
		{"9", "7", "j plan v"}, // 7 + 10 + 3 of 20
		{"9", "8", "j refused quota-max"},
		{"7", "8", "j plan v"},
		{"21", "1", "j plan v"},
	} {
		text := small(place(member("j-0", "3")))
		run := mustRun(t, text[:len(text)-1]+fmt.Sprintf(quotas, test.least, test.waiting))
		require.Equal(t, []string{test.want}, brief(run.Report()), "%v", test)
		if test.least != "21" {
			require.Empty(t, run.Warnings)
			continue
		}
		require.Len(t, run.Warnings, 1)
		require.EqualError(t, run.Warnings[0], "quota of root: min above max: cpu: min 21, max 20")
	}
}

// A step remembers its victims as they were, although they are gone, and what
// bounds the job.
func TestRun_Placed(t *testing.T) {
	text := small(place(member("j-0", "3")) + `,{"advance": "1s"}`)
	text = text[:len(text)-1] + `, "quotas": [{"queue": "root", "max": {"cpu": "20"}}]}`
	run := mustRun(t, text)
	require.Len(t, run.Steps, 2)
	placed := run.Steps[0].Placed
	require.Len(t, placed.Victims, 1)
	require.Equal(t, "v", placed.Victims[0].Key)
	require.Equal(t, victims.Running, placed.Victims[0].State)
	require.Len(t, placed.Bounds, 1)
	require.NotNil(t, placed.Bounds[0].Quota)
	require.Equal(t, []int64{10_000}, []int64(placed.Bounds[0].Used))
	require.Nil(t, run.Steps[0].Asked)
	require.Nil(t, run.Steps[1].Placed)
}
