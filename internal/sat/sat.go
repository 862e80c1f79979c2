// SPDX-License-Identifier: Apache-2.0

// Package sat is saturating arithmetic on signed integers: quantities,
// priorities and durations alike.
//
// Results are clamped to [-Max, Max] of the type. The most negative value is
// never produced, so a result can always be negated, and it is read as -Max
// where it is given. The range is symmetric, and so is the arithmetic:
// Add(-x, -y) = -Add(x, y) and Sub(y, x) = -Sub(x, y).
package sat

import (
	"math/bits"
	"unsafe"
)

// Signed is the types of signed integers.
type Signed interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64
}

// The functions below never let an overflow happen and then look for its
// traces: they give an operand no more than the other one leaves room for.
// That keeps them small enough to be inlined.

// Max returns the largest value of T.
func Max[T Signed]() T {
	return 1<<(8*unsafe.Sizeof(T(0))-1) - 1
}

// Clamp returns x, or -Max if x is the most negative value of T.
func Clamp[T Signed](x T) T {
	return max(x, -Max[T]())
}

// Add returns x + y.
func Add[T Signed](x, y T) T {
	m := Max[T]()
	x = max(x, -m)
	if x < 0 {
		return x + max(y, -m-x)
	}
	return x + min(max(y, -m), m-x)
}

// Sub returns x - y.
func Sub[T Signed](x, y T) T {
	m := Max[T]()
	x = max(x, -m)
	if x < 0 {
		return x - min(max(y, -m), m+x)
	}
	return x - max(y, x-m)
}

// Mul returns x * y.
func Mul[T Signed](x, y T) T {
	m := Max[T]()
	x, y = max(x, -m), max(y, -m)
	hi, lo := bits.Mul64(uint64(max(x, -x)), uint64(max(y, -y)))
	p := m
	if hi == 0 && lo < uint64(m) {
		p = T(lo)
	}
	if x^y < 0 {
		return -p
	}
	return p
}
