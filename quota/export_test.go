// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-preempt/preempt/internal/plain"
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

// String lists the queues that are not idle, in tree order, as last seen:
//
//	root.a.x  due since 2026-01-01T00:05:00Z, after the run of root.a
func (t *Timing) String() string {
	t.look()
	width := 0
	for q := range queue.ID(len(t.clocks)) {
		if t.clocks[q].stage != clockIdle {
			width = max(width, utf8.RuneCountInString(plain.Name(t.tree.Path(q))))
		}
	}
	var b strings.Builder
	for q := range queue.ID(len(t.clocks)) {
		if t.clocks[q].stage != clockIdle {
			fmt.Fprintf(&b, "%-*s  %s\n", width, plain.Name(t.tree.Path(q)), t.describe(q))
		}
	}
	return b.String()
}

// describe returns the stage of q in words.
func (t *Timing) describe(q queue.ID) string {
	c := &t.clocks[q]
	end := c.end.Format(time.RFC3339Nano)
	switch c.stage {
	case clockWaiting:
		if c.endless {
			return "waits for ever"
		}
		return "waits until " + end
	case clockDue:
		if a, blocked := t.runAbove(q); blocked {
			return fmt.Sprintf("due since %s, after the run of %s", end, plain.Name(t.tree.Path(a)))
		}
		return "due since " + end
	case clockRunning:
		return "running"
	}
	return "idle"
}
