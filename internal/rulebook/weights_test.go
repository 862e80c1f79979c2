// SPDX-License-Identifier: Apache-2.0

package rulebook

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "github.com/go-preempt/preempt/internal/judge/law" // draws the same cases in every run
	"github.com/go-preempt/preempt/resources"
)

func TestWeights_Table(t *testing.T) {
	for _, tt := range []struct {
		name           string
		capacity, size resources.Vector
		want           uint64
	}{
		{"nothing", resources.Vector{8}, nil, 1},
		{"nothing of nothing", nil, resources.Vector{5}, 1},
		{"all", resources.Vector{8}, resources.Vector{8}, 1e9},
		{"a GPU of 800,000", resources.Vector{800_000}, resources.Vector{1}, 1250},
		{"rounded up", resources.Vector{3}, resources.Vector{1}, 333_333_334},
		{"the largest of two types", resources.Vector{10, 100}, resources.Vector{1, 20}, 2e8},
		{"a type of which there is none", resources.Vector{0, 100}, resources.Vector{7, 1}, 1e7},
		{"more than there is", resources.Vector{2}, resources.Vector{5}, 2_500_000_000},
		{"at least 1", resources.Vector{math.MaxInt64}, resources.Vector{1}, 1},
		{"at most 2^63 - 1", resources.Vector{1}, resources.Vector{math.MaxInt64}, math.MaxInt64},
		{"just within", resources.Vector{1e9}, resources.Vector{math.MaxInt64}, math.MaxInt64},
		{"memory", resources.Vector{1 << 50}, resources.Vector{1 << 30}, 954},
	} {
		var w Weights
		w.Set(tt.capacity)
		require.Equal(t, tt.want, w.Of(tt.size), tt.name)
	}
}

// A weight is that of the formula, in big integers.
func TestWeights_Twin(t *testing.T) { rapid.Check(t, weightsAreTwin) }

func FuzzWeights(f *testing.F) { f.Fuzz(rapid.MakeFuzz(weightsAreTwin)) }

func weightsAreTwin(t *rapid.T) {
	amount := rapid.OneOf(
		rapid.SampledFrom([]int64{0, 1, 2, 3, 1e9 - 1, 1e9, 1e9 + 1, 1 << 32, 1 << 62, math.MaxInt64 - 1, math.MaxInt64}),
		rapid.Int64Range(0, 100), rapid.Int64Range(0, 1<<40), rapid.Int64Range(0, math.MaxInt64))
	capacity := rapid.SliceOfN(amount, 0, 3).Draw(t, "capacity")
	size := rapid.SliceOfN(amount, 0, 3).Draw(t, "size")
	want := big.NewInt(1)
	for i, of := range capacity {
		if of == 0 || i >= len(size) {
			continue
		}
		n := new(big.Int).Mul(big.NewInt(size[i]), big.NewInt(Whole))
		n.Add(n, big.NewInt(of-1))
		if n.Div(n, big.NewInt(of)); n.Cmp(want) > 0 {
			want = n
		}
	}
	if most := big.NewInt(math.MaxInt64); want.Cmp(most) > 0 {
		want = most
	}
	var w Weights
	w.Set(capacity)
	if got := w.Of(size); got != want.Uint64() {
		t.Fatalf("%v of %v: %d, want %v", size, capacity, got, want)
	}
}

// What is told of losses, by hand.
func TestLosses(t *testing.T) {
	s, err := resources.NewSchema("cpu", "gpu", "disk")
	require.NoError(t, err)
	var l Losses
	tell := func(capacity resources.Vector, tasks ...any) (c Cost) {
		l.Begin(capacity)
		for i := 0; i < len(tasks); i += 2 {
			l.Add(tasks[i].(resources.Vector), uint64(tasks[i+1].(int)))
		}
		l.Tell(&c, s)
		return c
	}
	capacity := resources.Vector{100, 10, 0}
	c := tell(capacity, resources.Vector{10, 4}, 100, resources.Vector{50, 0}, 10)
	require.Equal(t, "110ns gpu 400", c.LostTime.String()+" "+c.LostType+" "+c.LostAmount.String())
	c = tell(capacity, resources.Vector{10, 4}, 100, resources.Vector{50, 0}, 90)
	require.Equal(t, "cpu 5500", c.LostType+" "+c.LostAmount.String(), "of all victims, whoever gives the weight")
	c = tell(capacity, resources.Vector{10, 1}, 100)
	require.Equal(t, "cpu", c.LostType, "both types give the weight")
	c = tell(capacity, resources.Vector{10, 0}, 100, resources.Vector{0, 1}, 100)
	require.Equal(t, "cpu", c.LostType, "both sums are equal")
	c = tell(resources.Vector{math.MaxInt64, math.MaxInt64}, resources.Vector{10, 1}, 100)
	require.Equal(t, "", c.LostType, "nobody weighs more than 1")
	c = tell(capacity, resources.Vector{1, 0, 7}, 100)
	require.Equal(t, "cpu 100", c.LostType+" "+c.LostAmount.String(), "no node has any disk")
	require.Zero(t, testing.AllocsPerRun(10, func() { l.Begin(capacity); l.Add(capacity, 5); l.Tell(&c, s) }))
}
