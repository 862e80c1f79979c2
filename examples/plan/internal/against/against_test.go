// SPDX-License-Identifier: Apache-2.0

package against

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// A policy against itself changes nothing, whatever the document.
func TestDocument_Itself(t *testing.T) {
	if testing.Short() {
		t.Skip("it decides many documents")
	}
	checked := 0
	for _, pattern := range []string{
		"../../../../internal/judge/scenario/testdata/scenarios/*.json", "../../testdata/*.json", "../../testdata/good/[ef]*.json", "../../../playground/documents/*.json",
	} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			doc, err := scenario.Parse(file, text)
			if err != nil {
				continue
			}
			run, err := doc.Run()
			if err != nil {
				continue // it is wrong in itself
			}
			s := scenario.Text{File: file, Data: text}
			c, err := Document(s, s, s)
			require.NoError(t, err, file)
			require.Empty(t, c.Changes, file)
			require.Empty(t, Sum([]*Contrast{c}).Queues, file)
			// And what is decided is what is decided without any comparison.
			require.Len(t, c.New.Steps, len(run.Steps))
			for i := range run.Steps {
				if run.Steps[i].Result != nil {
					require.True(t, sameDecision(run.Steps[i].Result, c.New.Steps[i].Result), "%s: step %d", file, i)
				}
			}
			checked++
		}
	}
	require.Greater(t, checked, 100)
}

// Two policies the other way round: old and new change places, and so do gains and
// costs.
func TestDocument_Reversed(t *testing.T) {
	read := func(name string) scenario.Text {
		file := "../../testdata/against/" + name
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return scenario.Text{File: file, Data: text}
	}
	monday, policy := read("snapshots/monday.json"), read("policy.json")
	there, err := Document(monday, monday, policy)
	require.NoError(t, err)
	back, err := Document(monday, policy, monday)
	require.NoError(t, err)
	require.Len(t, there.Changes, 1)
	require.Len(t, back.Changes, 1)
	require.Equal(t, there.Changes[0].Old, back.Changes[0].New)
	require.Equal(t, there.Changes[0].New, back.Changes[0].Old)
	require.Equal(t, "gains", there.queues["root.prod"].Verdict())
	require.Equal(t, "pays", back.queues["root.prod"].Verdict())
	require.Equal(t, []string{"etl-1"}, there.Changes[0].New.Victims)
}

// Who moves is told of each decision that changes, and counted for its queue.
func TestDocument_Moves(t *testing.T) {
	text, err := os.ReadFile("../../testdata/when-moves.json")
	require.NoError(t, err)
	moves := scenario.Text{File: "moves", Data: text}
	stays := scenario.Text{File: "stays", Data: bytes.ReplaceAll(text, []byte(`"moves": "any"`), []byte(`"moves": "never"`))}
	require.NotEqual(t, moves.Data, stays.Data)
	c, err := Document(moves, stays, moves)
	require.NoError(t, err)
	require.Len(t, c.Changes, 2)
	require.Equal(t, map[string]string{"a": "n2"}, c.Changes[0].New.Moves)
	whole := Sum([]*Contrast{c})
	require.Equal(t, 2, whole.Queues["root.batch"].New.Moved)
	require.Equal(t, "moves more", whole.Queues["root.batch"].Verdict())
	var out bytes.Buffer
	WriteText(&out, []*Contrast{c}, whole)
	require.Contains(t, out.String(), ", moves a to n2\n")
	require.Regexp(t, `root.batch +moves more .* 0 -> 2\n`, out.String())

	whole = Sum(nil)
	out.Reset()
	WriteText(&out, nil, whole)
	require.NotContains(t, out.String(), "moved")
}
