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

// ScaleRatio sets dst to x * num / den and returns it. The product is taken in
// 128 bits: only the result can leave the range, and then it saturates.
// Quotients are rounded toward zero.
//
// A denominator of zero counts as a positive one too small to matter: amounts
// saturate with the sign of x * num, and 0/0 is 0.
func ScaleRatio(dst, x Vector, num, den int64) Vector {
	dst = grow(dst, len(x))
	for i, a := range x {
		dst[i] = mulDiv(a, num, den)
	}
	return dst
}

// mulDiv returns x * num / den as ScaleRatio defines it.
func mulDiv(x, num, den int64) int64 {
	if x == 0 || num == 0 {
		return 0
	}
	hi, lo := bits.Mul64(magnitude(x), magnitude(num))
	d := magnitude(den)
	q := int64(math.MaxInt64)
	// The quotient fits 64 bits if and only if hi < d, and never for d = 0.
	if hi < d {
		quo, _ := bits.Div64(hi, lo, d)
		q = int64(min(quo, math.MaxInt64))
	}
	if x^num^den < 0 {
		return -q
	}
	return q
}

// magnitude returns the absolute value of x.
func magnitude(x int64) uint64 {
	x = sat.Clamp(x)
	return uint64(max(x, -x))
}
