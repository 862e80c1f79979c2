package jobs

import "github.com/go-preempt/preempt/victims"

// A spreader places members of one kind: how many go on each host is all that
// matters of them. It is exact if nothing but nodes decides.
//
// First comes the least highest rank, then the least highest priority. With
// those as a ceiling, the cheapest victims are worked out for each host and
// number of members, and then a dynamic programme over hosts finds how many go
// where.
type spreader struct {
	ways
	ceilings *ceilings
	partial  *partial
	finisher *finisher
}

// spread offers the plan that it finds, and reports whether that costs least in
// the levels. It is not so if bounds are in the way or queues need more victims
// than nodes do: then the plan is near the cheapest.
func (x *spreader) spread() (least bool) {
	if x.eager {
		return false // members are placed one by one more quickly
	}
	x.proven = true
	l := noCeiling()
	l.plain = true
	if !x.budgets.inPlay && x.ceilings.reaches(l) {
		// Nobody opted out, no budget overrun, and no originators: (a) to (b) are 0. Whole jobs
		// need not be looked at, for one more of them costs more than anything
		// below.
		// The lowest ceiling comes of counting members alone, which is quick: below
		// any lower one there is no room whatever bounds say. If the plan below it
		// keeps them, it is the cheapest.
		if x.spreadBelow(x.ceilings.lowest(l, x.ceilings.reaches)) {
			return x.proven
		}
	} else if x.spreadCostly() {
		return x.proven && x.wholes == 0 && x.overrunAdds()
	}
	// Bounds are in the way, and so the ceiling may have to be higher.
	for _, l.plain = range [...]bool{true, false} {
		if x.carries(l) {
			x.spreadBelow(x.ceilings.lowest(l, x.carries))
			break
		}
	}
	return false
}

// overrunAdds reports whether the plan overruns budgets by no more than its hosts
// do one by one. The programme adds these up, which is never too much; so if it
// is not too little either, no other plan overruns them by less.
func (x *spreader) overrunAdds() bool {
	return x.budgets.overrun(x.partial.used) == x.programme.result().sums.levels[victims.LevelOverrun]
}

// spreadCostly is spread if opted-out tasks or originators must go, or budgets
// may be overrun: that comes before rank and priority.
func (x *spreader) spreadCostly() bool {
	if !x.programmeBelow(noCeiling()) {
		return false
	}
	least := x.programme.result().sums
	return x.spreadBelow(x.ceilings.lowest(noCeiling(), func(l ceiling) bool {
		if !x.programmeBelow(l) {
			return false
		}
		r := &x.programme.result().sums
		return r.levels[victims.LevelOptedOut] == least.levels[victims.LevelOptedOut] &&
			r.levels[victims.LevelOverrun] == least.levels[victims.LevelOverrun] &&
			r.levels[victims.LevelOriginators] == least.levels[victims.LevelOriginators]
	}))
}

// carries reports whether a plan below a ceiling keeps all bounds and is enough
// for the queues.
func (x *spreader) carries(l ceiling) bool {
	if !x.programmeBelow(l) {
		return false
	}
	x.partial.begin()
	return x.carryOut() && x.partial.coverQueues(l)
}

// spreadBelow spreads the members out below a ceiling, and offers the plan if
// those who go keep all bounds. It reports whether they are enough for the
// queues without any more.
func (x *spreader) spreadBelow(l ceiling) bool {
	if !x.programmeBelow(l) {
		return false
	}
	x.partial.begin()
	if !x.carryOut() {
		return false
	}
	covered := x.partial.queuesCovered()
	if !covered && !x.partial.coverQueues(l) {
		return false
	}
	return x.finisher.finish() && covered
}

// programmeBelow works out the dynamic programme below a ceiling, and reports
// whether all members have a place.
func (x *spreader) programmeBelow(l ceiling) bool {
	_, room := x.ceilings.capacity(l)
	if !x.measure(l, room) || !x.list() {
		return false
	}
	x.programme.solve(len(x.todo))
	return x.programme.result().state == wayFound
}

// carryOut places the members as the programme says, those that come first on
// the hosts that come first, and reports whether those who go keep all bounds.
func (x *spreader) carryOut() bool {
	next := 0
	ok := true
	x.programme.eachChoice(func(c choiceOfWay) {
		for range c.members {
			x.partial.seat(x.sorted[next], c.host)
			next++
		}
		w := x.programme.wayOf(c.host, c.members)
		for _, u := range x.chosen[w.first:w.last] {
			ok = ok && x.partial.mayGo(u)
			x.partial.choose(u)
		}
	})
	return ok
}
