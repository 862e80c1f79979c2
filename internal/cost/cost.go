// SPDX-License-Identifier: Apache-2.0

// Package cost says what a set of victims costs, and which of two sets is cheaper: levels
// that decide one after another, then the work that is lost, then what is freed in excess.
package cost

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// NumLevels is the number of levels of a cost.
const NumLevels = 12

// Levels are the parts of a cost that decide first, the most important first.
type Levels [NumLevels]int64

// An Order says how levels of units combine, and compares sets: by levels, work,
// excess, keys.
type Order struct {
	// Max has a bit for each level of which a set has the largest value of its units;
	// others are summed.
	Max uint16
	// Carry has a bit for each level that is the low half of a number, below 2^32 in a
	// unit; the level before it is the high half. Neither is in Max.
	Carry uint16
	// Overrun is the level of what a set uses of budgets beyond what is left.
	// Units have 0 there. It lies before Count. 0 means none.
	Overrun int
	// Count is a summed level in which every unit has at least 1. In summed levels before
	// it every unit has at least 0.
	Count int
	// Sequence is what decides, the most important first: levels, [ByWork], [ByExcess].
	// Others do not count. Count is in it, and levels that may be negative come after
	// Count. nil: all levels, then work, then excess.
	Sequence []int8
	// Compare replaces all that. It must be a strict weak order in which no set is
	// cheaper than a part of it, and must not keep or change its arguments. It takes more
	// steps.
	Compare func(a, b *Total) int
}

// A Total is the cost of a set of units. The zero Total is that of none.
type Total struct {
	Units  int
	Levels Levels
	Work   resources.Wide
	Excess resources.Share
}

// Excess returns the largest share of a capacity, over all types, freed beyond what is
// wanted.
func Excess(freed, wanted, capacity resources.Vector) resources.Share {
	var most resources.Share
	for t, v := range freed {
		share := resources.Share{Amount: max(v-wanted.At(t), 0), Of: capacity.At(t)}
		if t == 0 || share.Compare(most) > 0 {
			most = share
		}
	}
	return most
}

// CompareTotals returns how two totals compare, but for keys.
func (o *Order) CompareTotals(a, b *Total) int {
	switch {
	case o.Compare != nil:
		return o.Compare(a, b)
	case o.Sequence != nil:
		return o.inSequence(a, b)
	}
	if c := slices.Compare(a.Levels[:], b.Levels[:]); c != 0 {
		return c
	}
	return cmp.Or(a.Work.Compare(b.Work), a.Excess.Compare(b.Excess))
}

// IsMax reports whether a set has the maximum of level l and not the sum.
func (o *Order) IsMax(l int) bool { return o.Max>>l&1 != 0 }

// HalfBits is how many bits the low half of a number has; see [Order.Carry].
const HalfBits = 32

// Settle carries the low halves of levels into the high ones.
func (o *Order) Settle(l *Levels) {
	for rest := o.Carry; rest != 0; rest &= rest - 1 {
		low := bits.TrailingZeros16(rest)
		l[low-1] += l[low] >> HalfBits
		l[low] &= 1<<HalfBits - 1
	}
}

// Join returns the levels of a set of n units and a unit of levels u, without the
// overrun.
func (o *Order) Join(set *Levels, n int, u *Levels) Levels {
	sum := *set
	for l := range sum {
		switch {
		case !o.IsMax(l):
			sum[l] += u[l]
		case n == 0 || u[l] > sum[l]:
			sum[l] = u[l]
		}
	}
	o.Settle(&sum)
	return sum
}
