package victims

import (
	"cmp"
	"time"

	"github.com/go-preempt/preempt/resources"
)

// Then returns the order that asks each of the given ones in turn, until one
// has an opinion. If the last is [By] a key, it is total.
//
// An order is negative if a is to be stopped before b, positive if b is, and 0 if
// it has no opinion. It must be a strict weak order: consistent, and 0 for equal
// tasks. Package preempttest has a check of that. slices.SortFunc sorts by an
// order, and quota.Enforcer takes tasks by one.
//
// Then, [Reverse], [By] and its like work on tasks of any type: a function that is
// called of here reads what they compare.
func Then[T any](orders ...func(a, b T) int) func(a, b T) int {
	return func(a, b T) int {
		for _, order := range orders {
			if c := order(a, b); c != 0 {
				return c
			}
		}
		return 0
	}
}

// Reverse returns the opposite order.
func Reverse[T any](order func(a, b T) int) func(a, b T) int {
	return func(a, b T) int { return order(b, a) }
}

// By orders tasks by what of returns, the smaller first: lower priorities, or
// smaller keys.
func By[T any, V cmp.Ordered](of func(T) V) func(a, b T) int {
	return func(a, b T) int { return cmp.Compare(of(a), of(b)) }
}

// ByFlag orders tasks by what of returns, false first: plain tasks before
// originators, and those that did not opt out before those that did (law 1).
func ByFlag[T any](of func(T) bool) func(a, b T) int {
	return func(a, b T) int { return falseFirst(of(a), of(b)) }
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return +1
}

// ByTime orders tasks by what of returns, the later first: younger ones, or those
// that have less work to lose. Tasks with the zero time come last.
func ByTime[T any](of func(T) time.Time) func(a, b T) int {
	return func(a, b T) int {
		x, y := of(a), of(b)
		if x.IsZero() || y.IsZero() {
			return falseFirst(x.IsZero(), y.IsZero())
		}
		return y.Compare(x)
	}
}

// BySize puts smaller tasks first, by their dominant share of a capacity.
func BySize[T any](of func(T) resources.Vector, capacity resources.Vector) func(a, b T) int {
	return func(a, b T) int {
		return resources.DominantShare(of(a), capacity).Compare(resources.DominantShare(of(b), capacity))
	}
}
