package resources

import (
	"iter"
	"math/bits"
)

// A Mask is a set of resource types: bit i stands for the type at position i.
// The zero Mask is the empty set. Sets combine by the operators of integers:
// m | o, m & o, m &^ o.
type Mask uint64

// Has reports whether i is in the set. No Mask has a position below 0 or of
// [MaxTypes] and more.
func (m Mask) Has(i int) bool { return m>>uint(i)&1 != 0 }

// With returns the set with i in it. A position that no Mask has changes
// nothing.
func (m Mask) With(i int) Mask { return m | 1<<uint(i) }

// Without returns the set without i.
func (m Mask) Without(i int) Mask { return m &^ (1 << uint(i)) }

// Len returns the number of types in the set.
func (m Mask) Len() int { return bits.OnesCount64(uint64(m)) }

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
