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
