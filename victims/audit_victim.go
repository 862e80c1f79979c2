package victims

import "github.com/go-preempt/preempt/queue"

// This file audits one victim at a time: whatever does not depend on the
// amounts of the other victims.

// judge yields the laws that keep a task from being a victim.
func (x *audit) judge(id TaskID, yield func(Violation) bool) {
	r := &x.c.tasks[id]
	of := func(l Law) Violation { return Violation{Law: l, Task: id, Victim: r.key} }
	fault := func(broken bool, v Violation) bool { return !broken || yield(v) }
	atQueue := func(l Law, q queue.ID) Violation {
		v := of(l)
		v.Queue, v.HasQueue = q, true
		return v
	}
	own := x.second && r.leaf == x.ask.Queue
	free := !x.required() && !own // if not, no queue protects the task
	brought := x.brought(r)       // by its job, so that it need not help itself

	// No application is nobody's: two tasks without one are strangers.
	app := x.c.apps.name(r.app)
	if !fault(app != "" && app == x.ask.Application, of(LawApplication)) {
		return
	}
	helped := x.helped(id)
	// Law 5. Blockers and members of a job that goes as a whole are bound by law
	// 2 alone.
	if q, i, poor := x.poor(r.leaf, helped); free && poor && !brought && !x.blocks(id) {
		g, _ := x.tree.Guaranteed(q).Bound(i)
		v := atQueue(LawSurplus, q)
		v.Type, v.HasType, v.Have, v.Want = i, true, x.usage(q, i), g
		if !yield(v) {
			return
		}
	}
	// With both numbers, for what law 6 compares can be seen nowhere else.
	if have, most := x.priorities(r, own); have > most {
		v := of(LawPriority)
		v.Have, v.Want = have, most
		if !yield(v) {
			return
		}
	}
	// The order is that of the laws, and what follows them.
	w := r.leaf
	inFence := w != x.ask.Queue && w != x.fence && x.tree.Contains(x.fence, w)
	_ = fault(free && !inFence, atQueue(LawFence, w)) &&
		fault(free && x.starving && x.tree.Contains(x.inside, w), atQueue(LawStorm, x.inside)) &&
		fault(r.state != Running, of(LawLeaving)) &&
		fault(r.flags.has(flagRequiredNode), of(LawRequiredTask)) &&
		fault(!x.required() && x.tree.Disabled(w), atQueue(LawDisabled, w)) &&
		fault(x.exempt(id), of(LawExempt)) &&
		fault(x.required() && r.node != x.plan.Node && !brought, of(LawNearby)) &&
		fault(helped == 0 && !brought && !x.blocks(id), of(LawHelpful))
}
