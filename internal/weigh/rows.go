// SPDX-License-Identifier: Apache-2.0

package weigh

import "math/bits"

// Bits is how many bits an amount has at most. A millionth of what is lacking hardly ever
// decides, and with so few bits prices can be fine.
const Bits = 20

// A Scale takes from amounts the bits that play no part. What is needed is rounded down and
// what a row has is rounded up, so that whoever covers a need still does.
type Scale struct {
	most  int64 // no more of an amount counts
	shift uint8
}

// ScaleOf returns the scale of a dimension of which no more is ever needed than most.
func ScaleOf(most int64) Scale {
	return Scale{max(most, 0), uint8(max(bits.Len64(uint64(max(most, 0)))-Bits, 0))}
}

// Has scales what a row has, which is not negative.
func (s Scale) Has(v int64) int64 { return (min(v, s.most)-1)>>s.shift + 1 }

// Needs scales what is needed. What is not lacking, or less than that, is 0.
func (s Scale) Needs(v int64) int64 { return min(max(v, 0), s.most) >> s.shift }

// Rows are amounts in some dimensions, row after row. A row may stand for several that are
// alike.
type Rows struct {
	Dims    int
	Amounts []int64 // by row and dimension
	Copies  []int32 // by row
}

// Reset makes it no rows of so many dimensions.
func (r *Rows) Reset(dims int) { r.Dims, r.Amounts, r.Copies = dims, r.Amounts[:0], r.Copies[:0] }

// Add adds a row that stands for so many, and returns its amounts, which are 0, to be
// filled in.
func (r *Rows) Add(copies int32) []int64 {
	r.Copies = append(r.Copies, copies)
	for range r.Dims {
		r.Amounts = append(r.Amounts, 0)
	}
	return r.Row(int32(len(r.Copies) - 1))
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.Copies) }

// Row returns the amounts of a row.
func (r *Rows) Row(i int32) []int64 {
	first := int(i) * r.Dims
	return r.Amounts[first : first+r.Dims : first+r.Dims]
}

// Cut leaves the first n rows.
func (r *Rows) Cut(n int) { r.Amounts, r.Copies = r.Amounts[:n*r.Dims], r.Copies[:n] }
