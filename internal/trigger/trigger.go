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

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Case is what wants to preempt.
type Case struct {
	Tree     *queue.Tree
	Leaf     queue.ID
	Arriving resources.Vector // all that arrives; what is wanted is what is above zero
	Before   resources.Vector // what of it arrives before the last member; nil for an ask
	Counting resources.Mask   // the types whose guarantees count, as Tree has it
	OnNode   bool             // it can run on one node only: neither delay nor guarantees count

	MayNot       bool
	PendingSince time.Time // zero: long ago
	LastAttempt  time.Time // zero: never
	Interval     time.Duration
	Now          time.Time

	// Waived says of an obstacle at a queue that it does not count, for explanations. For
	// headroom-inside that is storm freedom, and for over-max the max of the queue, which
	// then lacks no headroom either. nil: all count.
	Waived func(o string, q queue.ID) bool
}

// An Answer is the first obstacle, a reason of package rulebook, or the zero Answer. Queue and Type say what it is
// about, if it is about one. RetryAt is when neither delay nor interval are in the way. NoneCounts: nothing is
// guaranteed because guarantees of no wanted type count.
type Answer struct {
	Obstacle   string
	Queue      queue.ID
	Type       int
	RetryAt    time.Time
	NoneCounts bool
}

func (c *Case) waived(o string, q queue.ID) bool { return c.Waived != nil && c.Waived(o, q) }

// Ask returns the first obstacle. The cost is depth times types.
func (c *Case) Ask() Answer {
	if c.MayNot && !c.waived(rulebook.MayNotPreempt, c.Leaf) {
		return Answer{Obstacle: rulebook.MayNotPreempt}
	}
	if a := c.Early(); a.Obstacle != "" {
		return a
	}
	if a := c.overMax(); a.Obstacle != "" || c.OnNode {
		return a
	}
	needy, a := c.Law4()
	if a.Obstacle != "" || !needy.Governed {
		return a
	}
	return c.headroomInside(needy.Needy)
}

// Early answers for what is not pending for long enough, or was tried too recently.
// RetryAt is the time at which neither is so.
func (c *Case) Early() (a Answer) {
	if !c.OnNode && !c.waived(rulebook.TooEarly, c.Leaf) {
		// At the very end of the delay it may preempt. The zero time is long ago, so that
		// what has none never waits.
		if end := c.PendingSince.Add(*c.Tree.Policies(c.Leaf).PreemptionDelay); c.Now.Before(end) {
			a.Obstacle, a.RetryAt = rulebook.TooEarly, end
		}
	}
	if c.Interval > 0 && !c.LastAttempt.IsZero() && !c.waived(rulebook.TooSoon, c.Leaf) {
		if end := c.LastAttempt.Add(c.Interval); c.Now.Before(end) {
			if a.Obstacle == "" {
				a.Obstacle = rulebook.TooSoon
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
	return c.beyondMax(rulebook.OverMax, 0, func(used, _, most int64) bool { return used > most })
}

// headroomInside answers if a max at the needy queue or below it is short: only victims
// inside it could make room there, and that would leave it as starved as it is.
func (c *Case) headroomInside(needy queue.ID) Answer {
	return c.beyondMax(rulebook.HeadroomInside, needy, func(used, arrives, most int64) bool { return used+arrives > most })
}

// beyondMax answers with the first queue of the path, up to last, that passes its max in a
// wanted type. Coming usage counts: what is leaving will have left.
func (c *Case) beyondMax(o string, last queue.ID, beyond func(used, arrives, most int64) bool) Answer {
	wanted := resources.Positive(c.Arriving)
	for q := range c.Tree.Ancestors(c.Leaf) {
		most := c.Tree.Max(q)
		for t := range (most.Defined & wanted).All() {
			used := c.Tree.Usage(q)[t] - c.Tree.Leaving(q)[t]
			if beyond(used, c.Arriving.At(t), most.Value[t]) && !c.waived(rulebook.OverMax, q) {
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
func (c *Case) Law4() (needy Guarantees, a Answer) {
	wanted := resources.Positive(c.Arriving)
	needy = c.Guarantees()
	// A type that no queue of the path guarantees gives no right to anything.
	if !needy.Governed && !c.waived(rulebook.NotGuaranteed, c.Leaf) {
		return needy, Answer{Obstacle: rulebook.NotGuaranteed, NoneCounts: wanted != 0 && wanted&c.Counting == 0}
	}
	for t := range needy.Met.All() {
		if q, _ := c.Tree.Governing(c.Leaf, t); !c.waived(rulebook.OverGuarantee, q) {
			return needy, Answer{Obstacle: rulebook.OverGuarantee, Queue: q, Type: t}
		}
	}
	needy.Governed = needy.Governed && !c.waived(rulebook.HeadroomInside, needy.Needy)
	return needy, Answer{}
}
