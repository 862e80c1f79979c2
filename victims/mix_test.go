// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// mixtureOf is the mixture of an ask of a size.
func mixtureOf(size vec) *mixture {
	d := &decision{c: &Cluster{}, size: size}
	d.c.types = len(size)
	for t := range size {
		d.types = append(d.types, t)
	}
	m := new(mixture)
	m.reset(d)
	return m
}

// Four of each of two types are lacking, and nobody has more than three together:
// the sum says three victims, and each type by itself two. What a task has beyond
// what is lacking does not count.
func TestMixture(t *testing.T) {
	lacks := vec{4, 4}
	m := mixtureOf(vec{4, 4})
	sum := m.aim(lacks)
	require.Equal(t, m.of(vec{3, 0}), m.of(vec{0, 3}))
	require.Greater(t, sum, 2*m.of(vec{3, 0}))
	require.LessOrEqual(t, sum, 3*m.of(vec{3, 0}))
	require.Equal(t, m.of(vec{4, 0}), m.of(vec{400, 0}))
	require.Zero(t, m.aim(vec{0, 0}))
}

// Amounts beyond 30 bits are rounded up, and what is lacking down: a task that has
// exactly what is lacking is enough.
func TestMixture_RoundsForTheNode(t *testing.T) {
	lacks := vec{1<<40 + 1, 1<<50 + 1}
	m := mixtureOf(lacks)
	sum := m.aim(lacks)
	require.GreaterOrEqual(t, m.of(lacks), sum)
}

// Of lanes those are kept that have most for their own cost.
func TestKeepBest(t *testing.T) {
	var best []pickedLane
	for i := range int32(3 * thinTo) {
		best = keepBest(best, pickedLane{share: int64(1 + i%thinTo), cost: int64(i / thinTo), lane: i}, pickedLane.compare)
	}
	require.Len(t, best, thinTo)
	for i := range best {
		require.Zero(t, best[i].cost, "of all that have as much the ones without cost are kept")
	}
}
