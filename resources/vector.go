package resources

import "github.com/go-preempt/preempt/internal/sat"

// A Vector is an amount of every resource type, by the positions of a
// [Schema], in base units. A position beyond its end is zero. The nil Vector
// is a zero amount of everything.
//
// Amounts may be negative: what is left of a node that was overcommitted is.
type Vector []int64

// A Vector is a slice and no map, because the verbs below are the inner loops of
// everything else: the few types of a cluster fit one cache line and need no
// hashing. The map from names that was considered instead lives on in
// bench_test.go; it is more than ten times as slow, and it cannot say what a
// missing name means.

// at returns the amount at position i, which is zero beyond the end.
func (x Vector) at(i int) int64 {
	if i < len(x) {
		return x[i]
	}
	return 0
}

// grow returns a Vector of length n in the storage of dst where that suffices.
// Its contents are arbitrary.
func grow(dst Vector, n int) Vector {
	if n <= cap(dst) {
		return dst[:n]
	}
	return make(Vector, n)
}

// The verbs on two vectors have two loops: one over the positions that both
// operands have, which is all of them wherever speed matters and needs no
// check of bounds, and one over the rest.

// Add sets dst to x + y, saturating, and returns it.
func Add(dst, x, y Vector) Vector {
	dst = grow(dst, max(len(x), len(y)))
	n := min(len(x), len(y))
	d, a, b := dst[:n], x[:n], y[:n]
	for i := range d {
		d[i] = sat.Add(a[i], b[i])
	}
	for i := n; i < len(dst); i++ {
		dst[i] = sat.Add(x.at(i), y.at(i))
	}
	return dst
}

// Sub sets dst to x - y, saturating and signed, and returns it.
func Sub(dst, x, y Vector) Vector {
	dst = grow(dst, max(len(x), len(y)))
	n := min(len(x), len(y))
	d, a, b := dst[:n], x[:n], y[:n]
	for i := range d {
		d[i] = sat.Sub(a[i], b[i])
	}
	for i := n; i < len(dst); i++ {
		dst[i] = sat.Sub(x.at(i), y.at(i))
	}
	return dst
}

// Min sets dst to the smaller amount of x and y in every type and returns it.
// A type that only one of them has is compared with zero.
func Min(dst, x, y Vector) Vector {
	dst = grow(dst, max(len(x), len(y)))
	n := min(len(x), len(y))
	d, a, b := dst[:n], x[:n], y[:n]
	for i := range d {
		d[i] = sat.Clamp(min(a[i], b[i]))
	}
	for i := n; i < len(dst); i++ {
		dst[i] = sat.Clamp(min(x.at(i), y.at(i)))
	}
	return dst
}

// Max sets dst to the larger amount of x and y in every type and returns it.
// A type that only one of them has is compared with zero, so that
// Max(dst, x, nil) is the positive part of x.
func Max(dst, x, y Vector) Vector {
	dst = grow(dst, max(len(x), len(y)))
	n := min(len(x), len(y))
	d, a, b := dst[:n], x[:n], y[:n]
	for i := range d {
		d[i] = sat.Clamp(max(a[i], b[i]))
	}
	for i := n; i < len(dst); i++ {
		dst[i] = sat.Clamp(max(x.at(i), y.at(i)))
	}
	return dst
}

// Copy sets dst to x and returns it. Copy(nil, x) is a Vector of its own.
func Copy(dst, x Vector) Vector {
	dst = grow(dst, len(x))
	for i, a := range x {
		dst[i] = sat.Clamp(a)
	}
	return dst
}

// Fits reports whether x <= y in every type. What is missing is zero, so that
// the nil Vector does not fit where an amount of y is negative.
func Fits(x, y Vector) bool {
	n := min(len(x), len(y))
	a, b := x[:n], y[:n]
	for i := range a {
		if a[i] > sat.Clamp(b[i]) {
			return false
		}
	}
	for _, a := range x[n:] {
		if a > 0 {
			return false
		}
	}
	for _, b := range y[n:] {
		if b < 0 {
			return false
		}
	}
	return true
}

// Equal reports whether x and y are the same amount in every type. Vectors of
// different lengths are equal if the longer one goes on with zeros.
func Equal(x, y Vector) bool {
	n := min(len(x), len(y))
	a, b := x[:n], y[:n]
	for i := range a {
		if sat.Clamp(a[i]) != sat.Clamp(b[i]) {
			return false
		}
	}
	return IsZero(x[n:]) && IsZero(y[n:])
}

// IsZero reports whether x is zero in every type.
func IsZero(x Vector) bool {
	for _, a := range x {
		if a != 0 {
			return false
		}
	}
	return true
}

// Positive returns the types of which x has an amount above zero: the types
// that an ask for x asks for. An explicit zero is no such type. Positions of
// [MaxTypes] and more have no place in a [Mask].
func Positive(x Vector) Mask {
	var m Mask
	for i, a := range x {
		if a > 0 {
			m = m.With(i)
		}
	}
	return m
}
