// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/internal/wide"
)

// A Limit bounds the types in Defined by the entries in Value. The zero Limit bounds nothing.
type Limit struct {
	Value   Vector
	Defined Mask
}

// Bound returns the bound on type i, and whether there is one.
func (l Limit) Bound(i int) (int64, bool) {
	if !l.Defined.Has(i) {
		return 0, false
	}
	return sat.Clamp(l.Value.At(i)), true
}

// Equal reports whether l and o bound the same types by the same amounts.
func (l Limit) Equal(o Limit) bool {
	if l.Defined != o.Defined {
		return false
	}
	for i := range l.Defined.All() {
		if sat.Clamp(l.Value.At(i)) != sat.Clamp(o.Value.At(i)) {
			return false
		}
	}
	return true
}

// Admits reports whether v <= l in every type that l bounds.
func Admits(l Limit, v Vector) bool {
	for i := range l.Defined.All() {
		if v.At(i) > sat.Clamp(l.Value.At(i)) {
			return false
		}
	}
	return true
}

// Over sets dst to the positive part of v - l in types that l bounds, else zero.
func Over(dst, v Vector, l Limit) Vector {
	return excess(dst, v, l.Value, l.Defined)
}

// Short sets dst to the positive part of l - v in types that l bounds, else zero.
func Short(dst Vector, l Limit, v Vector) Vector {
	return excess(dst, l.Value, v, l.Defined)
}

// excess sets dst to the positive part of x - y on the types of m, zero
// elsewhere, and returns it.
func excess(dst, x, y Vector, m Mask) Vector {
	dst = grow(dst, max(len(x), len(y)))
	for i := range dst {
		var d int64
		if m&1 != 0 {
			d = max(sat.Sub(x.At(i), y.At(i)), 0)
		}
		dst[i] = d
		m >>= 1
	}
	return dst
}

// SubOnlyExisting sets dst to l - v in types that l bounds; it may be negative.
func SubOnlyExisting(dst, l Limit, v Vector) Limit {
	return Limit{only(l.Defined, Sub(dst.Value, l.Value, v)), l.Defined}
}

// AddOnlyExisting sets dst to l + v in types that l bounds.
func AddOnlyExisting(dst, l Limit, v Vector) Limit {
	return Limit{only(l.Defined, Add(dst.Value, l.Value, v)), l.Defined}
}

// only zeroes the entries of v that are not in m, in place, and returns v.
func only(m Mask, v Vector) Vector {
	for i := range v {
		if m&1 == 0 {
			v[i] = 0
		}
		m >>= 1
	}
	return v
}

// Tighten sets dst to the smaller bound of a and b by type.
func Tighten(dst, a, b Limit) Limit {
	value := grow(dst.Value, max(len(a.Value), len(b.Value)))
	for i := range value {
		x, ok := a.Bound(i)
		if y, also := b.Bound(i); also && (!ok || y < x) {
			x = y
		}
		value[i] = x
	}
	return Limit{value, a.Defined | b.Defined}
}

// A Share is an amount of a capacity, not divided, so that shares compare exactly. A negative Amount counts as
// 0, and a capacity below 1 as 1.
type Share struct {
	Amount, Of int64
}

// Compare returns -1, 0 or +1 as s is smaller than, equal to or larger than o.
func (s Share) Compare(o Share) int {
	s, o = s.normal(), o.normal()
	return wide.CmpRatio(uint64(s.Amount), uint64(s.Of), uint64(o.Amount), uint64(o.Of))
}

// String returns the share, as in "3/10".
func (s Share) String() string {
	s = s.normal()
	return fmt.Sprintf("%d/%d", s.Amount, s.Of)
}

func (s Share) normal() Share {
	return Share{Amount: max(s.Amount, 0), Of: max(s.Of, 1)}
}

// DominantShare returns the largest share that v has of capacity in any type; ties go
// to the first. Without a positive amount it is the zero Share. Source: Ghodsi et al.,
// "Dominant Resource Fairness", NSDI 2011.
func DominantShare(v, capacity Vector) Share {
	var largest Share
	for i, a := range v {
		if a <= 0 {
			continue
		}
		s := Share{Amount: a, Of: capacity.At(i)}.normal()
		if s.Compare(largest) > 0 {
			largest = s
		}
	}
	return largest
}
