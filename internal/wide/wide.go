// SPDX-License-Identifier: Apache-2.0

// Package wide is exact arithmetic on 128 bits: products, sums of many
// 64-bit amounts, and the comparison of ratios by cross products. No float
// decides anything in this module; this package is what decides instead.
package wide

import (
	"cmp"
	"math"
	"math/bits"
)

// A Uint128 is an unsigned integer of 128 bits. The zero value is 0.
type Uint128 struct {
	Hi, Lo uint64
}

// Of returns x as a Uint128.
func Of(x uint64) Uint128 { return Uint128{Lo: x} }

// Mul returns the full product of x and y.
func Mul(x, y uint64) Uint128 {
	hi, lo := bits.Mul64(x, y)
	return Uint128{hi, lo}
}

// Add returns u + v modulo 2^128. A sum of fewer than 2^64 terms of 64 bits
// does not wrap.
func (u Uint128) Add(v Uint128) Uint128 {
	lo, carry := bits.Add64(u.Lo, v.Lo, 0)
	hi, _ := bits.Add64(u.Hi, v.Hi, carry)
	return Uint128{hi, lo}
}

// AddSat returns u + v, or the most there is.
func (u Uint128) AddSat(v Uint128) Uint128 {
	lo, carry := bits.Add64(u.Lo, v.Lo, 0)
	if hi, over := bits.Add64(u.Hi, v.Hi, carry); over == 0 {
		return Uint128{hi, lo}
	}
	return Uint128{math.MaxUint64, math.MaxUint64}
}

// MulSat returns u * n, or the most there is.
func (u Uint128) MulSat(n uint64) Uint128 {
	over, hi := bits.Mul64(u.Hi, n)
	more, lo := bits.Mul64(u.Lo, n)
	if hi, carry := bits.Add64(hi, more, 0); over|carry == 0 {
		return Uint128{hi, lo}
	}
	return Uint128{math.MaxUint64, math.MaxUint64}
}

// DivMod returns u / d and the remainder; it panics if d is 0.
func (u Uint128) DivMod(d uint64) (quo Uint128, rem uint64) {
	quo.Hi, rem = u.Hi/d, u.Hi%d
	quo.Lo, rem = bits.Div64(rem, u.Lo, d)
	return quo, rem
}

// Len returns how many bits u has, 0 for 0.
func (u Uint128) Len() int {
	if u.Hi > 0 {
		return 64 + bits.Len64(u.Hi)
	}
	return bits.Len64(u.Lo)
}

// Rsh returns u shifted to the right.
func (u Uint128) Rsh(n uint) Uint128 {
	return Uint128{u.Hi >> n, u.Lo>>n | u.Hi<<(64-n) | u.Hi>>(n-64)}
}

// Cmp returns -1, 0 or +1 as u is less than, equal to or greater than v.
func (u Uint128) Cmp(v Uint128) int {
	if c := cmp.Compare(u.Hi, v.Hi); c != 0 {
		return c
	}
	return cmp.Compare(u.Lo, v.Lo)
}

// Int64 returns u, and false if it is beyond int64.
func (u Uint128) Int64() (int64, bool) { return int64(u.Lo), u.Hi == 0 && int64(u.Lo) >= 0 }

// IsZero reports whether u is 0.
func (u Uint128) IsZero() bool { return u.Hi|u.Lo == 0 }

// CmpRatio compares a/b with c/d. Both denominators must be positive.
func CmpRatio(a, b, c, d uint64) int {
	return Mul(a, d).Cmp(Mul(c, b))
}

// MulDiv returns the quotient and the remainder of x*y / d. The quotient must
// fit 64 bits, which it does if x <= d or y <= d; it panics otherwise, and
// if d is 0.
func MulDiv(x, y, d uint64) (quo, rem uint64) {
	hi, lo := bits.Mul64(x, y)
	return bits.Div64(hi, lo, d)
}
