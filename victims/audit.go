package victims

import (
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// An Auditor says which laws a plan breaks, whoever made it. It shares no code
// with the [Planner]: it never searches, but takes the plan as it is, works out
// what the queues and the node would be left with, and reads the laws of
// section 5 against that one by one. So it serves as a second opinion on plans
// of this package, and in shadow mode on those of a scheduler at work.
//
// Its exported fields are options, with the meaning that they have for the
// planner; the zero value of each is the documented default, and only Cluster
// must be set. The rest is memory that audits reuse, so that a warm auditor
// allocates nothing but room for violations.
//
// An Auditor serves one goroutine at a time and must not be copied after its
// first use. It never changes the cluster.
type Auditor struct {
	Cluster *Cluster

	// StrictPriority forbids victims of equal effective priority.
	StrictPriority bool
	// Interval is the time that must pass between two attempts to preempt for
	// an ask. Zero: none.
	Interval time.Duration
	// Exempt protects tasks from asks; see [Planner].
	Exempt func(Exemption) (until time.Time, exempt bool)
	// Predicate may refuse a node for an ask, given the victims; see [Planner].
	Predicate func(ask *Ask, node NodeID, victims []TaskID) bool

	x audit
}

// Audit appends to dst what is wrong, at the instant now, with plan p for the
// cluster as it is now, and returns dst. A plan to which nothing is appended is
// lawful. Audit never panics, whatever is in p.
//
// What is judged is the ask, the node and the tasks of the plan, and nothing
// that it says of itself: not Version, Cost and Proven, nor a victim's Rank and
// purpose. A plan without victims is judged as one that fits or waits, by room
// alone; a plan for an ask that holds a grant must start it where the grant is,
// and is judged by the room of that moment, with the grant taken off. An ask
// that is none, or a node that the cluster does not have, ends the audit,
// for nothing else can be judged.
//
// Two laws compare a plan with others, and only the nearest of them are looked
// at. A plan is minimal ([LawMinimal]) where no single victim can be given
// back; without a predicate, no several can be then either. Law 1
// ([LawOptedOut]) asks for the fewest opted-out victims of all plans: the audit
// looks at those with one opted-out victim less, or with one other task in its
// place, and at no other node. It does so in plans that are otherwise lawful.
//
// Violations come in a fixed order: of the node; of what lets the ask preempt;
// of each victim, in the order of the plan; of the guarantees, in tree order;
// of room, of headroom from the leaf upwards, and of the set as a whole. In
// each group they are in the order of the [Law] constants, and then of types.
//
// The cost is linear in the number of nodes, of queues times types, and of
// victims times depth times types; the predicate is asked once, and once more
// for each victim that room alone does not need. Opted-out victims add the
// number of tasks times depth times types for each.
func (a *Auditor) Audit(dst []Violation, p *Plan, now time.Time) []Violation {
	x := &a.x
	x.begin(a, p, now)
	defer x.end() // also where a function of the caller panics
	x.out = dst
	x.run()
	return x.out
}

// audit is one audit, and the memory for the next.
type audit struct {
	a    *Auditor
	c    *Cluster
	tree *queue.Tree
	plan *Plan
	ask  *Ask
	now  time.Time
	out  []Violation

	size  resources.Vector // the ask's, of full length
	wants resources.Mask   // its types: an explicit zero is no wanted type
	grant Task             // that the ask holds; where held is set
	held  bool

	fence    queue.ID // the fence root of the ask's leaf
	inside   queue.ID // E, the lowest governing queue; where starving is set
	starving bool

	free  resources.Vector // of the node, before the plan and without the grant
	freed resources.Vector // by the victims on the node
	taken []int64          // by the victims, a row of amounts per queue

	victims []TaskID // those that count: known, running, each once
	rest    []TaskID // victims with a change, for the predicate
	listed  []bool   // by task: whether the plan names it
}

func (x *audit) begin(a *Auditor, p *Plan, now time.Time) {
	x.a, x.c, x.tree, x.plan, x.ask, x.now = a, a.Cluster, a.Cluster.Tree(), p, &p.Ask, now
	types := x.tree.Schema().Len()
	x.size = zeros(x.size, types)
	copy(x.size, x.ask.Size)
	x.wants = resources.Positive(x.size)
	x.freed = zeros(x.freed, types)
	x.taken = zeros(x.taken, types*x.tree.Len())
	x.victims = x.victims[:0]
	x.held = false
	if id, ok := x.c.LookupGrant(x.ask.Key); ok {
		x.grant, x.held = x.c.TaskView(id), true
	}
}

// end forgets the plan, so that an auditor at rest keeps nothing of it alive.
func (x *audit) end() {
	for i := range x.plan.Victims {
		if id := int(x.plan.Victims[i].Task); 0 <= id && id < len(x.listed) {
			x.listed[id] = false
		}
	}
	x.plan, x.ask, x.out, x.grant = nil, nil, nil, Task{}
}

// Every law is a method that yields its violations, as a sequence of package
// iter does, and a law that yields none holds. A plan is audited by reporting
// what is yielded; whether another plan would do is asked of the same methods.

func (x *audit) report(v Violation) bool {
	v.tree = x.tree
	x.out = append(x.out, v)
	return true
}

func (x *audit) run() {
	before := len(x.out)
	if x.wellFormed(x.report); len(x.out) > before {
		return
	}
	x.survey()
	x.place(x.report)
	if len(x.plan.Victims) > 0 {
		x.trigger(x.report)
		x.precondition(x.report)
	}
	x.judgeAll()
	x.guarantee(x.report)
	x.room(x.report)
	if !x.accepts(x.victims) {
		x.report(x.ofNode(LawPredicate))
	}
	x.minimal(x.report)
	if len(x.out) == before {
		x.optedOut(x.report)
	}
}

// judgeAll audits the victims one by one and counts what they free.
func (x *audit) judgeAll() {
	for i := range x.plan.Victims {
		v := &x.plan.Victims[i]
		id, ok := x.c.Lookup(v.Key)
		if !ok || id != v.Task {
			x.report(Violation{Law: LawKnown, Task: v.Task, Victim: v.Key})
			continue
		}
		if x.isListed(id) {
			x.report(Violation{Law: LawOnce, Task: id, Victim: v.Key})
			continue
		}
		for int(id) >= len(x.listed) {
			x.listed = append(x.listed, false)
		}
		x.listed[id] = true
		t := x.c.TaskView(id)
		x.judge(id, &t, x.report)
		// What is leaving anyway is no room made by the plan.
		if t.State == Running {
			x.victims = append(x.victims, id)
			x.count(&t, +1)
		}
	}
}

func (x *audit) isListed(id TaskID) bool { return int(id) < len(x.listed) && x.listed[id] }
