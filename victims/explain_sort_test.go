// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Rows sorted byte by byte come in the order of slices.SortStableFunc, in either of the
// two memories.
func TestSortByStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		starts := rapid.SliceOfN(rapid.OneOf(
			rapid.Uint64Range(0, 3), rapid.Uint64(), rapid.SampledFrom([]uint64{math.MaxUint64, 1 << 56, 255, 256}),
		), 1, 40).Draw(t, "starts")
		var rows []keyedTask
		for i, start := range starts {
			rows = append(rows, keyedTask{start: start, id: TaskID(i)})
		}
		want := slices.Clone(rows)
		slices.SortStableFunc(want, func(a, b keyedTask) int { return cmp.Compare(a.start, b.start) })
		got, left := sortByStart(rows, make([]keyedTask, rapid.IntRange(0, 50).Draw(t, "spare")))
		require.Equal(t, want, got)
		require.Len(t, left, len(rows))
		require.NotSame(t, &got[0], &left[0])
	})
}

// Whatever keys are like, tasks come in the order of their keys, and numbers that differ say which of two is first.
func TestSortByKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.OneOf(
			rapid.StringMatching(`(ns/)?[ab0-9]{1,4}(-[0-9]{1,2})?`), rapid.StringMatching(`[\x00\x01é\xff]{1,3}`),
			rapid.StringMatching(`a{60,70}[0-9]?`), rapid.StringN(1, 40, -1),
		), 1, 30, rapid.ID[string]).Draw(t, "keys")
		c := &Cluster{}
		var rows []keyedTask
		for i, key := range keys {
			c.tasks = append(c.tasks, taskRow{key: key, flags: flagLive})
			rows = append(rows, keyedTask{id: TaskID(i)})
		}
		alike := sharedStart{}
		for _, key := range keys {
			alike.learn(key)
		}
		d := &decision{c: c}
		rows = d.sortByKey(rows, alike)
		var got []string
		for i, row := range rows {
			got = append(got, keys[row.id])
			require.True(t, i == 0 || rows[i-1].start <= row.start)
		}
		slices.Sort(keys)
		require.Equal(t, keys, got)
	})
}
