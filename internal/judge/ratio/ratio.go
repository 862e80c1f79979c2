// SPDX-License-Identifier: Apache-2.0

// Package ratio scales amounts by fractions, for workloads, pictures and tests.
package ratio

import (
	"math"
	"math/bits"

	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/resources"
)

// OfVector returns v·num/den in every type; see [Of].
func OfVector(v resources.Vector, num, den int64) resources.Vector {
	scaled := make(resources.Vector, len(v))
	for i, x := range v {
		scaled[i] = Of(x, num, den)
	}
	return scaled
}

// Of returns x·num/den: exact, rounded toward zero, saturated at the end. A den of zero
// counts as a tiny positive one, and 0/0 is 0.
func Of(x, num, den int64) int64 {
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
