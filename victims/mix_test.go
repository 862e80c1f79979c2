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

// Of two types the tasks that have most have six of the first and two of the
// second, of which four are lacking each. Even weights say that two tasks of
// (3, 1) are enough: eight of eight. Turned to the second type they say that two
// are not.
func TestMixture_Turn(t *testing.T) {
	lacks := vec{4, 4}
	m := mixtureOf(vec{4, 4})
	sum := m.aim(lacks)
	two := func() int64 { return 2 * m.of(vec{3, 1}) }
	require.GreaterOrEqual(t, two(), sum)
	m.turn(vec{6, 2})
	require.Less(t, two(), m.aim(lacks))
}

// Weights stay in range however often they are turned, and sums on nodes that lack
// much more than the ask wants, too.
func TestMixture_TurnsStayInRange(t *testing.T) {
	const large = 1 << 60
	lacks := vec{large, 3}
	m := mixtureOf(lacks)
	for range 200 {
		m.aim(lacks)
		m.turn(vec{0, 9})
	}
	require.Positive(t, m.rows[0].weight)
	require.Positive(t, m.rows[1].weight)
	for _, lacks := range []vec{lacks, {large, large}, {1, large}} {
		require.Positive(t, m.aim(lacks))
		require.LessOrEqual(t, m.aim(lacks), int64(2*heaviest))
	}
}

// Amounts beyond 30 bits are rounded up, and what is lacking down: a task that has
// exactly what is lacking is enough.
func TestMixture_RoundsForTheNode(t *testing.T) {
	lacks := vec{1<<40 + 1, 1<<50 + 1}
	m := mixtureOf(lacks)
	sum := m.aim(lacks)
	require.GreaterOrEqual(t, m.of(lacks), sum)
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

// Whatever the cut is, no set of as many tasks as are of interest has more than
// weigh says, and with the share of the last of the largest it is exact.
func TestWeigh_IsNeverTooLow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawLanes(t)
		most := rapid.Int64Range(1, 12).Draw(t, "most")
		mix := &x.d.problem.mix
		mix.cut = rapid.Int64Range(0, 1<<40).Draw(t, "cut")
		rest, reach := bounder{x.d}.weigh(mix, x.in, lackOfAll{x.lacks, most})
		sum, last := x.largest(most)
		require.Equal(t, mix.aim(x.lacks), rest)
		require.GreaterOrEqual(t, reach, sum)

		mix.cut = last
		_, reach = bounder{x.d}.weigh(mix, x.in, lackOfAll{x.lacks, most})
		require.Equal(t, sum, reach)
	})
}

// No set of tasks meets the lacks with fewer than fewestOfAll says.
func TestFewestOfAll_IsNeverTooMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawLanes(t)
		most := rapid.Int64Range(1, 12).Draw(t, "most")
		mix := &x.d.problem.mix
		mix.cut = rapid.Int64Range(0, 1<<40).Draw(t, "cut")
		count, _ := bounder{x.d}.fewestOfAll(mix, x.in, lackOfAll{x.lacks, most})
		require.LessOrEqual(t, count, max(x.fewest(), 1), "a node that lacks nothing is not asked about")
		require.LessOrEqual(t, count, most+1)
	})
}

// Weights that are sought never rule out a number of tasks that is enough.
func TestSeek_RulesOutWhatIsTooFew(t *testing.T) {
	told := 0
	rapid.Check(t, func(t *rapid.T) {
		x := drawLanes(t)
		if !slices.ContainsFunc(x.lacks, func(short int64) bool { return short > 0 }) {
			t.Skip("a node that lacks nothing is not asked about")
		}
		most := rapid.Int64Range(1, 12).Draw(t, "most")
		if (bounder{x.d}).seek(x.in, lackOfAll{x.lacks, most}) {
			require.Less(t, most, x.fewest())
			told++
		}
	})
	if !testing.Short() { // a few draws may have none
		require.Positive(t, told)
	}
}

// A drawnNode is a node with a few tasks in lanes, and what it lacks.
type drawnNode struct {
	d     *decision
	in    laneSet
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
	x.d.problem.mix.reset(x.d)
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
	x.d.c.digest.nodes, x.d.sieve.node = []nodeDigest{digest}, -1
	x.in = laneSet{0, digest.lanes}
	return x
}

// largest returns what so many of the tasks have at most together, and the last of
// them, 0 if there are no more.
func (x *drawnNode) largest(most int64) (sum, last int64) {
	x.d.problem.mix.aim(x.lacks)
	var shares []int64
	for _, size := range x.sizes {
		shares = append(shares, x.d.problem.mix.of(size))
	}
	slices.SortFunc(shares, func(a, b int64) int { return cmp.Compare(b, a) })
	if int64(len(shares)) < most {
		shares = append(shares, make([]int64, most)...)
	}
	for _, s := range shares[:most] {
		sum, last = sum+s, s
	}
	return sum, last
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
