// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// checked returns what differs between one result and what is expected of it,
// given as the text of its fields after the outcome.
func checked(t *testing.T, result Result, expect string) []string {
	t.Helper()
	text := fmt.Sprintf(`{
  "name": "check", "types": ["memory", "cpu", "gpu"],
  "queues": {"name": "root", "queues": [{"name": "a"}, {"name": "b"}]},
  "nodes": [{"name": "n1", "capacity": {}}, {"name": "n2", "capacity": {}}],
  "requests": [{"advance": "1s"}, {"advance": "2s"}],
  "expect": [{%s}]}`, expect)
	doc, err := Parse("check.json", []byte(text))
	require.NoError(t, err)
	run := Run{Document: doc, Steps: []Step{{}, {Request: 1, Result: &result}}}
	var lines []string
	for _, d := range run.Check() {
		lines = append(lines, d.String())
	}
	return lines
}

// Each field is compared where it is expected, and only there.
func TestRun_Check(t *testing.T) {
	plan := Result{
		Request: 1, Key: "x", Outcome: OutcomePlan, Node: "n1", Victims: []string{"t1", "t2"},
		Placements: map[string]string{"j-0": "n1"},
		Target:     map[string]Amounts{"root.a": amountsOf(t, -1, 1500, -1)},
		Shortfall:  amountsOf(t, 1<<20, 0, -1),
		Proven:     ptr(true),
	}
	refusal := Result{
		Outcome: OutcomeRefused, Victims: []string{}, Reason: "no-victims",
		Counts: map[string]int{"priority": 3}, RetryAt: time.Date(2026, 1, 1, 0, 10, 0, 0, time.UTC),
	}
	for _, test := range []struct {
		result Result
		expect string
		want   []string
	}{
		{plan, `"outcome": "plan"`, nil},
		{plan, `"outcome": "fits"`, []string{`expect[0].outcome: want "fits", have "plan"`}},
		{plan, `"outcome": "plan", "request": 1, "key": "x", "node": "n1"`, nil},
		{plan, `"outcome": "plan", "request": 0, "key": "y", "node": "n2"`, []string{
			`expect[0].request: want 0, have 1`,
			`expect[0].key: want "y", have "x"`,
			`expect[0].node: want "n2", have "n1"`}},
		{plan, `"outcome": "plan", "node": ""`, []string{`expect[0].node: want nothing, have "n1"`}},
		{refusal, `"outcome": "refused", "node": "n1"`, []string{`expect[0].node: want "n1", have nothing`}},
		{refusal, `"outcome": "refused", "node": ""`, nil},

		{plan, `"outcome": "plan", "victims": ["t2", "t1"]`, nil},
		{plan, `"outcome": "plan", "victims": []`, []string{`expect[0].victims: want [], have ["t1","t2"]`}},
		{plan, `"outcome": "plan", "victims": ["t1"]`, []string{`expect[0].victims: want ["t1"], have ["t1","t2"]`}},
		{refusal, `"outcome": "refused", "victims": []`, nil},
		{refusal, `"outcome": "refused", "victims": ["t"]`, []string{`expect[0].victims: want ["t"], have []`}},
		{plan, `"outcome": "plan", "victimsAnyOf": [["t3"], ["t2", "t1"]]`, nil},
		{plan, `"outcome": "plan", "victimsAnyOf": [["t1"], ["t2"]]`,
			[]string{`expect[0].victimsAnyOf: want one of [["t1"],["t2"]], have ["t1","t2"]`}},
		{plan, `"outcome": "plan", "victimCount": 2`, nil},
		{plan, `"outcome": "plan", "victimCount": 3`, []string{`expect[0].victimCount: want 3, have 2: ["t1","t2"]`}},
		{refusal, `"outcome": "refused", "victimCount": 0`, nil},

		{plan, `"outcome": "plan", "placements": {"j-0": "n1"}`, nil},
		{plan, `"outcome": "plan", "placements": {}`, []string{`expect[0].placements: want nothing, have {"j-0":"n1"}`}},
		{plan, `"outcome": "plan", "placements": {"j-0": "n2"}`,
			[]string{`expect[0].placements: want {"j-0":"n2"}, have {"j-0":"n1"}`}},
		{refusal, `"outcome": "refused", "placements": {}`, nil},

		{refusal, `"outcome": "refused", "reason": "no-victims"`, nil},
		{refusal, `"outcome": "refused", "reason": "over-max"`, []string{`expect[0].reason: want "over-max", have "no-victims"`}},
		{plan, `"outcome": "plan", "reason": "over-max"`, []string{`expect[0].reason: want "over-max", have nothing`}},
		{refusal, `"outcome": "refused", "counts": {"priority": 3, "fence": 0}`, nil},
		{refusal, `"outcome": "refused", "counts": {}`, []string{`expect[0].counts.priority: want 0, have 3`}},
		{refusal, `"outcome": "refused", "counts": {"priority": 2, "fence": 1}`, []string{
			`expect[0].counts.fence: want 1, have 0`,
			`expect[0].counts.priority: want 2, have 3`}},
		{refusal, `"outcome": "refused", "retryAt": "2026-01-01T01:10:00+01:00"`, nil},
		{refusal, `"outcome": "refused", "retryAt": "2026-01-01T00:10:00.1Z"`,
			[]string{`expect[0].retryAt: want "2026-01-01T00:10:00.1Z", have "2026-01-01T00:10:00Z"`}},
		{plan, `"outcome": "plan", "retryAt": "2026-01-01T00:10:00Z"`,
			[]string{`expect[0].retryAt: want "2026-01-01T00:10:00Z", have nothing`}},

		{plan, `"outcome": "plan", "target": {"root.a": {"cpu": "1.5"}}`, nil},
		{plan, `"outcome": "plan", "target": {"root.a": {"cpu": "1500m", "gpu": "0"}, "root.b": {"cpu": "0"}}`, nil},
		{plan, `"outcome": "plan", "target": {}`, nil}, // of no queue
		{plan, `"outcome": "plan", "target": {"root.a": {"cpu": "1", "gpu": "2"}, "root.b": {"memory": "1Ki"}}`, []string{
			`expect[0].target["root.a"].cpu: want 1, have 1.5`,
			`expect[0].target["root.a"].gpu: want 2, have 0`,
			`expect[0].target["root.b"].memory: want 1Ki, have 0`}},
		{refusal, `"outcome": "refused", "target": {"root.a": {"cpu": "1"}}`, []string{`expect[0].target["root.a"].cpu: want 1, have 0`}},
		{plan, `"outcome": "plan", "shortfall": {"memory": "1Mi"}`, nil},
		{plan, `"outcome": "plan", "shortfall": {}`, []string{`expect[0].shortfall.memory: want 0, have 1Mi`}},

		{plan, `"outcome": "plan", "proven": true`, nil},
		{plan, `"outcome": "plan", "proven": false`, []string{`expect[0].proven: want false, have true`}},
		{refusal, `"outcome": "refused", "proven": true`, []string{`expect[0].proven: want true, have nothing`}},
	} {
		require.Equal(t, test.want, checked(t, test.result, test.expect), test.expect)
	}
}

// One expectation per result: more and fewer are differences, and those that
// are there are compared all the same.
func TestRun_CheckCounts(t *testing.T) {
	plan := Step{Result: &Result{Outcome: OutcomePlan, Victims: []string{}}}
	for _, test := range []struct {
		expect string
		steps  []Step
		want   string
	}{
		{`[]`, nil, `[]`},
		{`[]`, []Step{plan}, `[expect: want 0 results, have 1]`},
		{`[{"outcome": "plan"}, {"outcome": "plan"}]`, []Step{plan, {}}, `[expect: want 2 results, have 1]`},
		{`[{"outcome": "fits"}]`, []Step{plan, plan}, `[expect: want 1 results, have 2 expect[0].outcome: want "fits", have "plan"]`},
	} {
		doc, err := Parse("", []byte(`{"name": "", "queues": {"name": "root"}, "expect": `+test.expect+`}`))
		require.NoError(t, err)
		run := Run{Document: doc, Steps: test.steps}
		require.Equal(t, test.want, fmt.Sprint(run.Check()), test.expect)
	}
}
