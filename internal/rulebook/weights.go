// SPDX-License-Identifier: Apache-2.0

package rulebook

import (
	"math"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// Weights says how much of the cluster tasks are: the largest over the types of
// ⌈amount × Whole ÷ capacity⌉, at least 1 and at most MaxInt64. Types of which there is no
// capacity do not count. (DESIGN.md, Cost.) The zero Weights is that of no capacity.
type Weights struct {
	capacity resources.Vector
	scales   []scale
}

// Whole is the weight of the whole cluster.
const Whole = 1_000_000_000

// A scale is how amounts of a type are weighed: by multiplications, for every node that is
// looked at is weighed. The weight is amount × whole + ⌈amount × rest ÷ of⌉.
type scale struct {
	of          uint64 // the capacity; 0 if there is none
	whole, rest uint64 // of Whole ÷ of
	inverse     uint64 // ⌊rest × 2^64 ÷ of⌋
}

// Set makes the weights those in a cluster of some capacity. It costs nothing if that is as
// before.
func (w *Weights) Set(capacity resources.Vector) {
	if slices.Equal(w.capacity, capacity) {
		return
	}
	w.capacity, w.scales = append(w.capacity[:0], capacity...), w.scales[:0]
	for _, v := range capacity {
		var s scale
		if v > 0 {
			s.of = uint64(v)
			s.whole, s.rest = Whole/s.of, Whole%s.of
			s.inverse, _ = bits.Div64(s.rest, 0, s.of)
		}
		w.scales = append(w.scales, s)
	}
}

// Of returns the weight of a task of some size.
func (w *Weights) Of(size resources.Vector) uint64 {
	most := uint64(1)
	for t := range w.scales {
		most = max(most, w.In(t, size.At(t)))
	}
	return most
}

// In returns the weight of an amount of a type alone, 0 if there is none of it.
func (w *Weights) In(t int, amount int64) uint64 {
	s, v := &w.scales[t], uint64(max(amount, 0))
	if s.of == 0 {
		return 0
	}
	// The quotient is estimated by the inverse, which is too small by less than 1 in all.
	quo, _ := bits.Mul64(v, s.inverse)
	rem := v*s.rest - quo*s.of // below 2 × of, and so it may wrap on the way
	if rem >= s.of {
		quo, rem = quo+1, rem-s.of
	}
	if rem > 0 {
		quo++
	}
	if s.whole == 0 {
		return min(quo, math.MaxInt64)
	}
	hi, lo := bits.Mul64(v, s.whole)
	if hi > 0 || lo > math.MaxInt64-quo {
		return math.MaxInt64
	}
	return lo + quo
}

// Work returns the work that a task of some size loses with some time, in nanoseconds.
func (w *Weights) Work(size resources.Vector, time uint64) resources.Wide {
	return resources.Wide(wide.Mul(time, w.Of(size)))
}
