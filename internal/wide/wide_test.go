// SPDX-License-Identifier: Apache-2.0

package wide

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/go-preempt/preempt/internal/judge/law" // draws the same cases in every run
)

const most = math.MaxUint64

func TestMul(t *testing.T) {
	tests := []struct {
		x, y uint64
		want Uint128
	}{
		{0, most, Uint128{0, 0}},
		{1, most, Uint128{0, most}},
		{2, most, Uint128{1, most - 1}},
		{1 << 32, 1 << 32, Uint128{1, 0}},
		{most, most, Uint128{most - 1, 1}},
	}
	for _, tt := range tests {
		if got := Mul(tt.x, tt.y); got != tt.want {
			t.Errorf("Mul(%d, %d) = %v, want %v", tt.x, tt.y, got, tt.want)
		}
	}
}

func TestAdd(t *testing.T) {
	tests := []struct{ u, v, want Uint128 }{
		{Uint128{}, Of(7), Uint128{0, 7}},
		{Of(most), Of(1), Uint128{1, 0}},
		{Uint128{1, most}, Uint128{2, most}, Uint128{4, most - 1}},
		{Uint128{most, most}, Of(1), Uint128{}},
	}
	for _, tt := range tests {
		if got := tt.u.Add(tt.v); got != tt.want {
			t.Errorf("%v + %v = %v, want %v", tt.u, tt.v, got, tt.want)
		}
	}
}

func TestCmp(t *testing.T) {
	ascending := []Uint128{{}, {0, 1}, {0, most}, {1, 0}, {1, 1}, {2, 0}, {most, 0}, {most, most}}
	for i, u := range ascending {
		if got, want := u.IsZero(), i == 0; got != want {
			t.Errorf("%v.IsZero() = %t", u, got)
		}
		for j, v := range ascending {
			want := 0
			switch {
			case i < j:
				want = -1
			case i > j:
				want = +1
			}
			if got := u.Cmp(v); got != want {
				t.Errorf("%v.Cmp(%v) = %d, want %d", u, v, got, want)
			}
		}
	}
}

func TestCmpRatio(t *testing.T) {
	tests := []struct {
		a, b, c, d uint64
		want       int
	}{
		{0, 5, 0, 7, 0},
		{1, 2, 2, 4, 0},
		{1, 3, 33, 100, +1},
		{2, 3, 67, 100, -1},
		// Neighbours that a float64 cannot tell apart.
		{most - 1, most, most - 2, most - 1, +1},
		{1<<53 + 1, 1 << 53, 1, 1, +1},
		{1, most, 1, most - 1, -1},
		{most, 1, most, 1, 0},
	}
	for _, tt := range tests {
		if got := CmpRatio(tt.a, tt.b, tt.c, tt.d); got != tt.want {
			t.Errorf("CmpRatio(%d, %d, %d, %d) = %d, want %d", tt.a, tt.b, tt.c, tt.d, got, tt.want)
		}
		if got := CmpRatio(tt.c, tt.d, tt.a, tt.b); got != -tt.want {
			t.Errorf("CmpRatio(%d, %d, %d, %d) = %d, want %d", tt.c, tt.d, tt.a, tt.b, got, -tt.want)
		}
	}
}

func TestMulDiv(t *testing.T) {
	tests := []struct{ x, y, d, quo, rem uint64 }{
		{0, 0, 1, 0, 0},
		{10, 3, 4, 7, 2},
		{7, 1, 3, 2, 1},
		{most, most, most, most, 0},
		{most, most - 1, most, most - 1, 0},
		{1 << 63, 3, 1 << 63, 3, 0},
		{most, 2, 3, 12297829382473034410, 0},
	}
	for _, tt := range tests {
		if quo, rem := MulDiv(tt.x, tt.y, tt.d); quo != tt.quo || rem != tt.rem {
			t.Errorf("MulDiv(%d, %d, %d) = %d, %d, want %d, %d", tt.x, tt.y, tt.d, quo, rem, tt.quo, tt.rem)
		}
	}
}

func TestMulDivPanics(t *testing.T) {
	tests := []struct{ x, y, d uint64 }{
		{1, 1, 0},
		{0, 0, 0},
		{most, most, most - 1},
		{1 << 32, 1 << 32, 1},
	}
	for _, tt := range tests {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("MulDiv(%d, %d, %d) did not panic", tt.x, tt.y, tt.d)
				}
			}()
			MulDiv(tt.x, tt.y, tt.d)
		}()
	}
}

// uint64s draws integers of all magnitudes, the ends often.
func uint64s() *rapid.Generator[uint64] {
	return rapid.OneOf(
		rapid.SampledFrom([]uint64{0, 1, most - 1, most, 1 << 32, 1 << 63}),
		rapid.Uint64Range(0, 10),
		rapid.Uint64(),
	)
}

func (u Uint128) big() *big.Int {
	z := new(big.Int).SetUint64(u.Hi)
	return z.Lsh(z, 64).Add(z, new(big.Int).SetUint64(u.Lo))
}

// twin holds every function to big.Int.
func twin(t *rapid.T) {
	draw := func(name string) (uint64, *big.Int) {
		x := uint64s().Draw(t, name)
		return x, new(big.Int).SetUint64(x)
	}
	x, bx := draw("x")
	y, by := draw("y")
	z, bz := draw("z")

	product := new(big.Int).Mul(bx, by)
	if got := Mul(x, y).big(); got.Cmp(product) != 0 {
		t.Errorf("Mul(%d, %d) = %d, want %d", x, y, got, product)
	}

	u, v := Uint128{x, y}, Uint128{z, x}
	sum := new(big.Int).Add(u.big(), v.big())
	sum.SetBit(sum, 128, 0) // modulo 2^128
	if got := u.Add(v).big(); got.Cmp(sum) != 0 {
		t.Errorf("%v + %v = %d, want %d", u, v, got, sum)
	}
	if got, want := u.Cmp(v), u.big().Cmp(v.big()); got != want {
		t.Errorf("%v.Cmp(%v) = %d, want %d", u, v, got, want)
	}

	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
	capped := func(n *big.Int) *big.Int {
		if n.Cmp(most) > 0 {
			return most
		}
		return n
	}
	if got, want := u.AddSat(v).big(), capped(new(big.Int).Add(u.big(), v.big())); got.Cmp(want) != 0 {
		t.Errorf("%v + %v = %d, want %d", u, v, got, want)
	}
	if got, want := u.MulSat(z).big(), capped(new(big.Int).Mul(u.big(), bz)); got.Cmp(want) != 0 {
		t.Errorf("%v * %d = %d, want %d", u, z, got, want)
	}
	if got, want := u.Len(), u.big().BitLen(); got != want {
		t.Errorf("%v has %d bits, want %d", u, got, want)
	}
	shift := uint(rapid.IntRange(0, 128).Draw(t, "shift"))
	if got, want := u.Rsh(shift).big(), new(big.Int).Rsh(u.big(), shift); got.Cmp(want) != 0 {
		t.Errorf("%v >> %d = %d, want %d", u, shift, got, want)
	}
	if z != 0 {
		quo, rem := u.DivMod(z)
		if wantQuo, wantRem := new(big.Int).QuoRem(u.big(), bz, new(big.Int)); quo.big().Cmp(wantQuo) != 0 || rem != wantRem.Uint64() {
			t.Errorf("%v / %d = %v, %d, want %v, %v", u, z, quo, rem, wantQuo, wantRem)
		}
	}

	if y != 0 && z != 0 {
		got, want := CmpRatio(x, y, x, z), new(big.Rat).SetFrac(bx, by).Cmp(new(big.Rat).SetFrac(bx, bz))
		if got != want {
			t.Errorf("CmpRatio(%d, %d, %d, %d) = %d, want %d", x, y, x, z, got, want)
		}
		got, want = CmpRatio(x, y, y, z), new(big.Rat).SetFrac(bx, by).Cmp(new(big.Rat).SetFrac(by, bz))
		if got != want {
			t.Errorf("CmpRatio(%d, %d, %d, %d) = %d, want %d", x, y, y, z, got, want)
		}
	}

	if z != 0 && (x <= z || y <= z) {
		wantQuo, wantRem := new(big.Int).QuoRem(product, bz, new(big.Int))
		quo, rem := MulDiv(x, y, z)
		if !wantQuo.IsUint64() || quo != wantQuo.Uint64() || rem != wantRem.Uint64() {
			t.Errorf("MulDiv(%d, %d, %d) = %d, %d, want %d, %d", x, y, z, quo, rem, wantQuo, wantRem)
		}
	}
}

func TestTwin(t *testing.T) { rapid.Check(t, twin) }

func FuzzTwin(f *testing.F) { f.Fuzz(rapid.MakeFuzz(twin)) }

// TestSum adds the largest products many times: what a cost sums up stays exact.
func TestSum(t *testing.T) {
	terms := slices.Repeat([]uint64{most, 1, most - 1, 1 << 63}, 1000)
	var got Uint128
	want := new(big.Int)
	for _, x := range terms {
		got = got.Add(Of(x))
		want.Add(want, new(big.Int).SetUint64(x))
	}
	if got.big().Cmp(want) != 0 {
		t.Errorf("sum = %d, want %d", got.big(), want)
	}
}
