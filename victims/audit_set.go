package victims

// This file audits the victims as a set: whether there is room, and whether
// fewer would do.

// room yields each type of the ask for which the node, or a queue on its path,
// from the leaf upwards, has no room once the victims are gone.
func (x *audit) room(yield func(Violation) bool) {
	for i := range x.wants.All() {
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

// minimal yields each victim that can be given back, alone or with others of
// its job: without it there is room still, nobody blocks the ask, and the
// predicate accepts the others. No law about queues or budgets stands in the
// way, for less is taken of them.
func (x *audit) minimal(yield func(Violation) bool) {
	if !x.enough() {
		return
	}
	for _, id := range x.victims {
		if g := x.gangAt(id); g != nil && g.whole() || x.blocks(id) {
			continue
		}
		x.give(id)
		given := x.enough() && x.accepts(x.withoutGiven())
		x.take(id)
		if given && !yield(Violation{Law: LawMinimal, Task: id, Victim: x.c.tasks[id].key}) {
			return
		}
	}
	for i := range x.gangs {
		g := &x.gangs[i]
		if g.whole() && x.spares(g) && !yield(Violation{Law: LawMinimal, Job: x.c.jobs.name(g.job)}) {
			return
		}
	}
}

// gangAt returns the gang of a victim, or nil.
func (x *audit) gangAt(id TaskID) *auditGang {
	if job := x.c.tasks[id].job; job != 0 {
		return x.gangOf(job)
	}
	return nil
}
