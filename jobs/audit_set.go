package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/internal/finding"
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

// This file audits one victim at a time: whatever does not depend on the other
// victims.

// judgeAll audits the victims one by one and counts what they free.
func (x *audit) judgeAll() {
	for i := range x.plan.Victims {
		v := &x.plan.Victims[i]
		id, ok := x.c.Lookup(v.Key)
		// Row and key must agree: rows are used again, and a plan may be old.
		if !ok || id != v.Task {
			x.report(Violation{Law: LawKnown, Victim: v.Key, Task: v.Task})
			continue
		}
		for int(id) >= len(x.listed) {
			x.listed = append(x.listed, false)
		}
		// Counted twice, a victim would free twice what it has.
		if x.listed[id] {
			x.report(Violation{Law: LawOnce, Victim: v.Key, Task: id})
			continue
		}
		x.listed[id] = true
		t := x.c.TaskView(id)
		x.judge(id, &t, x.report)
		if t.State == victims.Running { // what is leaving anyway is no room made by the plan
			x.victims = append(x.victims, id)
			x.count(&t, +1)
		}
	}
}

// judge yields the laws that keep t, of row id, from being a victim.
func (x *audit) judge(id victims.TaskID, t *victims.Task, yield func(Violation) bool) {
	of := func(l Law) Violation { return Violation{Law: l, Victim: t.Key, Task: id} }
	fault := func(broken bool, l Law) bool { return !broken || yield(of(l)) }
	w := t.Queue
	ours := t.Job == x.job.Name || t.Application == x.job.Application && t.Application != ""
	own := w == x.job.Queue
	// In its own leaf it may take strictly lower tasks: by priority always, by guarantee
	// with the option. DESIGN.md, Jobs: laws.
	inReach := own && (x.byPriority() || x.a.OwnLeaf != victims.OwnNever) || !own && w != x.fence && x.tree.Contains(x.fence, w)
	inside := !x.byPriority() && !own && x.starving && x.tree.Contains(x.inside, w)
	ok := fault(t.State != victims.Running, LawLeaving) &&
		fault(t.RequiredNode, LawRequiredTask) &&
		fault(ours, LawApplication) &&
		fault(!inReach, LawFence) &&
		fault(x.tree.Disabled(w), LawDisabled) &&
		fault(inside, LawStorm) &&
		fault(t.NonPreemptible, LawNonPreemptible)
	if !ok {
		return
	}
	// Offsets and fences above the common ancestor would be the same for both.
	c := x.tree.CommonAncestor(w, x.job.Queue)
	have := finding.Climb{Tree: x.tree, Leaf: w, Below: c}.Lift(int64(t.Priority))
	most := finding.Climb{Tree: x.tree, Leaf: x.job.Queue, Below: c}.Lift(int64(x.job.Priority))
	if x.byPriority() || x.a.StrictPriority || own {
		most--
	}
	if have > most {
		v := of(LawPriority)
		v.Have, v.Want = have, most
		if !yield(v) {
			return
		}
	}
	fault(x.exempt(id), LawExempt)
}

// This file audits whether fewer victims would do.

// minimal yields each victim that can be given back, and each job that falls as
// a whole of which all can, or as many members as are its minimum: without
// them there is room still for the minimum of members, and the predicate
// accepts their places. Laws cannot stand in the way, for no law is broken by
// taking less.
func (x *audit) minimal(yield func(Violation) bool) {
	// Whether something can be spared makes no sense before there is enough.
	// That has its own laws.
	if !x.enough(x.nodes) {
		return
	}
	for i := range x.units {
		u := &x.units[i]
		// One by one, or as many of a whole job as it needs to run on.
		if !x.spare(u.tasks) && (u.job == "" || x.spareable(u) < u.minimum) {
			continue
		}
		v := Violation{Law: LawMinimal, Job: u.job}
		if u.job == "" {
			// A victim is named by itself, and a job as a whole by its name.
			v.Task, v.Victim = u.tasks[0], x.c.TaskView(u.tasks[0]).Key
		}
		if !yield(v) {
			return
		}
	}
}

// spare reports whether some victims can be given back together.
func (x *audit) spare(tasks []victims.TaskID) bool {
	x.homes = x.homes[:0]
	for _, id := range tasks {
		if n := x.c.NodeOf(id); x.isNode(n) {
			x.homes = append(x.homes, n) // there, and there alone, is less room
		}
	}
	x.giveBack(tasks, -1)
	spare := x.enough(x.homes) && x.acceptsWithout(tasks)
	x.giveBack(tasks, +1)
	return spare
}

// spareable returns how many members of a job that falls as a whole can be given
// back, one after another.
func (x *audit) spareable(u *auditUnit) int {
	x.rest = x.rest[:0]
	for i := range u.tasks {
		if x.spare(u.tasks[i : i+1]) {
			// It stays back while the others are tried: all of them must be
			// spared at once.
			x.rest = append(x.rest, u.tasks[i])
			x.giveBack(u.tasks[i:i+1], -1)
		}
	}
	n := len(x.rest)
	x.giveBack(x.rest, +1)
	x.rest = x.rest[:0]
	return n
}

// enough reports whether there is room for the minimum of members, on some nodes
// and in queues and quotas.
func (x *audit) enough(nodes []victims.NodeID) bool {
	enough := true
	fail := func(Violation) bool {
		enough = false
		return false
	}
	// The load is that of the minimum. Room for members beyond it is no reason
	// to stop anybody.
	x.room(x.load, nodes, fail)
	if enough {
		x.headroom(x.asked, fail)
	}
	if enough {
		x.quota(x.asked, fail)
	}
	return enough
}

// acceptsWithout asks the predicate about the minimum of members with all
// victims but some, and those that are given back already.
func (x *audit) acceptsWithout(tasks []victims.TaskID) bool {
	if x.a.Predicate == nil {
		return true
	}
	// A list of its own, for the predicate may compare it with that of another
	// call.
	var gone []victims.TaskID
	for _, id := range x.victims {
		if !slices.Contains(tasks, id) && !slices.Contains(x.rest, id) {
			gone = append(gone, id)
		}
	}
	for i := range x.plan.Placements {
		if !x.plan.Placements[i].Further && !x.accepts(i, gone) {
			return false
		}
	}
	return true
}
