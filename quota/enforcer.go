package quota

import (
	"math"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An Enforcer decides which tasks of a queue should stop so that its usage
// comes within its max. Its exported fields are options; the zero value of each
// is the documented default, and only Cluster must be set. The rest is memory
// that decisions reuse, so that a warm enforcer allocates nothing beyond what
// a growing [Outcome] needs.
//
// An Enforcer serves one goroutine at a time. It never changes the cluster.
type Enforcer struct {
	Cluster *victims.Cluster

	// Overshoot says how much more than its part a leaf may free.
	Overshoot Overshoot
	// Miss is what may stay over the max without the outcome being called
	// partial or impossible. It spares no victim that can be had.
	Miss Miss
	// Order is the order in which the tasks of a leaf are taken.
	Order Order
	// Compare is an order of the caller's, or nil. It takes the place of
	// [LeafOrder], also within the nodes of [Pack] and the matches of
	// [ClosestMatch]: it is negative if a is to be stopped before b. It must be
	// a strict weak order that depends on its arguments only, and must not keep
	// or change them. Keys decide between tasks for which it is 0. Searches,
	// which compare sets, do not ask it.
	Compare func(a, b *victims.Task) int
	// Steps bounds the elementary steps of the searches over more than
	// [CompleteCandidates] tasks, all those of an enforcement together: each looks at a
	// row of the problem and a class of tasks. 0 means [victims.DefaultSteps]. A
	// million take a few milliseconds. Searches over fewer tasks are complete,
	// whatever the budget.
	Steps int64
	// Enforced reports whether the quota of a queue is being enforced already;
	// [Timing.Running] does. Such queues below the enforced one give
	// nothing, nor do those below them. It must depend on its argument only.
	Enforced func(queue.ID) bool
	// Minimum returns the number of members below which a running job does no
	// work, or 0. If it is nil, no minimum is known. As many members as run
	// beyond the minimum are taken one by one. The rest goes as a whole or not
	// at all, and only if all of the job runs in one leaf below the enforced
	// queue. It must depend on its argument only.
	Minimum func(job string) int

	x enforcement
}

// Overshoot says how much more than its part a leaf may free.
type Overshoot uint8

const (
	// OneTask lets a leaf take tasks until its part is met. As each victim is
	// needed for at least one type, with a single type it frees less than one
	// task too much.
	OneTask Overshoot = iota
	// Exact lets no leaf free more than it is asked for in any type of the
	// target: its part, or later as much as is open of all.
	Exact
)

var overshootWords = word.Table{Of: "quota.Overshoot", Words: []string{OneTask: "one-task", Exact: "exact"}}

// String returns the stable word for the overshoot: one-task or exact.
func (o Overshoot) String() string { return overshootWords.Word(uint8(o)) }

// CompleteCandidates is the number of tasks, of a leaf or below the enforced
// queue, up to which a search for the best set looks at every one that could
// matter.
const CompleteCandidates = 12

// A Quota is a max that is enforced on a queue: usually the queue's own. Another
// one makes a dry run of setting it.
type Quota struct {
	Queue queue.ID
	Max   resources.Limit
}

// Enforce decides which tasks of a queue, and of those below it, should stop so
// that its usage comes within a max, and sets dst to the answer, reusing its
// memory. The maxima of other queues are not enforced.
//
// Usage is effective usage: what is leaving counts as gone, and asks that were
// granted a place count. Work lost is told at the instant now.
//
// What is wrong with the max, given the guarantee and the quota preemption delay
// of the queue, is an error as of [Setting.Check]. That nobody can be taken is no
// error. A queue that the tree does not have makes it panic.
//
// The cost is that of looking at all tasks below the queue, and of putting in
// order those that are taken: O(tasks·log tasks) if each leaf can give its part.
// What a leaf cannot give makes another round among its siblings, and a search in
// the leaf. What is short in the end makes a search below the queue as a whole.
func (e *Enforcer) Enforce(dst *Outcome, quota Quota, now time.Time) error {
	tree := e.Cluster.Tree()
	if err := (Setting{Max: quota.Max, Delay: tree.QuotaPreemptionDelay(quota.Queue)}).Check(tree, quota.Queue); err != nil {
		return err
	}
	x := &e.x
	x.begin(e, quota, now)
	if len(x.list) > 0 {
		x.decide()
	}
	x.report(dst, quota.Max)
	return nil
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

	types  int
	usage  resources.Vector // effective usage of q
	target resources.Vector // Preemptable of it
	list   []int            // the types of the target, ascending
	wanted resources.Mask   // the same as a set

	// Law 2. room is what it still lets go below each queue. A queue without a
	// guarantee of a type can give all that it uses. above is the same for the
	// tightest of the queues above q. freed is what the victims free.
	room, freed []int64
	above       resources.Vector
	vector      resources.Vector // scratch

	roster roster // who may go, and who is taken
	packer packer
	walk   walk
	finder finder
	rounds rounds
	stops  [][victims.NumRules]Stop // see reportStops
}

// begin states what has to go, and which types that are.
func (x *enforcement) begin(e *Enforcer, quota Quota, now time.Time) {
	x.e, x.c, x.tree, x.q, x.now = e, e.Cluster, e.Cluster.Tree(), quota.Queue, now
	x.types = x.tree.Schema().Len()
	x.usage = x.tree.Effective(x.usage, x.q)
	x.target = Preemptable(x.target, quota.Max, x.usage)
	x.wanted = resources.Positive(x.target)
	x.list = slices.AppendSeq(x.list[:0], x.wanted.All())
	x.finder.start(e)
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
}

// refill takes what a trim, or a search, has made room for. Each pass frees more
// of the target than the last.
func (x *enforcement) refill() {
	for x.isShort(x.q, x.target) && x.fill() {
		x.trim()
	}
}

// open starts with all rooms full: nobody has gone yet.
//
// Law 2: no queue ends below its guarantee. Usage after the plan must be at
// least min(g, usage before), so what goes below a queue may sum to its surplus.
// That holds at every level, above q too, and for every type that a task has,
// not only those that are wanted.
func (x *enforcement) open() {
	x.room, x.freed = x.block(x.room), x.block(x.freed)
	for p := x.q; p < x.tree.End(x.q); p++ {
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
func (x *enforcement) len() int { return int(x.tree.End(x.q) - x.q) }

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
	dst = resources.Copy(dst, amounts)
	for _, t := range x.list {
		dst[t] = max(dst[t]-others[t], 0)
	}
	return dst
}

// roomOf sets dst to what tasks below p may sum to yet, in all queues that they
// are in, for a goal: with Exact, no more than that.
func (x *enforcement) roomOf(dst resources.Vector, p queue.ID, goal resources.Vector) resources.Vector {
	dst = resources.Copy(dst, x.above)
	for ; p >= x.q; p, _ = x.tree.Parent(p) {
		dst = resources.Min(dst, dst, x.row(x.room, p))
		if p == x.q {
			break
		}
	}
	if x.e.Overshoot == Exact {
		for _, t := range x.list {
			dst[t] = min(dst[t], goal[t])
		}
	}
	return dst
}

// keeper returns the first queue in tree order whose guarantee keeps a task of
// a leaf.
func (x *enforcement) keeper(leaf queue.ID, size resources.Vector) (keeper queue.ID, kept bool) {
	for p := range x.tree.Up(leaf) {
		if p >= x.q {
			x.vector = resources.Copy(x.vector, x.row(x.room, p))
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

// Preemptable sets dst to what has to go for a usage of e to come within max:
// the negative entries of resources.SubOnlyExisting(max, e), as positive
// amounts. A type that max does not bound has none, however much is used. Only
// the max of now counts, not what it was before. It returns dst, whose
// storage is used as the functions of package resources do. The cost is linear
// in the types. (DESIGN.md, Quota: target.)
func Preemptable(dst resources.Vector, max resources.Limit, e resources.Vector) resources.Vector {
	return resources.Over(dst, e, max)
}

// A Miss is what may stay over a max if no more can be had: an amount of each
// type, or a share of its target rounded down, whichever is more. 10 % are
// resources.Share{Amount: 10, Of: 100}. The zero Miss allows nothing. Negative
// amounts count as 0.
type Miss struct {
	Amounts resources.Vector
	Share   resources.Share
}

// Allows reports whether what is short of a target, in every type, may be
// missed. The share is compared exactly.
func (m Miss) Allows(shortfall, target resources.Vector) bool {
	for t, short := range shortfall {
		if short <= 0 || short <= m.Amounts.At(t) {
			continue
		}
		if (resources.Share{Amount: short, Of: target.At(t)}).Compare(m.Share) > 0 {
			return false
		}
	}
	return true
}
