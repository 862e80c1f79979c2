// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
)

// enforce is a request with the fields of what is enforced, and more fields of
// the request after it.
func enforce(fields, more string) string {
	return fmt.Sprintf(`{"enforceQuota": {%s}%s}`, fields, more)
}

// What follows an enforcement, and what the next request sees of it. The queue
// root.a of small uses 10 cpus, of v; two more tasks join it here.
func TestRun_EnforceQuota(t *testing.T) {
	const (
		two     = `{"start": [` + inA + `"w", "resources": {"cpu": "1"}, "age": "1m"}, ` + inA + `"ds", "resources": {"cpu": "1"}, "requiredNode": "n2"}]}`
		v, w    = "v running on n1 with cpu=10", "w running on n2 with cpu=1"
		ds      = "ds running on n2 with cpu=1"
		ofA     = `"queue": "root.a"`
		max11   = ofA + `, "max": {"cpu": "11"}`
		leaving = "w preempting on n2 with cpu=1"
	)
	for _, test := range []struct {
		name     string
		requests []string
		results  []string
		after    []string
	}{
		{"finish is the default", []string{enforce(max11, "")}, []string{"met w"}, []string{ds, v}},
		{"leave", []string{enforce(max11, leave)}, []string{"met w"}, []string{ds, v, leaving}},
		{"a dry run", []string{enforce(max11, nothing)}, []string{"met w"}, []string{ds, v, w}},
		{"the max stays", []string{enforce(max11, ""), enforce(ofA, "")}, []string{"met w", "met"}, []string{ds, v}},
		{"the max of a dry run does not", []string{enforce(max11, nothing), enforce(ofA, "")}, []string{"met w", "met"}, []string{ds, v, w}},
		{"what is marked counts as leaving", []string{enforce(max11, leave), enforce(max11, "")}, []string{"met w", "met"}, []string{ds, v, leaving}},
		{"an ask may wait for it", []string{enforce(max11, leave), ask("x", "1", leave)}, []string{"met w", "x waits n2"},
			[]string{ds, v, leaving, "x granted on n2 with cpu=1"}},
		{"an ask finds its place", []string{enforce(max11, ""), ask("x", "1", "")}, []string{"met w", "x fits n2"},
			[]string{ds, v, "x running on n2 with cpu=1"}},
		{"partial, for what is bound to a node", []string{enforce(ofA+`, "max": {"cpu": "0"}`, "")}, []string{"partial v w required-node"}, []string{ds}},
		{"which may be missed", []string{enforce(ofA+`, "max": {"cpu": "0"}, "miss": {"cpu": "1"}`, "")}, []string{"met-within-miss v w"}, []string{ds}},
		{"a share may be missed", []string{enforce(ofA+`, "max": {"cpu": "0"}, "miss": "8.4%"`, "")}, []string{"met-within-miss v w"}, []string{ds}},
		{"of twelve no twelfth", []string{enforce(ofA+`, "max": {"cpu": "0"}, "miss": "8.3%"`, "")}, []string{"partial v w required-node"}, []string{ds}},
		{"impossible", []string{`{"finish": ["v", "w"]}`, enforce(ofA+`, "max": {"cpu": "0"}`, "")}, []string{"impossible required-node"}, []string{ds}},
		{"one task more than needed", []string{enforce(ofA+`, "max": {"cpu": "10"}`, "")}, []string{"met v"}, []string{ds, w}},
		{"exactly", []string{enforce(ofA+`, "max": {"cpu": "10"}, "overshoot": "exact"`, "")}, []string{"partial w overshoot"}, []string{ds, v}},
		{"at a parent, by parts", []string{enforce(`"queue": "root", "max": {"cpu": "3"}`, "")}, []string{"met v"}, []string{ds, w}},
	} {
		t.Run(test.name, func(t *testing.T) {
			requests := two
			for _, r := range test.requests {
				requests += "," + r
			}
			run := mustRun(t, small(requests))
			require.Equal(t, test.results, brief(run.Report()))
			require.Equal(t, test.after, tasks(run.After))
		})
	}
}

// inA begins a task of root.a on n2, up to its key.
const inA = `{"queue": "root.a", "application": "app-a", "node": "n2", "key": `

// The order reaches the enforcer.
func TestRun_EnforceQuotaOrder(t *testing.T) {
	const mixed = `{"start": [` + inA + `"mixed", "resources": {"cpu": "1", "gpu": "1"}, "priority": -1}]},`
	const request = `"queue": "root.a", "max": {"cpu": "10"}`
	require.Equal(t, []string{"met mixed"}, brief(mustRun(t, small(mixed+enforce(request, ""))).Report()))
	require.Equal(t, []string{"met v"}, brief(mustRun(t, small(mixed+enforce(request+`, "order": "closest-match"`, ""))).Report()))

	// Of each of two leaves of 1 and 3 it is 1 that goes; of both it is 3.
	const two = `{"name": "fewest", "queues": {"name": "root", "queues": [{"name": "a"}, {"name": "b"}]},
		"nodes": [{"name": "n", "capacity": {"cpu": "9"}}], "tasks": [
		{"queue": "root.a", "application": "x", "node": "n", "key": "a1", "resources": {"cpu": "1"}, "age": "1m"},
		{"queue": "root.a", "application": "x", "node": "n", "key": "a3", "resources": {"cpu": "3"}, "age": "2m"},
		{"queue": "root.b", "application": "x", "node": "n", "key": "b1", "resources": {"cpu": "1"}, "age": "1m"},
		{"queue": "root.b", "application": "x", "node": "n", "key": "b3", "resources": {"cpu": "3"}, "age": "2m"}],
		"requests": [{"enforceQuota": {"queue": "root", "max": {"cpu": "6"}, "order": "fewest"`
	require.Equal(t, []string{"met a1 b1"}, brief(mustRun(t, two+`}}]}`).Report()))
	require.Equal(t, []string{"met a3"}, brief(mustRun(t, two+`, "whole": true}}]}`).Report()))
}

// The result document has target and shortfall, of the types that have any.
func TestRun_EnforceQuotaResult(t *testing.T) {
	run := mustRun(t, small(`{"start": [`+inA+`"ds", "resources": {"cpu": "1", "gpu": "2"}, "requiredNode": "n2"}]},`+
		enforce(`"queue": "root", "max": {"cpu": "500m"}`, "")+`,`+enforce(`"queue": "root.b"`, "")))
	text, err := json.Marshal(run.Report().Results)
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"request": 1, "outcome": "partial", "victims": ["v"], "reason": "required-node", "proven": true,
		 "target": {"root": {"cpu": "10500m"}, "root.a": {"cpu": "10500m"}}, "shortfall": {"cpu": "500m"}},
		{"request": 2, "outcome": "met", "victims": [], "proven": true}]`, string(text))
}

// A step remembers its victims as they were, although they are gone, and which
// jobs go with them.
func TestRun_Enforced(t *testing.T) {
	const member = `, "resources": {"cpu": "1"}, "age": "1m", "job": "gang"}`
	text := small(`{"start": [` + inA + `"g1"` + member + `, ` + inA + `"g2"` + member + `]},` +
		enforce(`"queue": "root.a", "max": {"cpu": "11"}`, "") + `,{"advance": "1s"}`)
	text = text[:len(text)-1] + `, "jobMinimums": {"gang": 2}}`
	run := mustRun(t, text)
	require.Len(t, run.Steps, 3)
	enforced := run.Steps[1].Enforced
	require.Equal(t, "met", enforced.Result)
	require.Len(t, enforced.Victims, 2) // the gang goes as a whole
	require.Equal(t, "g1", enforced.Victims[0].Key)
	require.Equal(t, []int64{1000}, []int64(enforced.Victims[0].Size))
	require.Equal(t, victims.Running, enforced.Victims[0].State)
	require.True(t, enforced.Decision.Plan.Victims[0].Whole)
	require.Nil(t, run.Steps[1].Asked)
	require.Nil(t, run.Steps[2].Enforced)
}
