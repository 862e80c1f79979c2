package victims

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawCover draws a set of few rows and a need.
func drawCover(t *rapid.T) (s *coverSet, need []int64) {
	dims := rapid.IntRange(1, 3).Draw(t, "dims")
	most := rapid.SampledFrom([]int64{2, 9, 1000, 1 << roughBits}).Draw(t, "most")
	s = &coverSet{}
	s.reset(dims)
	for range rapid.IntRange(0, 9).Draw(t, "rows") {
		for range dims {
			s.sizes = append(s.sizes, rapid.Int64Range(0, most).Draw(t, "size"))
		}
	}
	for range dims {
		need = append(need, rapid.Int64Range(-1, 3*most).Draw(t, "need"))
	}
	return s, need
}

// leastCover tries all sets of rows, but for one that may be left out.
func leastCover(s *coverSet, need []int64, out int) int {
	least := noCover
	for set := range uint(1) << s.len() {
		if out >= 0 && set>>out&1 == 1 {
			continue
		}
		enough := true
		for k, lack := range need {
			for i := range s.len() {
				if set>>i&1 == 1 {
					lack -= s.row(int32(i))[k]
				}
			}
			enough = enough && lack <= 0
		}
		if enough {
			least = min(least, bits.OnesCount(set))
		}
	}
	return least
}

// A search for a cover finds one if there is any, and no bound is above the least, also
// after many needs have left lessons behind.
func TestCover(t *testing.T) {
	found, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s, need := drawCover(t)
		s.even(need)
		s.keep()
		for range 3 {
			least, out := leastCover(s, need, -1), rapid.IntRange(-1, s.len()-1).Draw(t, "out")
			require.LessOrEqual(t, int(s.fewest(need)), least)
			count := rapid.IntRange(0, 6).Draw(t, "count")
			without := func(i int32) bool { return int(i) == out }
			least = leastCover(s, need, out)
			switch got := s.cover(need, count, without); got {
			case covered:
				require.LessOrEqual(t, len(s.picks), count)
				rest := append([]int64(nil), need...)
				seen := make(map[int32]bool)
				for _, i := range s.picks {
					require.False(t, seen[i] || int(i) == out)
					seen[i] = true
					for k, v := range s.row(i) {
						rest[k] -= v
					}
				}
				for _, lack := range rest {
					require.LessOrEqual(t, lack, int64(0))
				}
				found++
			default:
				require.Equal(t, uncovered, got, "so few rows take no time")
				require.Greater(t, least, count)
				refused++
			}
			for k := range need {
				need[k] = max(need[k]-rapid.Int64Range(-3, 3).Draw(t, "less"), 0)
			}
		}
	})
	// Few draws need not have both.
	if !testing.Short() {
		require.Positive(t, found)
		require.Positive(t, refused)
	}
}

// Each row has two of three dimensions, and a need of three in each takes three rows:
// two have eight of the nine together.
func TestCover_ByHand(t *testing.T) {
	s := &coverSet{}
	s.reset(3)
	s.sizes = []int64{2, 2, 0, 2, 0, 2, 0, 2, 2, 2, 2, 0}
	need := []int64{3, 3, 3}
	s.even(need)
	s.keep()
	require.Equal(t, int64(3), s.fewest(need))
	require.Equal(t, uncovered, s.cover(need, 2, nil))
	require.Equal(t, covered, s.cover(need, 3, nil))
	require.ElementsMatch(t, []int32{0, 1, 2}, pickOne(s.picks))
	// Without the second there is none: nobody else has as much of the last.
	require.Equal(t, uncovered, s.cover(need, 3, func(i int32) bool { return i == 1 }))
	require.Equal(t, int64(noCover), s.fewest([]int64{9, 9, 9}), "not all together")
}

// pickOne writes row 3, which is like row 0, as that.
func pickOne(picks []int32) (all []int32) {
	for _, i := range picks {
		all = append(all, i%3)
	}
	return all
}

// Of amounts that are made rough nothing is lost for those who might be victims.
func TestRoughness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.Int64Range(1, 1<<60).Draw(t, "most")
		r := roughnessOf(0, -1, most)
		sum, rough := int64(0), int64(0)
		for range rapid.IntRange(1, 4).Draw(t, "tasks") {
			v := rapid.Int64Range(0, most).Draw(t, "size")
			sum, rough = sum+v, rough+r.of(v)
		}
		require.Less(t, r.lack(most), int64(1)<<roughBits)
		require.GreaterOrEqual(t, rough, r.lack(min(sum, most)))
	})
}
