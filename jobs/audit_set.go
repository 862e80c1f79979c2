package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// This file audits the victims as a set: what is left of queues and running
// jobs, and whether there is room.

// usage returns what q uses of type t before the plan, once what is leaving has
// gone.
func (x *audit) usage(q queue.ID, t int) int64 {
	return x.tree.Usage(q)[t] - x.tree.Preempting(q)[t]
}

// left returns what q uses of type t once the victims are gone, too.
func (x *audit) left(q queue.ID, t int) int64 {
	return x.usage(q, t) - x.taken[int(q)*x.types+t]
}

// guarantee yields each queue and type that law 2 protects and the plan takes
// too much of: with the members of the minimum counted, less than the
// guarantee is left, and less than there was.
func (x *audit) guarantee(yield func(Violation) bool) {
	for q := range x.tree.All() {
		guaranteed := x.tree.Guaranteed(q)
		for t := range guaranteed.Defined.All() {
			g, _ := guaranteed.Bound(t)
			have, want := x.promise(q, t, g)
			if have < want && !yield(ofQueue(LawGuarantee, q, t, have, want)) {
				return
			}
		}
	}
}

// promise returns what law 2 compares for a queue that guarantees g of type t:
// what is left, and what must be.
func (x *audit) promise(q queue.ID, t int, g int64) (have, want int64) {
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

// countGangs counts the running jobs that need some of their members and lose
// any, and sorts the victims into what falls together.
func (x *audit) countGangs() {
	for n := range x.victims {
		x.sortVictim(x.victims[n : n+1 : n+1])
	}
	if len(x.gangs) == 0 {
		return
	}
	for id := range x.c.Tasks() {
		t := x.c.TaskView(id)
		i, ok := x.gangOf[t.Job]
		if !ok || t.Job == "" {
			continue
		}
		switch t.State {
		case victims.Running:
			x.gangs[i].running++
		case victims.Granted:
			x.gangs[i].granted++
		}
	}
	for i := range x.gangs {
		g := &x.gangs[i]
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
	id := alone[0]
	job := x.c.TaskView(id).Job
	minimum := 0
	if job != "" && x.a.Minimum != nil {
		minimum = x.a.Minimum(job)
	}
	if minimum <= 0 {
		x.units = append(x.units, auditUnit{tasks: alone})
		return
	}
	i, ok := x.gangOf[job]
	if !ok {
		i = len(x.gangs)
		x.gangOf[job] = i
		x.gangs = slices.Grow(x.gangs, 1)[:i+1]
		x.gangs[i] = auditGang{job: job, minimum: minimum, stopped: x.gangs[i].stopped[:0]}
	}
	x.gangs[i].stopped = append(x.gangs[i].stopped, id)
}

// gang yields the running jobs that are left with too few members, and are not
// stopped as a whole.
func (x *audit) gang(yield func(Violation) bool) {
	for i := range x.gangs {
		g := &x.gangs[i]
		left := g.running - len(g.stopped)
		if left >= g.minimum || left == 0 && g.granted == 0 {
			continue
		}
		if !yield(Violation{Law: LawGang, Job: g.job, Have: int64(left), Want: int64(g.minimum)}) {
			return
		}
	}
}

// room yields each of some nodes and each type in which members lack room, given
// what they ask for on each node.
func (x *audit) room(load []int64, nodes []victims.NodeID, yield func(Violation) bool) {
	for _, n := range nodes {
		x.free = x.c.ComingFree(x.free, n)
		for t, v := range x.row(load, int(n)) {
			have := x.free[t] + x.freed[int(n)*x.types+t]
			if v > 0 && have < v && !yield(Violation{
				Law: LawRoom, Node: x.c.NodeName(n), Type: t, HasType: true, Have: have, Want: v,
			}) {
				return
			}
		}
	}
}

// headroom yields each queue of the path and type in which members pass its
// max.
func (x *audit) headroom(more resources.Vector, yield func(Violation) bool) {
	for q := range x.tree.Up(x.job.Queue) {
		most := x.tree.Max(q)
		for t := range most.Defined.All() {
			m, _ := most.Bound(t)
			if have := x.left(q, t); more[t] > 0 && over(have, more[t], m) &&
				!yield(ofQueue(LawHeadroom, q, t, capped(have, more[t]), m)) {
				return
			}
		}
	}
}

// quota yields each queue of the path and type in which members pass a quota.
func (x *audit) quota(more resources.Vector, yield func(Violation) bool) {
	for i := range x.sums {
		if !x.keepsFormulas(LawQuota, &x.sums[i], more, yield) {
			return
		}
	}
}

// predicate yields each placement that the caller's predicate refuses.
func (x *audit) predicate(yield func(Violation) bool) {
	for i := range x.plan.Placements {
		at := x.plan.Placements[i]
		if !x.accepts(i, x.victims) && !yield(Violation{
			Law: LawPredicate, Member: x.job.Members[at.Member].Key, Node: x.c.NodeName(at.Node),
		}) {
			return
		}
	}
}

// accepts asks the caller's predicate about a placement with some victims.
func (x *audit) accepts(i int, gone []victims.TaskID) bool {
	if x.a.Predicate == nil {
		return true
	}
	p, at := &x.placing, x.plan.Placements[i]
	p.Job, p.Member, p.Node, p.Moment = x.job, at.Member, at.Node, victims.Coming
	p.Before = append(p.Before[:0], x.plan.Placements[:i]...)
	p.Victims = append(p.Victims[:0], gone...)
	return x.a.Predicate(p)
}
