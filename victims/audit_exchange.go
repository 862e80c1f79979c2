package victims

// This file audits law 1 as far as plans are near: no opted-out victim if
// another task would do in its place. Members of a job that goes as a whole are
// no single victims, and are not exchanged.

// optedOut yields each victim that opted out, if another task, which did not,
// would do in its place: then another plan needs fewer of them.
func (x *audit) optedOut(yield func(Violation) bool) {
	if !x.a.Levels.keepsLaw1() {
		return // the caller has made less of it
	}
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

// member counts a victim of a gang, or takes it back.
func (x *audit) member(r *taskRow, n int) {
	if r.job == 0 || x.a.Minimum == nil {
		return
	}
	g := x.gangOf(r.job)
	if g == nil {
		x.gangs = append(x.gangs, x.newGang(r.job))
		g = &x.gangs[len(x.gangs)-1]
	}
	g.taken += n
}

// instead returns the first by key of the opted-in tasks that would do in the
// place of the victim that is given back.
func (x *audit) instead() (key string, ok bool) {
	gangs := len(x.gangs)
	for id := range x.c.Tasks() {
		r := &x.c.tasks[id]
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
	x.judge(id, fail)
	for q := range x.tree.Up(r.leaf) {
		if lawful && !x.required() {
			x.keeps(q, fail)
		}
	}
	x.rest = append(x.withoutGiven(), id)
	return lawful && x.accepts(x.rest)
}
