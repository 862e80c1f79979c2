// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
)

func TestDivide(t *testing.T) {
	const most = math.MaxInt64
	for _, test := range []struct {
		name    string
		amount  int64
		weights []int64
		want    []int64
	}{
		{"nobody", 5, nil, nil},
		{"nothing to divide", 0, []int64{1, 2}, []int64{0, 0}},
		{"no weight", 5, []int64{0, 0}, []int64{0, 0}},
		{"one", 3, []int64{7}, []int64{3}},
		{"more than the weights", 9, []int64{1, 2}, []int64{3, 6}},
		{"more than the weights, with remainders", 10, []int64{1, 1, 1}, []int64{4, 3, 3}},
		{"29 and 71: floors lose a unit", 3, []int64{29, 71}, []int64{1, 2}},
		{"27.27 and 72.73", 100, []int64{30, 80}, []int64{27, 73}},
		{"2, 1.2 and 0.8", 4, []int64{5, 3, 2}, []int64{2, 1, 1}},
		{"halves: the first", 1, []int64{4, 4}, []int64{1, 0}},
		{"thirds: the first two", 2, []int64{1, 1, 1}, []int64{1, 1, 0}},
		{"a weight of 0 gets nothing", 2, []int64{0, 3, 0, 3}, []int64{0, 1, 0, 1}},
		{"3, 1.5 and 0.5: a tie of remainders", 5, []int64{6, 3, 1}, []int64{3, 2, 0}},
		{"the larger remainder, not the larger weight", 3, []int64{7, 2, 1}, []int64{2, 1, 0}}, // 2.1, 0.6, 0.3
		{"the end of the range", most, []int64{most - 1, 1}, []int64{most - 1, 1}},
		{"below the end of the range", most - 2, []int64{most / 2, most / 2, 1}, []int64{most/2 - 1, most/2 - 1, 1}},
		{"less than nothing", -3, []int64{1, 2}, []int64{0, 0}},
		{"a negative weight gets nothing", 3, []int64{-5, 1, math.MinInt64, 2}, []int64{0, 1, 0, 2}},
		{"weights beyond the range are halved", 8, []int64{most, most}, []int64{4, 4}},
		{"and a small one vanishes", 9, []int64{most, 1, most}, []int64{5, 0, 4}},
		{"huge and halves", most, []int64{most/2 + 1, most / 2}, []int64{most/2 + 1, most / 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var d Divider
			for _, dst := range [][]int64{nil, make([]int64, 1, 9), slices.Repeat([]int64{7}, 9)} {
				got := d.Divide(dst, test.amount, test.weights)
				require.Equal(t, append([]int64{}, test.want...), append([]int64{}, got...))
			}
		})
	}
}

var laws = []law.Law{{Name: "Divide", Holds: propertyDivide}}

func TestDivide_Laws(t *testing.T) { law.Check(t, laws) }

func FuzzDivide(f *testing.F) {
	f.Add(slices.Repeat([]byte{0xa5, 3, 0, 0, 0, 0, 0, 1}, 64))
	f.Fuzz(rapid.MakeFuzz(propertyDivide))
}

// Parts sum exactly, each is within one unit of its exact share and none above its
// weight if all can be, and an order of the weights matters only where it breaks a
// tie.
func propertyDivide(t *rapid.T) {
	weights, total := drawWeights(t)
	amount := rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "amount")
	var x Divider
	parts := x.Divide(nil, amount, weights)

	whole := amount
	if total == 0 {
		whole = 0
	}
	sum := int64(0)
	for i, part := range parts {
		sum += part
		if part < 0 || amount <= total && part > weights[i] {
			t.Fatalf("part %d of weight %d", part, weights[i])
		}
		if off := new(big.Rat).Sub(exactShare(whole, weights[i], total), new(big.Rat).SetInt64(part)); off.Abs(off).Cmp(big.NewRat(1, 1)) >= 0 {
			t.Fatalf("part %d is a unit or more from its share", part)
		}
	}
	if sum != whole {
		t.Fatalf("parts of %d sum to %d", whole, sum)
	}

	order := rapid.Permutation(indices(len(weights))).Draw(t, "order")
	turned := make([]int64, len(weights))
	for i, k := range order {
		turned[i] = weights[k]
	}
	got := x.Divide(nil, amount, turned)
	for i, k := range order {
		if got[i] != parts[k] && !tied(weights, whole, total, k, parts, got, order) {
			t.Fatalf("weight %d: part %d, and in another order %d", weights[k], parts[k], got[i])
		}
	}
}

// drawWeights draws weights that sum to an int64.
func drawWeights(t *rapid.T) (weights []int64, total int64) {
	most := rapid.SampledFrom([]int64{5, 100, math.MaxInt64}).Draw(t, "most")
	for range rapid.IntRange(0, 8).Draw(t, "weights") {
		w := rapid.Int64Range(0, min(most, math.MaxInt64-total)).Draw(t, "weight")
		weights, total = append(weights, w), total+w
	}
	return weights, total
}

func exactShare(whole, weight, total int64) *big.Rat {
	if total == 0 {
		return new(big.Rat)
	}
	share := big.NewRat(weight, total)
	return share.Mul(share, new(big.Rat).SetInt64(whole))
}

// tied reports whether weight k has the same remainder as another one that got
// the opposite.
func tied(weights []int64, whole, total int64, k int, parts, turned []int64, order []int) bool {
	rest := func(i int) *big.Rat {
		share := exactShare(whole, weights[i], total)
		return share.Sub(share, new(big.Rat).SetInt(new(big.Int).Quo(share.Num(), share.Denom())))
	}
	for i, other := range order {
		if other != k && turned[i] != parts[other] && rest(other).Cmp(rest(k)) == 0 {
			return true
		}
	}
	return false
}

func indices(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// TestDivide_NoAllocs shows that a warm Divider allocates nothing.
func TestDivide_NoAllocs(t *testing.T) {
	var d Divider
	var parts []int64
	weights := []int64{1, 2, 3}
	require.Zero(t, testing.AllocsPerRun(100, func() { parts = d.Divide(parts, 5, weights) }))
}

// A division with a remainder for every weight, all of which are sorted.
func BenchmarkDivide(b *testing.B) {
	for _, n := range []int{3, 1000} {
		weights := make([]int64, n)
		for i := range weights {
			weights[i] = int64(i)*7919%1009 + 1
		}
		b.Run(fmt.Sprintf("weights=%d", n), func(b *testing.B) {
			var d Divider
			var parts []int64
			b.ReportAllocs()
			for b.Loop() {
				parts = d.Divide(parts, 100003, weights)
			}
		})
	}
}
