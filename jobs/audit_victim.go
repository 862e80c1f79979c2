package jobs

import (
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/victims"
)

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
