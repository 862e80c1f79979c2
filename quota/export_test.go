// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

const CompleteCandidates = completeCandidates

var ErrGuaranteed = errGuaranteed

// TaskTraits returns the traits of the tasks of a cluster.
func TaskTraits() Traits[*victims.Task] {
	return Traits[*victims.Task]{
		Originator: func(t *victims.Task) bool { return t.Originator },
		Priority:   func(t *victims.Task) int32 { return t.Priority },
		OptedOut:   func(t *victims.Task) bool { return t.OptedOut },
		Created:    func(t *victims.Task) time.Time { return t.Created },
		Size:       func(t *victims.Task) resources.Vector { return t.Size },
		Key:        func(t *victims.Task) string { return t.Key },
	}
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
func (t *Timing) deadlineOf(q queue.ID) (time.Time, bool) { return t.clocks[q].deadline() }

// Due is allDue for tests of callers.
func (t *Timing) Due(dst []queue.ID, now time.Time) []queue.ID { return t.allDue(dst, now) }
