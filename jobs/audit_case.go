package jobs

import (
	"time"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An auditCase is what an audit judges, and the memory for the next: the plan, how
// things are without it, and what its victims free and its members ask for. It
// says what is, and judges nothing.
type auditCase struct {
	a     *Auditor
	c     *victims.Cluster
	tree  *queue.Tree
	plan  *Plan
	job   *Job
	now   time.Time
	types int
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

	fence    queue.ID
	inside   queue.ID // E, the lowest governing queue, if starving is set
	starving bool
	victims  []victims.TaskID // those that count: known, running, each once
	listed   []bool           // by task
	units    []auditUnit
	gangs    []auditGang
	gangOf   map[string]int
}

func (x *auditCase) begin(a *Auditor, p *Plan, now time.Time) {
	x.a, x.c, x.tree, x.plan, x.job, x.now = a, a.Cluster, a.Cluster.Tree(), p, &p.Job, now
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
	x.listed = x.listed[:0]
	if x.gangOf == nil {
		x.gangOf = make(map[string]int)
	}
	clear(x.gangOf)
}

// row returns the amounts of a node, or of a queue, in a block.
func (x *auditCase) row(block []int64, i int) resources.Vector {
	return rows.At(block, i, x.types)
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

// standing says what a member is to the cluster.
func (x *auditCase) standing(key string) memberStanding {
	id, ok := x.c.Lookup(key)
	if !ok {
		id, ok = x.c.LookupGrant(key)
	}
	switch {
	case !ok:
		return unplacedMember
	case x.c.TaskView(id).State == victims.Releasing || x.c.TaskView(id).State == victims.Preempting:
		return leavingMember
	}
	return placedMember
}

type memberStanding uint8

const (
	unplacedMember memberStanding = iota
	placedMember
	leavingMember
)

// isNode reports whether there is such a node. One that is closed takes nothing,
// and is none.
func (x *auditCase) isNode(n victims.NodeID) bool { return n >= 0 && n <= x.last && x.open[n] }

// enter counts a placement.
func (x *auditCase) enter(at Placement) {
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
func (x *auditCase) usage(q queue.ID, t int) int64 {
	return x.tree.Usage(q)[t] - x.tree.Preempting(q)[t]
}

// left returns what q uses of type t once the victims are gone, too.
func (x *auditCase) left(q queue.ID, t int) int64 {
	return x.usage(q, t) - x.taken[int(q)*x.types+t]
}

// count adds a victim to what is freed, or takes it back.
func (x *auditCase) count(t *victims.Task, sign int64) {
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

// giveBack counts some victims out, or in again.
func (x *auditCase) giveBack(tasks []victims.TaskID, sign int64) {
	for _, id := range tasks {
		t := x.c.TaskView(id)
		x.count(&t, sign)
	}
}

// promise returns what law 2 compares for a queue that guarantees g of type t:
// what is left, and what must be.
func (x *auditCase) promise(q queue.ID, t int, g int64) (have, want int64) {
	before := x.usage(q, t)
	have, want = x.left(q, t), min(g, before)
	if have >= want || !x.tree.Contains(q, x.job.Queue) {
		return have, want
	}
	switch {
	case x.a.OwnLeaf == victims.OwnMet && before < g && x.asked[t] > 0:
		return have, have // under its guarantee it may end lower in what the job uses
	case x.a.OwnLeaf == victims.OwnAny:
		// What the own leaf gives counts only so far as members make up for it.
		own := x.taken[int(x.job.Queue)*x.types+t]
		have = before - (x.taken[int(q)*x.types+t] - own)
		return have + min(max(0, x.asked[t]-own), max(want-have, 0)), want
	}
	return have + min(x.asked[t], want-have), want // no more than to be enough
}

// exempt asks the caller whether the task is exempt now. From the end of its
// exemption on it is not.
func (x *auditCase) exempt(id victims.TaskID) bool {
	if x.a.Exempt == nil {
		return false
	}
	until, exempt := x.a.Exempt(victims.Exemption{Cluster: x.c, Task: id, Ask: &x.ask, Now: x.now})
	return exempt && (until.IsZero() || x.now.Before(until))
}
