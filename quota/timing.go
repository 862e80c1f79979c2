// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Timing says when a max that was lowered is due to be enforced: once the queue's [queue.Policies].QuotaDelay
// has passed. Only Cluster must be set. A queue is in one of four stages (DESIGN.md, Quota: timing):
//
//	idle     nothing is to be done
//	waiting  max was lowered, or the delay set: the clock is running
//	due      the clock has ended, and usage was over max then
//	running  the quota is being enforced
//
// Range over [Timing.Due] at [Timing.Next] or now and then. Call [Timing.End] once its victims are marked; or
// when they have gone, if no other run is to begin there or below before that. Without [Timing.Load] every
// clock starts in full.
//
// An instant before the latest one counts as that one. An unknown queue panics. With another tree or cluster, queues
// and types of the same path and name keep their clocks. A Timing serves the goroutine that may change the cluster.
type Timing struct {
	Cluster *victims.Cluster

	now    time.Time        // the latest instant told
	clocks []clock          // one per queue
	max    []int64          // the max at the last look: a row per queue
	order  []queue.ID       // all queues, in due order
	usage  resources.Vector // scratch

	// The queues that the clocks are of. The tree may show others by now.
	tree   *queue.Tree
	queues trees.Queues
	paths  []string
	schema *resources.Schema
}

// look goes over to the queues that the cluster has by now.
func (t *Timing) look() {
	if t.Cluster == nil {
		panic("quota: Timing without a Cluster (nil): see victims.NewCluster")
	}
	if tree := t.Cluster.Tree(); tree != t.tree || trees.QueuesOf(tree) != t.queues {
		t.tree = tree
		t.move(trees.QueuesOf(tree))
	}
}

// move makes clocks for other queues, which go on if they have the path of one of before.
func (t *Timing) move(queues trees.Queues) {
	if queues == t.queues {
		return
	}
	before := *t
	rows := make(map[string]int, len(before.paths))
	for i, path := range before.paths {
		rows[path] = i
	}
	n, schema := t.tree.Len(), t.tree.Schema()
	t.queues, t.schema = queues, schema
	t.clocks, t.max = make([]clock, n), make([]int64, n*schema.Len())
	t.order, t.paths = make([]queue.ID, n), make([]string, n)
	for q := range t.order {
		t.order[q], t.paths[q] = queue.ID(q), t.tree.Path(queue.ID(q))
		row, ok := rows[t.paths[q]]
		if !ok {
			continue
		}
		most := resources.Limit{Value: make(resources.Vector, schema.Len())}
		for i := range before.clocks[row].defined.All() {
			if j, ok := schema.Index(before.schema.Name(i)); ok {
				most.Value[j] = before.max[row*before.schema.Len()+i]
				most.Defined |= 1 << j
			}
		}
		t.clocks[q] = before.clocks[row]
		t.setMax(queue.ID(q), most)
	}
	slices.SortFunc(t.order, t.compareDue)
}

// compareDue is the due order. "Due together: leaves before parents, deeper
// first." Then tree order.
func (t *Timing) compareDue(a, b queue.ID) int {
	if t.tree.IsLeaf(a) != t.tree.IsLeaf(b) {
		if t.tree.IsLeaf(a) {
			return -1
		}
		return +1
	}
	return cmp.Or(cmp.Compare(trees.Depth(t.tree, b), trees.Depth(t.tree, a)), cmp.Compare(a, b))
}

// Observe looks at the max and the delay of every queue.
//
// A clock starts anew if a bound is lower than at the last look, or if only the delay is another. At the first look
// every max counts as lowered. It stops if bounds are only higher, or there is no delay. A run goes on. The clock of
// a dynamic queue never starts. The cost is O(queues·types).
func (t *Timing) Observe(now time.Time) {
	t.look()
	t.advance(now)
	for q := range queue.ID(len(t.clocks)) {
		t.observe(q, t.tree.Max(q), *t.tree.Policies(q).QuotaDelay)
	}
}

func (t *Timing) observe(q queue.ID, most resources.Limit, delay time.Duration) {
	c := &t.clocks[q]
	lowered, raised := compareBounds(t.maxOf(q), most)
	redelayed := c.delay != delay
	c.delay = delay
	t.setMax(q, most)

	switch {
	case c.stage == clockRunning:
		// "A run once begun is neither stopped nor doubled by changes."
	case lowered:
		// "A change that lowers the bound of any type starts the clock",
		// "another change of max or delay starts it again from zero".
		t.start(q)
	case raised:
		c.stage = clockIdle // "A pure increase cancels", whatever the delay does.
	case redelayed:
		t.start(q) // "A change of delay alone to > 0 starts it, to 0 stops it."
	}
}

// start starts the clock of q in full, or stops it if there is no delay.
func (t *Timing) start(q queue.ID) {
	c := &t.clocks[q]
	c.stage = clockIdle
	// "Delay 0: off." "Dynamic queues never start one."
	if c.delay > 0 && !t.tree.Policies(q).Dynamic {
		c.wait(t.now)
	}
}

// Due begins the run of each queue that is due, and yields it: its clock has ended, its usage is over its max, and
// there is no run above. Deeper queues come first, then tree order. It looks anew after each.
//
// A queue within its max is idle again, unless a run above blocks it. The cost is linear in queues, for each that is
// yielded.
func (t *Timing) Due(now time.Time) iter.Seq[queue.ID] {
	return func(yield func(queue.ID) bool) {
		for q, ok := t.begin(now); ok && yield(q); q, ok = t.begin(now) {
		}
	}
}

func (t *Timing) begin(now time.Time) (queue.ID, bool) {
	t.settle(now)
	for _, q := range t.order {
		if t.ready(q) {
			t.clocks[q].stage = clockRunning
			return q, true
		}
	}
	return 0, false
}

var errNotRunning = errors.New("no run to end")

// End ends the run of q. If its usage is still over its max, the clock starts now. Without a run it is an
// error. End every run, also after an error: until then no other begins at q or below.
func (t *Timing) End(q queue.ID, now time.Time) error {
	t.look()
	c := &t.clocks[q]
	if c.stage != clockRunning {
		return fmt.Errorf("quota: %s: %w", plain.Name(t.tree.Path(q)), errNotRunning)
	}
	t.advance(now)
	c.stage = clockIdle
	// "What changes during a run counts at its end: usage over the max of then
	// starts the clock at that moment."
	if t.over(q) {
		t.start(q)
	}
	return nil
}

// settle moves the clocks that have ended by now.
func (t *Timing) settle(now time.Time) {
	t.look()
	t.advance(now)
	for q := range queue.ID(len(t.clocks)) {
		c := &t.clocks[q]
		ended := c.stage == clockWaiting && !c.endless && !c.end.After(t.now)
		if ended {
			c.stage = clockDue
		}
		// "When it ends, usage and max of that moment decide." And so they do
		// while it may be begun, but "due but blocked stays due".
		if c.stage == clockDue && (ended || t.ready(q)) && !t.over(q) {
			c.stage = clockIdle
		}
	}
}

// advance moves the latest instant. "now never runs back." UTC strips
// a monotonic reading, too.
func (t *Timing) advance(now time.Time) {
	if now.After(t.now) {
		t.now = now.UTC()
	}
}

// ready reports whether q is due and nothing blocks it.
func (t *Timing) ready(q queue.ID) bool {
	if t.clocks[q].stage != clockDue {
		return false
	}
	_, blocked := t.runAbove(q)
	return !blocked
}

// runAbove returns the nearest queue above q that has a run going on: "none
// begins below it until it is done".
func (t *Timing) runAbove(q queue.ID) (queue.ID, bool) {
	for a, ok := t.tree.Parent(q); ok; a, ok = t.tree.Parent(a) {
		if t.clocks[a].stage == clockRunning {
			return a, true
		}
	}
	return 0, false
}

// over reports whether q uses more of a type than its max.
func (t *Timing) over(q queue.ID) bool {
	t.usage = t.tree.Effective(t.usage, q)
	return !resources.Admits(t.tree.Max(q), t.usage)
}

// A clock is what a [Timing] knows of a queue. The zero clock is that of a
// queue that was not looked at.
type clock struct {
	stage   clockStage
	endless bool           // the end is later than a time.Time can say
	end     time.Time      // of a clock that waits or is due, unless endless
	delay   time.Duration  // at the last look; 0 is off
	defined resources.Mask // the types that max bounded then
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

// Running reports whether a run of q itself is going on.
func (t *Timing) Running(q queue.ID) bool {
	t.look()
	return t.clocks[q].stage == clockRunning
}

// Next returns the earliest deadline, except of queues that a run above blocks. It may be past. Without one, nothing is
// to be done before the next Observe or End. The cost is linear in queues.
func (t *Timing) Next() (next time.Time, ok bool) {
	t.look()
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

// maxOf returns the max of q at the last look, as a view.
func (t *Timing) maxOf(q queue.ID) resources.Limit {
	n := t.schema.Len()
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
