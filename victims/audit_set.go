package victims

import "github.com/go-preempt/preempt/queue"

// This file audits the victims as a set: whether there is room, and what is left
// of queues, jobs and budgets.

// room yields each type of the ask for which the node, or a queue on its path,
// from the leaf upwards, has no room once the victims are gone.
func (x *audit) room(yield func(Violation) bool) {
	for i := range x.wants.All() {
		// Over sums, and never victim by victim: one may give cpu and another
		// memory.
		have := x.free[i] + x.freed[i]
		if have >= x.size[i] {
			continue
		}
		v := x.ofNode(LawRoom)
		v.Type, v.HasType, v.Have, v.Want = i, true, have, x.size[i]
		if !yield(v) {
			return
		}
	}
	for q := range x.tree.Up(x.ask.Queue) {
		most := x.tree.Max(q)
		for i := range (most.Defined & x.wants).All() {
			m, _ := most.Bound(i)
			// Amounts are what a queue would have for the ask, so that both
			// laws of room read alike.
			if have := m - x.left(q, i); have < x.size[i] && !yield(ofQueue(LawHeadroom, q, i, have, x.size[i])) {
				return
			}
		}
	}
}

// enough reports whether there is room on the node and in all queues.
func (x *audit) enough() bool {
	for range x.room {
		return false
	}
	return true
}

// guarantee yields each queue and type that law 2 protects and the plan takes
// too much of.
func (x *audit) guarantee(yield func(Violation) bool) {
	// For an ask that requires its node no guarantee protects. DESIGN.md,
	// Required nodes.
	if x.required() {
		return
	}
	for q := range x.tree.All() {
		if !x.keeps(q, yield) {
			return
		}
	}
}

// keeps yields the types in which q breaks law 2. It returns false if yield
// did.
func (x *audit) keeps(q queue.ID, yield func(Violation) bool) bool {
	guaranteed := x.tree.Guaranteed(q)
	for i := range guaranteed.Defined.All() {
		// A type without a guarantee is promised to nobody.
		g, _ := guaranteed.Bound(i)
		have, want := x.promise(q, i, g)
		if have < want && !yield(ofQueue(LawGuarantee, q, i, have, want)) {
			return false
		}
	}
	return true
}

// gang yields the jobs that are left with too few members.
func (x *audit) gang(yield func(Violation) bool) {
	for i := range x.gangs {
		g := &x.gangs[i]
		// A job that goes as a whole is not left with too few: it is not left
		// at all.
		if g.broken() && !yield(Violation{
			Law: LawGang, Job: x.c.jobs.name(g.job),
			Have: int64(g.running - g.taken), Want: int64(g.running - g.surplus),
		}) {
			return
		}
	}
}

// unbroken reports whether no job is left with too few members.
func (x *audit) unbroken() bool {
	for range x.gang {
		return false
	}
	return true
}

// budget yields the hard budgets that the victims overrun. A soft budget is
// part of the cost, and no law. See DESIGN.md, Budgets.
func (x *audit) budget(yield func(Violation) bool) {
	// A cluster without budgets is the common case.
	if len(x.drawn) == 0 {
		return
	}
	for name, b := range x.c.Budgets() {
		row, _ := x.c.findBudget(name)
		// What is below zero already counts as zero, so that a budget overdrawn
		// by others does not condemn a plan that takes nothing of it.
		left := max(0, b.Left)
		if drawn := x.drawn[row]; b.Hard && drawn > left &&
			!yield(Violation{Law: LawBudget, Budget: name, Have: drawn, Want: left}) {
			return
		}
	}
}

// affordable reports whether no hard budget is overrun.
func (x *audit) affordable() bool {
	for range x.budget {
		return false
	}
	return true
}
