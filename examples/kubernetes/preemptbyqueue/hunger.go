// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// hunger is how long queues were under their guarantees while pods of them waited.
type hunger struct {
	since time.Time // when it was last added up; zero: never

	found       map[short]bool
	used, lacks resources.Vector
}

// A short is a type in which a queue is under its guarantee.
type short struct {
	queue queue.ID
	typ   int
}

// How often hunger is added up if decisions are rare, and at most if they are many.
const (
	seldom = 10 * time.Second
	often  = time.Second
)

// watchHunger adds hunger up from time to time, until the context ends.
func (c *core) watchHunger(ctx context.Context) {
	every(ctx, seldom, func(now time.Time) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.feel(now)
	})
}

// feel adds the time since the last call to each queue that is under its guarantee, in
// each type that a pod below it was refused. Call it before the cluster changes.
func (c *core) feel(now time.Time) {
	h := &c.hunger
	passed := now.Sub(h.since)
	if h.since.IsZero() {
		h.since = now
		return
	}
	if passed < often {
		return
	}
	h.since = now
	if h.found == nil {
		h.found = map[short]bool{}
	}
	clear(h.found)
	tree := c.queues().tree
	c.refused.Range(func(_, w any) bool {
		pod := w.(waiting)
		for q := range tree.Ancestors(c.queueOf(pod.pod)) {
			c.feelQueue(q, pod.size)
		}
		return true
	})
	for s := range h.found { // in any order: each has a counter of its own
		hungrySeconds.WithLabelValues(tree.Path(s.queue), tree.Schema().Name(s.typ)).Add(passed.Seconds())
	}
}

// feelQueue notes the types of a size in which a queue is under its guarantee.
func (c *core) feelQueue(q queue.ID, size resources.Vector) {
	tree, h := c.queues().tree, &c.hunger
	h.used = tree.Effective(h.used, q)
	h.lacks = resources.Short(h.lacks, tree.Guaranteed(q), h.used)
	for i, a := range size {
		if a > 0 && h.lacks.At(i) > 0 {
			h.found[short{q, i}] = true
		}
	}
}
