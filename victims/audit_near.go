package victims

// A plan is compared with others that are near: with fewer victims, or with
// another one in the place of an opted-out victim (law 1). Members of a job that
// goes as a whole are no single victims, and are not exchanged.

// mostTries is how many members are given back on trial for one job. Jobs of up
// to a dozen members are looked at whole.
const mostTries = 1 << 12

// minimal is that no victim can be given back, alone or with others of its job: that
// without it there is room still, nobody blocks the ask, and the
// predicate accepts the others. No law about queues or budgets stands in the
// way, for less is taken of them.
func (x *audit) minimal() {
	// A plan without room says nothing of what it could spare; room has its own
	// law.
	if !x.enough() {
		return
	}
	for _, id := range x.victims {
		// One member of a whole job cannot come back alone, and who blocks has
		// to go whatever the amounts.
		if g := x.gangAt(id); g != nil && g.whole() || x.blocks(id) {
			continue
		}
		x.give(id)
		// The predicate last: it is the caller's, and may be slow.
		if x.enough() && x.accepts(x.withoutGiven()) {
			x.fault(Violation{Law: LawMinimal, Task: id, Victim: x.c.tasks[id].key})
		}
		x.take(id)
	}
	for i := range x.gangs {
		if g := &x.gangs[i]; g.whole() && x.spares(g) {
			x.fault(Violation{Law: LawMinimal, Job: x.c.jobs.name(g.job)})
		}
	}
}

// enough reports whether there is room on the node and in all queues.
func (x *audit) enough() bool { return x.holds((*audit).room) }

// spares reports whether less of a job that goes as a whole would do: no more
// members than may go one by one, each of which helps by itself.
func (x *audit) spares(g *auditGang) bool {
	x.spare = x.spare[:0] // those that may stay victims
	kept, keep := 0, g.surplus
	for _, id := range x.victims {
		r := &x.c.tasks[id]
		switch {
		// Another's: it stays as it is.
		case r.job != g.job:
		// It goes in any case, and is one of those that may.
		case x.blocks(id):
			kept++
		// It may stay a victim by itself, if the number allows.
		case x.helped(id) != 0 && (!x.required() || r.node == x.plan.Node):
			x.spare = append(x.spare, id)
		default:
			x.give(id)
		}
	}
	// All ways to choose are tried, one after another, for none is better than
	// another by its looks: amounts differ by type.
	x.tries = mostTries
	spared := kept <= keep && x.enough() && x.dropSome(x.spare, max(0, len(x.spare)-(keep-kept)))
	for _, id := range x.victims {
		if x.marks[id] == markGiven {
			x.take(id)
		}
	}
	return spared
}

// dropSome reports whether n of a list of victims can be given back at once. It
// leaves them as they were.
func (x *audit) dropSome(list []TaskID, n int) bool {
	// Room was asked for at every step.
	if n == 0 {
		return x.accepts(x.withoutGiven())
	}
	for i := 0; i <= len(list)-n && x.tries > 0; i++ {
		x.tries--
		x.give(list[i])
		given := x.enough() && x.dropSome(list[i+1:], n-1)
		x.take(list[i])
		if given {
			return true
		}
	}
	return false
}

// optedOut is that no other task, which did not opt out, would do in the place of a
// victim that did: then another plan needs fewer of them.
func (x *audit) optedOut() {
	if !x.a.Levels.keepsLaw1() {
		return // the caller has made less of it
	}
	// What counts as near is a plan of the same kind. One that keeps to other
	// leaves is compared with those: the decision comes to the own leaf only if
	// there is no ordinary plan.
	second := x.second
	x.second = second && !x.ordinary()
	for _, id := range x.victims {
		r := &x.c.tasks[id]
		g := x.gangAt(id)
		if !r.flags.has(flagOptedOut) || g != nil && g.whole() || x.blocks(id) {
			continue
		}
		// The exchange is tried in the books: one goes out, each of the others
		// comes in, and all laws are asked again.
		x.give(id)
		x.member(r, -1)
		other, ok := x.instead()
		x.member(r, +1)
		x.take(id)
		if ok {
			x.fault(Violation{Law: LawOptedOut, Task: id, Victim: r.key, Other: other})
		}
	}
	x.second = second
}

// ordinary reports whether a plan is lawful without the option of the own leaf,
// which stands in for law 4.
func (x *audit) ordinary() bool {
	x.second = false
	return !x.own && x.holds((*audit).entitled) && x.holds((*audit).precondition) && x.holds((*audit).guarantee)
}

// instead returns the first by key of the opted-in tasks that would do in the
// place of the victim that is given back.
func (x *audit) instead() (key string, ok bool) {
	// A candidate may bring a gang with it, which is forgotten again.
	gangs := len(x.gangs)
	for id := range x.c.Tasks() {
		r := &x.c.tasks[id]
		// Who comes after one that was found need not be tried.
		if r.state != Running || r.flags.has(flagOptedOut) || x.marks[id] != 0 || ok && r.key > key {
			continue
		}
		x.count(id, +1)
		x.member(r, +1)
		if x.wouldDo(id, r) {
			key, ok = r.key, true
		}
		x.member(r, -1)
		x.count(id, -1)
		x.gangs = x.gangs[:gangs]
	}
	return key, ok
}

// wouldDo reports whether the plan is lawful with one more task, which is
// counted.
func (x *audit) wouldDo(id TaskID, r *taskRow) bool {
	switch own := x.second && r.leaf == x.ask.Queue; {
	case own && !x.own:
		return false // there is a plan without the own leaf
	case !own && !x.required() && !x.others && !x.holds((*audit).entitled):
		return false
	case !x.enough() || !x.holds((*audit).budget) || !x.holds((*audit).gang):
		return false
	}
	lawful := x.holds(func(x *audit) {
		// It must be a lawful victim by itself, too.
		x.judge(id)
		// Law 2 is asked of the queues that lose by the exchange.
		for q := range x.tree.Up(r.leaf) {
			if !x.required() {
				x.keeps(q)
			}
		}
	})
	x.rest = append(x.withoutGiven(), id)
	return lawful && x.accepts(x.rest)
}
