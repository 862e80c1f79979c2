// SPDX-License-Identifier: Apache-2.0

package word

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type colour uint8

var colours = Table{Of: "paint.colour", Words: []string{1: "red", 3: "blue"}}

func (c colour) String() string { return colours.Word(uint8(c)) }

func TestTable(t *testing.T) {
	for n, want := range []string{"colour(0)", "red", "colour(2)", "blue", "colour(4)"} {
		require.Equal(t, want, colour(n).String())
	}
	require.Equal(t, "left", Table{Of: "paint.side", Words: []string{"left", "right"}}.Word(0))
	require.Equal(t, "", Or(colour(0)))
	require.Equal(t, "red", Or(colour(1)))
}
