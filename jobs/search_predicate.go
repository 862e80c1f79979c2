package jobs

import "github.com/go-preempt/preempt/victims"

// An asker asks the caller's predicate. Without one it accepts everything.
//
// A search first does without it and asks about its best plan only. What the
// predicate refuses then puts it into the loop, so that it is asked as rarely
// as can be.
type asker struct {
	*jobCase
	predicate func(p *Placing) bool
	picky     bool // the predicate is in the loop
	refusals  int  // how often it has refused
	moment    victims.Moment
	placing   Placing
}

// asks reports whether the predicate is in the loop. It is while members are
// placed without victims, and after it has refused the best plan.
func (a *asker) asks() bool { return a.predicate != nil && a.picky }

// accepts asks about the last of the members that are placed, with the tasks of
// some units gone.
func (a *asker) accepts(at []int32, units []int32) bool {
	if a.predicate == nil {
		return true
	}
	p := &a.placing
	p.Victims = p.Victims[:0]
	for _, u := range units {
		for _, i := range a.tasksOf(u) {
			p.Victims = append(p.Victims, a.cands[i].id)
		}
	}
	return a.acceptsLast(at)
}

// acceptsAll asks about every member in turn.
func (a *asker) acceptsAll(at []int32, units []int32) bool {
	for i := range at {
		if !a.accepts(at[:i+1], units) {
			return false
		}
	}
	return true
}

// conceives asks about the last of the members that are placed, with everybody
// gone that could go: what the predicate refuses then, it refuses always.
func (a *asker) conceives(at []int32) bool {
	p := &a.placing
	p.Victims = p.Victims[:0]
	for i := range a.cands {
		if a.usable[i] {
			p.Victims = append(p.Victims, a.cands[i].id)
		}
	}
	return a.acceptsLast(at)
}

// acceptsLast asks about the last member, with the victims as they are stated.
func (a *asker) acceptsLast(at []int32) bool {
	p := &a.placing
	p.Before = a.placements(p.Before[:0], at)
	// The last is asked about, and those before it are told.
	last := len(at) - 1
	p.Job, p.Member, p.Node, p.Moment = a.job, a.todo[last], p.Before[last].Node, a.moment
	p.Before = p.Before[:last]
	if a.predicate(p) {
		return true
	}
	a.refusals++
	return false
}
