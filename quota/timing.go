package quota

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Timing says when which quota is due to be enforced. It is told what
// happens and at which instant, and asked what is due; it has no clock and no
// goroutine of its own. [NewTiming] makes one. (DESIGN.md, Quota: timing.)
//
// For it, each queue is in one of four stages:
//
//	idle     nothing is to be done
//	waiting  max was lowered, or the delay set: the clock is running
//	due      the clock has ended, and usage was over max then
//	running  the quota is being enforced
//
// A host takes these steps:
//
//  1. When it starts, and whenever a max or a delay may have changed, it tells
//     of them with [Timing.Observe]. Equal values are no change.
//  2. At [Timing.Next], after every End, or simply now and then, it calls
//     [Timing.Begin] until that has no more, and enforces the quota of each
//     queue that it gets.
//  3. It calls [Timing.End] as a run is done: when the victims have been
//     marked, or only when they have gone. Until then no run begins below.
//
// A host that restarts begins again with a new Timing. The first setting that it
// tells is a change. So every clock starts in full, and what was being enforced
// is due again after the delay if it still has to be. A changed hierarchy is
// a new tree, and the same applies.
//
// Usage is the effective usage e = u - p of the tree. It is read when it
// matters and not before. What a queue may use at most is what was told, which
// the host keeps the same as in the tree.
//
// Time never runs back: an instant before the latest one told, or before the
// zero time, counts as that one. Instants are returned in UTC and without a
// monotonic reading.
//
// A queue ID that the tree does not have makes methods panic. A Timing serves
// one goroutine at a time, and meanwhile no other may change its tree.
type Timing struct {
	tree   *queue.Tree
	now    time.Time        // the latest instant told
	clocks []clock          // one per queue
	max    []int64          // the max told: a row per queue
	order  []queue.ID       // all queues, in due order
	usage  resources.Vector // scratch
}

// NewTiming returns a Timing for the queues of tree, which have neither a max
// nor a delay until it is told. What the tree itself says of them is not read.
func NewTiming(tree *queue.Tree) *Timing {
	n := tree.Len()
	t := &Timing{
		tree:   tree,
		clocks: make([]clock, n),
		max:    make([]int64, n*tree.Schema().Len()),
		order:  slices.AppendSeq(make([]queue.ID, 0, n), tree.All()),
	}
	slices.SortFunc(t.order, t.compareDue)
	return t
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
	return cmp.Or(cmp.Compare(t.tree.Depth(b), t.tree.Depth(a)), cmp.Compare(a, b))
}

// Observe tells what the max and the delay of q are from now on. It copies s.
// An error says what [Setting.Check] finds wrong with s, and then nothing
// changes.
//
// The clock of q starts if s lowers the bound of any type, or changes the
// delay and no bound. It stops if s raises bounds only, or has no delay. A
// clock that is running already, or has ended without a run, starts again from
// zero. The first setting is a change from no bound and no delay. A run goes
// on, whatever s says: [Timing.End] looks at it. The clock of a dynamic queue
// never starts. The cost is linear in the types.
func (t *Timing) Observe(q queue.ID, s Setting, now time.Time) error {
	if err := s.Check(t.tree, q); err != nil {
		return err
	}
	t.advance(now)
	c := &t.clocks[q]
	lowered, raised := compareBounds(t.maxOf(q), s.Max)
	redelayed := c.delay != s.Delay
	c.delay = s.Delay
	t.setMax(q, s.Max)

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
	return nil
}

// start starts the clock of q in full, or stops it if there is no delay.
func (t *Timing) start(q queue.ID) {
	c := &t.clocks[q]
	c.stage = clockIdle
	// "Delay 0: off." "Dynamic queues never start one."
	if c.delay > 0 && !t.tree.Dynamic(q) {
		c.wait(t.now)
	}
}

// Due appends the queues whose quota may be enforced now and returns the
// extended slice: their clocks have ended, their usage is over their max, and
// no run is going on above them. Leaves come before parents, deeper queues
// first, then tree order.
//
// Usage counts as it is now, even if a clock ended earlier. If a clock
// has ended since the last look and usage is within max, the queue is idle
// again, and so is a due queue that nothing blocks. One that is blocked stays
// due, whatever its usage does.
//
// Due begins no run: the first of the queues is the one that [Timing.Begin]
// would return. The cost is linear in the number of queues; a queue whose
// clock has ended adds its depth and the types.
func (t *Timing) Due(dst []queue.ID, now time.Time) []queue.ID {
	t.settle(now)
	for _, q := range t.order {
		if t.ready(q) {
			dst = append(dst, q)
		}
	}
	return dst
}

// Begin begins the run of the queue that is first in the order of [Timing.Due]
// and returns it, or false if nothing is due. A run waits for none but
// those above it, so that the loop
//
//	for q, ok := timing.Begin(now); ok; q, ok = timing.Begin(now) {
//		// Enforce the quota of q.
//	}
//
// begins all that may begin now. As usage is read each time, a parent that
// its children have helped enough is not begun. The cost is that of Due.
func (t *Timing) Begin(now time.Time) (queue.ID, bool) {
	t.settle(now)
	for _, q := range t.order {
		if t.ready(q) {
			t.clocks[q].stage = clockRunning
			return q, true
		}
	}
	return 0, false
}

// ErrNotRunning is what ending a run that was not begun wraps.
var ErrNotRunning = errors.New("no run to end")

// End ends the run of q. If its usage is still over its max, the last one that was
// told, the clock starts at this moment: what ends short is due again after the
// delay. A queue that has no run going on is an error
// that wraps [ErrNotRunning], and then nothing changes.
func (t *Timing) End(q queue.ID, now time.Time) error {
	c := &t.clocks[q]
	if c.stage != clockRunning {
		return fmt.Errorf("quota: %s: %w", plain.Name(t.tree.Path(q)), ErrNotRunning)
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

// over reports whether q uses more of a type than the max told for it.
func (t *Timing) over(q queue.ID) bool {
	t.usage = t.tree.Effective(t.usage, q)
	return !resources.Admits(t.maxOf(q), t.usage)
}
