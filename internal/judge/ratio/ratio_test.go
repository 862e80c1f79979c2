// SPDX-License-Identifier: Apache-2.0

package ratio

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/resources"
)

const (
	most   = math.MaxInt64
	lowest = math.MinInt64
)

func TestRatio(t *testing.T) {
	tests := []struct {
		x        resources.Vector
		num, den int64
		want     resources.Vector
	}{
		{nil, 1, 2, resources.Vector{}},
		{resources.Vector{10, 7, 0}, 1, 2, resources.Vector{5, 3, 0}},
		{resources.Vector{-7, 7, -7}, 1, 2, resources.Vector{-3, 3, -3}}, // toward zero
		{resources.Vector{-7, 7}, -1, 2, resources.Vector{3, -3}},
		{resources.Vector{-7, 7}, -1, -2, resources.Vector{-3, 3}},
		{resources.Vector{most, -most}, most, most, resources.Vector{most, -most}}, // the product takes 126 bits
		{resources.Vector{most, 10}, most - 1, most, resources.Vector{most - 1, 9}},
		{resources.Vector{most, -most, 1}, 3, 2, resources.Vector{most, -most, 1}},
		{resources.Vector{most, 2}, most, 1, resources.Vector{most, most}},
		{resources.Vector{1 << 32}, 1 << 32, 2, resources.Vector{most}}, // the quotient is 2^63
		{resources.Vector{lowest}, 1, lowest, resources.Vector{1}},
		{resources.Vector{5, 0, -5}, 2, 0, resources.Vector{most, 0, -most}},
		{resources.Vector{5, 0, -5}, -2, 0, resources.Vector{-most, 0, most}},
		{resources.Vector{5, 0, -5}, 0, 0, resources.Vector{0, 0, 0}},
	}
	for _, tt := range tests {
		if got := OfVector(tt.x, tt.num, tt.den); !slices.Equal(got, tt.want) {
			t.Errorf("%v * %d / %d = %v, want %v", tt.x, tt.num, tt.den, got, tt.want)
		}
	}
}

var laws = []law.Law{{Name: "Twin", Holds: asTwin}}

func TestLaws(t *testing.T) { law.Check(t, laws) }

// asTwin: a ratio is what numbers without end say, cut off at the ends of the range.
func asTwin(t *rapid.T) {
	draw := func(name string) int64 {
		return rapid.OneOf(rapid.Int64Range(-5, 5), rapid.Int64Range(most-2, most), rapid.Int64()).Draw(t, name)
	}
	x, num, den := draw("x"), draw("num"), draw("den")
	if x == lowest || num == lowest || den == lowest || den == 0 {
		return // they have a table
	}
	want := new(big.Int).Mul(big.NewInt(x), big.NewInt(num))
	want.Quo(want, big.NewInt(den)) // toward zero
	if !want.IsInt64() || want.Int64() == lowest {
		want = big.NewInt(int64(want.Sign()) * most)
	}
	if got := Of(x, num, den); got != want.Int64() {
		t.Fatalf("%d·%d/%d = %d, want %d", x, num, den, got, want)
	}
}
