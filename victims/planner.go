// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/trigger"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// Options are what planners and auditors go by. The zero value is the default. Functions must depend on their
// arguments only, and must not keep or change these.
type Options struct {
	optionsSide

	// WithinQueue, unless queues say it, lets lower tasks of the own queue or branch make room if there is no other
	// plan: [queue.Met] or [queue.Branch]. With ByPriority they always may, and it says what law 2 means.
	WithinQueue queue.WithinQueue
	// Scarce are the types whose guarantees count for asks and gangs: by [queue.Scarce], anew if demand changes. nil:
	// all. The empty mask: none, so law 4 entitles nobody.
	Scarce *resources.Mask
	// StrictPriority spares tasks of equal effective priority, as Kubernetes does.
	StrictPriority bool
	// ByPriority lets gangs take from strictly lower priority, also in their own queue (by raw priority): guarantees
	// only protect; delays and intervals do not count. False: with all members but the largest
	// placed, the queue must be under its guarantee in each type (law 4).
	ByPriority bool
	// VictimsOnNode keeps victims to the nodes of the plan, but for members of their jobs, also if a max is short.
	VictimsOnNode bool
	// TakeOwnApplication lets asks that require their node take tasks of their own application there.
	TakeOwnApplication bool
	// MaxVictims caps the running tasks that one plan stops; 0: no cap. It bounds no moves and no quotas; of
	// asks decided together each part.
	MaxVictims int
	// RetryInterval must pass between two attempts; see Ask.LastAttempt.
	RetryInterval time.Duration

	// Filter says whether those of a class may run on a node, whoever is there. It is asked once per class, node and
	// decision: give asks that it tells apart a Class each. Tasks on refused nodes may make headroom. nil: every
	// node.
	Filter func(q *Question) bool
	// Exempt spares a task until an instant; zero: it never ends. An end not after now is over, and must not come back.
	Exempt func(q *Question) (until time.Time, exempt bool)
	// Blockers appends to dst the tasks on a node that must go whatever the amounts. Every law holds for them.
	// One that leaves is waited for; a grant rules the node out.
	Blockers func(dst []TaskID, q *Question) []TaskID
	// Predicate may refuse a node, given victims and members before. If it accepts victims it must accept more. A lone
	// ask asks for the best plans first, at most twice per node and once per victim that changes.
	Predicate func(q *Question) bool

	// Admit holds decisions to other quotas of queues. It is asked at each queue from the leaf up, about
	// required members without a place together and further ones singly. It sets dst to what victims below have to
	// free, in wanted types, and returns it; refused if no victim can help.
	Admit func(dst resources.Vector, a *Admission) (lacks resources.Vector, refused bool)

	// Moves lets Movable tasks start again on another node, if that is cheaper or the only way. Guarantees and opting
	// out do not keep a task from it; all else does. See DESIGN.md, Moves.
	Moves Moves
	// MaxMoved refuses plans that move more than so many times what is asked for, in an asked type; 0: no
	// bound.
	MaxMoved int64

	// NeverOvershoot, for package quota, lets no leaf free more than it is asked for in any type of the
	// target, even if a type stays over.
	NeverOvershoot bool
	// Enforced reports whether a queue is being enforced, as quota.Timing.Running does. Then it and those
	// below give nothing.
	Enforced func(queue.ID) bool

	// Steps bounds the searches of a call; a million take a few milliseconds. More may be taken to find a first plan,
	// or to avoid opted-out victims. 0 grows with the cluster: 8 for each task and type or fewer, at least 3,000,000;
	// for gangs and Moves a multiple (DESIGN.md, Jobs: plans).
	Steps int64
	// Stop ends a decision early once it returns true, as it must from then on. It is asked every 1,000 steps
	// or so. The answer is lawful and unproven.
	Stop func() bool
	// Levels say what decides between plans, the most important first: words of [DefaultLevels], which nil stands
	// for, and "preemptions". What is left out does not count, but for victims: right before the first sum, or
	// last. Ties go by penalty, node order and keys. Law 1 is as strong as the place of "opted-out". With Levels set
	// no plan for a gang is proven.
	Levels []string
	// Compare replaces Levels. It must be a strict weak order in which no set is cheaper than a part of it, or
	// than no victims. Every node is searched.
	Compare func(a, b *Cost) int

	// Audit has an [Auditor] judge every plan, as those of gangs always: one that breaks a law is refused,
	// [Unlawful].
	Audit bool
	// Observe sees every decision once. It must not change it. Keep a [Decision.Clone].
	Observe func(d *Decision)

	// For tests: all nodes are searched, with the same answer; and decisions over small clusters end as those over
	// large ones do, once the least levels are shown.
	exhaustive, hasty bool
}

// Kubernetes returns the options of plain Kubernetes: lower priority gives way, on the node of the pod, in the order of
// kube-scheduler: soft budgets, the highest priority, how many, the sum of priorities. All pods are in one leaf, without
// bounds and with a PreemptionDelay of 0, each an application.
func Kubernetes() Options {
	return Options{
		WithinQueue: queue.Met, StrictPriority: true, VictimsOnNode: true,
		Levels: []string{"overrun", "priority", "victims", "sum-priorities", "work"},
	}
}

// counting returns the types of Scarce, or all.
func (o *Options) counting() resources.Mask {
	if o.Scarce == nil {
		return ^resources.Mask(0)
	}
	return *o.Scarce
}

// unnamed returns the levels that do not count. Compare sees all of them.
func (o *Options) unnamed() uint16 {
	if o.Compare != nil {
		return 0
	}
	return rulebook.Unnamed(o.Levels)
}

// compareCosts is negative if a is cheaper than b.
func (o *Options) compareCosts(a, b *Cost) int {
	if o.Compare != nil {
		return o.Compare(a, b)
	}
	if len(o.Levels) == 0 {
		return a.Compare(b)
	}
	var memory [2 * cost.NumLevels]int8
	return compareInSequence(levels(o.Levels).sequence(memory[:0]), a, b)
}

// Moves says for whom tasks may move; "" is for nobody.
type Moves string

const (
	MovesEntitled Moves = "entitled" // for those whom law 4 entitles, gangs by priority, and asks that require their node
	MovesAny      Moves = "any"      // for others, too, by plans that only move, or stop tasks of the own queue by WithinQueue
)

// check returns an error for unknown words and a level twice.
func (o *Options) check() error {
	if err := levels(o.Levels).check(); err != nil {
		return err
	}
	switch o.Moves {
	case "", MovesEntitled, MovesAny:
	default:
		return fmt.Errorf("victims: Moves: %q: %w", o.Moves, ErrUnknown)
	}
	switch o.WithinQueue {
	case "", queue.Never, queue.Met, queue.Branch:
	default:
		return fmt.Errorf("victims: WithinQueue: %q, want never, met or branch: %w", o.WithinQueue, ErrUnknown)
	}
	for c, most := range o.caps() {
		if *most < 0 {
			return fmt.Errorf("victims: %s %d: %w", rulebook.Cap(c).Entry().Option, *most, invalid.Range)
		}
	}
	return nil
}

// caps returns the options that cap something of a plan.
func (o *Options) caps() [rulebook.NumCaps]*int {
	return [...]*int{rulebook.CapVictims: &o.MaxVictims}
}

// most returns how many they say.
func (o *Options) most() (m rulebook.Caps) {
	for c, most := range o.caps() {
		m[c] = *most
	}
	return m
}

// capped returns what caps count of tasks that go together.
func (x *taskTable) capped(ids []TaskID) rulebook.Caps {
	return rulebook.Caps{rulebook.CapVictims: len(ids)}
}

// keepsCaps reports whether tasks may go together. Nothing is counted if nothing is capped.
func (x *taskTable) keepsCaps(m *rulebook.Caps, ids []TaskID) bool {
	return *m == rulebook.Caps{} || m.Admit(x.capped(ids))
}

// optionsSide is what [Options] lend to planners of other packages, as lent.To(o).
type optionsSide = lent.Side[*choosing]

// A choosing is options as planners of other packages see them, which call its methods.
//
//lint:ignore U1000 by lent.To
type choosing Options

func (*choosing) For(o *Options) *choosing                               { return (*choosing)(o) }
func (o *choosing) Planner() *planner                                    { return new(planner) }
func (o *choosing) Exhaust()                                             { o.exhaustive = true }
func (o *choosing) Check() error                                         { return (*Options)(o).check() }
func (o *choosing) CompareCosts(a, b *Cost) int                          { return (*Options)(o).compareCosts(a, b) }
func (o *choosing) AskOf(m *Move, c *Cluster) Ask                        { return m.ask(c) }
func (o *choosing) Question(c *Cluster, a *Ask, now time.Time) *Question { return a.question(c, now) }
func (o *choosing) Unnamed() uint16                                      { return (*Options)(o).unnamed() }
func (o *choosing) Loss(c *Cluster, id TaskID) eligible.Loss             { return c.lossOf(id) }
func (o *choosing) Stay(c *Cluster, id TaskID) eligible.Stay             { return c.stayOf(id) }
func (o *choosing) Caps() [rulebook.NumCaps]*int                         { return (*Options)(o).caps() }
func (o *choosing) Most() rulebook.Caps                                  { return (*Options)(o).most() }
func (o *choosing) Capped(c *Cluster, ids []TaskID) rulebook.Caps        { return c.capped(ids) }
func (o *choosing) KeepsCaps(c *Cluster, m *rulebook.Caps, ids []TaskID) bool {
	return c.keepsCaps(m, ids)
}
func (o *choosing) CheckMember(m *Member) error                    { return checkStop(m) }
func (o *choosing) Counting() resources.Mask                       { return (*Options)(o).counting() }
func (o *choosing) LeafOf(c *Cluster, app string) (queue.ID, bool) { return c.leafOf(app) }
func (o *choosing) DefaultSteps(c *Cluster) int64                  { return defaultSteps(c) }
func (o *choosing) Rest(c *Cluster, spent int64) int64             { return (*Options)(o).rest(c, spent) }
func (o *choosing) Relaxations(c *Cluster, a *Ask) []Relaxation {
	return (*Options)(o).relaxations(c, a)
}
func (o *choosing) CauseOf(c *Cluster, a *Ask, nodes []NodeID) Cause {
	return c.causeOf(a.Size, a.Queue, nodes)
}

// rest returns how many steps a call may take that decides again after a decision that took so many: Steps, or 9
// times those, at least the default budget.
func (o *Options) rest(c *Cluster, spent int64) int64 {
	if o.Steps > 0 {
		return o.Steps
	}
	hi, lo := bits.Mul64(9, uint64(spent))
	if hi > 0 || lo > noLimit/2 {
		return noLimit / 2
	}
	return max(int64(lo), defaultSteps(c))
}

// A Question is what functions of [Options] are asked. Do not keep it; change only Until.
type Question struct {
	// Cluster is a copy, if others in a plan change it.
	Cluster *Cluster
	Now     time.Time
	Ask     *Ask // who asks; of a mover, for its new place
	// Member is which member of a gang asks; of a lone ask, itself. Exempt is told the first without a place.
	Member *Member

	Node NodeID // of Filter, Blockers and Predicate
	Task TaskID // of Exempt

	// Until is for Filter to set, if its refusal ends by time: when; zero: it never ends.
	Until time.Time

	// Of Predicate: the members placed before, in order, the victims of the whole plan, in any order, and
	// whether these and what is leaving have gone when the member starts. Else it starts at once.
	Places       []Place
	Victims      []TaskID
	AfterVictims bool
}

// question returns what functions of [Options] are asked about a lone ask; node or task are still to be set.
func (a *Ask) question(c *Cluster, now time.Time) *Question {
	q := new(Question)
	q.pose(c, a, new(Member), now)
	return q
}

// pose makes a question one of a lone ask.
func (q *Question) pose(c *Cluster, ask *Ask, member *Member, now time.Time) {
	*member = ask.asMember()
	*q = Question{Cluster: c, Now: now, Ask: ask, Member: member, Places: q.Places[:0], Victims: q.Victims[:0]}
}

// A planner decides lone asks over a cluster, for package jobs. It moves nobody, and tells no observer.
type planner struct {
	Cluster *Cluster
	Options

	keeps   func(TaskID) rulebook.Rule // see Keep
	left    *int64                     // of the steps of an explanation; see Share
	without Relaxation                 // see Without
	auditor Auditor
	found   []Violation
	d       decision
}

// defaultSteps returns the Steps of a planner that sets none.
func defaultSteps(c *Cluster) int64 {
	if isSmall(c) {
		return smallBudget
	}
	return passOver(c)
}

// Set gives the planner a cluster and options.
func (p *planner) Set(c *Cluster, o *Options) { p.Cluster, p.Options = c, *o }

// Keep has it spare whom the job of a member has to, by a rule that is not 0; nil: nobody else.
func (p *planner) Keep(keeps func(TaskID) rulebook.Rule) { p.keeps = keeps }

// Without has one rule not hold.
func (p *planner) Without(r Relaxation) { p.without = r }

// Share has explanations take their steps from what is left of those of a gang.
func (p *planner) Share(left *int64) { p.left = left }

// Decide sets dst to what should happen for an ask. Errors leave dst as it was.
func (p *planner) Decide(dst *Decision, ask *Ask, now time.Time) error {
	d := &p.d
	if err := d.reset(p, ask, now); err != nil {
		return err
	}
	d.begin(dst)
	d.decide(dst)
	if dst.Outcome == Refused {
		d.root(&dst.Refusal)
	}
	if p.Audit {
		p.verify(dst, now)
	}
	return nil
}

// begin makes dst ready to be filled.
func (d *decision) begin(dst *Decision) {
	ask := *d.ask
	ask.Size = d.size
	dst.begin(&ask, d.c, d.now)
}

// verify has the auditor look at a plan, and withholds one that breaks a law.
func (p *planner) verify(dst *Decision, now time.Time) {
	if dst.Outcome == Refused {
		return
	}
	a := &p.auditor
	a.Cluster, a.Options = p.Cluster, p.Options
	a.ByPriority, a.Admit, a.Moves = false, nil, "" // of gangs and movers
	p.found = a.Audit(p.found[:0], dst, now)
	if len(p.found) > 0 {
		dst.Plan.Places, dst.Plan.Victims = dst.Plan.Places[:0], dst.Plan.Victims[:0]
		p.d.refuse(dst, Unlawful)
		dst.Refusal.Proven = false
		p.d.help(dst)
	}
}

// decision is one decision in the making, and the memory for the next. Its
// parts own what they need: who may go, what headroom lacks, where the ask may
// run, what has been found.
type decision struct {
	p    *planner
	c    *Cluster
	tree *queue.Tree // with the guarantees that count
	ask  *Ask
	now  time.Time

	question Question // that functions of the caller are asked, about this one
	member   Member
	counting queue.Tree        // what tree is, if not all of them count
	own      queue.WithinQueue // what the ask's leaf lets it take of its own
	size     resources.Vector  // the ask's, of full length
	wants    resources.Mask    // its types: an explicit zero is no wanted type
	types    []int             // the same as a list
	nodes    []NodeID          // that it may run on, in node order, as far as they take tasks
	may      []NodeID          // scratch of root
	single   [1]NodeID         // the required one

	without  Relaxation // the one rule that does not hold; none but in Explain
	caps     rulebook.Caps
	starving queue.ID // E, the lowest governing queue, if hasE is set
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
	laws      int                        // how many of the bounds on sums, the first, are those of law 2
	scratch   scratch
}

// scratch is memory that nobody reads who has not just written it.
type scratch struct {
	short, floor, sum, lacks resources.Vector
	none                     resources.Vector // zeros, always
	place                    [1]int32         // see help
	ends                     []time.Time
	stages                   [2]stage
	taken, sorted            []TaskID
	counts                   []int32 // see countTaken
	members                  []int64 // see keepsLimits
	keyed, unkeyed           []keyedTask
	freed                    []int64 // by node and type, see eachRule
	drawn                    []int64 // by row of budgets, see survey.draw
	near                     []nearNode
	gate                     trigger.Case // see asks
}

// reset checks the ask and prepares what every kind of decision needs.
func (d *decision) reset(p *planner, ask *Ask, now time.Time) error {
	c := p.Cluster
	if err := c.checkAsk(ask, now); err != nil {
		return fmt.Errorf("victims: ask %q: %w", ask.Key, err)
	}
	if err := p.Options.check(); err != nil {
		return err
	}
	tree, err := trees.Counting(c.tree, &d.counting, p.Scarce)
	if err != nil {
		return fmt.Errorf("victims: ask %q: %w", ask.Key, err)
	}
	d.p, d.c, d.tree, d.ask, d.now = p, c, tree, ask, now
	d.own = eligible.WithinQueue(tree, ask.Queue, p.WithinQueue)
	d.order.set(d)
	d.predicate.d, d.giving.d = d, d
	d.question.pose(c, ask, &d.member, now)
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
	d.without, d.hasE, d.trial.meter = p.without, false, least.Meter{Stop: p.Stop}
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
func (d *decision) nearby() bool { return d.p.VictimsOnNode || d.required() }

// trial is what the searches of a decision have taken and shown, beside what the engine knows.
type trial struct {
	meter      least.Meter // what is left of the budget of elementary work
	budget     int64       // all of it
	begun      bool        // some search was made
	leastShown bool        // it was shown that no plan has lesser levels than the best
	refusals   int         // how often the predicate has refused
	brief      bool        // if the least levels are shown, little of it is for the rest of the cost
}

// reset is for the next trial of the same decision.
func (t *trial) reset() { *t = trial{meter: t.meter, budget: t.budget} }

// pay charges for elementary work. All that a decision does beyond one pass over nodes,
// queues and tasks is paid for.
func (t *trial) pay(work int64) { t.meter.Pay(work) }

// proof returns what is shown of the best plan.
func (d *decision) proof() Proof {
	switch {
	case d.trial.meter.Stopped:
		return NoProof
	case d.search.Shown:
		return ProofCost
	case d.search.Levels || d.trial.leastShown:
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
	return defaultSteps(d.c)
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
	if d.p.exhaustive && d.p.Steps <= 0 {
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
