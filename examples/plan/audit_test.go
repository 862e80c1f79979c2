// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/golden"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/victims"
)

// What docs/examination.md shows is what is printed.
func TestExamination(t *testing.T) {
	text, err := os.ReadFile("../../docs/examination.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```(json|text)\n(.*?)```")
	var shown []string
	for _, m := range block.FindAllStringSubmatch(string(text), -1) {
		shown = append(shown, m[2])
	}
	require.Len(t, shown, 3, "a document, what is said of it, and the same for programs")
	document, said, asJSON := shown[0], strings.ReplaceAll(shown[1], "FILE", "stdin"), shown[2]
	require.Equal(t, outputs{differs, said, ""}, call(document, "-audit", "-"))
	require.Equal(t, outputs{differs, asJSON, ""}, call(document, "-audit", "-json", "-"))
	for v := scenario.Same; v <= scenario.Refuses; v++ {
		require.Contains(t, string(text), "| `"+v.String())
	}
}

// The status is 0 unless something fails.
func TestAudit_Status(t *testing.T) {
	data, err := os.ReadFile("testdata/proposed.json")
	require.NoError(t, err)
	const plan = `"proposed": {"node": "n2", "victims": ["lab-4"]}`
	require.Contains(t, string(data), plan)
	lawful := regexp.MustCompile(`"proposed": \{.*`).ReplaceAllStringFunc(string(data), func(s string) string {
		return `"then": "nothing"}` + map[bool]string{true: ","}[strings.HasSuffix(s, ",")]
	})
	lawful = strings.ReplaceAll(lawful, `"then": "nothing", "then": "nothing"`, `"then": "nothing"`)
	require.Equal(t, outputs{decided, "0 judged\n", ""}, call(lawful, "-audit", "-"))
	one := strings.Replace(lawful, `"then": "nothing"`, `"then": "nothing", `+plan, 1)
	require.Equal(t, decided, call(one, "-audit", "-").status)
	require.Contains(t, call(one, "-audit", "-").stdout, "1 judged: 1 same\n")
}

// What is said of plans that cost less than ours.
func TestJudgement_Cheaper(t *testing.T) {
	run, err := decideOne(scenario.Text{File: "demo.json", Data: demo}, (*scenario.Document).Run)
	require.NoError(t, err)
	run.Document.Requests[0].Proposed = &scenario.Proposal{Node: "n2"}
	step := &run.Steps[0]
	var out strings.Builder
	for _, test := range []struct {
		verdict scenario.Verdict
		proven  bool
		own     bool
	}{
		{scenario.Cheaper, true, false}, {scenario.Cheaper, false, false},
		{scenario.Dearer, true, true}, {scenario.Lawful, true, false},
	} {
		step.Judged = &scenario.Judged{
			Verdict: test.verdict, Proven: test.proven, OwnLeaf: test.own,
			Outcome: victims.Preempts, Cost: &victims.Cost{Victims: 1}, Least: &victims.Cost{Victims: 2},
		}
		status := writeJudgements(&out, []outcome{{"demo.json", run}})
		require.Equal(t, step.Judged.Defect(), status == differs)
	}
	golden.Compare(t, "testdata/cheaper-audit.golden", out.String())
}
