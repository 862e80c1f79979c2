// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/resources"
)

// amountsOf returns amounts of memory, cpu (in thousandths) and a type whose name
// must be quoted; a negative one is not defined.
func amountsOf(t testing.TB, amounts ...int64) Amounts {
	t.Helper()
	s, err := resources.NewSchema("memory", "cpu", `g"pu`)
	require.NoError(t, err)
	a := Amounts{Schema: s, Limit: resources.Limit{Value: amounts}}
	for i, v := range amounts {
		if v >= 0 {
			a.Limit.Defined |= 1 << i
		}
	}
	return a
}

// Fields are in the order of the result document, and those that do not apply
// are not there.
func TestReport_Write(t *testing.T) {
	for _, test := range []struct {
		name   string
		report Report
		want   string
	}{
		{"nothing", Report{Name: "n", Results: []Result{}}, `{"name":"n","results":[]}`},
		{"text as it is", Report{Name: "a<b> & \"c\"", Results: []Result{}}, `{"name":"a<b> & \"c\"","results":[]}`},
		{"a plan", Report{Name: "n", Results: []Result{{
			Request: 3, Key: "x", Outcome: OutcomePlan, Node: "n1", Victims: []string{"t1", "t2"}, Proven: ptr(true),
		}}}, `{"name":"n","results":[{"request":3,"key":"x","outcome":"plan","node":"n1","victims":["t1","t2"],"proven":true}]}`},
		{"a refusal", Report{Name: "n", Results: []Result{{
			Key: "x", Outcome: OutcomeRefused, Victims: []string{}, Reason: "no-victims",
			Counts:  map[string]int{"priority": 3, "guarantee": 1},
			RetryAt: time.Date(2026, 1, 1, 0, 10, 0, 0, time.UTC), Proven: ptr(false),
		}}}, `{"name":"n","results":[{"request":0,"key":"x","outcome":"refused","victims":[],"reason":"no-victims",` +
			`"counts":{"guarantee":1,"priority":3},"retryAt":"2026-01-01T00:10:00Z","proven":false}]}`},
		{"nanoseconds", Report{Name: "n", Results: []Result{{
			Outcome: OutcomeRefused, Victims: []string{}, RetryAt: time.Date(2026, 1, 1, 0, 0, 0, 5, time.UTC),
		}}}, `{"name":"n","results":[{"request":0,"outcome":"refused","victims":[],"retryAt":"2026-01-01T00:00:00.000000005Z"}]}`},
		{"a job", Report{Name: "n", Results: []Result{{
			Key: "j", Outcome: OutcomeFits, Victims: []string{}, Placements: map[string]string{"j-1": "n2", "j-0": "n1"},
		}}}, `{"name":"n","results":[{"request":0,"key":"j","outcome":"fits","victims":[],"placements":{"j-0":"n1","j-1":"n2"}}]}`},
		{"a quota", Report{Name: "n", Results: []Result{{
			Request: 1, Outcome: OutcomePartial, Victims: []string{"t"},
			Target:    map[string]Amounts{"root.b": amountsOf(t, -1, 1500, -1), "root.a": amountsOf(t, 1<<30, 2000, 0)},
			Shortfall: amountsOf(t, -1, -1, 7),
		}}}, `{"name":"n","results":[{"request":1,"outcome":"partial","victims":["t"],` +
			`"target":{"root.a":{"memory":"1Gi","cpu":"2","g\"pu":"0"},"root.b":{"cpu":"1500m"}},"shortfall":{"g\"pu":"7"}}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, test.report.Write(&b))
			require.Equal(t, test.want+"\n", b.String())
			require.True(t, json.Valid(b.Bytes()))
		})
	}
}

func TestAmounts_IsZero(t *testing.T) {
	for _, test := range []struct {
		amounts Amounts
		want    bool
	}{
		{Amounts{}, true},
		{amountsOf(t, -1, -1, -1), true},
		{amountsOf(t, 0, -1, 0), true},
		{amountsOf(t, 0, 1, -1), false},
		{amountsOf(t, -1, -1, 5), false},
	} {
		require.Equal(t, test.want, test.amounts.IsZero(), test.amounts.Limit)
	}
}

// What a run reports about asks, field by field.
func TestRun_Report(t *testing.T) {
	run := mustRun(t, small(ask("x", "11", "")+","+
		`{"ask": {"key": "y", "queue": "root.b", "application": "app-b", "resources": {"cpu": "5"}, "age": "10s"}},`+
		ask("z", "5", leave)+","+ask("w", "1", "")))
	var b bytes.Buffer
	require.NoError(t, run.Report().Write(&b))
	require.Equal(t, `{"name":"small","results":[`+
		`{"request":0,"key":"x","outcome":"refused","victims":[],"reason":"no-victims","cause":{"kind":"too-large","type":"cpu","most":"10","node":"n1"},"proven":true},`+
		`{"request":1,"key":"y","outcome":"refused","victims":[],"reason":"too-early","retryAt":"2026-01-01T00:00:20Z","proven":true},`+
		`{"request":2,"key":"z","outcome":"plan","node":"n1","victims":["v"],"proven":true,"proof":"cost"},`+
		`{"request":3,"key":"w","outcome":"fits","node":"n2","victims":[],"proven":true,"proof":"cost"}]}`+"\n", b.String())
}
