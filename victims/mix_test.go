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
	require.Equal(t, m.of(vec{3, 0}, lacks), m.of(vec{0, 3}, lacks))
	require.Greater(t, m.sum(lacks), 2*m.of(vec{3, 0}, lacks))
	require.LessOrEqual(t, m.sum(lacks), 3*m.of(vec{3, 0}, lacks))
	require.Equal(t, m.of(vec{4, 0}, lacks), m.of(vec{400, 0}, lacks))
	require.Zero(t, m.sum(vec{0, 0}))
}

// Of two types the tasks that have most have six of the first and two of the
// second, of which four are lacking each. Even weights say that two tasks of
// (3, 1) are enough: eight of eight. Turned to the second type they say that two
// are not.
func TestMixture_Turn(t *testing.T) {
	lacks := vec{4, 4}
	m := mixtureOf(vec{4, 4})
	two := func() int64 { return 2 * m.of(vec{3, 1}, lacks) }
	require.GreaterOrEqual(t, two(), m.sum(lacks))
	m.turn(vec{6, 2}, lacks)
	require.Less(t, two(), m.sum(lacks))
}

// Weights stay in range however often they are turned.
func TestMixture_TurnsStayInRange(t *testing.T) {
	const large = 1 << 60
	lacks := vec{large, 3}
	m := mixtureOf(lacks)
	for range 200 {
		m.turn(vec{0, 9}, lacks)
	}
	require.Positive(t, m.weights[0])
	require.Positive(t, m.weights[1])
	require.Positive(t, m.sum(lacks))
	require.LessOrEqual(t, m.sum(lacks), int64(2*heaviest))
}

// Amounts beyond 30 bits are rounded up, and what is lacking down: a task that has
// exactly what is lacking is enough.
func TestMixture_RoundsForTheNode(t *testing.T) {
	lacks := vec{1<<40 + 1, 1<<50 + 1}
	m := mixtureOf(lacks)
	require.GreaterOrEqual(t, m.of(lacks, lacks), m.sum(lacks))
}

// The list of shares falls, and keeps the largest.
func TestInsertFalling(t *testing.T) {
	var list []laneShare
	for _, share := range []int64{3, 0, 9, 5, 7, 9} {
		list = insertFalling(list, 3, laneShare{share: share, tasks: 1})
	}
	var shares []int64
	for _, s := range list {
		shares = append(shares, s.share)
	}
	require.Equal(t, []int64{9, 9, 7}, shares)
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
