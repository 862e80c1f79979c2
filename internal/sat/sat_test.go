// SPDX-License-Identifier: Apache-2.0

package sat

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/go-preempt/preempt/internal/judge/law" // draws the same cases in every run
)

// clamp8 is what the package promises, in a type where nothing overflows.
func clamp8(x int) int8 { return int8(max(-127, min(x, 127))) }

// TestInt8 holds every function to plain ints, on every pair of operands.
func TestInt8(t *testing.T) {
	for x := math.MinInt8; x <= math.MaxInt8; x++ {
		if got, want := Clamp(int8(x)), clamp8(x); got != want {
			t.Errorf("Clamp(%d) = %d, want %d", x, got, want)
		}
		for y := math.MinInt8; y <= math.MaxInt8; y++ {
			// The most negative value is read as -Max.
			a, b := max(x, -127), max(y, -127)
			if got, want := Add(int8(x), int8(y)), clamp8(a+b); got != want {
				t.Errorf("Add(%d, %d) = %d, want %d", x, y, got, want)
			}
			if got, want := Sub(int8(x), int8(y)), clamp8(a-b); got != want {
				t.Errorf("Sub(%d, %d) = %d, want %d", x, y, got, want)
			}
			if got, want := Mul(int8(x), int8(y)), clamp8(a*b); got != want {
				t.Errorf("Mul(%d, %d) = %d, want %d", x, y, got, want)
			}
		}
	}
}

func TestInt64(t *testing.T) {
	const (
		lowest = math.MinInt64
		most   = math.MaxInt64
	)
	tests := []struct{ x, y, add, sub, mul int64 }{
		{0, 0, 0, 0, 0},
		{2, 3, 5, -1, 6},
		{-2, 3, 1, -5, -6},
		{most, 1, most, most - 1, most},
		{-1, most, most - 1, -most, -most},
		{most, most, most, 0, most},
		{most, -most, 0, most, -most},
		{-most, -most, -most, 0, most},
		{-most, 1, -most + 1, -most, -most},
		{lowest, 0, -most, -most, 0},
		{lowest, 5, -most + 5, -most, -most},
		{5, lowest, -most + 5, most, -most},
		{-5, lowest, -most, most - 5, most},
		{lowest, lowest, -most, 0, most},
		{lowest, most, 0, -most, -most},
		{1 << 32, 1 << 31, 1<<32 + 1<<31, 1 << 31, most}, // the product is 2^63
		{1 << 31, 1 << 31, 1 << 32, 0, 1 << 62},
		{3037000500, 3037000500, 6074001000, 0, most}, // the least square beyond 2^63
		{3037000499, -3037000499, 0, 6074000998, -9223372030926249001},
		{1 << 32, 1 << 32, 1 << 33, 0, most}, // the low half of the product is 0
	}
	for _, tt := range tests {
		if got := Add(tt.x, tt.y); got != tt.add {
			t.Errorf("Add(%d, %d) = %d, want %d", tt.x, tt.y, got, tt.add)
		}
		if got := Sub(tt.x, tt.y); got != tt.sub {
			t.Errorf("Sub(%d, %d) = %d, want %d", tt.x, tt.y, got, tt.sub)
		}
		if got := Mul(tt.x, tt.y); got != tt.mul {
			t.Errorf("Mul(%d, %d) = %d, want %d", tt.x, tt.y, got, tt.mul)
		}
	}
}

type level int16

func TestMax(t *testing.T) {
	if got := Max[int8](); got != 127 {
		t.Errorf("Max[int8] = %d", got)
	}
	if got := Max[level](); got != 32767 {
		t.Errorf("Max[level] = %d", got)
	}
	if got := Max[int32](); got != math.MaxInt32 {
		t.Errorf("Max[int32] = %d", got)
	}
	if got := Max[int](); got != math.MaxInt {
		t.Errorf("Max[int] = %d", got)
	}
	if got := Max[time.Duration](); got != math.MaxInt64 {
		t.Errorf("Max[Duration] = %d", got)
	}
	if got := Add[level](32000, 1000); got != 32767 {
		t.Errorf("Add[level](32000, 1000) = %d", got)
	}
}

// wide64 draws int64s of all magnitudes, the ends often.
func wide64() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1}),
		rapid.Int64Range(-3, 3),
		rapid.Int64Range(-1<<33, 1<<33),
		rapid.Int64(),
	)
}

// bigInt64 holds every function to big.Int.
func bigInt64(t *rapid.T) {
	x, y := wide64().Draw(t, "x"), wide64().Draw(t, "y")
	most := big.NewInt(math.MaxInt64)
	least := new(big.Int).Neg(most)
	clamp := func(z *big.Int) int64 {
		if z.Cmp(most) > 0 {
			return math.MaxInt64
		}
		if z.Cmp(least) < 0 {
			return -math.MaxInt64
		}
		return z.Int64()
	}
	a, b := big.NewInt(clamp(big.NewInt(x))), big.NewInt(clamp(big.NewInt(y)))
	for _, op := range []struct {
		name string
		got  int64
		want *big.Int
	}{
		{"Add", Add(x, y), new(big.Int).Add(a, b)},
		{"Sub", Sub(x, y), new(big.Int).Sub(a, b)},
		{"Mul", Mul(x, y), new(big.Int).Mul(a, b)},
	} {
		if want := clamp(op.want); op.got != want {
			t.Errorf("%s(%d, %d) = %d, want %d", op.name, x, y, op.got, want)
		}
	}
}

func TestBigInt64(t *testing.T) { rapid.Check(t, bigInt64) }

func FuzzBigInt64(f *testing.F) { f.Fuzz(rapid.MakeFuzz(bigInt64)) }
