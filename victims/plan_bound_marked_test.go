package victims

import (
	"cmp"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The fewest tasks with a limit on originators among them are those of the smallest
// set that there is.
func TestFewestMarkedIsTheSmallestSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		marked := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) markedLane {
			return markedLane{
				share: rapid.Int64Range(0, 9).Draw(t, "share"), tasks: 1,
				priority: rapid.Int32Range(0, 2).Draw(t, "priority"), originator: rapid.Bool().Draw(t, "originator"),
			}
		}), 0, 8).Draw(t, "lanes")
		slices.SortFunc(marked, func(x, y markedLane) int { return cmp.Compare(y.share, x.share) })
		need, most := rapid.Int64Range(1, 30).Draw(t, "need"), rapid.Int64Range(0, 3).Draw(t, "originators")
		top := rapid.Int64Range(0, 2).Draw(t, "top")
		least := int64(noLimit)
		for set := range uint(1) << len(marked) {
			var sum, originators int64
			lawful := true
			for i, m := range marked {
				if set>>i&1 == 0 {
					continue
				}
				sum += m.share
				lawful = lawful && int64(m.priority) <= top
				if m.originator {
					originators++
				}
			}
			if lawful && sum >= need && originators <= most {
				least = min(least, int64(bits.OnesCount(set)))
			}
		}
		require.Equal(t, least, fewestMarked(marked, need, most, top))
	})
}
