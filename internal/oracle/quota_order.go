package oracle

import (
	"cmp"

	"github.com/go-preempt/preempt/internal/world"
)

// compare is the order of taking in a leaf: plain before originators, lower
// priority first, opted-in before opted-out, younger, then smaller, key.
func (e *enforcement) compare(a, b *world.Task) int {
	closest := 0
	if e.c.Order == world.ClosestMatch {
		inexactA, othersA := e.match(a)
		inexactB, othersB := e.match(b)
		closest = cmp.Or(cmp.Compare(inexactA, inexactB), cmp.Compare(othersA, othersB))
	}
	return cmp.Or(
		closest,
		cmp.Compare(one(a.Originator), one(b.Originator)),
		cmp.Compare(a.Priority, b.Priority),
		cmp.Compare(one(a.OptedOut), one(b.OptedOut)),
		b.Created.Compare(a.Created),
		e.dominantShare(a.Size).Cmp(e.dominantShare(b.Size)),
		cmp.Compare(a.Key, b.Key),
	)
}

// match returns 1 for a task that has other types than those that are to go, or
// not all of them, and the number of others.
func (e *enforcement) match(t *world.Task) (inexact, others int) {
	for _, kind := range e.w.Types {
		switch has, wanted := t.Size[kind] > 0, e.target[kind] > 0; {
		case has && !wanted:
			inexact, others = 1, others+1
		case has != wanted:
			inexact = 1
		}
	}
	return inexact, others
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
