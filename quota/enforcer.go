package quota

import (
	"time"

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
