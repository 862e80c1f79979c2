// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An Enforcer decides which tasks of a queue should stop. Only Cluster must be set. Goroutines and memory are
// as in package victims.
type Enforcer struct {
	Cluster *victims.Cluster

	// An enforcement knows NeverOvershoot, Enforced, Audit, Observe, Steps and Stop. After Stop it takes tasks in order
	// while usage stays over; the answer is unproven.
	victims.Options

	// Order is how the tasks of a leaf are taken.
	Order Order
	// CompareTasks replaces [YoungestFirst], also within [Pack] and [ClosestMatch]: negative if a stops before
	// b. Keys break ties. Searches do not ask it.
	CompareTasks func(a, b *victims.Task) int

	x       enforcement
	auditor victims.Auditor
	found   []victims.Violation
}

// completeCandidates is the number of tasks, of a leaf or below the enforced queue, up
// to which a search is complete.
const completeCandidates = 12

// Enforce sets dst to which tasks below queue q should stop at the instant now, so that its usage comes within its max.
// It fits if nothing is over, and is refused (no-victims) if nobody can go.
//
// An unknown order is an error, and an unknown queue panics. For a dry run lower the max of a clone. The cost
// is O(tasks·log tasks) below the queue, and searches if a leaf cannot give its part.
func (e *Enforcer) Enforce(dst *victims.Decision, q queue.ID, now time.Time) error {
	if !slices.Contains(orders, e.Order) {
		return fmt.Errorf("quota: order %q: %w", e.Order, victims.ErrUnknown)
	}
	x := &e.x
	x.begin(e, q, now)
	if len(x.list) > 0 {
		x.decide()
	}
	x.report(dst)
	if e.Audit && dst.Outcome == victims.Preempts {
		e.verify(dst, now)
	}
	if e.Observe != nil {
		e.Observe(dst)
	}
	return nil
}

// verify has the auditor look at an enforcement, and withholds one that breaks a law.
func (e *Enforcer) verify(dst *victims.Decision, now time.Time) {
	e.auditor.Cluster, e.auditor.Options = e.Cluster, e.Options
	if e.found = e.auditor.Audit(e.found[:0], dst, now); len(e.found) > 0 {
		dst.Outcome, dst.Plan.Version, dst.Plan.Victims = victims.Refused, victims.Version{}, dst.Plan.Victims[:0]
		dst.Refusal.Reason, dst.Refusal.Proven = victims.Unlawful, false
	}
}

// enforcement is one enforcement in the making, and the memory for the next.
//
// Blocks have a row of amounts for each queue of the subtree of q, in tree
// order. Amounts of different tasks never sum to more than the cluster's usage,
// which fits int64.
type enforcement struct {
	// What is asked.
	e    *Enforcer
	c    *victims.Cluster
	tree *queue.Tree
	q    queue.ID
	now  time.Time

	timed  eligible.Timed
	losses rulebook.Losses // of tasks

	types  int
	usage  resources.Vector // effective usage of q
	target resources.Vector // what of it is over the max
	list   []int            // the types of the target, ascending
	wanted resources.Mask   // the same as a set

	// Law 2. room is what it still lets go below each queue. A queue without a
	// guarantee of a type can give all that it uses. above is the same for the
	// tightest of the queues above q. freed is what the victims free.
	room, freed []int64
	above       resources.Vector
	vector      resources.Vector // scratch

	meter  least.Meter // of all work but searches over many tasks
	roster roster      // who may go, and who is taken
	packer packer
	walk   walk
	finder finder
	rounds rounds
	stops  [][rulebook.NumRules]stop // see reportObstacles
}

// begin states what has to go, and which types that are.
func (x *enforcement) begin(e *Enforcer, q queue.ID, now time.Time) {
	x.e, x.c, x.tree, x.q, x.now = e, e.Cluster, e.Cluster.Tree(), q, now
	x.timed.Reset(x.tree, now)
	x.timed.OfQuota = true
	x.losses.Begin(x.c.Capacity())
	x.types = x.tree.Schema().Len()
	x.usage = x.tree.Effective(x.usage, x.q)
	x.target = resources.Over(x.target, x.usage, x.tree.Max(q))
	x.wanted = resources.Positive(x.target)
	x.list = slices.AppendSeq(x.list[:0], x.wanted.All())
	x.finder.start(e)
	x.meter = least.Meter{Left: max(x.finder.left, leastSteps), Stop: e.Stop}
}

// decide picks the victims.
//
// One last trim gives back what is not needed for the target as a whole. No leaf
// trims on its own: so a plain task can take the place of an opted-out one, also
// of another leaf, and what a leaf frees beyond its part can spare others.
// (DESIGN.md, Quota: last trim.)
func (x *enforcement) decide() {
	x.open()
	x.enlist()
	x.share()
	x.trim()
	x.refill()
	if x.isShort(x.q, x.target) && x.search(x.q, x.target, true) {
		x.noteAsked()
		x.refill() // a search that was cut short may have left something
	}
	if x.e.Order == Fewest || x.e.Order == FewestOfAll {
		x.lessen()
	}
}

// refill takes what a trim, or a search, has made room for. Each pass frees more
// of the target than the last.
func (x *enforcement) refill() {
	for x.isShort(x.q, x.target) && x.fill() {
		x.trim()
	}
}

// leastSteps is what an enforcement may take in any case besides searches over many tasks.
const leastSteps = 1 << 20

// goesOn reports whether there is anything left for work that need not be done. If not,
// nobody knows what it would have found.
func (x *enforcement) goesOn() bool {
	x.finder.unproven = x.finder.unproven || x.meter.Over()
	return !x.meter.Over()
}

// open starts with all rooms full: nobody has gone yet.
//
// Law 2: no queue ends below its guarantee. Usage after the plan must be at
// least min(g, usage before), so what goes below a queue may sum to its surplus.
// That holds at every level, above q too, and for every type that a task has,
// not only those that are wanted.
func (x *enforcement) open() {
	x.room, x.freed = x.block(x.room), x.block(x.freed)
	for p := x.q; p < trees.End(x.tree, x.q); p++ {
		x.tree.Surplus(x.row(x.room, p), p)
	}
	x.above = rows.Zeros(x.above, x.types)
	for t := range x.above {
		x.above[t] = math.MaxInt64
	}
	for p, ok := x.tree.Parent(x.q); ok; p, ok = x.tree.Parent(p) {
		x.vector = x.tree.Surplus(x.vector, p)
		x.above = resources.Min(x.above, x.above, x.vector)
	}
}

// len returns the number of queues that are enforced: q and those below it.
func (x *enforcement) len() int { return int(trees.End(x.tree, x.q) - x.q) }

// block returns a block of zeros, in the memory of an old one.
func (x *enforcement) block(old []int64) []int64 { return rows.Zeros(old, x.len()*x.types) }

// row returns the amounts of a queue in a block.
func (x *enforcement) row(block []int64, p queue.ID) resources.Vector {
	return rows.At(block, int(p-x.q), x.types)
}

// isAny reports whether amounts of the target's types are not all zero.
func (x *enforcement) isAny(amounts resources.Vector) bool {
	for _, t := range x.list {
		if amounts[t] > 0 {
			return true
		}
	}
	return false
}

// within reports whether a size is at most what there is, in the types of the
// target.
func (x *enforcement) within(size, most resources.Vector) bool {
	for _, t := range x.list {
		if size[t] > most[t] {
			return false
		}
	}
	return true
}

// serves reports whether a task of this size can serve a goal.
func (x *enforcement) serves(goal, size resources.Vector) bool {
	for _, t := range x.list {
		if goal[t] > 0 && size[t] > 0 {
			return true
		}
	}
	return false
}

// isShort reports whether less than a goal is freed below p.
func (x *enforcement) isShort(p queue.ID, goal resources.Vector) bool {
	return !x.within(goal, x.row(x.freed, p))
}

// beyond sets dst to amounts, less others in the types of the target, at least 0.
func (x *enforcement) beyond(dst, amounts, others resources.Vector) resources.Vector {
	dst = append(dst[:0], amounts...)
	for _, t := range x.list {
		dst[t] = max(dst[t]-others[t], 0)
	}
	return dst
}

// roomOf sets dst to what tasks below p may sum to yet, in all queues that they
// are in, for a goal: with NeverOvershoot, no more than that.
func (x *enforcement) roomOf(dst resources.Vector, p queue.ID, goal resources.Vector) resources.Vector {
	dst = append(dst[:0], x.above...)
	for ; p >= x.q; p, _ = x.tree.Parent(p) {
		dst = resources.Min(dst, dst, x.row(x.room, p))
		if p == x.q {
			break
		}
	}
	if x.e.NeverOvershoot {
		for _, t := range x.list {
			dst[t] = min(dst[t], goal[t])
		}
	}
	return dst
}

// keeper returns the first queue in tree order whose guarantee keeps a task of
// a leaf.
func (x *enforcement) keeper(leaf queue.ID, size resources.Vector) (keeper queue.ID, kept bool) {
	for p := range x.tree.Ancestors(leaf) {
		if p >= x.q {
			x.vector = append(x.vector[:0], x.row(x.room, p)...)
		} else {
			x.vector = x.tree.Surplus(x.vector, p)
			x.vector = resources.Sub(x.vector, x.vector, x.row(x.freed, x.q))
		}
		if !resources.Fits(size, x.vector) {
			keeper, kept = p, true
		}
	}
	return keeper, kept
}

// A Slack is what may stay over a max: an amount of each type, or a share of the target rounded down, whichever
// is more.
type Slack struct {
	Amounts resources.Vector
	Share   resources.Share
}

// Allows reports whether a shortfall of a target may stay, in every type.
func (s Slack) Allows(shortfall, target resources.Vector) bool {
	for t, short := range shortfall {
		if short <= 0 || short <= s.Amounts.At(t) {
			continue
		}
		if (resources.Share{Amount: short, Of: target.At(t)}).Compare(s.Share) > 0 {
			return false
		}
	}
	return true
}
