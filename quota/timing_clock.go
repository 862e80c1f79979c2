package quota

import (
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A clock is what a [Timing] knows of a queue. The zero clock is that of a
// queue of which nothing was told.
type clock struct {
	stage   clockStage
	endless bool           // the end is later than a time.Time can say
	end     time.Time      // of a clock that waits or is due, unless endless
	delay   time.Duration  // as told; 0 is off
	defined resources.Mask // the types that the max told bounds
}

type clockStage uint8

const (
	clockIdle clockStage = iota
	clockWaiting
	clockDue
	clockRunning
)

// wait starts the clock from zero. The sum is checked: [time.Time.Add] stops
// at the end of time, and a clock that is cut off there would end too early.
func (c *clock) wait(now time.Time) {
	c.stage = clockWaiting
	c.end = now.Add(c.delay)
	c.endless = !c.end.Add(-c.delay).Equal(now)
}

// deadline returns the instant at which a clock that waits or is due ends.
func (c *clock) deadline() (time.Time, bool) {
	if c.endless || c.stage != clockWaiting && c.stage != clockDue {
		return time.Time{}, false
	}
	return c.end, true
}

// Deadline returns the instant at which the clock of q ends, or has ended if
// q is due. There is none for a queue that is idle or being enforced, and none
// for a clock that ends later than a [time.Time] can say.
func (t *Timing) Deadline(q queue.ID) (time.Time, bool) { return t.clocks[q].deadline() }

// Running reports whether a run of q itself is going on. It serves as Enforced
// of an [Enforcer], for such queues take no part in the enforcement of those
// above them.
func (t *Timing) Running(q queue.ID) bool { return t.clocks[q].stage == clockRunning }

// Next returns the first instant at which there may be something to begin, as
// things are: the earliest deadline, except those of queues that are due and
// blocked by a run above them. An instant that has passed says that it is time
// to look. If there is none, nothing is to be done before the next
// [Timing.Observe] or [Timing.End]. The cost is linear in the number of
// queues; one that is due adds its depth.
func (t *Timing) Next() (next time.Time, ok bool) {
	for q := range queue.ID(len(t.clocks)) {
		c := &t.clocks[q]
		end, has := c.deadline()
		if !has || c.stage == clockDue && !t.ready(q) {
			continue
		}
		if !ok || end.Before(next) {
			next, ok = end, true
		}
	}
	return next, ok
}

// maxOf returns the max told for q, as a view.
func (t *Timing) maxOf(q queue.ID) resources.Limit {
	n := t.tree.Schema().Len()
	at := int(q) * n
	return resources.Limit{Value: t.max[at : at+n : at+n], Defined: t.clocks[q].defined}
}

func (t *Timing) setMax(q queue.ID, max resources.Limit) {
	t.clocks[q].defined = max.Defined
	for i := range max.Defined.All() {
		t.maxOf(q).Value[i], _ = max.Bound(i)
	}
}

// compareBounds reports whether a change from one limit to another lowers the
// bound of a type, and whether it raises one. A bound where there was none is
// lower.
func compareBounds(from, to resources.Limit) (lowered, raised bool) {
	for i := range (from.Defined | to.Defined).All() {
		was, bounded := from.Bound(i)
		is, bounds := to.Bound(i)
		switch {
		case !bounded, bounds && is < was:
			lowered = true
		case !bounds, is > was:
			raised = true
		}
	}
	return lowered, raised
}
