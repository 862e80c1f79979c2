// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"math/bits"
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

// A drawnNode is a node with a few tasks in lanes, and what it lacks.
type drawnNode struct {
	d     *decision
	lacks vec
	sizes []vec // of all tasks
}

func drawLanes(t *rapid.T) drawnNode {
	types := rapid.IntRange(1, 3).Draw(t, "types")
	amounts := func(least, most int64) vec {
		return rapid.SliceOfN(rapid.Int64Range(least, most), types, types).Draw(t, "amounts")
	}
	ask := amounts(1, 40)
	x := drawnNode{d: &decision{c: &Cluster{}, size: ask}, lacks: amounts(0, 60)}
	x.d.c.types = types
	for i := range ask {
		x.d.types = append(x.d.types, i)
	}
	digest := nodeDigest{}
	for range rapid.IntRange(1, 5).Draw(t, "lanes") {
		size, n := amounts(0, 20), rapid.Int32Range(1, 3).Draw(t, "tasks")
		first := int32(len(x.sizes))
		digest.lanes = append(digest.lanes, lane{first: first, end: first + n})
		digest.sizes = append(digest.sizes, size...)
		for range n {
			x.sizes = append(x.sizes, size)
		}
	}
	all := make(vec, types)
	for _, size := range x.sizes {
		all = resources.Add(all, all, size)
	}
	x.lacks = resources.Min(nil, x.lacks, all) // of a node that lacks more nobody asks
	x.d.c.digest.nodes = []nodeDigest{digest}
	return x
}

// fewest tries all sets out. If none meets the lacks it takes more than there are.
func (x *drawnNode) fewest() int64 {
	best := int64(len(x.sizes)) + 1
	for set := range 1 << len(x.sizes) {
		sum := make(vec, len(x.lacks))
		for i, size := range x.sizes {
			if set>>i&1 != 0 {
				sum = resources.Add(sum, sum, size)
			}
		}
		if resources.Fits(x.lacks, sum) {
			best = min(best, int64(bits.OnesCount(uint(set))))
		}
	}
	return best
}
