// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/sat"
)

// A Vector is an amount of every type, by the positions of a [Schema]. Write one by [Schema.Parse]: cpu counts in
// thousandths. Amounts may be negative.
type Vector []int64

// A Vector is a slice and no map, because the verbs below are the inner loops of
// everything else: the few types of a cluster fit one cache line and need no
// hashing. The map from names that was considered instead lives on in
// bench_test.go; it is more than ten times as slow, and it cannot say what a
// missing name means.

// At returns the amount at position i.
func (x Vector) At(i int) int64 {
	if i < len(x) {
		return x[i]
	}
	return 0
}

// grow returns a Vector of length n, in the storage of dst if that suffices.
// Its contents are arbitrary.
func grow(dst Vector, n int) Vector {
	if n <= cap(dst) {
		return dst[:n]
	}
	return make(Vector, n)
}

// The verbs on two vectors have an inner loop for operands of one length, which
// they are wherever speed matters, and of amounts far from the ends of int64.
// From the first position on that is not like that, finish does the rest.

// finish sets the positions of dst from the given one on to op of those of x
// and y, and returns dst in the length of the longer one.
func finish(dst, x, y Vector, from int, op func(x, y int64) int64) Vector {
	dst = grow(dst, max(len(x), len(y)))
	for i := from; i < len(dst); i++ {
		dst[i] = op(x.At(i), y.At(i))
	}
	return dst
}

// near reports whether x and y are so far from the ends of int64 that neither
// their sum nor their difference can pass them: within [-2^62, 2^62).
func near(x, y int64) bool {
	const half = 1 << 62
	return uint64(x+half)|uint64(y+half) < 2*half
}

// Add sets dst to x + y, saturating.
func Add(dst, x, y Vector) Vector {
	if len(x) != len(y) {
		return finish(dst, x, y, 0, sat.Add[int64])
	}
	dst = grow(dst, len(x))
	d, y := dst[:len(x)], y[:len(x)]
	for i, a := range x {
		b := y[i]
		if !near(a, b) {
			return finish(dst, x, y, i, sat.Add[int64])
		}
		d[i] = a + b
	}
	return dst
}

// Sub sets dst to x - y, saturating and signed.
func Sub(dst, x, y Vector) Vector {
	if len(x) != len(y) {
		return finish(dst, x, y, 0, sat.Sub[int64])
	}
	dst = grow(dst, len(x))
	d, y := dst[:len(x)], y[:len(x)]
	for i, a := range x {
		b := y[i]
		if !near(a, b) {
			return finish(dst, x, y, i, sat.Sub[int64])
		}
		d[i] = a - b
	}
	return dst
}

// Min sets dst to the smaller amount of x and y in every type.
func Min(dst, x, y Vector) Vector {
	if len(x) != len(y) {
		return finish(dst, x, y, 0, lesser)
	}
	dst = grow(dst, len(x))
	d, y := dst[:len(x)], y[:len(x)]
	for i, a := range x {
		d[i] = lesser(a, y[i])
	}
	return dst
}

// Max sets dst to the larger amount of x and y in every type.
func Max(dst, x, y Vector) Vector {
	if len(x) != len(y) {
		return finish(dst, x, y, 0, greater)
	}
	dst = grow(dst, len(x))
	d, y := dst[:len(x)], y[:len(x)]
	for i, a := range x {
		d[i] = greater(a, y[i])
	}
	return dst
}

func lesser(x, y int64) int64  { return sat.Clamp(min(x, y)) }
func greater(x, y int64) int64 { return sat.Clamp(max(x, y)) }

// Fits reports whether x <= y in every type.
func Fits(x, y Vector) bool {
	if len(x) != len(y) {
		n := min(len(x), len(y))
		return Fits(x[:n], y[:n]) && !slices.ContainsFunc(x[n:], isPositive) && !slices.ContainsFunc(y[n:], isNegative)
	}
	y = y[:len(x)]
	for i, a := range x {
		if a > sat.Clamp(y[i]) {
			return false
		}
	}
	return true
}

func isPositive(v int64) bool { return v > 0 }
func isNegative(v int64) bool { return v < 0 }

// Equal reports whether x = y in every type.
func Equal(x, y Vector) bool {
	n := min(len(x), len(y))
	a, b := x[:n], y[:n]
	for i := range a {
		if sat.Clamp(a[i]) != sat.Clamp(b[i]) {
			return false
		}
	}
	return IsZero(x[n:]) && IsZero(y[n:])
}

// IsZero reports whether x is zero in every type.
func IsZero(x Vector) bool {
	for _, a := range x {
		if a != 0 {
			return false
		}
	}
	return true
}

// Positive returns the types in which x is above zero: what an ask wants.
func Positive(x Vector) Mask {
	var m Mask
	for i, a := range x {
		if a > 0 {
			m |= 1 << i
		}
	}
	return m
}

// A Mask is a set of resource types: bit i is the type at position i.
type Mask uint64

// Has reports whether i is in the set.
func (m Mask) Has(i int) bool { return m>>uint(i)&1 != 0 }

// All returns the types of the set, ascending.
func (m Mask) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; m != 0; m &= m - 1 {
			if !yield(bits.TrailingZeros64(uint64(m))) {
				return
			}
		}
	}
}

// Scale sets dst to x * k, saturating.
func Scale(dst, x Vector, k int64) Vector {
	dst = grow(dst, len(x))
	for i, a := range x {
		dst[i] = sat.Mul(a, k)
	}
	return dst
}
