// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"time"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// An Auditor says which laws a plan breaks, whoever made it. It shares no code with the
// [Planner]. Law 1 is judged only if opted-out victims come first in Levels. Only Cluster must be
// set.
type Auditor struct {
	Cluster *Cluster

	Options

	charge Charge
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
	a.state(p, now)
	return a.charge.Audit(dst)
}

// state makes a charge of a plan.
func (a *Auditor) state(p *Plan, now time.Time) {
	ch := &a.charge
	ch.Of, ch.Cluster, ch.Options, ch.Now, ch.Ask, ch.Victims = "ask", a.Cluster, a.Options, now, p.Ask, p.Victims
	ch.ByPriority, ch.Admit = false, nil // of gangs
	ch.Wants = append(ch.Wants[:0], Want{Member: p.Ask.asMember(), Node: p.place().Node})
	ch.Exchange = true
}

// A Charge is a plan as the laws see it: who asks, for what places, and who stops for them.
// Auditors of asks, jobs, quotas and moves fill one in and add the laws of their own; whoever
// has plans of another kind can do the same. Fill it in and call [Charge.Audit], which
// forgets it all but for memory. Zero fields say nothing; Of, Cluster and Ask.Queue must be
// set.
type Charge struct {
	Of      string // the word in violations: "ask", "job" or "quota"
	Cluster *Cluster
	Options
	Now time.Time

	// Ask is who asks, whatever its Size and Class. A gang may not stop tasks of its own Job, nor
	// those that are not preemptible.
	Ask     Ask
	Wants   []Want
	Victims []Victim
	// Movers stop here and start elsewhere, so that their queues keep what they have. If
	// there are any they are judged, and nothing else.
	Movers []Victim

	Together bool // wants are asks that share a plan: law 4 is for them in their order, and nobody of their own leaf goes
	Exchange bool // law 1 is judged, if there is one want

	// Target is what victims below the queue of Ask should free, of a quota.
	Target resources.Vector

	// Laws appends what breaks the caller's own laws; gone are the victims that are tasks and
	// run, each once, in the order of the plan.
	Laws func(dst []Violation, gone []TaskID) []Violation

	court court
}

// A Want is a place for somebody.
type Want struct {
	Member      // nodes may be reserved for its Key
	Index   int // of Ask.Members
	Node    NodeID
	Further bool // nobody may stop for it
}

// Audit appends to dst what is wrong with the plan for the cluster as it is, and returns
// dst. It never panics, whatever is in the plan. Violations come in a fixed order; see
// DESIGN.md, Explanations and audits. It takes the time of [Auditor.Audit].
func (ch *Charge) Audit(dst []Violation) (out []Violation) {
	x := &ch.court
	defer func() { // also if a function of the caller panics
		out = x.out
		x.close()
	}()
	if x.open(ch, dst) {
		x.run()
	}
	return nil
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

// Cost returns what a plan costs at the instant now, whatever cost it states. It is 0 if
// nothing can be judged; see [Auditor.Audit].
func (a *Auditor) Cost(p *Plan, now time.Time) (c Cost) {
	a.state(p, now)
	x := &a.charge.court
	defer x.close()
	if x.open(&a.charge, nil) {
		c = x.cost()
	}
	return c
}

// cost sums up what the victims that count cost.
func (x *court) cost() (c Cost) {
	x.losses.Begin(x.c.Capacity())
	for i, id := range x.victims {
		r := &x.c.tasks[id]
		// The ranks are law 6's own numbers, lifted queue by queue. The planner
		// has its ranks from package fence.
		have, most := x.priorities(r, false)
		rank := have - most
		if x.StrictPriority {
			rank-- // most is one less than the ask's
		}
		// The first value, not 0, is where a maximum begins: ranks and
		// priorities may be below it.
		if i == 0 {
			c.MaxRank, c.MaxPriority = rank, int64(r.priority)
		}
		c.MaxRank, c.MaxPriority = max(c.MaxRank, rank), max(c.MaxPriority, int64(r.priority))
		c.Victims++
		c.SumRanks += rank
		c.SumPriorities += int64(r.priority)
		if r.flags.has(flagOptedOut) {
			c.OptedOut++
		}
		if r.flags.has(flagOriginator) {
			c.Originators++
		}
		c.Own = c.Own.Add(resources.WideOf(x.c.costOf(id)))
		// By the exported method, which converts what is stored back to times:
		// a wrong conversion would show as a wrong cost.
		t := x.c.TaskView(id)
		c.Work = c.Work.Add(x.losses.Work(t.Size, t.Lost(x.Now)))
		x.losses.Add(t.Size, t.Lost(x.Now))
	}
	x.losses.Tell((*rulebook.Cost)(&c), x.c.Schema())
	for name, b := range x.c.Budgets() {
		// A hard budget is a law and no cost. What was overdrawn before is
		// nobody's fault: only what the plan adds counts.
		if row, _ := x.c.findBudget(name); !b.Hard {
			c.Overrun += max(0, x.drawn[row]-max(0, b.Left))
		}
	}
	for i := range x.gangs {
		// Fewer stay than are needed, also if fewer ran before.
		if g := &x.gangs[i]; g.running-g.taken < g.minimum {
			c.Jobs++
		}
	}
	c.Excess = x.excess()
	n := &x.c.nodes[x.Wants[0].Node]
	c.NodePenalty, c.Node = n.rank, int(n.seq)
	return c
}

// excess returns the largest share of the cluster that is freed beyond need,
// over all types. The victims free what is taken of the root.
func (x *court) excess() (most resources.Share) {
	for i, capacity := range x.c.Capacity() {
		// Shares of different totals are compared exactly, by cross products.
		// See resources.Share.
		share := resources.Share{Amount: max(0, x.gone(queue.Root, i)-x.lacks(i)), Of: capacity}
		if i == 0 || share.Compare(most) > 0 {
			most = share
		}
	}
	return most
}

// lacks returns what the ask lacks of a type before the plan: on the node, or
// below the queue that lacks most, at least 0.
func (x *court) lacks(i int) (need int64) {
	// What is freed of a type that the ask does not want is all beyond need.
	if !x.wants.Has(i) {
		return 0
	}
	need = max(0, x.asked[i]-x.free[i])
	x.maxima(x.Ask.Queue, 1<<i, func(q queue.ID, i int, most int64) {
		// Victims below a queue with too little headroom serve that and the
		// node at once, so that the larger need is the whole need.
		need = max(need, x.usage(q, i)+x.asked[i]-most)
	})
	return need
}

// fitsNow reports whether there is room for the ask without waiting for anybody.
func (x *court) fitsNow() bool {
	if _, held := x.held(); held {
		return true // if not, other laws say so
	}
	fits := len(x.blockers) == 0
	for i := range x.wants.All() {
		// Present amounts: what is leaving has not left.
		fits = fits && x.c.row(x.c.present, x.Wants[0].Node)[i] >= x.asked[i]
	}
	x.maxima(x.Ask.Queue, x.wants, func(q queue.ID, i int, most int64) {
		fits = fits && most-x.present(q, i) >= x.asked[i]
	})
	return fits
}
