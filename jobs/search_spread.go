// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
)

// A spreader places members of one kind, or few of several kinds: how many of each
// kind go on each host is all that matters of them. It is exact if nothing but nodes
// decides.
//
// First comes the least highest rank, then the least highest priority. With those as
// a ceiling, the cheapest victims are worked out for each host and each choice of
// members, and then a dynamic programme over hosts finds which of them go where.
type spreader struct {
	*search
	ceiling ceiling
	// A state is how many members of each kind have places, as one number: a member
	// of kind k adds strides[k]. counts has the members of each state by kind.
	states  int
	strides []int
	counts  []int32
	want    resources.Vector // of the members of the state at hand

	ways   []way   // by host, and of one host the largest state first
	chosen []int32 // the units of the ways, one list after another
	room   []int64 // of every host, below the ceiling
	lows   []hostCost
	best   []way   // for the state at hand, the cheapest first
	table  []cell  // a row per host with ways, and one for the end
	runs   []int32 // where the ways of each of these hosts begin
	seated []int32 // by kind, members that have places
	taken  []int   // states that a host takes
	proven bool    // every search was complete
}

// A way is the cheapest way for a host to take the members of a state.
type way struct {
	host        int32
	state       int32
	sums        sums
	first, last int32 // who goes is spreader.chosen[first:last]
}

// A cell is the least cost of some members on some hosts, if there is room.
type cell struct {
	found bool
	sums  sums
}

// A table that is larger than mostCells takes some tens of megabytes. For members of
// several kinds states times hosts are bounded by mostStates, for each asks for a
// search of its own; and pairs of states, times hosts, by mostPairs.
const mostCells, mostStates, mostPairs = 1 << 19, 1 << 14, 1 << 22

// begin lists the states, and reports whether there are few enough of them.
func (x *spreader) begin() bool {
	x.states, x.strides = 1, rows.Zeros(x.strides, len(x.kinds))
	for i := range slices.Backward(x.kinds) { // so that states with more large members are larger
		x.strides[i] = x.states
		x.states *= int(x.kinds[i].end-x.kinds[i].first) + 1
		if len(x.kinds) > 1 && (x.states*len(x.area.hosts) > mostStates || x.states*x.states*len(x.area.hosts) > mostPairs) {
			return false
		}
	}
	x.counts = x.counts[:0]
	for s := range x.states {
		for i, stride := range x.strides {
			k := &x.kinds[i]
			x.counts = append(x.counts, int32(s/stride)%(k.end-k.first+1))
		}
	}
	return true
}

// countsOf returns the members of a state by kind.
func (x *spreader) countsOf(state int) []int32 {
	return x.counts[state*len(x.kinds) : (state+1)*len(x.kinds)]
}

// holds reports whether a state has all members of another one.
func (x *spreader) holds(state, other int) bool {
	if state < other {
		return false
	}
	part := x.countsOf(other)
	for k, n := range x.countsOf(state) {
		if n < part[k] {
			return false
		}
	}
	return true
}

// wantOf sets x.want to what the members of a state want, and returns how many they
// are.
func (x *spreader) wantOf(state int) (members int) {
	x.want = rows.Zeros(x.want, x.types)
	for k, n := range x.countsOf(state) {
		for _, t := range x.kinds[k].types {
			x.want[t] += int64(n) * x.kinds[k].size[t]
		}
		members += int(n)
	}
	return members
}

// takesState reports whether a host takes members of all kinds of a state, which
// want x.want, with some room.
func (x *spreader) takesState(h int32, state int, room []int64) bool {
	for t, v := range x.want {
		if v > 0 && v > room[t] {
			return false
		}
	}
	for k, n := range x.countsOf(state) {
		if n > 0 && !x.takes(h, &x.kinds[k]) {
			return false
		}
	}
	return true
}

// reaches reports whether hosts take all members with everybody gone whom a ceiling
// admits. No bounds are asked.
func (x *spreader) reaches(l ceiling) bool {
	if len(x.kinds) == 1 {
		return x.bounds.reaches(x.area.hosts, &x.kinds[0], l)
	}
	x.table = rows.Zeros(x.table, x.states) // of which states hosts so far take together
	x.table[0].found = true
	for _, h := range x.area.hosts {
		room := x.bounds.roomOn(h, l)
		x.taken = x.taken[:0]
		for s := 1; s < x.states; s++ {
			if x.wantOf(s); x.takesState(h, s, room) {
				x.taken = append(x.taken, s)
			}
		}
		x.spend(x.states + x.states*len(x.taken)/64)
		for s := x.states - 1; s > 0; s-- { // downwards, so that what is read is without this host
			for _, part := range x.taken {
				if x.holds(s, part) && x.table[s-part].found {
					x.table[s].found = true
					break
				}
			}
		}
	}
	return x.table[x.states-1].found
}

// list lists the ways that a cheapest plan below a ceiling may be made of. It reports
// false if there are too many.
//
// If n members are on one host, at most as many hosts are in use as leave it n.
// For 5 members and n = 2 these are 4: one host has the 2, and 3 have one each.
// So of the hosts that could take some 2 the 4 cheapest are enough: if a plan has
// these on another one, at least one of the 4 is not in use, takes them
// instead, and costs no more.
func (x *spreader) list(l ceiling) bool {
	x.ceiling, x.ways, x.chosen, x.room = l, x.ways[:0], x.chosen[:0], rows.Zeros(x.room, len(x.hosts)*x.types)
	for _, h := range x.area.hosts {
		copy(x.row(x.room, int(h)), x.bounds.roomOn(h, l))
	}
	for s := 1; s < x.states; s++ {
		if x.exhausted() || min(len(x.ways), len(x.area.hosts))*x.states > mostCells {
			return false
		}
		n := x.wantOf(s)
		if !x.listState(s, n, len(x.todo)-n+1) && len(x.kinds) == 1 {
			break // no host takes n members, and so none takes more
		}
	}
	slices.SortFunc(x.ways, func(a, b way) int { return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(b.state, a.state)) })
	return true
}

// listState lists the cheapest ways to host a state of so many members, and reports
// whether any host can take them. Hosts that may be cheap are worked out first, and
// no more of them than matter.
func (x *spreader) listState(state, members, wanted int) bool {
	x.best = x.best[:0]
	x.lows = x.cheapestFirst(x.lows[:0], x.want, func(h int32) bool { return x.takesState(h, state, x.row(x.room, int(h))) })
	x.spend(len(x.area.hosts))
	for i := range x.lows {
		o := &x.lows[i]
		if len(x.best) == wanted && o.low.compareLevels(&x.best[wanted-1].sums) >= 0 {
			break // neither it nor any host after it is cheaper than the last of the best
		}
		w, ok := x.workOut(o.host, members)
		if !ok {
			continue
		}
		w.state = int32(state)
		at, _ := slices.BinarySearchFunc(x.best, w, func(a, b way) int {
			return cmp.Or(a.sums.compare(&b.sums), cmp.Compare(a.host, b.host))
		})
		if at < wanted {
			x.best = slices.Insert(x.best[:min(len(x.best), wanted-1)], at, w)
		}
	}
	x.ways = append(x.ways, x.best...)
	return len(x.lows) > 0
}

// workOut finds the cheapest way of a host to take members who want x.want. No whole
// gang may go: it would take what is on other hosts.
func (x *spreader) workOut(h int32, members int) (w way, ok bool) {
	x.lacks(x.want, x.hosts[h].free)
	c := &x.cover
	ok = c.onHost(h, x.lack, x.rooms.Bounds, x.budgets.soft, func(u int32) bool {
		return !x.units[u].whole && x.ceiling.admits(&x.units[u].Levels)
	})
	x.proven = x.proven && c.found.Proven
	if !ok {
		return w, false
	}
	w = way{host: h, sums: c.sums(h, int64(members)), first: int32(len(x.chosen))}
	x.chosen = c.appendFound(x.chosen)
	w.last = int32(len(x.chosen))
	return w, true
}

// solve works the table out, from the last host to the first: row i has what states
// cost on the hosts from the i-th one with ways on. The cost is states times ways.
func (x *spreader) solve() {
	x.runs = x.runs[:0]
	for i := range x.ways {
		if i == 0 || x.ways[i-1].host != x.ways[i].host {
			x.runs = append(x.runs, int32(i))
		}
	}
	x.pay(len(x.ways) * x.states / 2)
	x.table = rows.Zeros(x.table, (len(x.runs)+1)*x.states)
	x.table[len(x.runs)*x.states].found = true // no members on no hosts
	// From the end, so that eachChoice can walk from the first host on: of equal
	// plans the one comes first that has more members on earlier hosts.
	for i := len(x.runs) - 1; i >= 0; i-- {
		here, next := x.table[i*x.states:(i+1)*x.states], x.table[(i+1)*x.states:(i+2)*x.states]
		copy(here, next)
		for n := range x.waysOf(i) {
			w := &x.waysOf(i)[n]
			part := int(w.state)
			for s := part; s < x.states; s++ {
				rest := &next[s-part]
				if !rest.found || len(x.kinds) > 1 && !x.holds(s, part) {
					continue
				}
				if !here[s].found || w.sums.comparePlus(&x.order, &rest.sums, &here[s].sums) < 0 {
					here[s] = cell{true, w.sums.plus(&x.order, &rest.sums)}
				}
			}
		}
	}
}

// waysOf returns the ways of the i-th host that has some.
func (x *spreader) waysOf(i int) []way {
	end := len(x.ways)
	if i+1 < len(x.runs) {
		end = int(x.runs[i+1])
	}
	return x.ways[x.runs[i]:end]
}

// result returns what all members cost.
func (x *spreader) result() *cell { return &x.table[x.states-1] }

// eachChoice calls f with the ways of the cheapest plan, in node order. Of
// equals it puts the most members on the first host, so that their nodes come
// first in node order.
func (x *spreader) eachChoice(f func(w *way)) {
	left := x.states - 1
	for i := range x.runs {
		here := &x.table[i*x.states+left]
		for n := range x.waysOf(i) {
			w := &x.waysOf(i)[n]
			if !x.holds(left, int(w.state)) {
				continue
			}
			rest := &x.table[(i+1)*x.states+left-int(w.state)]
			// The choice is found again by its sums, which are exact; so the table
			// needs no memory for it.
			if rest.found && w.sums.comparePlus(&x.order, &rest.sums, &here.sums) == 0 {
				f(w)
				left -= int(w.state)
				break
			}
		}
	}
}

// spread offers the plan that it finds, and reports whether that costs least in
// the levels. It is not so if bounds are in the way or queues need more victims
// than nodes do: then the plan is near the cheapest.
func (x *spreader) spread() (least bool) {
	if x.eager || !x.begin() {
		return false // members are placed one by one more quickly
	}
	x.proven = true
	l := noCeiling()
	l.plain = true
	if !x.budgets.inPlay && x.reaches(l) {
		// Nobody opted out, no budget overrun, and no originators: (a) to (b) are 0. Whole jobs
		// need not be looked at, for one more of them costs more than anything
		// below.
		// The lowest ceiling comes of counting members alone, which is quick: below
		// any lower one there is no room whatever bounds say. If the plan below it
		// keeps them, it is the cheapest.
		if x.spreadBelow(x.bounds.lowest(l, x.reaches)) {
			return x.proven && !x.bounds.cut
		}
	} else if (x.wholes == 0 || len(x.kinds) == 1) && x.spreadCostly() {
		return x.proven && !x.bounds.cut && x.wholes == 0 && x.overrunAdds()
	}
	return false
}

// overrunAdds reports whether the plan overruns budgets by no more than its hosts
// do one by one. The programme adds these up, which is never too much; so if it
// is not too little either, no other plan overruns them by less.
func (x *spreader) overrunAdds() bool {
	return x.budgets.overrun(x.partial.used) == x.result().sums.levels[rulebook.LevelOverrun]
}

// spreadCostly is spread if opted-out tasks or originators must go, or budgets
// may be overrun: that comes before rank and priority.
func (x *spreader) spreadCostly() bool {
	if !x.programmeBelow(noCeiling()) {
		return false
	}
	least := x.result().sums.levels
	return x.spreadBelow(x.bounds.lowest(noCeiling(), func(l ceiling) bool {
		return x.programmeBelow(l) && slices.Equal(x.result().sums.levels[:rulebook.LevelRank], least[:rulebook.LevelRank])
	}))
}

// spreadBelow spreads the members out below a ceiling, and offers the plan if
// those who go keep all bounds. It reports whether they are enough for the
// queues without any more.
func (x *spreader) spreadBelow(l ceiling) bool {
	if !x.carryOut(l) {
		return false
	}
	covered := x.partial.queuesCovered()
	if !covered && !x.partial.coverQueues(l) {
		return false
	}
	return x.partial.finish() && covered
}

// programmeBelow works out the dynamic programme below a ceiling, and reports
// whether all members have a place.
func (x *spreader) programmeBelow(l ceiling) bool {
	if !x.list(l) {
		return false
	}
	x.solve()
	return x.result().found
}

// carryOut places the members as the programme says, those that come first on
// the hosts that come first, and reports whether all have places and those who go
// keep all bounds.
func (x *spreader) carryOut(l ceiling) bool {
	if !x.programmeBelow(l) {
		return false
	}
	p := &x.partial
	p.begin()
	x.seated = rows.Zeros(x.seated, len(x.kinds))
	ok := true
	x.eachChoice(func(w *way) {
		for k, n := range x.countsOf(int(w.state)) {
			for range n {
				p.seat(x.sorted[x.kinds[k].first+x.seated[k]], w.host)
				x.seated[k]++
			}
		}
		for _, u := range x.chosen[w.first:w.last] {
			ok = ok && p.mayGo(u)
			p.choose(u)
		}
	})
	return ok
}
