package quota

import (
	"math"
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
	// Budget bounds the elementary steps of the searches over more than
	// [CompleteCandidates] tasks, all those of an enforcement together: each looks at a
	// row of the problem and a class of tasks. 0 means [victims.DefaultBudget]. A
	// million take a few milliseconds. Searches over fewer tasks are complete,
	// whatever the budget.
	Budget int64
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

// MarshalText returns the stable word for the overshoot. A number that has no
// word is an error.
func (o Overshoot) MarshalText() ([]byte, error) { return overshootWords.Text(uint8(o)) }

// UnmarshalText sets the overshoot whose text is given. Any other text is an error
// and changes nothing.
func (o *Overshoot) UnmarshalText(text []byte) error { return word.Set(o, overshootWords, text) }

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
	if len(x.brief.list) > 0 {
		x.decide()
	}
	x.reporter.report(dst, quota.Max)
	return nil
}

// enforcement is one enforcement in the making, and the memory for the next. Each
// part may use those before it.
type enforcement struct {
	brief    brief    // what is asked
	ledger   ledger   // law 2, and what is freed
	roster   roster   // who may go, and who is taken
	walker   walker   // takes tasks in order, and gives back
	finder   finder   // searches for the cheapest set
	rounds   rounds   // shares the target out among queues
	reporter reporter // tells what came of it
}

// begin states what is asked. The parts are told of each other every time, since
// the caller may have copied the enforcer.
func (x *enforcement) begin(e *Enforcer, quota Quota, now time.Time) {
	x.brief.now = now
	x.brief.set(e, quota)
	x.ledger.brief, x.roster.ledger = &x.brief, &x.ledger
	x.walker.roster, x.finder.roster, x.rounds.roster, x.reporter.roster = &x.roster, &x.roster, &x.roster, &x.roster
	x.rounds.walker, x.rounds.finder = &x.walker, &x.finder
	x.reporter.finder, x.reporter.rounds = &x.finder, &x.rounds
	x.finder.start()
}

// decide picks the victims.
func (x *enforcement) decide() {
	x.ledger.open()
	x.roster.start()
	x.rounds.start()
	x.rounds.run()
	x.trim()
	x.refill()
	if x.isShort() && x.finder.searchAll() {
		x.rounds.noteAsked()
		x.refill() // a search that was cut short may have left something
	}
}

// isShort reports whether usage stays over max.
func (x *enforcement) isShort() bool { return x.ledger.isShort(x.brief.q, x.brief.target) }

// trim is the last trim: it gives back what is not needed for the target as a
// whole. No leaf trims on its own: so a plain task can take the place of an
// opted-out one, also of another leaf, and what a leaf frees beyond its part can
// spare others. (DESIGN.md, Quota: last trim.)
func (x *enforcement) trim() { x.walker.trim(x.brief.target) }

// refill takes what a trim, or a search, has made room for. Each pass frees more
// of the target than the last.
func (x *enforcement) refill() {
	for x.isShort() && x.rounds.fill() {
		x.trim()
	}
}

// brief is what one enforcement is asked to do. It does not change once it
// stands. All that works on the enforcement can read it.
//
// Blocks have a row of amounts for each queue of the subtree of q, in tree
// order. Amounts of different tasks never sum to more than the cluster's usage,
// which fits int64.
type brief struct {
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
}

// set states what has to go, and which types that are.
func (b *brief) set(e *Enforcer, quota Quota) {
	b.e, b.c, b.tree, b.q = e, e.Cluster, e.Cluster.Tree(), quota.Queue
	b.types = b.tree.Schema().Len()
	b.usage = b.tree.Effective(b.usage, b.q)
	b.target = Preemptable(b.target, quota.Max, b.usage)
	b.wanted = resources.Positive(b.target)
	b.list = b.list[:0]
	for t := range b.wanted.All() {
		b.list = append(b.list, t)
	}
}

// len returns the number of queues that are enforced: q and those below it.
func (b *brief) len() int { return int(b.tree.End(b.q) - b.q) }

// block returns a block of zeros, in the memory of an old one.
func (b *brief) block(old []int64) []int64 { return rows.Zeros(old, b.len()*b.types) }

// row returns the amounts of a queue in a block.
func (b *brief) row(block []int64, p queue.ID) resources.Vector {
	return rows.At(block, int(p-b.q), b.types)
}

// isAny reports whether amounts of the target's types are not all zero.
func (b *brief) isAny(amounts resources.Vector) bool {
	for _, t := range b.list {
		if amounts[t] > 0 {
			return true
		}
	}
	return false
}

// within reports whether a size is at most what there is, in the types of the
// target.
func (b *brief) within(size, most resources.Vector) bool {
	for _, t := range b.list {
		if size[t] > most[t] {
			return false
		}
	}
	return true
}

// serves reports whether a task of this size can serve a goal.
func (b *brief) serves(goal, size resources.Vector) bool {
	for _, t := range b.list {
		if goal[t] > 0 && size[t] > 0 {
			return true
		}
	}
	return false
}

// limitExactly lowers room to a goal in the types of the target, if no more may
// be freed than that.
func (b *brief) limitExactly(room, goal resources.Vector) {
	if b.e.Overshoot != Exact {
		return
	}
	for _, t := range b.list {
		room[t] = min(room[t], goal[t])
	}
}

// ledger keeps, for q and every queue below it, what law 2 still lets go and what
// the victims free. The walk, the searches and the report read law 2 here only.
type ledger struct {
	*brief

	// room is what law 2 still lets go below each queue. A queue without a
	// guarantee of a type can give all that it uses. above is the same for the
	// tightest of the queues above q.
	room, freed []int64
	above       resources.Vector

	vector resources.Vector // scratch
}

// open starts with all rooms full: nobody has gone yet.
//
// Law 2: no queue ends below its guarantee. Usage after the plan must be at
// least min(g, usage before), so what goes below a queue may sum to its surplus.
// That holds at every level, above q too, and for every type that a task has,
// not only those that are wanted.
func (l *ledger) open() {
	l.room, l.freed = l.block(l.room), l.block(l.freed)
	for p := l.q; p < l.tree.End(l.q); p++ {
		l.tree.Surplus(l.row(l.room, p), p)
	}
	l.above = rows.Zeros(l.above, l.types)
	for t := range l.above {
		l.above[t] = math.MaxInt64
	}
	for p, ok := l.tree.Parent(l.q); ok; p, ok = l.tree.Parent(p) {
		l.vector = l.tree.Surplus(l.vector, p)
		l.above = resources.Min(l.above, l.above, l.vector)
	}
}

// roomOf sets dst to what tasks below p may sum to yet, in all queues that they
// are in.
func (l *ledger) roomOf(dst resources.Vector, p queue.ID) resources.Vector {
	dst = resources.Copy(dst, l.above)
	for ; ; p, _ = l.tree.Parent(p) {
		dst = resources.Min(dst, dst, l.row(l.room, p))
		if p == l.q {
			return dst
		}
	}
}

// move enters that a task of a leaf goes, with a sign of 1, or stays after all,
// with -1.
func (l *ledger) move(leaf queue.ID, size resources.Vector, sign int64) {
	for t, v := range size {
		if v == 0 {
			continue
		}
		v *= sign
		l.above[t] -= v
		for p := leaf; ; p, _ = l.tree.Parent(p) {
			i := int(p-l.q)*l.types + t
			l.room[i] -= v
			l.freed[i] += v
			if p == l.q {
				break
			}
		}
	}
}

// isShort reports whether less than a goal is freed below p.
func (l *ledger) isShort(p queue.ID, goal resources.Vector) bool {
	freed := l.row(l.freed, p)
	for _, t := range l.list {
		if freed[t] < goal[t] {
			return true
		}
	}
	return false
}

// helps reports whether a task of this size reduces what p still has to free of
// a goal.
func (l *ledger) helps(p queue.ID, goal, size resources.Vector) bool {
	freed := l.row(l.freed, p)
	for _, t := range l.list {
		if size[t] > 0 && freed[t] < goal[t] {
			return true
		}
	}
	return false
}

// keeper returns the first queue in tree order whose guarantee keeps a task of
// a leaf.
func (l *ledger) keeper(leaf queue.ID, size resources.Vector) (keeper queue.ID, kept bool) {
	for p := range l.tree.Up(leaf) {
		if p >= l.q {
			l.vector = resources.Copy(l.vector, l.row(l.room, p))
		} else {
			l.vector = l.tree.Surplus(l.vector, p)
			l.vector = resources.Sub(l.vector, l.vector, l.row(l.freed, l.q))
		}
		if !resources.Fits(size, l.vector) {
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
