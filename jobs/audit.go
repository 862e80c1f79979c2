// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"math"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An Auditor says which laws a plan for a job breaks, as [victims.Auditor] does for asks.
// Only Cluster must be set.
type Auditor struct {
	Cluster *victims.Cluster

	victims.Rules

	ByPriority bool
	Allowances *Allowances
	Predicate  func(p *Placing) bool

	trusts  bool // what the caller says of members that run
	inOrder bool // law 4 is for members in their order
	sharing bool // nobody of their own leaf goes
	x       audit
}

// Audit appends to dst what is wrong at the instant now with plan p, in a fixed order, as
// [victims.Auditor.Audit] does. A plan without victims is judged by the room once what is
// leaving has gone. The cost is linear in nodes, queues and victims·depth·types, and in
// tasks if there are allowances or gangs.
func (a *Auditor) Audit(dst []victims.Violation, p *Plan, now time.Time) []victims.Violation {
	x := &a.x
	x.begin(a, p, now)
	x.out = dst
	x.run()
	dst = x.out
	x.plan, x.job, x.out, x.ask = nil, nil, nil, victims.Ask{} // an auditor at rest keeps nothing of it alive
	return dst
}

// An audit is what an auditor works out: the plan, how things are without it, what its
// victims free and its members ask for, and the laws, a method each, which report what
// breaks them. Whether less would do is asked of the same methods.
type audit struct {
	a     *Auditor
	c     *victims.Cluster
	tree  *queue.Tree // with the guarantees that count
	plan  *Plan
	job   *Job
	now   time.Time
	types int
	ask   victims.Ask // the first member that has no place, for Exempt
	out   []victims.Violation

	counting queue.Tree // what tree is, if not all of them count

	last  victims.NodeID   // the largest there is
	nodes []victims.NodeID // of the placements, each once
	seen  []bool           // by node: whether it is one of them
	open  []bool           // by node: whether it takes anything
	keys  []string         // of members, sorted
	done  []bool           // by member: it has a place, or is given one

	auditAmounts

	fence    queue.ID
	inside   queue.ID // E, the lowest governing queue, if starving is set
	starving bool
	within   victims.OwnLeaf  // what the queues say of the own leaf, else the option
	victims  []victims.TaskID // those that count: known, running, each once
	listed   []bool           // by task
	units    []auditUnit
	gangs    []auditGang
	gangOf   map[string]int

	rest    []victims.TaskID // that are given back for a trial
	tries   int              // how many more may be
	trial   []victims.Violation
	homes   []victims.NodeID // of those
	placing Placing          // what the predicate is shown
}

// auditAmounts are what victims free and members ask for.
type auditAmounts struct {
	// Rows of amounts, by node: what victims free there, what members of the
	// minimum ask for, and what all members do; and by queue, what victims take.
	freed, load, full, taken []int64
	asked                    resources.Vector // by the members of the minimum that are placed
	more                     resources.Vector // by all that are placed
	free                     resources.Vector // scratch of room
	sums                     []auditSums
	blocks                   []int64 // of the sums
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
	stopped []victims.TaskID
}

// auditSums are what the formulas speak of, in a subtree.
type auditSums struct {
	queue         queue.ID
	quota         Allowance
	used, fixed   resources.Vector // U and N
	waiting, gone resources.Vector // NR - N, and what victims take
}

func (x *audit) begin(a *Auditor, p *Plan, now time.Time) {
	x.a, x.c, x.plan, x.job, x.now = a, a.Cluster, p, &p.Job, now
	x.tree, _ = a.Cluster.Tree().Counting(&x.counting, a.Scarce)
	x.types = x.tree.Schema().Len()
	x.last = -1
	for n := range x.c.Nodes() {
		x.last = max(x.last, n)
	}
	x.open = rows.Zeros(x.open, int(x.last)+1)
	for n := range x.c.Nodes() {
		x.open[n] = true
	}
	amounts := (int(x.last) + 1) * x.types
	x.seen = rows.Zeros(x.seen, int(x.last)+1)
	x.freed, x.load, x.full = rows.Zeros(x.freed, amounts), rows.Zeros(x.load, amounts), rows.Zeros(x.full, amounts)
	x.taken = rows.Zeros(x.taken, x.tree.Len()*x.types)
	x.asked, x.more = rows.Zeros(x.asked, x.types), rows.Zeros(x.more, x.types)
	x.done = rows.Zeros(x.done, len(p.Job.Members))
	x.nodes, x.victims, x.units, x.gangs = x.nodes[:0], x.victims[:0], x.units[:0], x.gangs[:0]
	x.listed, x.rest = x.listed[:0], x.rest[:0]
	if x.gangOf == nil {
		x.gangOf = make(map[string]int)
	}
	clear(x.gangOf)
}

func (x *audit) run() {
	before := len(x.out)
	x.wellFormed()
	if len(x.out) > before {
		return
	}
	x.hosts()
	x.filter()
	x.domain()
	x.sumUp()
	x.priority()
	if len(x.plan.Victims) > 0 {
		x.precondition()
		x.quota(finding.LawFormula, x.asked)
	}
	x.judgeAll()
	x.guarantee()
	x.budget()
	x.countGangs()
	x.gang()
	x.room(x.full, x.nodes)
	x.headroom(x.more)
	x.quota(finding.LawQuota, x.more)
	x.predicate()
	x.minimal()
}

func (x *audit) report(v victims.Violation) {
	v.Of = "job"
	x.out = append(x.out, v)
}

// ofQueue reports a violation by amounts of a queue.
func (x *audit) ofQueue(l string, q queue.ID, t int, have, want int64) {
	x.report(victims.Violation{Law: l, Queue: x.tree.Path(q), Type: x.tree.Schema().Name(t), Have: have, Want: want})
}

// ofMember reports a violation by a member on a node.
func (x *audit) ofMember(l string, key string, n victims.NodeID) {
	x.report(victims.Violation{Law: l, Member: key, Node: x.c.NodeName(n)})
}

// row returns the amounts of a node, or of a queue, in a block.
func (x *audit) row(block []int64, i int) resources.Vector { return rows.At(block, i, x.types) }

// standing says what a member is to the cluster, and which task or grant it is.
func (x *audit) standing(key string) (memberStanding, victims.TaskID) {
	id, ok := x.c.Lookup(key)
	if !ok {
		id, ok = x.c.LookupGrant(key)
	}
	switch {
	case !ok:
		return unplacedMember, 0
	case x.c.TaskView(id).State == victims.Releasing || x.c.TaskView(id).State == victims.Preempting:
		return leavingMember, id
	}
	return placedMember, id
}

type memberStanding uint8

const (
	unplacedMember memberStanding = iota
	placedMember
	leavingMember
)

// isNode reports whether there is such a node. One that is closed takes nothing,
// and is none.
func (x *audit) isNode(n victims.NodeID) bool { return n >= 0 && n <= x.last && x.open[n] }

// enter counts a placement.
func (x *audit) enter(at Placement) {
	if !x.seen[at.Node] {
		x.seen[at.Node] = true
		x.nodes = append(x.nodes, at.Node)
	}
	for t, v := range x.job.Members[at.Member].Size {
		if t >= x.types {
			continue // zeros of no type
		}
		i := int(at.Node)*x.types + t
		x.full[i] += v
		x.more[t] += v
		if !at.Further {
			x.load[i] += v
			x.asked[t] += v
		}
	}
}

// usage returns what q uses of type t before the plan, once what is leaving has
// gone.
func (x *audit) usage(q queue.ID, t int) int64 { return x.tree.Usage(q)[t] - x.tree.Preempting(q)[t] }

// left returns what q uses of type t once the victims are gone, too.
func (x *audit) left(q queue.ID, t int) int64 { return x.usage(q, t) - x.taken[int(q)*x.types+t] }

// count adds victims to what is freed, or takes them back.
func (x *audit) count(tasks []victims.TaskID, sign int64) {
	for _, id := range tasks {
		t := x.c.TaskView(id)
		open := x.isNode(t.Node) // what is freed on a closed node is nobody's
		for i, v := range t.Size {
			if open {
				x.freed[int(t.Node)*x.types+i] += sign * v
			}
			for q := range x.tree.Up(t.Queue) {
				x.taken[int(q)*x.types+i] += sign * v
			}
		}
	}
}

// exempt asks the caller whether the task is exempt now. From the end of its
// exemption on it is not.
func (x *audit) exempt(id victims.TaskID) bool {
	if x.a.Exempt == nil {
		return false
	}
	until, exempt := x.a.Exempt(victims.Exemption{Cluster: x.c, Task: id, Ask: &x.ask, Now: x.now})
	return exempt && (until.IsZero() || x.now.Before(until))
}

// countGangs counts the running jobs that need some of their members and lose
// any, and sorts the victims into what falls together. Jobs that go as a whole can
// only be given back as a whole, or down to their minimum.
func (x *audit) countGangs() {
	for n := range x.victims {
		x.sortVictim(x.victims[n : n+1 : n+1])
	}
	// The pass over all tasks is only for plans that stop members of jobs.
	if len(x.gangs) == 0 {
		return
	}
	for id := range x.c.Tasks() {
		t := x.c.TaskView(id)
		i, ok := x.gangOf[t.Job]
		if !ok || t.Job == "" {
			continue
		}
		// What is leaving will not be there, and what is granted is not there yet.
		if t.State == victims.Running {
			x.gangs[i].running++
		}
	}
	for i := range x.gangs {
		g := &x.gangs[i]
		// Fewer are left than the job needs, so it goes as a whole: it must
		// come back as a whole as well.
		if g.running-len(g.stopped) < g.minimum {
			x.units = append(x.units, auditUnit{tasks: g.stopped, job: g.job, minimum: g.minimum})
			continue
		}
		for n := range g.stopped {
			x.units = append(x.units, auditUnit{tasks: g.stopped[n : n+1]})
		}
	}
}

// sortVictim makes a victim a unit of its own, or one of those of its gang.
func (x *audit) sortVictim(alone []victims.TaskID) {
	job := x.c.TaskView(alone[0]).Job
	minimum := 0
	if job != "" && x.a.Minimum != nil {
		minimum = x.a.Minimum(job)
	}
	// A job of which nobody knows a minimum is no gang.
	if minimum <= 0 {
		x.units = append(x.units, auditUnit{tasks: alone})
		return
	}
	i, ok := x.gangOf[job]
	if !ok {
		i = len(x.gangs)
		x.gangOf[job] = i
		// The row that was there before has a list with memory.
		x.gangs = slices.Grow(x.gangs, 1)[:i+1]
		x.gangs[i] = auditGang{job: job, minimum: minimum, stopped: x.gangs[i].stopped[:0]}
	}
	x.gangs[i].stopped = append(x.gangs[i].stopped, alone[0])
}

// sumUp adds up the sums of the queues of the path that have a quota, on coming
// amounts.
func (x *audit) sumUp() {
	x.sums, x.blocks = x.sums[:0], x.blocks[:0]
	for q := range x.tree.Up(x.job.Queue) {
		quota, ok := x.a.Allowances.Lookup(q)
		if !ok {
			continue
		}
		from := len(x.blocks)
		for range 3 * x.types {
			x.blocks = append(x.blocks, 0)
		}
		block := x.blocks[from:]
		s := auditSums{
			queue: q, quota: quota,
			used: x.row(block, 0), fixed: x.row(block, 1), waiting: x.row(block, 2), gone: x.row(x.taken, int(q)),
		}
		// Queues are in tree order, so a subtree is a range. The sums are added
		// up from tasks; the planner's ledger is not asked.
		for w := q; w < x.tree.End(q); w++ {
			if sub, ok := x.a.Allowances.Lookup(w); ok {
				resources.Add(s.waiting, s.waiting, sub.Waiting)
			}
			for id := range x.c.TasksIn(w) {
				t := x.c.TaskView(id)
				if t.State == victims.Releasing || t.State == victims.Preempting {
					continue
				}
				resources.Add(s.used, s.used, t.Size)
				if t.NonPreemptible {
					resources.Add(s.fixed, s.fixed, t.Size)
				}
			}
		}
		x.sums = append(x.sums, s)
	}
}

// over reports whether a + b > most, none of which is negative.
func over(a, b, most int64) bool { return a > most || b > most-a }

// capped returns a + b, or the most there is.
func capped(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}
