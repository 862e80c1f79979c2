// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/wide"
)

// A knapsack is rows with values and worths. It is filled with the least value that has some
// worth, if units may be cut: those go first that have the least value for their worth.
type knapsack struct {
	value []int64 // by row, of a unit
	worth []int64
	order []ratio // rows in the order in which they go
}

// A critical row is the one that is cut, so that all together have just that worth.
type critical struct {
	before int64 // the value of all others
	open   int64 // what they leave open
	row    int32 // -1 if none is cut
}

// A ratio is a row with its value for its worth, in whole parts.
type ratio struct {
	parts uint64
	row   int32
}

// ratio returns that of a row. A larger value for the worth has no fewer parts.
func (k *knapsack) ratio(i int32) ratio {
	v, w := uint64(k.value[i]), uint64(k.worth[i])
	if v >= w {
		return ratio{math.MaxUint64, i}
	}
	parts, _ := bits.Div64(v, 0, w)
	return ratio{parts, i}
}

// compare orders rows by value for worth. Few have the same number of parts, and these are
// compared exactly. Of rows with the same value those that are worth more come first, though
// the value is 0. Rows that are worth nothing come last.
func (k *knapsack) compare(a, b ratio) int {
	if a.parts != b.parts {
		return cmp.Compare(a.parts, b.parts)
	}
	i, j := a.row, b.row
	switch v, w := k.value[i], k.value[j]; {
	case k.worth[i] == 0 || k.worth[j] == 0:
		return cmp.Or(cmp.Compare(min(k.worth[j], 1), min(k.worth[i], 1)), cmp.Compare(i, j))
	case v == w:
		return cmp.Or(cmp.Compare(k.worth[j], k.worth[i]), cmp.Compare(i, j))
	default:
		a, b := wide.Mul(uint64(v), uint64(k.worth[j])), wide.Mul(uint64(w), uint64(k.worth[i]))
		return cmp.Or(a.Cmp(b), cmp.Compare(i, j))
	}
}

// sort sorts the rows.
func (k *knapsack) sort() { slices.SortFunc(k.order, k.compare) }

// fill returns the value of the rows that have the worth that is open, and which of them is
// critical. If all together are not enough it returns the value of all.
func (k *knapsack) fill(rows []Row, open int64) (value int64, last critical) {
	for _, x := range k.order {
		worth, count := k.worth[x.row], rows[x.row].Count
		if enoughOf(count, worth, open) {
			return min(value+cut(k.value[x.row], open, worth), mostValue), critical{value, open, x.row}
		}
		open -= count * worth
		value = addValue(value, k.value[x.row], count)
	}
	return value, critical{row: -1}
}

// enoughOf reports whether so many units of some worth have the worth that is open.
func enoughOf(count, worth, open int64) bool {
	hi, lo := bits.Mul64(uint64(count), uint64(worth))
	return hi > 0 || lo >= uint64(open)
}

// cut returns the value of the worth that is open in units of some value and worth, rounded up.
func cut(value, open, worth int64) int64 {
	if hi, lo := bits.Mul64(uint64(value), uint64(open)); hi < uint64(worth) {
		if quo, rem := bits.Div64(hi, lo, uint64(worth)); quo < mostValue {
			return int64(quo + min(rem, 1))
		}
	}
	return mostValue
}

// addValue returns a sum of values with those of so many more units.
func addValue(sum, value, count int64) int64 {
	if hi, lo := bits.Mul64(uint64(value), uint64(count)); hi == 0 && lo < mostValue {
		return min(sum+int64(lo), mostValue)
	}
	return mostValue
}
