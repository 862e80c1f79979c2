// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"time"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/queue"
)

// An Auditor says which laws a plan breaks, whoever made it. It shares no code with the
// [Planner]; its fields are as there. Only Cluster must be set.
type Auditor struct {
	Cluster *Cluster

	Rules

	// Blockers and Predicate are as in [Planner].
	Blockers  func(dst []TaskID, ask *Ask, node NodeID) []TaskID
	Predicate func(q *Placing) bool
	// Levels are as in [Planner]. Law 1 is judged only if opted-out victims come
	// first.
	Levels []string

	x audit
}

// Audit appends to dst what is wrong at the instant now with plan p for the cluster as it
// is, and returns dst. It never panics, whatever is in p.
//
// It judges ask, node and tasks, not version, cost or proof. A plan without victims, or
// for an ask that holds a grant, is judged by room and blockers alone. For law 1 it tries
// to spare each opted-out victim, and to take one other task in its place.
//
// Violations come in a fixed order; see DESIGN.md, Explanations and audits. The cost is
// linear in nodes, queues·types and victims·depth·types. Each opted-out victim adds
// tasks·depth·types.
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

// A Violation is a law that a plan, or an outcome of a quota, breaks. What is not at
// fault is "".
type Violation struct {
	// Of is what was judged: "ask", "job" or "quota". Law is the word of the law; see
	// DESIGN.md, Explanations and audits.
	Of, Law string

	Member string // the key of the member of a job at fault
	Victim string // the key of the victim at fault, as the plan has it
	Task   TaskID // its row, as the plan has it
	// Other is the key of a task that could be taken instead ("opted-out"), or that
	// blocks and stays ("blocker").
	Other  string
	Job    string // the running job at fault
	Budget string // the budget at fault
	Node   string // the name of the node at fault
	Queue  string // the path of the queue at fault
	Type   string // the resource type at fault

	// Have is what there is, Want what the law compares it with: amounts of Type,
	// priorities, members ("gang", "minimum"), victims ("budget", "overrun"), or
	// nanoseconds ("delay", "interval"); 0 if the law has no number.
	Have, Want int64
}

// String tells the violation in a line, as in
//
//	guarantee (law 2): root.a: cpu 3 after the plan, want at least 5
//	leaving: victim t1: leaving already
func (v Violation) String() string {
	f := v.finding()
	return f.Line()
}

// MarshalJSON writes an object, with amounts as quantities.
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
