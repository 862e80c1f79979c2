package victims

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/resources"
)

// Of how few tasks tops say that they do not give what is lacking, those do not,
// whatever was asked before.
func TestTops_AreNeverTooFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawLanes(t)
		c := x.d.c
		c.nodes, c.total = make([]nodeRow, 1), rapid.SliceOfN(rapid.Int64Range(0, 1<<40), c.types, c.types).Draw(t, "capacity")
		c.digest.gauges, c.digest.made = make([]gauge, 1), []uint64{1}
		var k keptTops
		k.reset(c)
		for range rapid.IntRange(1, 4).Draw(t, "questions") {
			need := siteNeed{short: make(vec, c.types), mask: resources.Mask(rapid.Uint64Range(0, 1<<c.types-1).Draw(t, "mask"))}
			for typ := range need.mask.All() {
				need.short[typ] = x.lacks[typ]
			}
			x := drawnNode{lacks: need.short, sizes: x.sizes}
			count := rapid.Int64Range(-1, numTops+2).Draw(t, "count")
			if k.tooFew(0, count, need) {
				require.Less(t, count, x.fewest())
			}
		}
	})
}

// Tops see what no type by itself tells: with six of each of two types on a node, and
// at most three of both together in a task, three tasks are too few for six and four.
func TestTops_SumUpTypes(t *testing.T) {
	c := &Cluster{}
	c.types, c.nodes, c.total = 2, make([]nodeRow, 1), vec{12, 12}
	c.digest.gauges, c.digest.made = make([]gauge, 1), []uint64{1}
	c.digest.nodes = []nodeDigest{{lanes: []lane{{first: 0, end: 2}, {first: 2, end: 4}}, sizes: vec{3, 0, 0, 3}}}
	var k keptTops
	k.reset(c)
	both := siteNeed{vec{6, 4}, resources.Mask(0).With(0).With(1)}
	require.True(t, k.tooFew(0, 3, both))
	require.False(t, k.tooFew(0, 4, both))
	require.False(t, k.tooFew(0, 2, siteNeed{vec{6, 0}, resources.Mask(0).With(0)}), "another mask, other sums")

	// A change of the node makes another digest.
	c.digest.nodes[0].sizes, c.digest.made[0] = vec{5, 0, 0, 5}, 2
	require.False(t, k.tooFew(0, 3, both))
}

// Equal shares go in at once, and the smallest go out.
func TestInsertShares(t *testing.T) {
	list := make([]int64, 5)
	insertShares(list, 4, 2)
	insertShares(list, 6, 1)
	insertShares(list, 5, 1)
	require.Equal(t, []int64{6, 5, 4, 4, 0}, list)
	insertShares(list, 7, 9)
	require.Equal(t, []int64{7, 7, 7, 7, 7}, list)
}
