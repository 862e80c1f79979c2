package word

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type colour uint8

var (
	colours = Table{Of: "paint.Colour", Words: []string{1: "red", 3: "blue"}}
	sides   = Table{Of: "paint.Side", Words: []string{"left", "right"}}
)

func TestTable(t *testing.T) {
	for _, c := range []struct {
		table Table
		n     uint8
		word  string
		text  string
		fails bool
	}{
		{colours, 0, "Colour(0)", "", false}, // not set
		{colours, 1, "red", "red", false},
		{colours, 2, "Colour(2)", "", true}, // between values
		{colours, 3, "blue", "blue", false},
		{colours, 4, "Colour(4)", "", true},
		{sides, 0, "left", "left", false},
		{sides, 1, "right", "right", false},
		{sides, 255, "Side(255)", "", true},
	} {
		require.Equal(t, c.word, c.table.Word(c.n))
		text, err := c.table.Text(c.n)
		if c.fails {
			require.ErrorIs(t, err, ErrWord)
			require.ErrorContains(t, err, c.table.Of)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.text, string(text))
		back := colour(99)
		require.NoError(t, Set(&back, c.table, text))
		require.Equal(t, colour(c.n), back)
	}
}

func TestSet_Unknown(t *testing.T) {
	c := colour(3)
	for _, text := range []string{"green", "Red", "red "} {
		err := Set(&c, colours, []byte(text))
		require.ErrorIs(t, err, ErrWord)
		require.ErrorContains(t, err, `paint.Colour "`+text+`"`)
	}
	require.ErrorIs(t, Set(&c, sides, nil), ErrWord, "0 is a value, and has a word")
	require.Equal(t, colour(3), c)
}
