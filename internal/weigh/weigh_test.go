// SPDX-License-Identifier: Apache-2.0

package weigh_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "github.com/go-preempt/preempt/internal/judge/law" // draws the same cases in every run
	"github.com/go-preempt/preempt/internal/weigh"
)

// A small world: rows and needs.
type small struct {
	b     weigh.Bound
	held  int
	needs [][]int64
}

func drawSmall(t *rapid.T) *small {
	x := &small{}
	dims := rapid.IntRange(1, 4).Draw(t, "dimensions")
	rows := rapid.IntRange(0, 8).Draw(t, "rows")
	x.held = rapid.IntRange(0, max(rows-1, 0)).Draw(t, "held")
	x.b.Reset(dims)
	amount := rapid.SampledFrom([]int64{0, 1, 2, 3, 5, 8, 1000, 1 << weigh.Bits})
	for range rapid.IntRange(1, 4).Draw(t, "needs") {
		need := make([]int64, dims)
		for k := range need {
			need[k] = amount.Draw(t, "need")
		}
		x.needs = append(x.needs, need)
	}
	for i := range rows {
		if i == x.held && i > 0 {
			x.b.Hold(x.b.Even(x.needs[0]))
		}
		row := x.b.Add(rapid.Int32Range(1, 3).Draw(t, "copies"))
		for k := range row {
			row[k] = amount.Draw(t, "amount")
		}
	}
	return x
}

// least looks at all sets: how many rows does one have at least that covers a need?
func (x *small) least(need []int64) (count int64) {
	count = math.MaxInt64
	var try func(i int32, left []int64, n int64)
	try = func(i int32, left []int64, n int64) {
		if int(i) == x.b.Len() {
			if slices.Max(left) <= 0 {
				count = min(count, n)
			}
			return
		}
		rest := slices.Clone(left)
		for k := range int64(x.b.Copies[i]) + 1 {
			try(i+1, rest, n+k)
			for d, a := range x.b.Row(i) {
				rest[d] -= a
			}
		}
	}
	try(0, need, 0)
	return count
}

// againstAll: no bound is too high, no row is left out that a cover needs, and what is said
// to cover does. Needs come one after another, so that carried prices are asked as well.
func againstAll(t *rapid.T) {
	x := drawSmall(t)
	for range 2 {
		for _, need := range x.needs {
			count := x.least(need)
			most := rapid.Int64Range(0, 6).Draw(t, "most")
			if x.b.Told(weigh.Question{Need: need, Most: most}) {
				require.Greater(t, count, most)
			}
			if x.held > 0 {
				fewest, _, least := x.b.Base(weigh.Question{Need: need, Most: most})
				require.LessOrEqual(t, fewest, count)
				x.dearest(t, need, most, least)
			}
			if x.b.Cover(weigh.Question{Need: need, Most: most}, 0) == weigh.Unclear && count <= most {
				kept := map[int32]bool{}
				x.b.Fits(func(row int32) bool { kept[row] = true; return true })
				require.LessOrEqual(t, x.without(need, kept), most, "a row that was left out is needed")
			}
			switch x.b.Cover(weigh.Question{Need: need, Most: most}, 1<<12) {
			case weigh.Covered:
				require.LessOrEqual(t, int64(len(x.b.Picks())), most)
				require.True(t, x.covers(need))
			case weigh.Uncovered:
				require.Greater(t, count, most)
			default:
				t.Fatal("so few sets take no time")
			}
		}
	}
}

// dearest: what is worth less than least at base prices is in no set of so many rows.
func (x *small) dearest(t *rapid.T, need []int64, most, least int64) {
	kept := map[int32]bool{}
	for i := range int32(x.b.Len()) {
		kept[i] = x.b.Worth(x.b.Row(i), need) >= least
	}
	if x.least(need) <= most {
		require.LessOrEqual(t, x.without(need, kept), most)
	}
}

// without is the fewest rows that cover a need, of those that are kept.
func (x *small) without(need []int64, kept map[int32]bool) int64 {
	old := append([]int32(nil), x.b.Copies...)
	for i := range x.b.Copies {
		if !kept[int32(i)] {
			x.b.Copies[i] = 0
		}
	}
	defer copy(x.b.Copies, old)
	return x.least(need)
}

// covers reports whether the picks cover a need, each row as often as it is there.
func (x *small) covers(need []int64) bool {
	sum, taken := make([]int64, len(need)), map[int32]int32{}
	for _, i := range x.b.Picks() {
		taken[i]++
		for d, a := range x.b.Row(i) {
			sum[d] += a
		}
	}
	for i, n := range taken {
		if n > x.b.Copies[i] {
			return false
		}
	}
	for d, v := range need {
		if sum[d] < v {
			return false
		}
	}
	return true
}

func TestAgainstAllSets(t *testing.T) { rapid.Check(t, againstAll) }

func FuzzAgainstAllSets(f *testing.F) { f.Fuzz(rapid.MakeFuzz(againstAll)) }

// Rows that are out are in no set, and the bound knows it.
func TestOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSmall(t)
		if x.b.Len() == 0 {
			return
		}
		gone := rapid.Int32Range(0, int32(x.b.Len()-1)).Draw(t, "out")
		out := func(i int32) bool { return i == gone }
		kept := map[int32]bool{}
		for i := range x.b.Len() {
			kept[int32(i)] = int32(i) != gone
		}
		for _, need := range append(x.needs, x.needs...) {
			count := x.without(need, kept)
			most := rapid.Int64Range(0, 6).Draw(t, "most")
			switch x.b.Cover(weigh.Question{Need: need, Most: most, Out: out}, 1<<12) {
			case weigh.Covered:
				require.NotContains(t, x.b.Picks(), gone)
				require.True(t, x.covers(need))
			case weigh.Uncovered:
				require.Greater(t, count, most)
			}
		}
	})
}

// example is the node of the package documentation.
func example() *weigh.Bound {
	b := &weigh.Bound{}
	b.Reset(2)
	for _, row := range [][]int64{{3, 1}, {1, 5}, {1, 4}} {
		copy(b.Add(1), row)
	}
	return b
}

func TestExample(t *testing.T) {
	b, need := example(), []int64{4, 8}
	require.Equal(t, weigh.Uncovered, b.Cover(weigh.Question{Need: need, Most: 2}, 0), "two are worth 14, and 16 is needed")
	work := b.Work
	require.True(t, b.Told(weigh.Question{Need: need, Most: 2}), "prices are carried")
	require.LessOrEqual(t, b.Work-work, int64(20), "and take one look")
	require.Equal(t, weigh.Covered, b.Cover(weigh.Question{Need: need, Most: 3}, 100))
	require.ElementsMatch(t, []int32{0, 1, 2}, b.Picks())
	require.Equal(t, weigh.Covered, b.Cover(weigh.Question{Need: []int64{0, 0}, Most: 2}, 0))
	require.Empty(t, b.Picks())
}

// One type at a time, and all types at even prices, say two. Turned prices say three, and
// no set is tried.
func TestCover_TurnsPrices(t *testing.T) {
	b := &weigh.Bound{}
	b.Reset(2)
	for range 5 {
		copy(b.Add(1), []int64{60, 10})
		copy(b.Add(1), []int64{20, 48})
	}
	q := weigh.Question{Need: []int64{70, 70}, Most: 2}
	b.Hold(b.Even(q.Need))
	fewest, _ := b.Glance(q)
	require.Equal(t, int64(2), fewest)
	require.Equal(t, weigh.Uncovered, b.Cover(q, 0))
	q.Most = 3
	require.Equal(t, weigh.Covered, b.Cover(q, 100))
}

// What held rows are worth at carried prices is known, so that a question looks at the
// others only.
func TestHold(t *testing.T) {
	b := &weigh.Bound{}
	b.Reset(3)
	for range 1000 {
		copy(b.Add(1), []int64{0, 0, 10})
	}
	need := []int64{10, 10, 30}
	b.Hold(b.Even(need))
	ask := func(row []int64) weigh.Coverage {
		b.Release()
		copy(b.Add(2), row)
		return b.Cover(weigh.Question{Need: need, Most: 4}, 0)
	}
	require.Equal(t, weigh.Uncovered, ask([]int64{5, 3, 0}), "four of the two on the node, of which there are two at most, and three elsewhere")
	work := b.Work
	require.Equal(t, weigh.Uncovered, ask([]int64{4, 4, 0}))
	require.Less(t, b.Work-work, int64(100))
	require.Equal(t, weigh.Covered, ask([]int64{10, 10, 10}), "with those on the node that give all")
}

// Amounts that are rounded cover whatever they covered before.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.Int64Range(1, math.MaxInt64).Draw(t, "most")
		s := weigh.ScaleOf(most)
		a := rapid.Int64Range(0, math.MaxInt64).Draw(t, "a")
		b := rapid.Int64Range(0, math.MaxInt64).Draw(t, "b")
		need := rapid.Int64Range(math.MinInt64, most).Draw(t, "need")
		require.LessOrEqual(t, s.Has(a), int64(1)<<weigh.Bits)
		if sum := a + b; sum < 0 || sum >= need {
			require.GreaterOrEqual(t, s.Has(a)+s.Has(b), s.Needs(need))
		}
	})
}

func TestNoAllocs(t *testing.T) {
	b, need := example(), []int64{4, 8}
	ask := func() {
		b.Reset(2)
		for range 20 {
			copy(b.Add(2), []int64{3, 1})
			copy(b.Add(1), []int64{1, 2})
		}
		b.Hold(b.Even(need))
		copy(b.Add(1), []int64{4, 4})
		for most := range int64(8) {
			b.Cover(weigh.Question{Need: need, Most: most, Out: func(row int32) bool { return row == int32(most) }}, 100)
		}
		b.Release()
	}
	ask()
	require.Zero(t, testing.AllocsPerRun(10, ask))
}
