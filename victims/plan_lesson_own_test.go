package victims

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// Weights that are sought never say that tasks cost more than they do.
func TestSeekPrices_RulesOutWhatCostsMore(t *testing.T) {
	told := 0
	rapid.Check(t, func(t *rapid.T) {
		x := drawLanes(t)
		if !slices.ContainsFunc(x.lacks, func(short int64) bool { return short > 0 }) {
			t.Skip("a node that lacks nothing is not asked about")
		}
		digest, all := &x.d.c.digest.nodes[0], []int64(nil)
		for i := range digest.lanes {
			cost := rapid.Int64Range(0, 9).Draw(t, "cost")
			for range digest.lanes[i].tasks() {
				digest.ids = append(digest.ids, TaskID(len(all)))
				all = append(all, cost)
			}
		}
		x.d.c.costs = all
		// The best plan has this own cost, and nothing else.
		limit := rapid.Int64Range(0, 30).Draw(t, "limit")
		x.d.best.found = true
		x.d.best.total.Levels[LevelOwn], x.d.best.total.Levels[LevelOwnLow] = cover.WideOf(limit).Split()
		if (priceBounder{bounder{x.d}}).seekPrices(x.in, x.lacks) {
			require.Greater(t, x.leastCost(all), limit)
			told++
		}
	})
	require.Positive(t, told)
}

// leastCost tries all sets out that give what is lacking.
func (x *drawnNode) leastCost(costs []int64) int64 {
	least := int64(noLimit) // if all together are not enough
	for set := range 1 << len(x.sizes) {
		sum, cost := make(vec, len(x.lacks)), int64(0)
		for i, size := range x.sizes {
			if set>>i&1 != 0 {
				sum, cost = resources.Add(sum, sum, size), cost+costs[i]
			}
		}
		if resources.Fits(x.lacks, sum) {
			least = min(least, cost)
		}
	}
	return least
}
