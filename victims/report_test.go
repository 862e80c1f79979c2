// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/golden"
	"github.com/go-preempt/preempt/jobs"
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
		fmt.Fprintf(&b, "== %v\n%s", d.Outcome, indented(t, d.Report(f.c)))
	}
	for _, o := range obstacles {
		f, p, ask := o.build(t)
		d := f.decide(p, ask)
		fmt.Fprintf(&b, "== %s\n%s", o.name, indented(t, d.Report(f.c)))
	}
	f, p, ask := everyRule(t)
	fmt.Fprintf(&b, "== every rule\n%s", indented(t, f.explain(p, ask).Report(f.c)))
	// How many steps it takes is the search's affair.
	text := regexp.MustCompile(`"steps": [1-9][0-9]*`).ReplaceAllString(b.String(), `"steps": 1`)
	golden.Compare(t, "testdata/report.golden", text)
}

// A report is of names: it says the same after the victims, and their rows, have
// gone.
func TestReport_AfterTheVictims(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 6)
	f.task("v", "a", "n1", 6)
	d := f.decide(&jobs.Planner{}, f.ask("x", "b", 4))
	before := d.Report(f.c)
	require.NoError(t, f.c.RemoveTask("v"))
	f.task("other", "b", "n1", 1)
	require.Equal(t, before, d.Report(f.c))
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
	line := d.Summary(f.c)
	require.LessOrEqual(t, len(line), 1024)
	require.Greater(t, len(line), 1000)
	require.True(t, strings.HasPrefix(line, `x (root.b, slots=100) runs on n1 once these have stopped: "größe\n0`), line)
	require.True(t, strings.HasSuffix(line, "…"), line)
	require.NotContains(t, line, "\n")

	require.Equal(t, "nothing is decided", (&victims.Decision{}).Summary(f.c))
	require.Equal(t, "y (root.b, slots=0) fits on n1", strings.ReplaceAll(
		f.decide(&jobs.Planner{}, f.ask("y", "b", 0)).Summary(f.c), "none", "slots=0"))
}
