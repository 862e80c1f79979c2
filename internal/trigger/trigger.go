// SPDX-License-Identifier: Apache-2.0

// Package trigger is the gate in front of preemption: whether an ask, or a job, may take
// from others at all, before anybody looks at a task. It is the one home of law 4 and of
// the other preconditions.
//
// A job is an ask with many members. So a [Case] has what arrives in all, and what of it
// arrives before the last member. For an ask that is nothing.
package trigger

import (
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// An Obstacle is a precondition that does not hold. They are asked about in this order.
type Obstacle uint8

const (
	MayNot         Obstacle = 1 + iota // it must not preempt others
	Early                              // it is not pending for the delay of its queue
	Soon                               // preemption was tried too recently
	OverMax                            // a queue of the path is over its max already
	NotGuaranteed                      // no type of it is governed (law 4)
	OverGuarantee                      // a governing queue has its guarantee (law 4)
	HeadroomInside                     // a max at the needy queue or below it is short
)

// A Case is what wants to preempt.
type Case struct {
	Tree     *queue.Tree
	Leaf     queue.ID
	Arriving resources.Vector // all that arrives; what is wanted is what is above zero
	Before   resources.Vector // what of it arrives before the last member; nil for an ask
	OnNode   bool             // it can run on one node only: neither delay nor guarantees count

	MayNot       bool
	PendingSince time.Time // zero: long ago
	LastAttempt  time.Time // zero: never
	Interval     time.Duration
	Now          time.Time

	// Waived says of an obstacle at a queue that it does not count, for explanations. For
	// [HeadroomInside] that is storm freedom, and for [OverMax] the max of the queue, which
	// then lacks no headroom either. nil: all count.
	Waived func(o Obstacle, q queue.ID) bool
}

// An Answer is the first obstacle, or the zero Answer. Queue and Type say what it is
// about, if it is about one. RetryAt is when neither delay nor interval are in the way.
type Answer struct {
	Obstacle Obstacle
	Queue    queue.ID
	Type     int
	RetryAt  time.Time
}

func (c *Case) waived(o Obstacle, q queue.ID) bool { return c.Waived != nil && c.Waived(o, q) }

// Ask returns the first obstacle. The cost is depth times types.
func (c *Case) Ask() Answer {
	if c.MayNot && !c.waived(MayNot, c.Leaf) {
		return Answer{Obstacle: MayNot}
	}
	if a := c.early(); a.Obstacle != 0 {
		return a
	}
	if a := c.overMax(); a.Obstacle != 0 || c.OnNode {
		return a
	}
	needy, a := c.Law4()
	if a.Obstacle != 0 || !needy.Governed {
		return a
	}
	return c.headroomInside(needy.Needy)
}

// early answers for what is not pending for long enough, or was tried too recently.
// RetryAt is the time at which neither is so.
func (c *Case) early() (a Answer) {
	if !c.OnNode && !c.waived(Early, c.Leaf) {
		// At the very end of the delay it may preempt. The zero time is long ago, so that
		// what has none never waits.
		if end := c.PendingSince.Add(c.Tree.PreemptionDelay(c.Leaf)); c.Now.Before(end) {
			a.Obstacle, a.RetryAt = Early, end
		}
	}
	if c.Interval > 0 && !c.LastAttempt.IsZero() && !c.waived(Soon, c.Leaf) {
		if end := c.LastAttempt.Add(c.Interval); c.Now.Before(end) {
			if a.Obstacle == 0 {
				a.Obstacle = Soon
			}
			// Both must have passed, and so the later one is told.
			if a.RetryAt.Before(end) {
				a.RetryAt = end
			}
		}
	}
	return a
}

// overMax answers if a queue of the path is over its max already in a wanted type: to
// bring it back is the business of package quota.
func (c *Case) overMax() Answer {
	return c.beyondMax(OverMax, 0, func(used, _, most int64) bool { return used > most })
}

// headroomInside answers if a max at the needy queue or below it is short: only victims
// inside it could make room there, and that would leave it as starved as it is.
func (c *Case) headroomInside(needy queue.ID) Answer {
	return c.beyondMax(HeadroomInside, needy, func(used, arrives, most int64) bool { return used+arrives > most })
}

// beyondMax answers with the first queue of the path, up to last, that passes its max in a
// wanted type. Coming usage counts: what is leaving will have left.
func (c *Case) beyondMax(o Obstacle, last queue.ID, beyond func(used, arrives, most int64) bool) Answer {
	wanted := resources.Positive(c.Arriving)
	for q := range c.Tree.Up(c.Leaf) {
		most := c.Tree.Max(q)
		for t := range (most.Defined & wanted).All() {
			used := c.Tree.Usage(q)[t] - c.Tree.Preempting(q)[t]
			if beyond(used, c.Arriving.At(t), most.Value[t]) && !c.waived(OverMax, q) {
				return Answer{Obstacle: o, Queue: q, Type: t}
			}
		}
		// Above the needy queue others can make room, and that is what victims are for.
		if q == last {
			break
		}
	}
	return Answer{}
}

// Law4 returns what guarantees say, and the obstacle if they let nothing be taken.
// Governed is false if nothing is inside the needy queue, for lack of one or because that
// is waived.
func (c *Case) Law4() (needy queue.Trigger, a Answer) {
	needy = c.Tree.Trigger(c.Leaf, resources.Positive(c.Arriving), c.Before)
	// A type that no queue of the path guarantees gives no right to anything.
	if !needy.Governed && !c.waived(NotGuaranteed, c.Leaf) {
		return needy, Answer{Obstacle: NotGuaranteed}
	}
	for t := range needy.Met.All() {
		if q, _ := c.Tree.Governing(c.Leaf, t); !c.waived(OverGuarantee, q) {
			return needy, Answer{Obstacle: OverGuarantee, Queue: q, Type: t}
		}
	}
	needy.Governed = needy.Governed && !c.waived(HeadroomInside, needy.Needy)
	return needy, Answer{}
}
