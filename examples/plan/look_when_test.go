// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/examples/plan/internal/when"
	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// The page says what -when says, of the request that is shown and no other.
func TestLook_When(t *testing.T) {
	data, err := os.ReadFile("testdata/when.json")
	require.NoError(t, err)
	_, all, err := when.Document(scenario.Text{File: "when", Data: data})
	require.NoError(t, err)
	require.NotEmpty(t, all)
	said := 0
	shown := asked(t, question{Document: string(data)})
	for i := range shown.Steps {
		step := asked(t, question{Document: string(data), Step: i})
		w := asked(t, question{Document: string(data), Step: i, When: true}).When
		if outcome := step.Steps[i].Outcome; !step.Waits || outcome != "refused" && outcome != "waits" {
			require.Nil(t, w, "it has a place")
			continue
		}
		require.Equal(t, whenLookOf(all[said]), w)
		said++
	}
	require.Equal(t, len(all), said)
	require.Equal(t, &whenLook{
		Starts: "in 1h0m0s, at 2026-01-01T01:00:00Z, if nobody else starts before: fits on n1, after etl-1, etl-2",
		Sooner: []string{
			"one more node like n1: fits on one-more", "guaranteed cpu of root.prod by 1 more: plan on n1, stops etl-3",
		},
	}, whenLookOf(all[0]))

	require.Nil(t, asked(t, question{Document: string(data), Step: -1, When: true}).When)
	require.Nil(t, asked(t, question{Document: string(data), Step: 99, When: true}).When)
	require.NotEmpty(t, asked(t, question{Document: "{", When: true}).Mistakes)
}

// In a large document the search ends sooner, and says so.
func TestLook_WhenLarge(t *testing.T) {
	require.Equal(t, when.MostDecisions, pageDecisions(10))
	require.Equal(t, 111, pageDecisions(1800))
	require.Equal(t, 20, pageDecisions(1_000_000))
}

// One looker answers question after question as a new one would, whatever it keeps: a
// click is a change and what that looks like, in one answer.
func TestLook_Keeps(t *testing.T) {
	data, err := os.ReadFile("testdata/when.json")
	require.NoError(t, err)
	var l looker
	same := func(q question) (a reply) {
		text, err := json.Marshal(q)
		require.NoError(t, err)
		kept := l.answer(text)
		require.Equal(t, string(new(looker).answer(text)), string(kept))
		require.NoError(t, json.Unmarshal(kept, &a))
		return a
	}
	first := same(question{Document: string(data), Step: 1})
	task := first.Scene.Nodes[0].Tasks[0]
	clicked := same(question{Document: string(data), Step: 1, Set: task.Protect})
	require.True(t, clicked.Scene.find(task.Key).Spared)
	read := l.read
	again := same(question{Document: clicked.Document, Step: 1})
	require.Same(t, read, l.read, "the new text is not read again")
	clicked.Document = ""
	require.Equal(t, clicked, again)
	same(question{Document: clicked.Document, Step: 1, Storm: true})
	require.NotEmpty(t, same(question{Document: "{", Step: 1}).Mistakes)
	require.NotEmpty(t, same(question{Document: "{", Step: 1, Set: task.Protect}).Mistakes)
	same(question{Document: string(data), Step: 0, When: true})
}
