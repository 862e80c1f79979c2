package jobs

import (
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// This file audits the victims as a set: what is left of queues and running
// jobs, and whether there is room.

// guarantee yields each queue and type that law 2 protects and the plan takes
// too much of: with the members of the minimum counted, less than the
// guarantee is left, and less than there was.
func (x *audit) guarantee(yield func(Violation) bool) {
	for q := range x.tree.All() {
		guaranteed := x.tree.Guaranteed(q)
		for t := range guaranteed.Defined.All() {
			g, _ := guaranteed.Bound(t)
			// Members of the minimum count, for they use what their queue is
			// promised. Those beyond it do not: nobody goes for them.
			have, want := x.promise(q, t, g)
			if have < want && !yield(ofQueue(LawGuarantee, q, t, have, want)) {
				return
			}
		}
	}
}

// gang yields the running jobs that are left with too few members, and are not
// stopped as a whole.
func (x *audit) gang(yield func(Violation) bool) {
	for i := range x.gangs {
		g := &x.gangs[i]
		// A grant that waits is no member that runs, but it keeps the job from
		// having gone as a whole.
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
		// Coming amounts: what is leaving may be waited for.
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
			// Types that no member wants are no concern of the plan's, even if
			// they are over.
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
		// Each placement with those before it, as the predicate was promised.
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
	// Copies, for a predicate may look at them as long as it runs and must not
	// see later changes of ours.
	p.Before = append(p.Before[:0], x.plan.Placements[:i]...)
	p.Victims = append(p.Victims[:0], gone...)
	return x.a.Predicate(p)
}

// keepsFormulas yields the types in which the sums pass a bound with rem more.
// What is asked for the trigger is asked before the plan, and of a
// non-preemptible job only the min.
func (x *audit) keepsFormulas(l Law, s *auditSums, rem resources.Vector, yield func(Violation) bool) bool {
	for t, v := range rem {
		if v <= 0 {
			continue
		}
		gone := s.gone[t]
		// What triggers is how things are. A plan cannot earn its right to
		// preempt by its victims.
		if l == LawFormula {
			gone = 0
		}
		least, _ := s.quota.Min.Bound(t)
		most, bounded := s.quota.Max.Bound(t)
		sum := s.used[t] - gone
		// What must not be preempted has to keep within what was promised.
		// DESIGN.md, Jobs: admission.
		if x.job.NonPreemptible {
			if over(s.fixed[t], v, least) && !yield(ofQueue(l, s.queue, t, capped(s.fixed[t], v), least)) {
				return false
			}
			bounded = bounded && l != LawFormula
		} else {
			// Of what waits, as much as the min leaves room for is set aside
			// for those who must not be preempted.
			sum = capped(sum-s.fixed[t], min(least, capped(s.fixed[t], s.waiting[t])))
		}
		if bounded && over(sum, v, most) && !yield(ofQueue(l, s.queue, t, capped(sum, v), most)) {
			return false
		}
	}
	return true
}
