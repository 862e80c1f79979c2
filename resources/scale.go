package resources

import (
	"math"
	"math/bits"

	"github.com/go-preempt/preempt/internal/sat"
)

// Scale sets dst to x * k, saturating, and returns it.
func Scale(dst, x Vector, k int64) Vector {
	dst = grow(dst, len(x))
	for i, a := range x {
		dst[i] = sat.Mul(a, k)
	}
	return dst
}

// A Ratio is a fraction to scale amounts by: Num/Den.
type Ratio struct{ Num, Den int64 }

// Of sets dst to x * Num / Den and returns it. The product is taken in 128 bits:
// only the result can leave the range, and then it saturates. Quotients are
// rounded toward zero.
//
// A denominator of zero counts as a positive one too small to matter: amounts
// saturate with the sign of x * Num, and 0/0 is 0.
func (r Ratio) Of(dst, x Vector) Vector {
	dst = grow(dst, len(x))
	for i, a := range x {
		dst[i] = r.of(a)
	}
	return dst
}

// of returns the ratio of one amount.
func (r Ratio) of(x int64) int64 {
	if x == 0 || r.Num == 0 {
		return 0
	}
	hi, lo := bits.Mul64(magnitude(x), magnitude(r.Num))
	d := magnitude(r.Den)
	q := int64(math.MaxInt64)
	// The quotient fits 64 bits if and only if hi < d, and never for d = 0.
	if hi < d {
		quo, _ := bits.Div64(hi, lo, d)
		q = int64(min(quo, math.MaxInt64))
	}
	if x^r.Num^r.Den < 0 {
		return -q
	}
	return q
}

// magnitude returns the absolute value of x.
func magnitude(x int64) uint64 {
	x = sat.Clamp(x)
	return uint64(max(x, -x))
}
