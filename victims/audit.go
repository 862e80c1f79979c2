package victims

import (
	"time"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/queue"
)

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

	Rules

	// Blockers appends to dst the tasks on a node that must go for the ask to
	// run there, whatever the amounts. Nil: there are none.
	Blockers func(dst []TaskID, ask *Ask, node NodeID) []TaskID
	// Predicate may refuse a node for an ask, given the victims. Nil: it never
	// does.
	Predicate func(q *Placing) bool
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
// minimal ([finding.LawMinimal]) if no unit of it can be given back: a single victim,
// or what a whole job has beyond the members that may go one by one. Law 1
// ([finding.LawOptedOut]) asks for the fewest opted-out victims of all plans: the audit
// looks at those with one opted-out victim less, or with one other task in its
// place, and at no other node. It does so in plans that are otherwise lawful.
// If tasks of the own leaf may go, whether there was a plan without them is not
// asked: that would be a search.
//
// Violations come in a fixed order: of the node; of what lets the ask preempt;
// of each victim, in the order of the plan; of jobs, in the order in which the
// plan names them; of budgets, by name; of the guarantees, in tree order; of
// room, of headroom from the leaf upwards, and of the set as a whole. In each
// group they are in the order of DESIGN.md, Explanations and audits, and then of types.
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

// audit holds the laws against a case, a method each, which reports what breaks
// its law. What things are is the case's to say.
type audit struct {
	auditCase
	out     []Violation
	trial   bool // nothing is reported: whether a law holds is all that is asked
	broken  bool // some law is
	placing Placing
	spare   []TaskID // members that may go one by one
	tries   int      // how many may still be given back
}

// fault reports a broken law.
func (x *audit) fault(v Violation) {
	x.broken = true
	if !x.trial {
		v.Of = "ask"
		x.out = append(x.out, v)
	}
}

// holds reports whether a law holds. Plans that are near are judged by the same
// methods as the plan itself.
func (x *audit) holds(law func(*audit)) bool {
	trial, broken := x.trial, x.broken
	x.trial, x.broken = true, false
	law(x)
	broken, x.broken = x.broken, broken
	x.trial = trial
	return !broken
}

func (x *audit) run() {
	x.trial, x.broken = false, false
	if x.wellFormed(); x.broken {
		return
	}
	x.survey()
	x.place()
	if len(x.plan.Victims) > 0 {
		x.trigger()
		x.precondition()
	}
	for i := range x.plan.Victims {
		switch v := &x.plan.Victims[i]; {
		case !x.known(v):
			x.fault(Violation{Law: finding.LawKnown, Task: v.Task, Victim: v.Key})
		case x.marks[v.Task] == markJudged:
			x.fault(Violation{Law: finding.LawOnce, Task: v.Task, Victim: v.Key})
		default:
			x.marks[v.Task] = markJudged
			x.judge(v.Task)
		}
	}
	x.gang()
	x.budget()
	x.guarantee()
	x.room()
	x.blocked()
	if !x.accepts(x.victims) {
		x.fault(x.ofNode(finding.LawPredicate))
	}
	x.minimal()
	if !x.broken {
		x.optedOut()
	}
}

// ofQueue returns a violation by amounts of a queue.
func (x *audit) ofQueue(law string, q queue.ID, i int, have, want int64) Violation {
	return Violation{Law: law, Queue: x.tree.Path(q), Type: x.c.Schema().Name(i), Have: have, Want: want}
}

// A Violation is a law that a plan for an ask or a job, or what is enforced of a quota,
// breaks, and where. It is plain data; what is not at fault is "".
type Violation struct {
	// Of is what was judged: "ask", "job" or "quota". Law is the stable word of the law.
	// All of them are in DESIGN.md, Explanations and audits.
	Of, Law string

	Member string // the key of the member of a job at fault
	Victim string // the key of the victim at fault, as the plan has it
	Task   TaskID // its row, as the plan has it
	// Other is the key of another task: one that could be taken instead ("opted-out"), or
	// one that blocks the ask and stays ("blocker").
	Other  string
	Job    string // the running job at fault
	Budget string // the budget at fault
	Node   string // the name of the node at fault
	Queue  string // the path of the queue at fault
	Type   string // the resource type at fault

	// Have is what there is and Want is what it is compared with: amounts of
	// Type if there is one, priorities for "priority" and "member-priority", members for
	// "gang" and "minimum", victims for "budget" and "overrun", nanoseconds for "delay" and
	// "interval". Both are 0 for other laws.
	Have, Want int64
}

// String tells the violation in a line: the law, who is at fault, and what is
// wrong, as in
//
//	guarantee (law 2): root.a: cpu 3 after the plan, want at least 5
//	leaving: victim t1: leaving already
func (v Violation) String() string {
	f := v.finding()
	return f.Line()
}

// MarshalJSON writes the violation as an object, with amounts as quantities.
func (v Violation) MarshalJSON() ([]byte, error) {
	f := v.finding()
	return f.JSON()
}

func (v *Violation) finding() finding.Finding {
	f := finding.Finding{Of: v.Of, Law: v.Law, Queue: v.Queue, Type: v.Type, Have: v.Have, Want: v.Want, Other: v.Other}
	victim := "victim"
	if v.Law == finding.LawSpared {
		victim = "task" // it is not to go, and could
	}
	for _, s := range []finding.Subject{
		{What: "member", Name: v.Member}, {What: victim, Name: v.Victim}, {What: "job", Name: v.Job},
		{What: "budget", Name: v.Budget}, {What: "node", Name: v.Node},
	} {
		if s.Name != "" {
			f.Who = append(f.Who, s)
		}
	}
	return f
}
