package victims

import "time"

// An Auditor says which laws a plan breaks, whoever made it. It shares no code
// with the [Planner]: it never searches, but takes the plan as it is, works out
// what the queues and the node would be left with, and holds the laws of
// DESIGN.md against that one by one. So it serves as a second opinion on plans
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
	// Filter says whether the ask may ever run on a node. Nil: on all.
	Filter func(ask *Ask, node NodeID) bool
	// Blockers appends to dst the tasks on a node that must go for the ask to
	// run there, whatever the amounts. Nil: there are none.
	Blockers func(dst []TaskID, ask *Ask, node NodeID) []TaskID
	// Predicate may refuse a node for an ask, given the victims. Nil: it never
	// does.
	Predicate func(q *Placing) bool
	// Minimum is the number of members that a running job needs. Nil: there are
	// no gangs, and tasks of jobs go one by one.
	Minimum func(job string) int
	// OwnLeaf says whether tasks of the ask's own leaf may make room for it.
	OwnLeaf OwnLeaf
	// Levels is what decides between plans; see [Planner]. Law 1 is judged only if
	// opted-out victims come first in it, as they do by default.
	Levels Levels

	x audit
}

// Audit appends to dst what is wrong, at the instant now, with plan p for the
// cluster as it is now, and returns dst. A plan to which nothing is appended is
// lawful. Audit never panics, whatever is in p.
//
// What is judged is the ask, the node and the tasks of the plan, and nothing
// that it says of itself: not its version, cost and proof, nor a victim's rank
// and purpose; see [Auditor.Cost] for what it costs. A plan without victims is judged as one that fits or waits, by
// room and blockers alone; a plan for an ask that holds a grant must start it
// where the grant is, and is judged by the room of that moment, with the grant
// and those given on that node after it taken off. An ask that is none, or a
// node that the cluster does not have, ends the audit, for nothing else can be
// judged.
//
// The laws compare a plan with others only so far as they are near. A plan is
// minimal ([LawMinimal]) if no unit of it can be given back: a single victim,
// or what a whole job has beyond the members that may go one by one. Law 1
// ([LawOptedOut]) asks for the fewest opted-out victims of all plans: the audit
// looks at those with one opted-out victim less, or with one other task in its
// place, and at no other node. It does so in plans that are otherwise lawful.
// If tasks of the own leaf may go, whether there was a plan without them is not
// asked: that would be a search.
//
// Violations come in a fixed order: of the node; of what lets the ask preempt;
// of each victim, in the order of the plan; of jobs, in the order in which the
// plan names them; of budgets, by name; of the guarantees, in tree order; of
// room, of headroom from the leaf upwards, and of the set as a whole. In each
// group they are in the order of the [Law] constants, and then of types.
//
// The cost is linear in the number of nodes, of queues times types, and of
// victims times depth times types; the filter and the blockers are asked once,
// the predicate once and once more for each unit that room alone does not need.
// Opted-out victims add the number of tasks times depth times types for each.
func (a *Auditor) Audit(dst []Violation, p *Plan, now time.Time) []Violation {
	x := &a.x
	x.begin(a, p, now)
	x.out = dst
	defer func() { // also if a function of the caller panics
		x.end()
		x.out, x.placing = nil, Placing{}
	}()
	x.run()
	return x.out
}

// audit holds the laws against a case, one method each. What things are is the
// case's to say.
type audit struct {
	auditCase
	out     []Violation
	placing Placing  // what the predicate is shown
	spare   []TaskID // members that may go one by one
	tries   int      // how many may still be given back
}

// Every law is a method that yields its violations, as a sequence of package
// iter does, and a law that yields none holds. A plan is audited by reporting
// what is yielded; whether another plan would do is asked of the same methods, by
// loops that end at the first: a call by function value would allocate.

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
	x.list()
	x.listGangs()
	x.place(x.report)
	if len(x.plan.Victims) > 0 {
		x.trigger(x.report)
		x.precondition(x.report)
	}
	x.judgeAll()
	x.gang(x.report)
	x.budget(x.report)
	x.guarantee(x.report)
	x.room(x.report)
	x.blocked(x.report)
	if !x.accepts(x.victims) {
		x.report(x.ofNode(LawPredicate))
	}
	x.minimal(x.report)
	if len(x.out) == before {
		x.optedOut(x.report)
	}
}

// judgeAll audits the victims one by one.
func (x *audit) judgeAll() {
	for i := range x.plan.Victims {
		switch v := &x.plan.Victims[i]; {
		case !x.known(v):
			x.report(Violation{Law: LawKnown, Task: v.Task, Victim: v.Key})
		case x.mark(v.Task) == markJudged:
			x.report(Violation{Law: LawOnce, Task: v.Task, Victim: v.Key})
		default:
			x.marks[v.Task] = markJudged
			x.judge(v.Task, x.report)
		}
	}
}
