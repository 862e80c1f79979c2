package jobs

import (
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// An Auditor says which laws a plan for a job breaks, whoever made it. It shares
// no code with the [Planner]: it never searches, but takes the plan as it is,
// works out what queues, nodes and running jobs would be left with, and reads
// the laws against that one by one. So it serves as a second
// opinion on plans of this package, all of which it has seen, and in shadow mode
// on those of a scheduler at work.
//
// Its exported fields are options, with the meaning that they have for the
// planner; only Cluster must be set. The rest is memory that audits reuse.
//
// An Auditor serves one goroutine at a time. It never changes the cluster.
type Auditor struct {
	Cluster *victims.Cluster

	Trigger        Trigger
	StrictPriority bool
	Interval       time.Duration

	Quotas    *Quotas
	Minimum   func(job string) int
	Exempt    func(victims.Exemption) (until time.Time, exempt bool)
	Filter    func(job *Job, class int, node victims.NodeID) bool
	Predicate func(p *Placing) bool
	OwnLeaf   victims.OwnLeaf

	trusts bool // what the caller says of members that run
	x      audit
}

// Audit appends to dst what is wrong, at the instant now, with plan p for the
// cluster as it is now, and returns dst. A plan to which nothing is appended is
// lawful. Audit never panics, whatever is in p.
//
// What is judged is the job, the placements and the tasks of the plan, and
// nothing that it says of itself: not Version, Cost and Proof, nor what a victim
// is for. A plan without victims is judged as one that waits: by the room that
// there is once what is leaving has gone. A job or a placement that is none ends
// the audit, for nothing else can be judged.
//
// A plan is minimal ([LawMinimal]) if each of its victims is needed for the
// minimum of members: neither a single victim nor a job that goes as a whole can
// be given back. Nor can members of such a job, one after another, until as many
// are back as it needs to run. Whether the plan is the cheapest is not asked.
//
// Violations come in a fixed order: of the job and its placements; of what lets
// it preempt; of each victim, in the order of the plan; of guarantees, in tree
// order; of budgets, in the order of names; of gangs; of room, headroom and quotas; of the set as a whole.
//
// The cost is linear in nodes and queues, in tasks if there are quotas or
// gangs, and in victims times depth times types.
func (a *Auditor) Audit(dst []Violation, p *Plan, now time.Time) []Violation {
	x := &a.x
	x.begin(a, p, now)
	x.out, x.rest = dst, x.rest[:0]
	x.run()
	dst = x.out
	x.plan, x.job, x.out, x.ask = nil, nil, nil, victims.Ask{} // an auditor at rest keeps nothing of it alive
	return dst
}

// audit holds the laws against a case, one method each. What things are is the
// case's to say.
type audit struct {
	auditCase
	out     []Violation
	rest    []victims.TaskID // that are given back for a trial
	homes   []victims.NodeID // of those
	placing Placing          // what the predicate is shown
}

// Every law is a method that yields its violations, as a sequence of package
// iter does, and a law that yields none holds. A plan is audited by reporting
// what is yielded; whether less would do is asked of the same methods.

func (x *audit) report(v Violation) bool {
	v.tree = x.tree
	x.out = append(x.out, v)
	return true
}

func (x *audit) run() {
	before := len(x.out)
	x.wellFormed(x.report)
	if len(x.out) > before {
		return
	}
	x.hosts(x.report)
	x.filter(x.report)
	x.domain(x.report)
	x.sumUp()
	x.priority(x.report)
	if len(x.plan.Victims) > 0 {
		x.precondition(x.report)
		x.formulas(x.report)
	}
	x.judgeAll()
	x.guarantee(x.report)
	x.budget(x.report)
	x.countGangs()
	x.gang(x.report)
	x.room(x.full, x.nodes, x.report)
	x.headroom(x.more, x.report)
	x.quota(x.more, x.report)
	x.predicate(x.report)
	x.minimal(x.report)
}

// ofQueue returns a violation by amounts of a queue.
func ofQueue(l Law, q queue.ID, t int, have, want int64) Violation {
	return Violation{Law: l, Queue: q, HasQueue: true, Type: t, HasType: true, Have: have, Want: want}
}
