package victims

import (
	"cmp"
	"strings"

	"github.com/go-preempt/preempt/resources"
)

// An OrderFunc compares two tasks: it is negative where a is to be stopped
// before b, positive where b is, and 0 where it has no opinion. It must be a
// strict weak order: consistent, and 0 for equal tasks.
type OrderFunc func(a, b *Task) int

// Then returns the order that asks each of the given ones in turn, until one
// has an opinion. Ending in [ByKey] makes it total.
func Then(orders ...OrderFunc) OrderFunc {
	return func(a, b *Task) int {
		for _, order := range orders {
			if c := order(a, b); c != 0 {
				return c
			}
		}
		return 0
	}
}

// ByOptedOut puts tasks that did not opt out first (law 1).
func ByOptedOut(a, b *Task) int { return falseFirst(a.OptedOut, b.OptedOut) }

// ByOriginator puts tasks that are not originators first.
func ByOriginator(a, b *Task) int { return falseFirst(a.Originator, b.Originator) }

// ByPriority puts tasks of lower raw priority first.
func ByPriority(a, b *Task) int { return cmp.Compare(a.Priority, b.Priority) }

// ByCreated puts younger tasks first: those created later.
func ByCreated(a, b *Task) int { return b.Created.Compare(a.Created) }

// ByScheduled puts tasks first that lose less work: those scheduled later, and
// before them those that are not scheduled yet.
func ByScheduled(a, b *Task) int {
	return cmp.Or(falseFirst(!a.Scheduled.IsZero(), !b.Scheduled.IsZero()), b.Scheduled.Compare(a.Scheduled))
}

// BySize puts smaller tasks first, by their dominant share of a capacity.
func BySize(capacity resources.Vector) OrderFunc {
	return func(a, b *Task) int {
		return resources.DominantShare(a.Size, capacity).Compare(resources.DominantShare(b.Size, capacity))
	}
}

// ByKey puts smaller keys first. Keys are unique, so that it is never 0.
func ByKey(a, b *Task) int { return strings.Compare(a.Key, b.Key) }

// Reluctance is the order in which single tasks of one leaf cost more and more
// to stop, as [Cost] has it: opted out, originator, priority, work lost, key.
// It knows no present, and so it still orders what is scheduled from now on,
// of which no work is lost, by time before key.
func Reluctance(a, b *Task) int {
	return cmp.Or(ByOptedOut(a, b), ByOriginator(a, b), ByPriority(a, b), ByScheduled(a, b), ByKey(a, b))
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
