// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/resources"
)

func TestPortion(t *testing.T) {
	tests := []struct {
		amount, of int64
		want       string
	}{
		{0, 1, "0%"},
		{1, 2, "50%"},
		{4294967296, 68719476736, "6.3%"}, // 1/16 is 6.25%
		{1, 3, "33.3%"},
		{2, 3, "66.7%"},
		{1, 2000, "0.1%"}, // half up
		{1, 2001, "less than 0.1%"},
		{1, math.MaxInt64, "less than 0.1%"},
		{1999, 2000, "100%"},
		{3, 2, "150%"},
		{math.MaxInt64 - 1, math.MaxInt64, "100%"},
		{math.MaxInt64, math.MaxInt64/3 + 1, "300%"},
		{99, 10, "990%"},
		{7, 0, "700%"}, // a capacity of none counts as 1
	}
	for _, test := range tests {
		require.Equal(t, test.want+" of it", portion(resources.Share{Amount: test.amount, Of: test.of}, "it"))
	}
	require.Equal(t, "10 times it", portion(resources.Share{Amount: 10, Of: -3}, "it"))
	require.Equal(t, "9223372036854775807 times it", portion(resources.Share{Amount: math.MaxInt64, Of: 1}, "it"))
}

func TestCounted(t *testing.T) {
	require.Equal(t, "0 victims", counted(0, "victim"))
	require.Equal(t, "1 victim", counted(1, "victim"))
	require.Equal(t, "2 victims", counted(2, "victim"))
}

func TestTable(t *testing.T) {
	for _, test := range []struct {
		rows table
		want string
	}{
		{table{{"a", "b"}}, ""}, // a header without rows
		{table{{"a", "b"}, {"c", "d"}}, "  a  b\n  c  d\n"},
		{table{{"a", "b", "c"}, {"long", "", "x"}, {"s", "größer", ""}, {"", "", "z"}},
			"  a     b       c\n" +
				"  long          x\n" +
				"  s     größer\n" +
				"                z\n"},
	} {
		var b strings.Builder
		test.rows.writeTo(&b)
		require.Equal(t, test.want, b.String())
	}
}

// Whatever can be said has words, each other than the next.
func TestWords_Complete(t *testing.T) {
	seen := make(map[string]bool)
	distinct := func(word string, fallback bool) {
		t.Helper()
		require.NotEmpty(t, word)
		require.Equal(t, fallback, strings.Contains(word, "("), word)
		require.False(t, seen[word], word)
		seen[word] = true
	}
	each := func(n int, word func(i int) string) {
		t.Helper()
		clear(seen)
		distinct(word(0), true)
		for i := 1; i < n; i++ {
			distinct(word(i), false)
		}
		distinct(word(n), true)
	}
	each(int(Refused)+1, func(i int) string { return Outcome(i).String() })
}
