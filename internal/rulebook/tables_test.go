// SPDX-License-Identifier: Apache-2.0

package rulebook

import (
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// apart reports texts that are missing or twice.
func apart(t *testing.T, what string, texts []string) {
	t.Helper()
	seen := make(map[string]bool)
	for _, text := range texts {
		require.NotEmpty(t, text, what)
		require.False(t, seen[text], "%s: %q twice", what, text)
		seen[text] = true
	}
}

// Each row of a table has all that somebody says of it.
func TestTables_Whole(t *testing.T) {
	var words, pictures, texts []string
	for r := Rule(1); r < NumRules; r++ {
		e := r.Entry()
		words, pictures = append(words, e.Word), append(pictures, e.Picture)
		require.NotEmpty(t, e.Ask+e.Gang+e.Quota, e.Word)
		require.Equal(t, e, RuleOf(e.Word))
	}
	apart(t, "words of rules", words)
	apart(t, "pictures of rules", pictures)
	require.Zero(t, RuleOf("nobody's"))
	require.Zero(t, RuleOfLaw("nobody's"))

	apart(t, "words of reasons", Reasons())
	holes := map[About]int{AboutNothing: 0, AboutMax: 2, AboutGuarantee: 2} // others have 1
	for i := range reasonTable {
		e := &reasonTable[i]
		require.Equal(t, *e, ReasonOf(e.Word))
		for _, text := range []string{e.Ask, cmp.Or(e.Gang, e.Ask)} {
			require.NotEmpty(t, text, e.Word)
			want, listed := holes[e.About]
			if !listed {
				want = 1
			}
			require.Equal(t, want, strings.Count(text, "%s"), "%s: what it is about", e.Word)
		}
	}
	require.Equal(t, "nothing is decided", ReasonOf("").Ask)

	words = nil
	for _, x := range Relaxations() {
		words, texts = append(words, x.Word), append(texts, x.Text)
		require.Equal(t, x.Subject != OfAsk, strings.Contains(x.Text, "%s"), x.Word)
		require.Equal(t, x, RelaxationOf(x.Word))
		if x.Obstacle != "" {
			require.Contains(t, Reasons(), x.Obstacle)
		}
	}
	apart(t, "words of what can be relaxed", words)
	apart(t, "texts of what can be relaxed", texts)
	require.Zero(t, RelaxationOf("nothing"))
}

// Every level but the low half has a word and a value that can be kept; those that may be negative
// come after the number of victims, unless they are maxima.
func TestTables_Levels(t *testing.T) {
	var words []string
	for l := range levelTable {
		e, level := &levelTable[l], Level(l)
		if level == LevelOwnLow {
			continue
		}
		if !e.off {
			words = append(words, e.word)
		}
		of, found := LevelOf(e.word)
		require.True(t, found)
		require.Equal(t, level, of)
		require.False(t, e.negative && !e.most && level < LevelVictims, e.word)
		if e.wide {
			continue
		}
		var c, d Cost
		c.set(level, 7)
		require.Equal(t, int64(7), c.at(level), e.word)
		require.NotEqual(t, d, c)
		require.Positive(t, CompareAt(&c, &d, level), e.word)
		for other := range Level(len(levelTable)) {
			require.Equal(t, other == level, c.at(other) != 0, "%s is kept as %s", e.word, levelTable[other].word)
		}
	}
	apart(t, "words of levels", words)
	require.Equal(t, words, Words())
	_, found := LevelOf("")
	require.False(t, found)
}
