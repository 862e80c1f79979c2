// SPDX-License-Identifier: Apache-2.0

package gangs

import (
	"cmp"
	"math/bits"
)

// A Price is what going costs: several parts that decide one after another, side by side in
// one number of 128 bits. So prices are compared, summed and divided as numbers are.
// The zero Price is that of nothing.
type Price struct {
	hi int64
	lo uint64
}

// Add returns p + q.
func (p Price) Add(q Price) Price {
	lo, carry := bits.Add64(p.lo, q.lo, 0)
	return Price{p.hi + q.hi + int64(carry), lo}
}

// Sub returns p - q.
func (p Price) Sub(q Price) Price {
	lo, borrow := bits.Sub64(p.lo, q.lo, 0)
	return Price{p.hi - q.hi - int64(borrow), lo}
}

// Times returns p n times, for n of at least 0.
func (p Price) Times(n int64) Price {
	hi, lo := bits.Mul64(p.lo, uint64(n))
	return Price{p.hi*n + int64(hi), lo}
}

// over returns p divided by n, rounded down, if p is no less than 0.
func (p Price) over(n int64) Price {
	if p.hi < 0 {
		return p
	}
	hi := uint64(p.hi)
	lo, _ := bits.Div64(hi%uint64(n), p.lo, uint64(n))
	return Price{int64(hi / uint64(n)), lo}
}

// Less reports whether p is cheaper than q.
func (p Price) Less(q Price) bool { return p.hi < q.hi || p.hi == q.hi && p.lo < q.lo }

// Compare returns -1, 0 or +1 as p is cheaper than q, as cheap, or dearer.
func (p Price) Compare(q Price) int {
	return cmp.Or(cmp.Compare(p.hi, q.hi), cmp.Compare(p.lo, q.lo))
}

// left returns p times 2^n, and right returns p divided by it, rounded down.
func (p Price) left(n uint) Price {
	if n >= 64 {
		return Price{hi: int64(p.lo << (n - 64))}
	}
	return Price{p.hi<<n | int64(p.lo>>(64-n)), p.lo << n}
}

func (p Price) right(n uint) Price {
	if n >= 64 {
		return Price{p.hi >> 63, uint64(p.hi >> (n - 64))}
	}
	return Price{p.hi >> n, p.lo>>n | uint64(p.hi)<<(64-n)}
}

// bits returns the length of p, which is at least 0.
func (p Price) bits() uint {
	if p.hi != 0 {
		return 64 + uint(bits.Len64(uint64(p.hi)))
	}
	return uint(bits.Len64(p.lo))
}

// priceBits is how many bits of a price parts may take.
const priceBits = 124

// A Layout says where the parts of prices are. Parts are added, the most important first,
// with the largest sum that there can be of them; then Settle finds out where they are. If
// they take more bits than there are, the least important ones lose their lower bits.
type Layout struct {
	parts []part
}

type part struct {
	bits, at, cut uint
}

// Reset forgets all parts.
func (l *Layout) Reset() { l.parts = l.parts[:0] }

// Add adds a part of which sums are at most so large, or as far below 0.
func (l *Layout) Add(most uint64) {
	l.parts = append(l.parts, part{bits: uint(bits.Len64(most)) + 1}) // one for the sign
}

// Settle places the parts.
func (l *Layout) Settle() {
	over := -priceBits
	for i := range l.parts {
		over += int(l.parts[i].bits)
	}
	at := uint(0)
	for i := len(l.parts) - 1; i >= 0; i-- {
		p := &l.parts[i]
		p.cut = min(uint(max(over, 0)), p.bits)
		over -= int(p.cut)
		p.at, at = at, at+p.bits-p.cut
	}
}

// At returns the lowest bit of a part.
func (l *Layout) At(i int) uint { return l.parts[i].at }

// Whole reports whether the first n parts have all of their bits.
func (l *Layout) Whole(n int) bool { return n == 0 || l.parts[n-1].cut == 0 }

// Price returns a price with a part of some value.
func (l *Layout) Price(i int, v int64) Price {
	p := &l.parts[i]
	v >>= min(p.cut, 63)
	return Price{v >> 63, uint64(v)}.left(p.at)
}
