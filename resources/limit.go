package resources

import "github.com/go-preempt/preempt/internal/sat"

// A Limit is a bound on the resource types in Defined. The bound of a type is its
// entry in Value, or zero beyond the end of Value. Entries of types that are not in
// Defined are ignored. The zero Limit bounds nothing.
//
// "Not defined", zero, and very large are three different things, and no
// amount stands for a missing bound.
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

// Over sets dst to what v has beyond l: the positive part of v - l in the types
// that l bounds, zero in all others. It returns dst.
func Over(dst, v Vector, l Limit) Vector {
	return excess(dst, v, l.Value, l.Defined)
}

// Short sets dst to what v lacks to reach l: the positive part of l - v in the
// types that l bounds, zero in all others. It returns dst.
//
// In each type at most one of Over and Short is positive, and in the types that
// l bounds, Over - Short is v - l.
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

// SubOnlyExisting sets dst to l - v on the types that l bounds and returns it.
// The result bounds the same types; other types of v are dropped. It is
// signed: a negative entry is by how much v is over.
func SubOnlyExisting(dst, l Limit, v Vector) Limit {
	return Limit{only(l.Defined, Sub(dst.Value, l.Value, v)), l.Defined}
}

// AddOnlyExisting sets dst to l + v on the types that l bounds and returns it.
// The result bounds the same types; other types of v are dropped.
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

// Tighten sets dst to the smaller bound of a and b in every type that either
// bounds and returns it. It admits exactly what both admit.
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

// Merge sets dst to own, with the bounds of other on the types that own does
// not bound, and returns it.
func Merge(dst, own, other Limit) Limit {
	value := grow(dst.Value, max(len(own.Value), len(other.Value)))
	for i := range value {
		x, ok := own.Bound(i)
		if !ok {
			x, _ = other.Bound(i)
		}
		value[i] = x
	}
	return Limit{value, own.Defined | other.Defined}
}
