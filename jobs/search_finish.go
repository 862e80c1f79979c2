package jobs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// A finisher makes minimal plans of partial ones, and offers them.
type finisher struct {
	*jobCase
	*effort
	*partial
	asker *asker
	best  *incumbent
	load  load

	tried  []int32 // units, while one of them is given back
	wholes []int32 // units
	used   []int32 // hosts
	short  []int64
	wanted resources.Vector
}

// finish makes a plan of the partial one, in which every member has a place and
// who went makes room for all of them: what is not needed goes back, the most
// valuable first, and the plan is offered. It reports whether the predicate
// accepts it.
//
// One pass is enough, for what is needed stays needed while others go back.
func (x *finisher) finish() bool {
	x.load.set(x.at)
	p := x.partial
	// The most valuable first: whoever is looked at first has the best chance
	// to come back.
	slices.SortFunc(p.chosen, func(a, b int32) int { return byCost(&x.units[b], &x.units[a]) })
	left := p.chosen[:0] // in the same memory: it never overtakes rest
	rest := p.chosen
	for n, u := range rest {
		p.move(u, -1)
		if x.roomWithout(u) && (!x.asker.asks() || x.acceptsWithout(left, rest[n+1:])) {
			continue
		}
		p.move(u, +1)
		left = append(left, u)
	}
	p.chosen = left
	// Giving back unit by unit, a whole gang stays if any of it is needed. But then
	// its surplus alone may be enough.
	x.spareWholes()
	if x.asker.asks() && !x.asker.acceptsAll(x.at, p.chosen) {
		return false
	}
	// The cost is worked out anew from what is left, and not followed through
	// all steps.
	total := x.best.totalOf(p.chosen, x.wantedFor())
	x.best.offer(x.at, p.chosen, &total)
	x.effort.found = true
	return true
}

// byCost puts the least valuable unit first. It is total: of units of the same
// key one is the whole gang of the other.
func byCost(u, v *unit) int {
	return cmp.Or(
		slices.Compare(u.Levels[:], v.Levels[:]),
		cmp.Compare(u.Work, v.Work),
		strings.Compare(u.Key, v.Key),
		wholesFirst(v, u),
	)
}

// roomWithout reports whether, with a unit back, there is still room where its
// tasks run, and in their queues.
func (x *finisher) roomWithout(u int32) bool {
	// Only hosts and queues that the unit helped can have become short.
	for _, i := range x.tasksOf(u) {
		c := &x.cands[i]
		if c.host >= 0 && x.overfull(c.host) {
			return false
		}
		for n := int(c.leaf.level); n < len(x.needs.queues); n++ {
			if resources.Positive(x.row(x.partial.short, n)) != 0 {
				return false
			}
		}
	}
	return true
}

// covered reports whether who went makes room for all members, who have places.
func (x *finisher) covered() bool {
	x.load.set(x.at)
	for _, h := range x.at {
		if x.overfull(h) {
			return false
		}
	}
	return x.queuesCovered()
}

// overfull reports whether members lack room on a host.
func (x *finisher) overfull(h int32) bool {
	free := x.row(x.free, int(h))
	for t, v := range x.load.of(h) {
		if v > 0 && free[t] < 0 {
			return true
		}
	}
	return false
}

// acceptsWithout asks the predicate about all members with the units in two
// lists, and not the one between them.
func (x *finisher) acceptsWithout(left, rest []int32) bool {
	x.tried = append(append(x.tried[:0], left...), rest...)
	return x.asker.acceptsAll(x.at, x.tried)
}

// wantedFor returns what members need beyond what is free, as it counts for the
// cost.
func (x *finisher) wantedFor() resources.Vector {
	x.wanted, x.short = rows.Zeros(x.wanted, x.types), rows.Zeros(x.short, x.types)
	for h := range x.hosts {
		if x.load.short(x.short, int32(h)) {
			x.wanted = resources.Add(x.wanted, x.wanted, x.short)
		}
	}
	return resources.Max(x.wanted, x.wanted, x.needs.most)
}

// polish looks for the cheapest units for the places of the finished plan, if
// there are few to choose from, and offers what it finds.
func (x *finisher) polish() {
	// Units; the search takes some milliseconds for as many. In the full clusters of
	// BenchmarkTowns half saves up to 36 % of the steps and stops one task more.
	// Twice takes up to 8 times as many and stops none less.
	const most = 64
	x.used = x.used[:0]
	units := 0
	for h := range x.hosts {
		if resources.Positive(x.load.of(int32(h))) != 0 {
			x.used = append(x.used, int32(h))
			units += len(x.unitsOn(int32(h)))
		}
	}
	// A search over more would cost more than it mostly gains: the plan is
	// minimal already.
	if units > most || x.needs.open() && len(x.units) > most {
		return
	}
	// The places are kept. Among all sets of units for these places this finds
	// the cheapest.
	x.cover.solve(&x.load, x.used, smallPace)
	if x.cover.found.Found {
		x.tried = x.cover.appendFound(x.tried[:0])
		x.best.offer(x.at, x.tried, &x.cover.found.Total)
	}
}

// redo finishes a plan once more: one that a search has found that was cut
// short, and which may take more of a gang than it must.
func (x *finisher) redo(at, units []int32) {
	x.partial.begin()
	x.seatAll(at)
	for _, u := range units {
		x.choose(u)
	}
	x.finish()
}
