package jobs

import (
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
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
	Cluster   *victims.Cluster
	Quotas    *Quotas
	Minimum   func(job string) int
	Exempt    func(victims.Exemption) (until time.Time, exempt bool)
	Filter    func(job *Job, class int, node victims.NodeID) bool
	Predicate func(p *Placing) bool
	OwnLeaf   victims.OwnLeaf

	x audit
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
// A plan is minimal ([LawMinimal]) where neither a single victim nor a job that
// falls as a whole can be given back with the minimum of members still in
// place; nor, one member after another, so many of the job that they are its
// minimum. That a plan is the cheapest is not asked.
//
// Violations come in a fixed order: of the job and its placements; of what lets
// it preempt; of each victim, in the order of the plan; of guarantees, in tree
// order; of budgets, in the order of names; of gangs; of room, headroom and quotas; of the set as a whole.
//
// The cost is linear in nodes and queues, in tasks where there are quotas or
// gangs, and in victims times depth times types.
func (a *Auditor) Audit(dst []Violation, p *Plan, now time.Time) []Violation {
	x := &a.x
	x.begin(a, p, now)
	x.out = dst
	x.run()
	dst = x.out
	x.plan, x.job, x.out, x.ask = nil, nil, nil, victims.Ask{} // keep nothing of it alive
	return dst
}

// audit is one audit, and the memory for the next.
type audit struct {
	a     *Auditor
	c     *victims.Cluster
	tree  *queue.Tree
	plan  *Plan
	job   *Job
	now   time.Time
	types int
	out   []Violation
	ask   victims.Ask // the first member that has no place, for Exempt

	last  victims.NodeID   // the largest there is
	nodes []victims.NodeID // of the placements, each once
	seen  []bool           // by node: whether it is one of them
	open  []bool           // by node: whether it takes anything
	keys  []string         // of members, sorted
	done  []bool           // by member: it has a place, or is given one
	asked resources.Vector // by the members of the minimum that are placed
	more  resources.Vector // by all that are placed

	auditAmounts

	fence   queue.ID
	victims []victims.TaskID // those that count: known, running, each once
	listed  []bool           // by task
	rest    []victims.TaskID // that are given back for a trial
	homes   []victims.NodeID // of those
	units   []auditUnit
	gangs   []auditGang
	gangOf  map[string]int
	placing Placing
}

// auditAmounts are what victims free and members ask for.
type auditAmounts struct {
	// Rows of amounts, by node: what victims free there, what members of the
	// minimum ask for, and what all members do.
	freed, load, full []int64
	taken             []int64 // by victims, by queue
	sums              []auditSums
	blocks            []int64          // of the sums
	free              resources.Vector // scratch of room
}

// auditUnit is what can only be given back together.
type auditUnit struct {
	tasks   []victims.TaskID // of audit.victims or of a gang
	job     string           // that falls as a whole, or ""
	minimum int              // of the job
}

// auditGang is a running job of which the plan stops members.
type auditGang struct {
	job     string
	minimum int
	running int
	granted int
	stopped []victims.TaskID
}

func (x *audit) begin(a *Auditor, p *Plan, now time.Time) {
	x.a, x.c, x.tree, x.plan, x.job, x.now = a, a.Cluster, a.Cluster.Tree(), p, &p.Job, now
	x.types = x.tree.Schema().Len()
	x.last = -1
	for n := range x.c.Nodes() {
		x.last = max(x.last, n)
	}
	x.open = zeros(x.open, int(x.last)+1)
	for n := range x.c.Nodes() {
		x.open[n] = true
	}
	rows := (int(x.last) + 1) * x.types
	x.seen = zeros(x.seen, int(x.last)+1)
	x.freed, x.load, x.full = zeros(x.freed, rows), zeros(x.load, rows), zeros(x.full, rows)
	x.taken = zeros(x.taken, x.tree.Len()*x.types)
	x.asked, x.more = zeros(x.asked, x.types), zeros(x.more, x.types)
	x.done = zeros(x.done, len(p.Job.Members))
	x.nodes, x.victims, x.units, x.gangs = x.nodes[:0], x.victims[:0], x.units[:0], x.gangs[:0]
	x.listed, x.rest = x.listed[:0], x.rest[:0]
	if x.gangOf == nil {
		x.gangOf = make(map[string]int)
	}
	clear(x.gangOf)
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
	if len(x.plan.Victims) > 0 {
		x.trigger(x.report)
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

// row returns the amounts of a node, or of a queue, in a block.
func (x *audit) row(block []int64, i int) resources.Vector {
	return block[i*x.types : (i+1)*x.types : (i+1)*x.types]
}

// ofQueue returns a violation by amounts of a queue.
func ofQueue(l Law, q queue.ID, t int, have, want int64) Violation {
	return Violation{Law: l, Queue: q, HasQueue: true, Type: t, HasType: true, Have: have, Want: want}
}
