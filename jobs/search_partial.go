// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/units"
	"github.com/go-preempt/preempt/resources"
)

// A partial is a plan under construction, kept as differences from the case: who
// has gone, who has a place, and what that leaves. Engines that work step by
// step build on one, and can take steps back. Once every member has a place,
// [partial.finish] makes it minimal and offers it.
type partial struct {
	*search

	free   []int64       // of every host, with victims gone and members placed
	left   []units.Bound // what bounds leave
	values []int64       // of left
	short  []int64       // of every queue that is short
	gone   []bool        // by candidate
	used   []int64       // of every soft budget
	soft   []int64
	chosen []int32 // units that go
	at     []int32 // the host of each member of todo, or -1
	load   load    // of the members, once all have places

	// Scratch: units and amounts.
	picked, tried, wholes, sorting []int32
	lacking                        []int64
	wanted                         resources.Vector
}

// begin makes the plan that of nothing done.
func (x *partial) begin() {
	x.spend((len(x.area.hosts) + len(x.area.units)) / 16)
	x.free, x.short = x.free[:0], x.short[:0]
	for h := range x.hosts {
		x.free = append(x.free, x.hosts[h].free...)
	}
	for _, short := range x.needs.short {
		x.short = append(x.short, short...)
	}
	// By candidate and not by unit, since a task may be in two units.
	x.gone = rows.Zeros(x.gone, len(x.cands))
	x.chosen = x.chosen[:0]
	x.at = rows.Zeros(x.at, len(x.todo))
	for i := range x.at {
		x.at[i] = -1
	}
	x.used = rows.Zeros(x.used, len(x.budgets.soft))
	x.beginBounds()
}

// beginBounds copies the bounds.
func (x *partial) beginBounds() {
	size := 0
	for _, b := range x.rooms.Bounds {
		size += len(b.Room.Value)
	}
	// As long as it gets before anything points into it.
	x.values, x.left = slices.Grow(x.values[:0], size)[:0], x.left[:0]
	for _, b := range x.rooms.Bounds {
		from := len(x.values)
		x.values = append(x.values, b.Room.Value...)
		x.left = append(x.left, units.Bound{Room: resources.Limit{Value: x.values[from:len(x.values):len(x.values)], Defined: b.Room.Defined}})
	}
}

// budgetsLeft returns what soft budgets have left: what goes beyond that is
// overrun, whether it was overrun before or not. It is good until the next call.
func (x *partial) budgetsLeft() []int64 {
	x.soft = x.soft[:0]
	x.spend(len(x.budgets.soft) / 8)
	for i, b := range x.budgets.soft {
		x.soft = append(x.soft, max(b-x.used[i], 0))
	}
	return x.soft
}

// move lets a unit go, or takes that back if sign is -1.
func (x *partial) move(u int32, sign int64) {
	for _, i := range x.tasksOf(u) {
		c := &x.cands[i]
		x.gone[i] = sign > 0
		if c.host >= 0 {
			addTo(x.row(x.free, int(c.host)), c.size, sign)
		}
		x.needs.cut(x.short, c, -sign)
	}
	unit := &x.units[u]
	// Hard budgets are bounds like any other. Only soft ones may be passed, at
	// a cost.
	for _, use := range unit.Uses {
		x.used[use.Budget] += sign * use.Count
	}
	for part := range unit.All {
		for _, b := range part.Bounds {
			addTo(x.left[b].Room.Value, part.Size, -sign)
		}
	}
}

// choose lets a unit go for good.
func (x *partial) choose(u int32) {
	x.move(u, +1)
	x.chosen = append(x.chosen, u)
}

// chooseFound lets the units go that a search has found, if it has and they may.
func (x *partial) chooseFound() bool {
	// Into a scratch list, since the bounds decide about all of them together.
	x.picked = x.cover.appendFound(x.picked[:0])
	if !x.cover.found.Found || !x.mayGoTogether(x.picked) {
		return false
	}
	for _, u := range x.picked {
		x.choose(u)
	}
	return true
}

// moveWork is what it takes in steps to let a unit go, or to give it back.
const moveWork = 16

// chooseAll lets everybody go who may, in an order.
func (x *partial) chooseAll(order []int32) {
	for _, u := range order {
		x.spend(moveWork)
		if x.mayGo(u) {
			x.choose(u)
		}
	}
}

// takeBack takes back all units but for the first ones that went.
func (x *partial) takeBack(before int) {
	for len(x.chosen) > before {
		// The last one first, as it was done.
		last := len(x.chosen) - 1
		x.move(x.chosen[last], -1)
		x.chosen = x.chosen[:last]
	}
}

// mayGo reports whether no task of a unit has gone yet and no bound forbids that
// it goes too.
func (x *partial) mayGo(u int32) bool {
	// A task may be in two units: by itself, and with all of its job.
	for _, i := range x.tasksOf(u) {
		if x.gone[i] {
			return false
		}
	}
	x.move(u, +1)
	kept := true
	for part := range x.units[u].All {
		kept = kept && keepsAll(x.left, part.Bounds)
	}
	x.move(u, -1)
	return kept
}

// mayGoTogether reports whether units may go beside those that have gone.
func (x *partial) mayGoTogether(units []int32) bool {
	// One after another, for each of them alone may be lawful and both not.
	n := 0
	for n < len(units) && x.mayGo(units[n]) {
		x.move(units[n], +1)
		n++
	}
	for i := range n {
		x.move(units[i], -1)
	}
	return n == len(units)
}

// seat places a member on a host, and unseat takes it away again.
func (x *partial) seat(m, h int32) {
	x.at[m] = h
	addTo(x.row(x.free, int(h)), x.kindAt(m).size, -1)
}

func (x *partial) unseat(m int32) {
	addTo(x.row(x.free, int(x.at[m])), x.kindAt(m).size, +1)
	x.at[m] = -1
}

// seatAll places every member of todo.
func (x *partial) seatAll(at []int32) {
	for m, h := range at {
		x.seat(int32(m), h)
	}
}

// queuesCovered reports whether no queue is short any more.
func (x *partial) queuesCovered() bool { return resources.Positive(x.short) == 0 }

// coverQueues lets the cheapest units below a ceiling go that queues need still,
// wherever they run, and reports whether there are enough.
func (x *partial) coverQueues(l ceiling) bool {
	if x.queuesCovered() {
		return true
	}
	x.needQueues()
	for _, u := range x.area.units {
		x.spend(1)
		if unit := &x.units[u]; l.admits(&unit.Levels) && x.cover.helps(unit) && x.mayGo(u) {
			x.cover.offerWithin(u)
		}
	}
	x.cover.run(smallPace)
	return x.chooseFound()
}

// needQueues begins the problem of what queues need still.
func (x *partial) needQueues() {
	x.cover.begin(x.left, x.budgetsLeft())
	for n := range x.needs.queues {
		x.cover.needQueue(x.row(x.short, n))
	}
}

// finish makes a plan of the partial one, in which every member has a place and
// who went makes room for all of them: what is not needed goes back, the most
// valuable first, and the plan is offered. It reports whether the predicate
// accepts it.
//
// One pass is enough, for what is needed stays needed while others go back.
func (x *partial) finish() bool {
	x.load.set(x.at)
	if x.onNodes {
		if x.chosen = slices.DeleteFunc(x.chosen, x.faraway); !x.covered() {
			return false
		}
	}
	if x.asker.asks() && x.rules.stage != byPriority {
		x.chosen = slices.DeleteFunc(x.chosen, x.needless)
	}
	// The most valuable first: whoever is looked at first has the best chance
	// to come back.
	slices.SortFunc(x.chosen, func(a, b int32) int { return byCost(&x.units[b], &x.units[a]) })
	left := x.chosen[:0] // in the same memory: it never overtakes rest
	rest := x.chosen
	for n, u := range rest {
		x.spend(moveWork)
		x.move(u, -1)
		if x.roomWithout(u) && x.acceptsWithout(left, rest[n+1:]) {
			continue
		}
		x.move(u, +1)
		left = append(left, u)
	}
	x.chosen = left
	// Giving back unit by unit, a whole gang stays if any of it is needed. But then
	// its surplus alone may be enough.
	x.spareWholes()
	if !x.accepted() {
		return false
	}
	// The cost is worked out anew from what is left, and not followed through
	// all steps.
	total := x.best.totalOf(x.chosen, x.wantedFor())
	x.best.offer(x.at, x.chosen, &total)
	x.effort.found = true
	return true
}

// needless gives a unit back that reduces no need, whatever the predicate says: by guarantee
// nobody goes for that alone, as for asks.
func (x *partial) needless(u int32) bool {
	for _, i := range x.tasksOf(u) {
		if node, headroom, quota := x.load.serves(&x.cands[i]); node || headroom || quota || x.blocking(x.todo, x.at, x.cands[i].id) {
			return false
		}
	}
	x.move(u, -1)
	return true
}

// faraway gives a unit back that runs on no node of the plan.
func (x *partial) faraway(u int32) bool {
	if x.isNear(x.at, u) {
		return false
	}
	x.move(u, -1)
	return true
}

// accepted reports whether a predicate in the loop accepts the plan.
func (x *partial) accepted() bool { return !x.asker.asks() || x.asker.acceptsAll(x.at, x.chosen) }

// acceptsWithout is accepted for the units in two lists, and not the one between
// them.
func (x *partial) acceptsWithout(left, rest []int32) bool {
	if !x.asker.asks() {
		return true
	}
	x.tried = append(append(x.tried[:0], left...), rest...)
	return x.asker.acceptsAll(x.at, x.tried)
}

// byCost puts the least valuable unit first. It is total: of units of the same
// key one is the whole gang of the other.
func byCost(u, v *unit) int {
	return cmp.Or(
		slices.Compare(u.Levels[:], v.Levels[:]),
		u.Work.Compare(v.Work),
		strings.Compare(u.Key, v.Key),
		wholesFirst(v, u),
	)
}

func wholesFirst(u, v *unit) int {
	switch {
	case u.whole == v.whole:
		return 0
	case u.whole:
		return -1
	}
	return +1
}

// roomWithout reports whether, with a unit back, there is still room where its
// tasks run, and in their queues.
func (x *partial) roomWithout(u int32) bool {
	// Only hosts and queues that the unit helped can have become short.
	for _, i := range x.tasksOf(u) {
		c := &x.cands[i]
		if c.host >= 0 && x.overfull(c.host) {
			return false
		}
		for n := int(c.leaf.Level); n < len(x.needs.queues); n++ {
			if resources.Positive(x.row(x.short, n)) != 0 {
				return false
			}
		}
	}
	return true
}

// covered reports whether who went makes room for all members, who have places.
func (x *partial) covered() bool {
	x.load.set(x.at)
	return !slices.ContainsFunc(x.at, x.overfull) && x.queuesCovered()
}

// overfull reports whether members lack room on a host.
func (x *partial) overfull(h int32) bool {
	free := x.row(x.free, int(h))
	for t, v := range x.load.of(h) {
		if v > 0 && free[t] < 0 {
			return true
		}
	}
	return false
}

// wantedFor returns what members need beyond what is free, as it counts for the
// cost.
func (x *partial) wantedFor() resources.Vector {
	x.wanted, x.lacking = rows.Zeros(x.wanted, x.types), rows.Zeros(x.lacking, x.types)
	for _, h := range x.area.hosts {
		if x.load.short(x.lacking, h) {
			x.wanted = resources.Add(x.wanted, x.wanted, x.lacking)
		}
	}
	return resources.Max(x.wanted, x.wanted, x.needs.most)
}

// spareWholes takes of each gang that goes as a whole only what is surplus, if
// that is enough.
func (x *partial) spareWholes() {
	x.wholes = x.wholes[:0]
	for _, u := range x.chosen {
		// A gang without a surplus has nothing that could go instead of it.
		if unit := &x.units[u]; unit.whole && x.gangs[unit.gang].surplus > 0 {
			x.wholes = append(x.wholes, u)
		}
	}
	for _, whole := range x.wholes {
		x.spend((len(x.area.hosts) + len(x.area.units)) / 4)
		x.spareWhole(whole)
	}
}

// spareWhole is spareWholes for one gang.
func (x *partial) spareWhole(whole int32) {
	// Without the whole gang the plan lacks something; its members one by one are
	// offered for that and nobody else, so the bound of its surplus decides.
	x.move(whole, -1)
	// Its members are out as units of their own while it is in, for nobody goes
	// twice.
	x.chosen = slices.DeleteFunc(x.chosen, func(u int32) bool { return u == whole })
	before := len(x.chosen)
	x.needQueues()
	x.lacking = rows.Zeros(x.lacking, len(x.hosts)*x.types)
	for _, h := range x.area.hosts {
		// Other hosts have room for whom they are to take.
		if !x.overfull(h) {
			continue
		}
		free, short := x.row(x.free, int(h)), x.row(x.lacking, int(h))
		for t, v := range x.load.of(h) {
			if v > 0 {
				short[t] = max(-free[t], 0)
			}
		}
		x.cover.needHost(h, short)
	}
	for _, u := range x.area.units {
		if unit := &x.units[u]; unit.gang == x.units[whole].gang && !unit.whole && x.mayGo(u) {
			x.cover.offer(u)
		}
	}
	x.cover.run(smallPace)
	// The predicate may want more than room, and it has the last word.
	if x.chooseFound() && x.accepted() {
		return
	}
	// Nothing was gained. The plan is left as it was.
	x.takeBack(before)
	x.choose(whole)
}

// tryOut finishes a plan that was made elsewhere, and reports whether it is one.
func (x *partial) tryOut(at, units []int32) bool {
	x.begin()
	x.seatAll(at)
	for _, u := range units {
		if !x.mayGo(u) {
			return false
		}
		x.choose(u)
	}
	return x.covered() && x.finish()
}

// unitsBy returns all units in an order. It is good until the next call.
func (x *partial) unitsBy(order func(u, v *unit) int) []int32 {
	x.sorting = append(x.sorting[:0], x.area.units...)
	x.spend(len(x.sorting) * moveWork)
	slices.SortFunc(x.sorting, func(a, b int32) int { return order(&x.units[a], &x.units[b]) })
	return x.sorting
}
