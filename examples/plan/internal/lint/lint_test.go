// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/golden"
	_ "github.com/go-preempt/preempt/internal/judge/law" // draws the same cases in every run
	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// linted returns what is found in a document, with so many states and by the rules of
// the library.
func linted(t require.TestingT, document string, states int) *Report {
	r, err := Document(scenario.Text{File: "d", Data: []byte(document)}, Options{States: states, Rules: Rules[0]})
	require.NoError(t, err)
	return r
}

// Each finding has a document that shows it, and one near it that does not.
func TestLint_Findings(t *testing.T) {
	const (
		nodes = `"nodes": [{"name": "n", "capacity": {"cpu": "8"}}]`
		two   = `"queues": {"name": "root", "queues": [{"name": "a", "resources": {"guaranteed": {"cpu": "4"}}}, {"name": "b", "resources": {"guaranteed": {"cpu": "4"}}}]}`
		tasks = `"tasks": [{"key": "x", "queue": "root.a", "application": "x", "node": "n", "resources": {"cpu": "3"}},
			{"key": "y", "queue": "root.a", "application": "y", "node": "n", "resources": {"cpu": "3"}}]`
		fenced = `"queues": {"name": "root", "queues": [{"name": "a", "properties": {"preemption.policy": "fence"}, "resources": {"guaranteed": {"cpu": "4"}},
			"queues": [{"name": "in"}, {"name": "too"}]}, {"name": "b", "resources": {"guaranteed": {"cpu": "4"}}}]}`
		zero    = `"queues": {"name": "root", "queues": [{"name": "a", "resources": {"guaranteed": {"cpu": "4"}}, "queues": [{"name": "in", "resources": {"guaranteed": {"cpu": "0"}}}]}, {"name": "b", "resources": {"guaranteed": {"cpu": "1"}}}]}`
		classes = two + `, "priorityClasses": [{"name": "high", "value": 900, "preemptionPolicy": "Never"}, {"name": "low", "value": 100}]`
		never   = two + `, "options": {"toleration": true}, "priorityClasses": [{"name": "low", "value": 100, "annotations": {
			"preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority": "1000",
			"preemption-toleration.scheduling.x-k8s.io/toleration-seconds": "-1"}}, {"name": "high", "value": 900}]`
		gang = two + ", " + nodes + ", " + `"jobMinimums": {"g": 2}, "tasks": [
			{"key": "x", "queue": "root.a", "application": "x", "node": "n", "resources": {"cpu": "3"}, "job": "g"},
			{"key": "y", "queue": "root.a", "application": "y", "node": "n", "resources": {"cpu": "3"}, "job": "g"}]`
		borrowed = `"queues": {"name": "root", "queues": [{"name": "a", "resources": {"guaranteed": {"cpu": "4", "gpu": "1"}}}, {"name": "b"}]},
			"nodes": [{"name": "n", "capacity": {"cpu": "8", "gpu": "2"}}], "options": {}, "tasks": [
			{"key": "x", "queue": "root.a", "application": "x", "node": "n", "resources": {"cpu": "1", "gpu": "1"}},
			{"key": "y", "queue": "root.a", "application": "y", "node": "n", "resources": {"cpu": "1", "gpu": "1"}}],
			"requests": [{"ask": {"key": "z", "queue": "root.b", "application": "z", "resources": {"cpu": "1", "gpu": "1"}}}]`
		budget = two + `, "budgets": {"web": {"left": 0, "hard": true}}`
	)
	for _, test := range []struct{ kind, name, document, old, near, says string }{
		{"guarantees", "root", two + ", " + strings.Replace(nodes, `"8"`, `"7"`, 1), `"7"`, `"8"`, "8 of cpu is guaranteed, and the nodes have 7"},
		{"guarantees", "root", strings.Replace(two, `"name": "root",`, `"name": "root", "resources": {"max": {"cpu": "7"}},`, 1), `"7"`, `"8"`, "its max is 7"},
		{"too-large", "root.a", two + ", " + nodes + ", " + tasks, `"x", "node": "n", "resources": {"cpu": "3"}`, `"x", "node": "n", "resources": {"cpu": "5"}`, "it has 2 of cpu over its guarantee and gives none: its smallest task, x, has 3"},
		{"gang", "root.a", gang, `"g": 2}`, `"g": 1}`, "it has 2 of cpu over its guarantee and cannot give it by job g, which has 6, needs 2 members"},
		{"scarce", "root.a", borrowed, `"cpu": "4"`, `"cpu": "1"`, "it has 1 of gpu over its guarantee and gives none, because of its guarantee of cpu"},
		{"scarce", "root.a", borrowed, `"options": {}`, `"options": {"scarce": ["gpu"]}`, "it has 1 of gpu over its guarantee and gives none, because of its guarantee of cpu"},
		{"fence", "root.a", fenced, `"preemption.policy": "fence"`, `"preemption.policy": "default"`, "asks of root.a.in may take nobody"},
		{"no-trigger", "root.a.in", zero, `"0"`, `"1"`, "root.a.in guarantees 0 of cpu"},
		{"class", "high", classes, `, "preemptionPolicy": "Never"`, ``, "its value is 900, and the highest that may preempt is 100, of class low"},
		{"class", "low", never, `"1000"`, `"900"`, "they tolerate all below 1000, and the highest that may preempt is 900"},
		{"budget", "web", budget, `"left": 0`, `"left": 1`, "none of its tasks can be stopped: 0 tasks"},
	} {
		document := `{"name": "d", ` + test.document + `}`
		require.Contains(t, document, test.old)
		found := func(document string) (text string) {
			for _, f := range linted(t, document, 0).Findings {
				if f.Kind == test.kind && f.Name == test.name && !f.Note {
					text += f.Text
				}
			}
			return text
		}
		require.Contains(t, found(document), test.says)
		require.Empty(t, found(strings.Replace(document, test.old, test.near, 1)), test.kind)
	}
}

// A leaf without any guarantee is often meant, and so is a note only.
func TestLint_Notes(t *testing.T) {
	l := linted(t, `{"name": "d", "queues": {"name": "root", "queues": [{"name": "a", "resources": {"guaranteed": {"cpu": "4"}}}, {"name": "b"}]}}`, 0)
	require.Len(t, l.Findings, 1)
	require.True(t, l.Findings[0].Note)
	require.Equal(t, "root.b", l.Findings[0].Name)
}

// Loops, told as stories. With the library's own rules there is none, whatever queues
// say of the own leaf; with the rules of others there are those of the field.
func TestLint_Golden(t *testing.T) {
	for _, test := range []struct{ name, rules string }{
		{"any-fences", "any"}, {"siblings", "own"}, {"siblings", "yunikorn"}, {"shares", "own"}, {"shares", "kueue"},
	} {
		if testing.Short() && test.name != "siblings" {
			continue // the others have many worlds
		}
		text, err := os.ReadFile("testdata/" + test.name + ".json")
		require.NoError(t, err)
		r, err := Document(scenario.Text{File: test.name, Data: text}, Options{States: 100_000, Rules: test.rules})
		require.NoError(t, err)
		var out strings.Builder
		r.Write(&out)
		golden.Compare(t, "testdata/"+test.name+"-"+test.rules+".golden", out.String())
	}
	l := linted(t, `{"name": "d", "options": {"ownLeaf": "met"}, "queues": {"name": "root", "queues": [
		{"name": "left", "resources": {"guaranteed": {"cpu": "2"}}, "properties": {"priority.policy": "fence"}},
		{"name": "right", "resources": {"guaranteed": {"cpu": "2"}}, "properties": {"priority.policy": "fence", "preemption.own-leaf": "branch"}}]}}`, 100_000)
	require.Nil(t, l.Worlds.Loop)
	require.GreaterOrEqual(t, l.Worlds.Tasks, 3)
}

// More states look further, at all worlds of more tasks.
func TestLint_States(t *testing.T) {
	const near = `{"name": "d", "queues": {"name": "root", "queues": [{"name": "a", "resources": {"guaranteed": {"cpu": "4"}}}, {"name": "b"}]}}`
	few, many := linted(t, near, 1000).Worlds, linted(t, near, 20_000).Worlds
	require.Greater(t, many.States, few.States)
	require.Greater(t, many.Tasks, few.Tasks)
}

// Trees of default options have no loop at the size that is looked at.
func TestLint_NoLoop(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var queues func(depth int) string
		queues = func(depth int) string {
			var all []string
			for i := range rapid.IntRange(1, 3).Draw(r, "children") {
				q := fmt.Sprintf(`{"name": "q%d", "properties": {"priority.offset": "%d", "priority.policy": "%s"}`, i,
					rapid.IntRange(-1, 1).Draw(r, "offset"), rapid.SampledFrom([]string{"default", "fence"}).Draw(r, "policy"))
				if g := rapid.IntRange(0, 6).Draw(r, "guaranteed"); g > 0 {
					q += fmt.Sprintf(`, "resources": {"guaranteed": {"cpu": "%d"}}`, g)
				}
				if depth > 1 && rapid.Bool().Draw(r, "inner") {
					q += `, "queues": ` + queues(depth-1)
				}
				all = append(all, q+"}")
			}
			return "[" + strings.Join(all, ", ") + "]"
		}
		document := `{"name": "d", "queues": {"name": "root", "queues": ` + queues(2) + `}}`
		l := linted(r, document, 3000)
		if l.Worlds.Loop != nil {
			r.Fatalf("%s: %+v", document, l.Worlds.Loop)
		}
	})
}
