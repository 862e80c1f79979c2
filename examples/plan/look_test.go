// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asked asks a question as the page does.
func asked(t *testing.T, q question) (a reply) {
	t.Helper()
	text, err := json.Marshal(q)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(new(looker).answer(text), &a))
	return a
}

// find returns what is shown of a task.
func (l *sceneLook) find(key string) (found *taskLook) {
	for i := range l.Nodes {
		for n := range l.Nodes[i].Tasks {
			if l.Nodes[i].Tasks[n].Key == key {
				found = &l.Nodes[i].Tasks[n]
			}
		}
	}
	return found
}

// goes returns the keys of the victims that are shown.
func (l *sceneLook) goes() (keys []string) {
	for _, n := range l.Nodes {
		for _, t := range n.Tasks {
			if t.Part == "goes" {
				keys = append(keys, t.Key)
			}
		}
	}
	return keys
}

// says fails unless a scene says of everything in it what it was to the decision.
func (l *sceneLook) says(t *testing.T, file string) {
	t.Helper()
	for _, q := range l.Queues {
		require.NotEmpty(t, q.Why, "%s: %s", file, q.Path)
	}
	for _, n := range l.Nodes {
		require.NotEmpty(t, n.Why, "%s: %s", file, n.Name)
		for _, task := range n.Tasks {
			if task.Part != "held" {
				require.NotEmpty(t, task.Why, "%s: %s", file, task.Key)
			}
		}
	}
}

// A document is shown with the first step that has victims, or with any other.
func TestLook(t *testing.T) {
	a := asked(t, question{Document: string(demo), Step: -1})
	require.Empty(t, a.Mistakes)
	require.Equal(t, 1, a.Step)
	require.Len(t, a.Steps, 11)
	require.Equal(t, stepLook{"request 1: web-3 asks for cpu=4 memory=4Gi in root.shop.web", "plan"}, a.Steps[1])
	require.Equal(t, stepLook{"request 9: gone: bob-2", ""}, a.Steps[9])
	require.Equal(t, []string{"etl-1", "etl-2"}, a.Scene.goes())
	require.Equal(t, "cpu", a.Scene.Type)
	require.Equal(t, "m", a.Scene.Suffix)
	require.Equal(t, "victim: makes room on the node", a.Scene.find("etl-1").Why)
	require.Equal(t, "candidate: it could go, and the plan does without it", a.Scene.find("etl-driver").Why)
	require.Contains(t, a.Words, "plan: on n1, once these victims have gone")
	require.NotContains(t, a.Words, "why")
	require.Contains(t, a.Why, "candidates")

	gone := asked(t, question{Document: string(demo), Step: 9})
	require.Equal(t, 9, gone.Step)
	require.Nil(t, gone.Scene.find("bob-2"))
	require.Equal(t, 10, asked(t, question{Document: string(demo), Step: 99}).Step)
}

// documents returns the files of the page's examples.
func documents(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../playground/documents/*.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 14)
	return files
}

// Every step of every example is shown, and explained if it is an ask.
func TestLook_Documents(t *testing.T) {
	for _, file := range documents(t) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		a := asked(t, question{Document: string(data), Step: -1})
		require.Empty(t, a.Mistakes, file)
		require.NotEmpty(t, a.Note, file)
		for i := range a.Steps {
			one := asked(t, question{Document: string(data), Step: i})
			require.Equal(t, i, one.Step, file)
			require.NotEmpty(t, one.Scene.Headline, file)
			require.Equal(t, strings.Contains(one.Steps[i].Title, " asks for ") && !strings.Contains(one.Steps[i].Title, ": job "), one.Why != "", file)
			require.Equal(t, one.Steps[i].Outcome != "", one.Scene.Explained, file)
			if one.Scene.Explained {
				one.Scene.says(t, file)
			}
		}
	}
}

func TestLook_Mistakes(t *testing.T) {
	a := asked(t, question{Document: "{\n\"name\": 5,\n\"queues\": {}}"})
	require.Equal(t, []mistakeLook{
		{2, "name: 5: wrong kind of value: want a string, found a number"}, {3, "queues.name: missing: a required field"},
	}, a.Mistakes)
	require.Equal(t, 1, asked(t, question{Document: "x"}).Mistakes[0].Line)
	var broken reply
	require.NoError(t, json.Unmarshal(new(looker).answer([]byte("{")), &broken))
	require.Len(t, broken.Mistakes, 1)

	// What only shows when it is run has its line, too.
	data, err := os.ReadFile("testdata/bad.json")
	require.NoError(t, err)
	bad := asked(t, question{Document: string(data)})
	require.Len(t, bad.Mistakes, 1)
	require.Contains(t, strings.Split(string(data), "\n")[bad.Mistakes[0].Line-1], `"finish"`)
}

// set makes a change and returns the document after it.
func set(t *testing.T, document string, c *change) string {
	t.Helper()
	require.NotNil(t, c)
	a := asked(t, question{Document: document, Set: c})
	require.NotEmpty(t, a.Document, a.Mistakes)
	return a.Document
}

// What a scene offers to change has the effect that it is there for.
func TestLook_Changes(t *testing.T) {
	a := asked(t, question{Document: string(demo), Step: 1})
	after := asked(t, question{Document: set(t, string(demo), a.Scene.find("etl-2").Protect), Step: 1})
	require.NotContains(t, after.Scene.goes(), "etl-2")
	require.True(t, after.Scene.find("etl-2").Spared)
	require.Nil(t, a.Scene.find("web-2").Protect, "a request has placed it")

	move := a.Scene.find("alice-1").Node
	move.Value = []byte(`"n2"`)
	require.Contains(t, set(t, string(demo), move), `"application": "notebook", "node": "n2"`)

	for _, q := range a.Scene.Queues {
		if q.Guarantee != nil {
			q.Guarantee.Value = []byte(`"7"`)
			require.NotEqual(t, string(demo), set(t, string(demo), q.Guarantee))
		}
	}
	require.NotEmpty(t, asked(t, question{Document: string(demo), Set: &change{At: []any{"tasks", 99}, Value: []byte("1")}}).Mistakes)
}

// Each rule that a refusal offers to relax gives the ask a place, if nothing but
// the document stands in the way.
func TestLook_Relax(t *testing.T) {
	if testing.Short() {
		t.Skip("it decides every document, and again after each change that helps")
	}
	files, err := filepath.Glob("../../internal/judge/scenario/testdata/scenarios/*.json")
	require.NoError(t, err)
	relaxed := make(map[string]int)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		a := asked(t, question{Document: string(data)})
		if a.Mistakes != nil || a.Scene == nil || len(a.Steps) == 0 {
			continue
		}
		for _, r := range a.Scene.Relax {
			if r.Change == nil {
				continue
			}
			after := asked(t, question{Document: set(t, string(data), r.Change)})
			if after.Mistakes == nil && after.Steps[0].Outcome != "refused" {
				rule := r.Text[strings.Index(r.Text, "(")+1 : strings.Index(r.Text, ")")]
				relaxed[rule]++
			}
		}
	}
	for _, rule := range []string{"delay", "not-guaranteed", "max", "fence", "disabled", "guarantee", "unschedulable", "over-guarantee", "same-application", "priority", "required-node", "may-not-preempt", "budget"} {
		require.Positive(t, relaxed[rule], "%s: %v", rule, relaxed)
	}
}
