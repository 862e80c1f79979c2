// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

const CompleteCandidates = completeCandidates

// ByTraits is the order of tasks by traits.
func ByTraits(capacity resources.Vector) func(a, b *victims.Task) int {
	of := func(t *victims.Task) victims.Traits {
		return victims.Traits{
			Originator: t.Originator, Priority: t.Priority, OptedOut: t.OptedOut, Created: t.Created, Key: t.Key,
			Share: resources.DominantShare(t.Size, capacity),
		}
	}
	return func(a, b *victims.Task) int { return of(a).Compare(of(b)) }
}

// allDue appends the queues whose quota may be enforced now to dst, and returns it: clock
// ended, usage over max, no run above. Leaves come before parents, deeper ones first,
// then tree order.
func (t *Timing) allDue(dst []queue.ID, now time.Time) []queue.ID {
	t.settle(now)
	for _, q := range t.order {
		if t.ready(q) {
			dst = append(dst, q)
		}
	}
	return dst
}

// deadlineOf returns when the clock of q ends or, if q is due, has ended. An idle or
// running queue has none, nor has a clock beyond the range of time.Time.
func (t *Timing) deadlineOf(q queue.ID) (time.Time, bool) {
	t.look()
	return t.clocks[q].deadline()
}

// AllDue is allDue for tests of callers.
func (t *Timing) AllDue(dst []queue.ID, now time.Time) []queue.ID { return t.allDue(dst, now) }
