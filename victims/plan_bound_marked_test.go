package victims

import (
	"cmp"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/resources"
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

// Of those who opted out no more must go, by the bound, than the smallest set that gives
// what all others leave open.
func TestRaiseOptedOut_IsNeverTooMany(t *testing.T) {
	raised := 0
	rapid.Check(t, func(t *rapid.T) {
		x := drawLanes(t)
		from := rapid.IntRange(0, len(x.in.lanes)-1).Draw(t, "from")
		digest, optedIn := &x.d.c.digest.nodes[0], make(vec, len(x.lacks))
		for i := range digest.lanes {
			for range digest.lanes[i].tasks() {
				if i < from {
					optedIn = resources.Add(optedIn, optedIn, digest.size(i, len(x.lacks)))
				}
			}
			if i >= from {
				digest.lanes[i].flags = flagOptedOut
			}
		}
		if resources.Fits(x.lacks, optedIn) {
			t.Skip("the others are enough")
		}
		x.d.c.nodeTable.types = len(x.lacks)
		x.d.c.digest.optedIn, x.d.scratch.sum = optedIn, make(vec, len(x.lacks))
		b := nodeBound{}
		b.levels[LevelOptedOut] = 1
		markedBounder{bounder{x.d}}.raiseOptedOut(&b, x.lacks)

		first, least := int(digest.lanes[from].first), int64(noLimit)
		for set := range uint(1) << (len(x.sizes) - first) {
			sum := resources.Add(nil, optedIn, make(vec, len(x.lacks)))
			for i, size := range x.sizes[first:] {
				if set>>i&1 != 0 {
					sum = resources.Add(sum, sum, size)
				}
			}
			if resources.Fits(x.lacks, sum) {
				least = min(least, int64(bits.OnesCount(set)))
			}
		}
		require.LessOrEqual(t, b.levels[LevelOptedOut], least)
		if b.levels[LevelOptedOut] > 1 {
			raised++
		}
	})
	require.Positive(t, raised)
}
