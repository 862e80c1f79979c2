package quota

import (
	"time"

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
	// Steps bounds the searches over more than [CompleteCandidates] tasks, all
	// those of an enforcement together. 0 means [victims.DefaultSteps]. What a
	// step costs grows with the tasks that are searched, so that a step among n
	// of them counts as 1 + n/64 steps.
	Steps int
	// Enforced reports whether the quota of a queue is being enforced already;
	// [Timing.Running] does. Such queues below the enforced one give
	// nothing, nor do those below them. It must depend on its argument only.
	Enforced func(queue.ID) bool
	// JobMinimum returns the number of members below which a job should not
	// fall, or 0. It protects no member: tasks of jobs go one by one, and
	// the outcome names the jobs that fall below it.
	JobMinimum func(job string) int

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

// Order is the order in which the tasks of a leaf are taken.
type Order uint8

const (
	// DefaultOrder takes plain tasks before originators, then those of lower
	// priority, those that did not opt out, younger ones, smaller ones (by
	// dominant share of the cluster's capacity), and last goes by key.
	DefaultOrder Order = iota
	// ClosestMatch takes tasks first that have exactly the types of the
	// target, then those with the fewest other types; among equals it goes by
	// DefaultOrder.
	ClosestMatch
	// Pack takes the tasks of one node after another, so that few nodes lose
	// tasks. First comes the node with the candidates that have together the
	// largest dominant share of what the leaf still has to free. Equal nodes
	// come in node order. Inside a node it goes by DefaultOrder.
	Pack
)

// CompleteCandidates is the number of tasks, of a leaf or below the enforced
// queue, up to which a search for the best set looks at every one that could
// matter.
const CompleteCandidates = 12

// Enforce decides which tasks below q, or of q, should stop so that its usage
// comes within max, and sets dst to the answer, reusing its memory. That is
// usually q's own max; another one makes a dry run of lowering it. Bounds of
// other queues are not enforced.
//
// Usage is effective usage: what is leaving counts as gone, and asks that were
// granted a place count. Work lost is told at the instant now.
//
// What is wrong with max, given the guarantee and the quota preemption delay of
// q, is an error as of [Setting.Check]. That nobody can be taken is no error.
//
// The cost is that of looking at all tasks below q, and of putting in order
// those that are taken: O(tasks·log tasks) where each leaf can give its part.
// What a leaf cannot give makes another round among its siblings, and a search
// in the leaf; what is short in the end, a search below q as a whole. A q that the tree does not have makes it panic.
func (e *Enforcer) Enforce(dst *Outcome, q queue.ID, max resources.Limit, now time.Time) error {
	tree := e.Cluster.Tree()
	if err := (Setting{Max: max, Delay: tree.QuotaPreemptionDelay(q)}).Check(tree, q); err != nil {
		return err
	}
	x := &e.x
	x.begin(e, q, now)
	x.setTarget(max)
	if len(x.list) > 0 {
		x.decide()
	}
	x.report(dst, max)
	return nil
}

// decide picks the victims.
func (x *enforcement) decide() {
	x.prepare()
	x.divide()
	x.setGoal(x.q, x.goalOfAll())
	x.give(x.q)
	x.trim()
	x.refill()
	if x.isShort(x.q, x.target) && x.joint() {
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
