// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// This file audits the victims as a set: what is left of queues and running
// jobs, whether there is room, and whether fewer victims would do.

// guarantee reports each queue and type that law 2 protects and the plan takes
// too much of: with the members of the minimum counted, less than the
// guarantee is left, and less than there was.
func (x *audit) guarantee() {
	for q := range x.tree.All() {
		guaranteed := x.tree.Guaranteed(q)
		for t := range guaranteed.Defined.All() {
			g, _ := guaranteed.Bound(t)
			before, have := x.usage(q, t), x.left(q, t)
			want := min(g, before)
			// Members of the minimum count, for they use what their queue is
			// promised. Those beyond it do not: nobody goes for them.
			if have < want && x.tree.Contains(q, x.job.Queue) {
				if x.within != victims.OwnNever && before < g && x.asked[t] > 0 {
					continue // under its guarantee it may end lower in what the job uses
				}
				have += min(x.asked[t], want-have) // no more than to be enough
			}
			if have < want {
				x.ofQueue(finding.LawGuarantee, q, t, have, want)
			}
		}
	}
}

// budget reports the hard budgets that lose more tasks than they have left. A
// soft budget is part of the cost, and no law.
func (x *audit) budget() {
	for name, b := range x.c.Budgets() {
		// A soft budget may be overrun, at a cost. DESIGN.md, Budgets.
		if !b.Hard {
			continue
		}
		drawn := int64(0)
		for _, id := range x.victims {
			// By name, through the exported view: the planner's rows of budgets
			// are under audit too.
			if slices.Contains(x.c.TaskView(id).Budgets, name) {
				drawn++
			}
		}
		// Below 0 counts as 0: others may have overdrawn it.
		if left := max(b.Left, 0); drawn > left {
			x.report(victims.Violation{Law: finding.LawBudget, Budget: name, Have: drawn, Want: left})
		}
	}
}

// gang reports the running jobs that are left with too few members, and are not
// stopped as a whole.
func (x *audit) gang() {
	for i := range x.gangs {
		g := &x.gangs[i]
		if left := g.running - len(g.stopped); left < g.minimum && left > 0 {
			x.report(victims.Violation{Law: finding.LawGang, Job: g.job, Have: int64(left), Want: int64(g.minimum)})
		}
	}
}

// room reports each of some nodes and each type in which members lack room, given
// what they ask for on each node.
func (x *audit) room(load []int64, nodes []victims.NodeID) {
	for _, n := range nodes {
		// Coming amounts: what is leaving may be waited for.
		x.free = x.c.ComingFree(x.free, n)
		for t, v := range x.row(load, int(n)) {
			if have := x.free[t] + x.freed[int(n)*x.types+t]; v > 0 && have < v {
				x.report(victims.Violation{Law: finding.LawRoom, Node: x.c.NodeName(n), Type: x.tree.Schema().Name(t), Have: have, Want: v})
			}
		}
	}
}

// headroom reports each queue of the path and type in which members pass its
// max.
func (x *audit) headroom(more resources.Vector) {
	for q := range x.tree.Up(x.job.Queue) {
		most := x.tree.Max(q)
		for t := range most.Defined.All() {
			m, _ := most.Bound(t)
			// Types that no member wants are no concern of the plan's, even if
			// they are over.
			if have := x.left(q, t); more[t] > 0 && over(have, more[t], m) {
				x.ofQueue(finding.LawHeadroom, q, t, capped(have, more[t]), m)
			}
		}
	}
}

// quota reports each queue of the path and type in which members pass a quota. What is
// asked for the trigger (finding.LawFormula) is asked before the plan, for it cannot earn its
// right to preempt by its victims; and of a non-preemptible job only the min.
func (x *audit) quota(l string, more resources.Vector) {
	for i := range x.sums {
		s := &x.sums[i]
		for t, v := range more {
			if v <= 0 {
				continue
			}
			gone := s.gone[t]
			if l == finding.LawFormula {
				gone = 0
			}
			least, _ := s.quota.Min.Bound(t)
			most, bounded := s.quota.Max.Bound(t)
			sum := s.used[t] - gone
			// What must not be preempted has to keep within what was promised.
			// DESIGN.md, Jobs: admission.
			if x.job.NonPreemptible {
				if over(s.fixed[t], v, least) {
					x.ofQueue(l, s.queue, t, capped(s.fixed[t], v), least)
				}
				bounded = bounded && l != finding.LawFormula
			} else {
				// Of what waits, as much as the min leaves room for is set aside
				// for those who must not be preempted.
				sum = capped(sum-s.fixed[t], min(least, capped(s.fixed[t], s.waiting[t])))
			}
			if bounded && over(sum, v, most) {
				x.ofQueue(l, s.queue, t, capped(sum, v), most)
			}
		}
	}
}

// predicate reports each placement that the caller's predicate refuses.
func (x *audit) predicate() {
	for i, at := range x.plan.Placements {
		if !x.accepts(i, x.victims) {
			x.ofMember(finding.LawPredicate, x.job.Members[at.Member].Key, at.Node)
		}
	}
}

// accepts asks the caller's predicate about a placement with some victims, and those
// before it, as it was promised.
func (x *audit) accepts(i int, gone []victims.TaskID) bool {
	if x.a.Predicate == nil {
		return true
	}
	p, at := &x.placing, x.plan.Placements[i]
	p.Job, p.Member, p.Node, p.Coming = x.job, at.Member, at.Node, true
	// Copies, for a predicate may look at them as long as it runs and must not
	// see later changes of ours.
	p.Before = append(p.Before[:0], x.plan.Placements[:i]...)
	p.Victims = append(p.Victims[:0], gone...)
	return x.a.Predicate(p)
}

// minimal reports each victim that can be given back, and each job that falls as
// a whole of which all can, or as many members as are its minimum: without
// them there is room still for the minimum of members, and the predicate
// accepts their places. Laws cannot stand in the way, for no law is broken by
// taking less.
func (x *audit) minimal() {
	// Whether something can be spared makes no sense before there is enough.
	// That has its own laws.
	if !x.enough(x.nodes) {
		return
	}
	for i := range x.units {
		u := &x.units[i]
		// One by one, or as many of a whole job as it needs to run on.
		if !x.spare(u.tasks) && (u.job == "" || !x.runsOn(u)) {
			continue
		}
		v := victims.Violation{Law: finding.LawMinimal, Job: u.job}
		if u.job == "" {
			// A victim is named by itself, and a job as a whole by its name.
			v.Task, v.Victim = u.tasks[0], x.c.TaskView(u.tasks[0]).Key
		}
		x.report(v)
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
	x.count(tasks, -1)
	spare := x.enough(x.homes) && x.acceptsWithout(tasks)
	x.count(tasks, +1)
	return spare
}

// mostTries is how many members of a job are given back on trial. Jobs of up to a dozen
// members are looked at whole.
const mostTries = 1 << 12

// runsOn reports whether as many members of a job that falls as a whole as it needs can be
// given back at once. All sets of them are tried, for none is better than another by its
// looks: to give back the largest may take the room of two others.
func (x *audit) runsOn(u *auditUnit) bool {
	x.tries = mostTries
	return x.spareSome(u.tasks, u.minimum)
}

// spareSome reports whether n of some victims can be given back at once, beside those that
// are. It leaves them as they were.
func (x *audit) spareSome(tasks []victims.TaskID, n int) bool {
	if n == 0 {
		return x.acceptsWithout(nil)
	}
	for i := 0; i <= len(tasks)-n && x.tries > 0; i++ {
		x.tries--
		x.count(tasks[i:i+1], -1)
		x.rest = append(x.rest, tasks[i])
		spared := x.enough(x.nodes) && x.spareSome(tasks[i+1:], n-1)
		x.rest = x.rest[:len(x.rest)-1]
		x.count(tasks[i:i+1], +1)
		if spared {
			return true
		}
	}
	return false
}

// enough reports whether there is room for the minimum of members, on some nodes
// and in queues and quotas. Room for members beyond it is no reason to stop anybody.
func (x *audit) enough(nodes []victims.NodeID) bool {
	told := x.out
	x.out = x.trial[:0] // nobody is told of a trial
	x.room(x.load, nodes)
	x.headroom(x.asked)
	x.quota(finding.LawQuota, x.asked)
	x.trial, x.out = x.out, told
	return len(x.trial) == 0
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
