package victims

// This file compares a plan with others that are near: with fewer victims, or with
// another one in the place of an opted-out victim (law 1). Members of a job that
// goes as a whole are no single victims, and are not exchanged.

// mostTries is how many members are given back on trial for one job. Jobs of up
// to a dozen members are looked at whole.
const mostTries = 1 << 12

// minimal yields each victim that can be given back, alone or with others of
// its job: without it there is room still, nobody blocks the ask, and the
// predicate accepts the others. No law about queues or budgets stands in the
// way, for less is taken of them.
func (x *audit) minimal(yield func(Violation) bool) {
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
		if x.mark(id) == markGiven {
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

// optedOut yields each victim that opted out, if another task, which did not,
// would do in its place: then another plan needs fewer of them.
func (x *audit) optedOut(yield func(Violation) bool) {
	if !x.a.Levels.keepsLaw1() {
		return // the caller has made less of it
	}
	// What counts as near is a plan of the same kind. One that keeps to other
	// leaves is compared with those.
	if x.second && x.ordinary() {
		// The decision comes to the own leaf only if there is no ordinary plan.
		x.second = false
		defer func() { x.second = true }()
	}
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
		if ok && !yield(Violation{Law: LawOptedOut, Task: id, Victim: r.key, Other: other}) {
			return
		}
	}
}

// ordinary reports whether a plan is lawful without the option of the own leaf.
func (x *audit) ordinary() bool {
	// Law 4 is what the option of the own leaf stands in for.
	if x.takes.own || !x.entitled() {
		return false
	}
	lawful := true
	fail := func(Violation) bool {
		lawful = false
		return false
	}
	x.second = false
	x.precondition(fail)
	for q := range x.tree.All() {
		if lawful {
			x.keeps(q, fail)
		}
	}
	x.second = true
	return lawful
}

// instead returns the first by key of the opted-in tasks that would do in the
// place of the victim that is given back.
func (x *audit) instead() (key string, ok bool) {
	// A candidate may bring a gang with it, which is forgotten again.
	gangs := len(x.gangs)
	for id := range x.c.Tasks() {
		r := &x.c.tasks[id]
		// The first by key is named. Who comes after one that was found need
		// not be tried.
		if r.state != Running || r.flags.has(flagOptedOut) || x.mark(id) != 0 || ok && r.key > key {
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
// counted. Law 2 is asked of the queues that lose by the exchange.
func (x *audit) wouldDo(id TaskID, r *taskRow) bool {
	switch own := x.second && r.leaf == x.ask.Queue; {
	case own && !x.takes.own:
		return false // there is a plan without the own leaf
	case !own && !x.required() && !x.takes.others && !x.entitled():
		return false
	}
	if !x.enough() || !x.affordable() || !x.unbroken() {
		return false
	}
	lawful := true
	fail := func(Violation) bool {
		lawful = false
		return false
	}
	// It must be a lawful victim by itself, too.
	x.judge(id, fail)
	for q := range x.tree.Up(r.leaf) {
		if lawful && !x.required() {
			x.keeps(q, fail)
		}
	}
	x.rest = append(x.withoutGiven(), id)
	return lawful && x.accepts(x.rest)
}
