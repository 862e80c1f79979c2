// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Quota is a max, and the delay from its lowering to its enforcement; 0 is off.
type Quota struct {
	Queue queue.ID
	Max   resources.Limit
	Delay time.Duration
}

// A Timing says when which quota is due. A queue is in one of four stages (DESIGN.md, Quota: timing):
//
//	idle     nothing is to be done
//	waiting  max was lowered, or the delay set: the clock is running
//	due      the clock has ended, and usage was over max then
//	running  the quota is being enforced
//
// Call [Timing.Observe] at the start, and when a max or delay may have changed. Call [Timing.Begin] at
// [Timing.Next] or now and then, until it has no more, and enforce each queue. Call [Timing.End] when victims
// are marked, or have gone. Without [Timing.Load] every clock starts in full.
//
// Usage is effective usage, read when it matters. An instant before the latest one counts as that one. Instants
// are returned in UTC. An unknown queue panics. A Timing serves one goroutine at a time, while no other changes
// its tree.
type Timing struct {
	tree   *queue.Tree
	now    time.Time  // the latest instant told
	clocks []clock    // one per queue
	max    []int64    // the max told: a row per queue
	order  []queue.ID // all queues, in due order
	paths  []string   // of the queues; the tree may show others by now
	schema *resources.Schema
	usage  resources.Vector // scratch
}

// NewTiming returns a Timing for the queues of tree, without max and delay until told.
func NewTiming(tree *queue.Tree) *Timing {
	n := tree.Len()
	t := &Timing{
		tree:   tree,
		clocks: make([]clock, n),
		max:    make([]int64, n*tree.Schema().Len()),
		order:  make([]queue.ID, n),
		schema: tree.Schema(),
	}
	for q := range t.order {
		t.order[q] = queue.ID(q)
	}
	for _, q := range t.order {
		t.paths = append(t.paths, tree.Path(q))
	}
	slices.SortFunc(t.order, t.compareDue)
	return t
}

// SetTree goes over to another tree. Queues and types of the same path and name keep max, delay and clock;
// others have none. Tell each max that has changed with [Timing.Observe]. The cost is linear in queues and
// types.
func (t *Timing) SetTree(tree *queue.Tree) {
	before := make(map[string]queue.ID, len(t.paths))
	for i, path := range t.paths {
		before[path] = queue.ID(i)
	}
	next := NewTiming(tree)
	next.now = t.now
	for q, path := range next.paths {
		old, ok := before[path]
		if !ok {
			continue
		}
		told := resources.Limit{Value: make(resources.Vector, tree.Schema().Len())}
		for i := range t.clocks[old].defined.All() {
			if j, ok := tree.Schema().Index(t.schema.Name(i)); ok {
				told.Value[j] = t.max[int(old)*t.schema.Len()+i]
				told.Defined |= 1 << j
			}
		}
		next.clocks[q] = t.clocks[old]
		next.setMax(queue.ID(q), told)
	}
	*t = *next
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

// Observe tells the clock the max of a queue, which [victims.Cluster.SetMax] sets, and its delay. A negative delay, a bad bound and a max below the queue's
// guarantee are errors, joined, and change nothing.
//
// The clock starts anew if s lowers a bound, as the first max does, or changes only the delay. It stops if s
// only raises bounds, or has no delay. A run goes on. The clock of a dynamic queue never starts. The cost is
// linear in types.
func (t *Timing) Observe(s Quota, now time.Time) error {
	q := s.Queue
	if err := s.check(t.tree); err != nil {
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
	if c.delay > 0 && !t.tree.Policies(q).Dynamic {
		c.wait(t.now)
	}
}

// Begin begins the run of the first queue that is due, and returns it: clock ended, usage over max, no run
// above. Deeper queues come first, then tree order.
//
// A queue within its max is idle again, unless a run above blocks it. The cost is linear in queues; one whose
// clock has ended adds depth and types.
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

var errNotRunning = errors.New("no run to end")

// End ends the run of q. If its usage is still over its max, the clock starts now. Without a run it is an
// error. End every run, also after an error: until then no other begins at q or below.
func (t *Timing) End(q queue.ID, now time.Time) error {
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

var errDelay = errors.New("negative delay")

// check reports what keeps s from being set for its queue.
func (s Quota) check(tree *queue.Tree) error {
	q := s.Queue
	var problems []error
	report := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("quota: %s: %w", plain.Name(tree.Path(q)), fmt.Errorf(format, args...)))
	}
	if s.Delay < 0 {
		report("%w: %v", errDelay, s.Delay)
	}
	schema, guaranteed := tree.Schema(), tree.Guaranteed(q)
	for i := range s.Max.Defined.All() {
		m, _ := s.Max.Bound(i)
		g, promised := guaranteed.Bound(i)
		switch {
		case i >= schema.Len():
			report("%w: max of type %d of %d", lent.ErrType, i, schema.Len())
		case m < 0:
			report("%w: max %s %s", lent.ErrNegative, plain.Line(schema.Name(i)), vectors.Text(schema, i, m))
		case promised && m < g:
			report("%w: %s: guaranteed %s, max %s", lent.ErrAboveMax,
				plain.Line(schema.Name(i)), vectors.Text(schema, i, g), vectors.Text(schema, i, m))
		}
	}
	return errors.Join(problems...)
}

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

// Running reports whether a run of q itself is going on.
func (t *Timing) Running(q queue.ID) bool { return t.clocks[q].stage == clockRunning }

// Next returns the earliest deadline, except of queues that a run above blocks. It may be past. Without one,
// nothing is to be done before the next Observe or End. The cost is linear in queues; a due one adds its depth.
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

// String lists the queues that are not idle, in tree order, as last seen:
//
//	root.a.x  due since 2026-01-01T00:05:00Z, after the run of root.a
func (t *Timing) String() string {
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
