// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/trigger"

	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// Rules are the options that planners and auditors share, here and in package jobs.
// Functions must depend on their arguments only, and not keep or change them.
type Rules struct {
	// StrictPriority spares tasks of equal effective priority, as Kubernetes does.
	StrictPriority bool
	// OwnLeaf lets lower tasks of the own leaf, or branch, make room if there is no other
	// plan. Jobs by priority may take them in any case; it then says what law 2 means.
	// It is for leaves of which no queue of the path says [queue.WithinQueue].
	OwnLeaf OwnLeaf
	// Scarce are the types whose guarantees count for asks and jobs; in others it is as if
	// nothing was guaranteed. nil: all. The empty mask: none, so law 4 entitles nobody. Work it
	// out with [queue.Scarce], and set it anew if demand changes. A type beyond the schema is an
	// error, [queue.ErrConfig]. See DESIGN.md, Scarce types.
	Scarce *resources.Mask
	// SameNode keeps the victims of asks to the node, also those for room under a max, but
	// for members of their jobs. If such room is short every node is searched.
	SameNode bool
	// OwnApplication lets asks that require their node take tasks of their own application
	// there: law 3 does not bind them.
	OwnApplication bool
	// Interval must pass between two attempts; see Ask.LastAttempt.
	Interval time.Duration
	// Filter says whether asks and members of a class may ever run on a node: selector,
	// taints, all that does not depend on who else is there. It is asked once per class,
	// node and decision. Tasks on a refused node may still make headroom.
	Filter func(class int, node NodeID) bool
	// Exempt spares tasks, such as those that have not run for long. For a job, Ask is
	// its first member without a place. An end not after now is over, and must not come
	// back.
	Exempt func(Exemption) (until time.Time, exempt bool)
}

// Counting returns the types whose guarantees count: those of Scarce, or all.
func (r *Rules) Counting() resources.Mask {
	if r.Scarce == nil {
		return ^resources.Mask(0)
	}
	return *r.Scarce
}

// A Planner decides asks over a [Cluster]. Only Cluster must be set.
type Planner struct {
	Cluster *Cluster

	Rules

	// Steps bounds the searches of a decision; a million steps take a few milliseconds.
	// Proof says if they were too few. More may be taken to find a first plan, or to
	// avoid opted-out victims. From [DefaultSteps] on twice as many never give a dearer
	// answer. 0 means DefaultSteps.
	Steps int64
	// Stop ends a decision early once it returns true, as it must from then on. It is
	// asked about every 1,000 steps. The answer is lawful and unproven.
	Stop func() bool
	// Levels say what decides between plans, the most important first, in words of
	// [DefaultLevels]; nil is all of them. Levels that are not named do not count, except
	// the number of victims: unless named earlier it stands right before the first sum,
	// or last. Ties go by penalty, node order and keys. Law 1 is as strong as the place
	// of "opted-out".
	Levels []string
	// Compare replaces Levels, for weighted sums and the like. It must be a strict weak
	// order in which more victims never cost less: no set is cheaper than a part of it,
	// or than no victims. A decision then searches every node.
	Compare func(a, b *Cost) int

	// Blockers appends to dst the tasks on a node that must go whatever the amounts: who
	// holds a host port, or a device. Every law holds for them. One that leaves is waited
	// for; a grant that blocks rules the node out.
	Blockers func(dst []TaskID, ask *Ask, node NodeID) []TaskID
	// Predicate may refuse a node and a set of victims. If it accepts a set it must
	// accept every larger one. It is asked best plan first, at most twice per node and
	// once per victim given back or exchanged.
	Predicate func(p *Placing) bool

	// Observe sees every decision once, for counters and logs. It must not change the
	// decision, and must copy what it keeps.
	Observe func(d *Decision)

	// Audit has an [Auditor] look at every plan: one that breaks a law is refused,
	// Unlawful.
	Audit bool
	// Exhaustive searches all nodes: same answer, much slower.
	Exhaustive bool

	// hasty has decisions over small clusters end as those over large ones do, once
	// the least levels are shown: for tests.
	hasty bool

	auditor Auditor
	found   []Violation
	d       decision
}

// All functions of the caller but Stop must depend on their arguments only, and
// must not keep the slices that they are given.

// DefaultSteps returns the Steps of a planner that sets none: 8 for each task and type,
// at least 3,000,000. Beyond 10,000,000 only 8 types count.
func DefaultSteps(c *Cluster) int64 {
	if isSmall(c) {
		return smallBudget
	}
	return passOver(c)
}

// An Exemption asks whether a task is exempt from an ask. Exempt answers true with the
// instant from which the task can be taken; zero: never.
type Exemption struct {
	Cluster *Cluster
	Task    TaskID
	Ask     *Ask
	Now     time.Time
}

// Decide sets dst to what should happen for an ask at the instant now. A refusal is no
// error. Errors leave dst as it was: a key that is empty or a task's, a queue that is no
// leaf, values out of range, bad Levels.
//
// An ask that holds a grant is judged on its node, without that grant and later ones
// there. It fits if it can start: by [Cluster.Start], or by [Cluster.AddTask] if its size
// has changed. Else it is refused, [InFlight].
//
// The cost is linear in nodes for an ask that fits, else in queues and nodes, and in
// tasks if sums do not tell. The search follows, within Steps.
func (p *Planner) Decide(dst *Decision, ask *Ask, now time.Time) error {
	err := p.answer(dst, ask, now)
	if err == nil && p.Observe != nil {
		p.Observe(dst)
	}
	return err
}

// answer is Decide, and nobody is told.
func (p *Planner) answer(dst *Decision, ask *Ask, now time.Time) error {
	if p.Cluster == nil {
		panic("victims: a Planner without a Cluster")
	}
	d := &p.d
	if err := d.reset(p, ask, now); err != nil {
		return err
	}
	dst.reset(d)
	d.decide(dst)
	if dst.Outcome == Refused {
		d.root(&dst.Refusal)
	}
	if p.Audit {
		p.verify(dst, now)
	}
	return nil
}

// verify has the auditor look at a plan, and withholds one that breaks a law.
func (p *Planner) verify(dst *Decision, now time.Time) {
	if dst.Outcome == Refused {
		return
	}
	a := &p.auditor
	a.Cluster, a.Rules, a.Levels, a.Blockers, a.Predicate = p.Cluster, p.Rules, p.Levels, p.Blockers, p.Predicate
	p.found = a.Audit(p.found[:0], &dst.Plan, now)
	if len(p.found) > 0 {
		p.d.refuse(dst, Unlawful)
		dst.Refusal.Proven = false
		p.d.help(dst)
	}
}

// reset makes dst ready to be filled; memory is kept.
func (dst *Decision) reset(d *decision) {
	size := append(dst.Plan.Ask.Size[:0], d.size...)
	dst.Outcome, dst.counts = 0, uncounted{}
	dst.Plan = Plan{
		Ask: *d.ask, Victims: dst.Plan.Victims[:0], Ends: dst.Plan.Ends[:0],
		Version: d.c.version, At: d.now, Path: d.tree.Path(d.ask.Queue),
	}
	dst.Plan.Ask.Size = size
	dst.Refusal = dst.Refusal.cleared()
}

// decision is one decision in the making, and the memory for the next. Its
// parts own what they need: who may go, what headroom lacks, where the ask may
// run, what has been found.
type decision struct {
	p    *Planner
	c    *Cluster
	tree *queue.Tree // with the guarantees that count
	ask  *Ask
	now  time.Time

	counting queue.Tree       // what tree is, if not all of them count
	own      eligible.Own     // what the ask's leaf lets it take of its own
	size     resources.Vector // the ask's, of full length
	wants    resources.Mask   // its types: an explicit zero is no wanted type
	types    []int            // the same as a list
	nodes    []NodeID         // that it may run on, in node order, as far as they take tasks
	may      []NodeID         // scratch of root
	single   [1]NodeID        // the required one

	without  Relaxation // the one rule that does not hold; none but in Explain
	starving queue.ID   // E, the lowest governing queue, if hasE is set
	hasE     bool
	stage    stage
	eligible eligibility
	needs    shortage
	gangs    gangs
	filter   nodeFilter
	blocks   blockers

	predicate predicate
	search    least.Search
	trial     trial
	best      incumbent
	problem   problem
	pool      pool
	lawful    lawful
	sums      keptSums
	order     ranking
	budgets   budgetRows
	giving    giving
	comparer  func(a, b *cost.Total) int // compareTotals, bound once
	costs     [2]Cost                    // that are being compared
	laws      int                        // the first of the bounds on sums are those of law 2
	scratch   scratch
}

// scratch is memory that nobody reads who has not just written it.
type scratch struct {
	short, floor, sum, lacks resources.Vector
	least                    resources.Vector
	none                     resources.Vector // zeros, always
	place                    [1]int32         // see help
	amounts                  []int64
	ends                     []time.Time
	stages                   [2]stage
	taken                    []TaskID
	keyed, unkeyed           []keyedTask
	freed                    []int64 // by node and type, see findTasks
	drawn                    []int64 // by row of budgets, see survey.draw
	near                     []nearNode
	gate                     trigger.Case // see asks
}

// reset checks the ask and prepares what every kind of decision needs.
func (d *decision) reset(p *Planner, ask *Ask, now time.Time) error {
	c := p.Cluster
	if err := c.checkAsk(ask, now); err != nil {
		return fmt.Errorf("victims: ask %q: %w", ask.Key, err)
	}
	if err := levels(p.Levels).check(); err != nil {
		return err
	}
	if err := eligible.Own(p.OwnLeaf).Check(); err != nil {
		return fmt.Errorf("victims: %w", err)
	}
	tree, err := trees.Counting(c.tree, &d.counting, p.Scarce)
	if err != nil {
		return fmt.Errorf("victims: ask %q: %w", ask.Key, err)
	}
	d.p, d.c, d.tree, d.ask, d.now = p, c, tree, ask, now
	d.own = eligible.OwnOf(tree, ask.Queue, eligible.Own(p.OwnLeaf))
	d.order.set(d)
	d.predicate.d = d
	d.nodes, d.filter.open = c.order, c.open
	if d.required() {
		d.nodes, d.filter.open = d.single[:0], nil
		if n, ok := c.nodeIDs[ask.RequiredNode]; ok && !c.nodes[n].closed() {
			d.nodes = append(d.nodes, n)
		}
	}
	d.size = rows.Zeros(d.size, c.types)
	copySize(d.size, ask.Size)
	d.wants = resources.Positive(d.size)
	d.types = d.types[:0]
	for t := range d.wants.All() {
		d.types = append(d.types, t)
	}
	d.without, d.hasE, d.trial.meter = Relaxation{}, false, least.Meter{Stop: p.Stop}
	if p.Filter != nil {
		d.filter.reset(len(c.nodes))
	}
	s := &d.scratch
	s.short, s.floor, s.sum, s.none = rows.Zeros(s.short, c.types), rows.Zeros(s.floor, c.types), rows.Zeros(s.sum, c.types), rows.Zeros(s.none, c.types)
	return nil
}

// required reports whether the ask can run on one node only.
func (d *decision) required() bool { return d.ask.RequiredNode != "" }

// nearby reports whether victims are on the node of the ask only.
func (d *decision) nearby() bool { return d.p.SameNode || d.required() }

// trial is what the searches of a decision have taken and shown, beside what the engine knows.
type trial struct {
	meter    least.Meter // what is left of the budget of elementary work
	budget   int64       // all of it
	sparing  bool        // nobody who opted out is a candidate
	begun    bool        // some search was made
	lesser   bool        // it was shown that no plan has lesser levels than the best
	refusals int         // how often the predicate has refused
	brief    bool        // if the least levels are shown, little of it is for the rest of the cost
}

// reset is for the next trial of the same decision.
func (t *trial) reset() { *t = trial{meter: t.meter, budget: t.budget} }

// pay charges for elementary work. All that a decision does beyond one pass over nodes,
// queues and tasks is paid for.
func (t *trial) pay(work int64) { t.meter.Pay(work) }

// proof returns what is shown of the best plan.
func (d *decision) proof() Proof {
	switch {
	case d.search.Shown:
		return ProofCost
	case d.search.Levels || d.trial.lesser:
		return ProofLevels
	}
	return NoProof
}

// leastBudget is the elementary work that a decision may take in any cluster,
// and smallBudget that in one of up to smallNodes and smallTasks, where answers
// are to be exact to the last key. A million take a few milliseconds.
const (
	leastBudget = 3 << 20
	smallBudget = 1 << 25
	smallNodes  = 30
	smallTasks  = 300
	// exactTasks is up to how many tasks all of the budget may go to the last key.
	// In larger clusters a proof of the levels is what a decision may wait for.
	exactTasks = 1 << 13
)

// isSmall reports whether answers are to be exact to the last key.
func isSmall(c *Cluster) bool { return c.NodeLen() <= smallNodes && c.TaskLen() <= smallTasks }

// isLarge reports whether the last key gets a part of the budget only.
func isLarge(c *Cluster) bool { return c.TaskLen() > exactTasks }

// budget returns the elementary work that the decision may take.
func (d *decision) budget() int64 {
	if d.p.Steps > 0 {
		return min(d.p.Steps, noLimit/2)
	}
	return DefaultSteps(d.c)
}

// passOver returns how much a decision may take beyond its budget as long as it has no
// plan: in large clusters as much as the budget is, if none is set.
func passOver(c *Cluster) int64 { return max(leastBudget, sizeOf(c)) }

// sizeOf returns what a budget is by the size of a cluster. Large clusters of many types get
// less for each: their budgets would outlast the time that any decision may take.
func sizeOf(c *Cluster) int64 {
	each := 8 * int64(c.TaskLen())
	return max(min(each*int64(c.types), manySteps), each*int64(min(c.types, manyTypes)))
}

const (
	// From manySteps on a budget grows by manyTypes types at most. With 32 types and
	// 150,000 tasks a decision took 0.09 s without.
	manySteps = 10_000_000
	manyTypes = 8
)

// allow gives the decision its budget of elementary work, or what is left of it.
func (d *decision) allow() {
	m := &d.trial.meter
	d.trial.brief = d.p.Steps <= 0 && isLarge(d.c)
	d.trial.budget = d.budget()
	// What the first stage leaves of both is for the second, and then for RetryAt.
	d.search.Aside, d.search.Overdraw = 0, passOver(d.c)
	m.Left = d.trial.budget - m.Used
	if d.stage == outsideLeaf {
		d.search.Overdraw /= 2
	}
	d.trial.brief = d.trial.brief || d.p.hasty
	if d.p.Exhaustive && d.p.Steps <= 0 {
		m.Left = noLimit / 2
	}
}

// affords reports whether a search of a node can be begun: to make its problem is paid for before
// anything is shown. What is not begun is not shown. The first search is made in any case.
func (d *decision) affords(n NodeID) bool {
	t := &d.trial
	price := int64(len(d.c.nodes[n].tasks)) * (gatherWork + 24*int64(len(d.problem.dims)))
	more := int64(0)
	if !d.best.Found {
		more = d.search.Aside + d.search.Overdraw
	}
	if price <= t.meter.Left+more || !d.best.Found && !t.begun {
		t.begun = true
		return true
	}
	d.search.Unproven()
	if t.meter.Left = min(t.meter.Left, 0); !d.best.Found && d.search.Aside == 0 {
		t.meter.Left = -d.search.Overdraw
	}
	return false
}

// An OwnLeaf says whether lower tasks of the ask's own leaf, or branch, may make room for it. See
// DESIGN.md, The own leaf.
type OwnLeaf uint8

const (
	// OwnNever: tasks of the own leaf are never victims.
	OwnNever OwnLeaf = iota
	// OwnMet: they may be, and a guarantee that was met stays met. A queue under its
	// guarantee ends no lower, except in types that the ask uses. There are no storms.
	OwnMet
	// OwnBranch is OwnMet for all leaves below the lowest queue that guarantees some of what
	// is wanted, for tasks of strictly lower effective priority: a tenant with a guarantee
	// sorts out its leaves without. There are no storms.
	OwnBranch
)

var ownLeafWords = word.Table{Of: "victims.OwnLeaf", Words: []string{OwnNever: "never", OwnMet: "met", OwnBranch: "branch"}}

// String returns the stable word for the option: never, met or branch.
func (o OwnLeaf) String() string { return ownLeafWords.Word(uint8(o)) }
