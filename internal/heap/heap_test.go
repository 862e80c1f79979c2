package heap

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func compareInts(a, b *int) int { return cmp.Compare(*a, *b) }

// Popping everything sorts, whatever the order and however many are equal.
func TestPop_Sorts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.IntRange(-5, 5)).Draw(t, "in")
		heap := slices.Clone(in)
		Init(heap, compareInts)
		var out []int
		for len(heap) > 0 {
			last := len(heap) - 1
			rest := Pop(heap, compareInts)
			require.Len(t, rest, last)
			out = append(out, heap[last])
			heap = rest
		}
		slices.Sort(in)
		require.True(t, slices.Equal(in, out), "popped %v, want %v", out, in)
	})
}

func TestInitAndPop_DoNotAllocate(t *testing.T) {
	s := []int{5, 2, 8, 1, 9, 3}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		Init(s, compareInts)
		Pop(s, compareInts)
	}))
}
