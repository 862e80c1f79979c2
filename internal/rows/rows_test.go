// SPDX-License-Identifier: Apache-2.0

package rows_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/rows"
)

// What a slice held before never shows, whether its memory is enough or not.
func TestZeros(t *testing.T) {
	s := []int64{1, 2, 3, 4}
	got := rows.Zeros(s, 3)
	require.Equal(t, []int64{0, 0, 0}, got)
	require.Same(t, &s[0], &got[0], "there was memory enough")
	require.Equal(t, int64(4), s[3], "beyond its end nothing is written")
	require.Equal(t, make([]int64, 9), rows.Zeros(s, 9))
	require.Empty(t, rows.Zeros[[]int64](nil, 0))
}

func TestMore(t *testing.T) {
	s := append(make([]int64, 0, 4), 1, 2, 7, 8)[:2] // old values lie behind
	require.Equal(t, []int64{1, 2, 0, 0}, rows.More(s, 2))
	require.Equal(t, []int64{1, 2, 0, 0, 0}, rows.More([]int64{1, 2}, 3))
}

func TestNext(t *testing.T) {
	s := [][]int64{{1}, {2, 3}}
	require.Equal(t, [][]int64{{1}, {2, 3}}, rows.Next(s[:1]), "what was there keeps its memory")
	require.Equal(t, [][]int64{{1}, {2, 3}, nil}, rows.Next(s[:2:2]))
}

func TestAt(t *testing.T) {
	block := []int64{1, 2, 3, 4, 5, 6}
	row := rows.At(block, 1, 2)
	require.Equal(t, []int64{3, 4}, row)
	row[0] = 9
	require.Equal(t, int64(9), block[2], "a row is a view")
	_ = append(row, 0)
	require.Equal(t, int64(5), block[4], "the next row stays as it is")
	require.Empty(t, rows.At(block, 3, 0))
}

// Once there is memory nothing is allocated.
func TestNoAllocs(t *testing.T) {
	s := make([]int64, 0, 64)
	require.Zero(t, testing.AllocsPerRun(20, func() {
		s = rows.Zeros(s, 32)
		s = rows.More(s, 32)
		_ = rows.At(s, 3, 16)
	}))
}
