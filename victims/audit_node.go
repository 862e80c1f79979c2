package victims

import "slices"

// This file audits what a plan says of its node: whether the ask may run there
// at all, who blocks it, and what the caller's functions say.

// place yields why the ask may not run on the node. A granted ask was asked
// most of that when the grant was given.
func (x *audit) place(yield func(Violation) bool) {
	// Marks and reservations keep new work away. A required node takes the ask
	// all the same, and a grant is older than the mark may be.
	n := &x.c.nodes[x.plan.Node]
	fault := func(broken bool, l Law) bool { return !broken || yield(x.ofNode(l)) }
	at, held := x.held()
	required := x.required()
	anew := !held && !required
	if fault(anew && n.unschedulable, LawSchedulable) &&
		fault(anew && n.reservedFor != "" && n.reservedFor != x.ask.Key, LawReserved) &&
		fault(required && n.name != x.ask.RequiredNode, LawRequiredNode) &&
		fault(!held && x.a.Filter != nil && !x.a.Filter(x.ask, x.plan.Node), LawFilter) &&
		held && (at != x.plan.Node || len(x.plan.Victims) > 0) {
		yield(Violation{Law: LawInFlight, Node: x.c.nodes[at].name})
	}
}

// blocked yields the blockers that will still be there when the ask starts. A
// task that is leaving is waited for, but by an ask that holds a grant and
// would start now. A grant never leaves, if it is not taken off with the ask's.
func (x *audit) blocked(yield func(Violation) bool) {
	_, held := x.held()
	for _, id := range x.blockers {
		r := &x.c.tasks[id]
		stays := held
		switch r.state {
		case Granted:
			stays = !slices.Contains(x.grants, id)
		case Running:
			stays = held || !slices.Contains(x.victims, id)
		}
		if stays && !yield(Violation{Law: LawBlocker, Node: x.c.nodes[x.plan.Node].name, Other: r.key}) {
			return
		}
	}
}

// accepts asks the caller's predicate about the plan with these victims.
func (x *audit) accepts(victims []TaskID) bool {
	if x.a.Predicate == nil {
		return true
	}
	// The predicate sees what the planner's sees: the moment at which the ask
	// would start.
	x.placing = Placing{Ask: x.ask, Node: x.plan.Node, Victims: victims, Moment: Coming}
	if len(x.plan.Victims) == 0 && x.fitsNow() {
		x.placing.Moment = Present
	}
	return x.a.Predicate(&x.placing)
}

// fitsNow reports whether there is room for the ask without waiting for anybody.
func (x *audit) fitsNow() bool {
	if _, held := x.held(); held {
		return true // if not, other laws say so
	}
	for i := range x.wants.All() {
		// Present amounts: what is leaving has not left.
		if x.c.row(x.c.present, x.plan.Node)[i] < x.size[i] {
			return false
		}
	}
	for q := range x.tree.Up(x.ask.Queue) {
		most := x.tree.Max(q)
		for i := range (most.Defined & x.wants).All() {
			if m, _ := most.Bound(i); m-x.present(q, i) < x.size[i] {
				return false
			}
		}
	}
	return len(x.blockers) == 0
}
