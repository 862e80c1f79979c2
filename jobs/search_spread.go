package jobs

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

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

// ways are the cheapest ways of all hosts to take some number of members of the
// only kind, below a ceiling.
type ways struct {
	*jobCase
	*effort
	cover     *coverer
	room      *roomer
	programme programme

	ceiling ceiling
	most    []int32 // how many members a host can take
	chosen  []int32 // the units of the ways, one list after another
	order   []int32 // hosts, by what a way costs at least
	lows    []sums  // of each host, for the number of members at hand
	best    []int32 // hosts with the best ways so far, the cheapest first
	proven  bool    // every search was complete
}

// A way is the cheapest way for a host to take a number of members.
type way struct {
	state       wayState
	sums        sums
	first, last int32 // who goes is ways.chosen[first:last]
}

type wayState uint8

const (
	wayUnknown wayState = iota
	wayNone
	wayFound
)

// choiceOfWay is a host and the number of members that it takes in some way.
type choiceOfWay struct {
	host, members int32
}

// A programme that is larger than this, in ways or in cells of its table, is not
// worth its time: either takes some tens of megabytes.
const mostWays, mostCells = 1 << 20, 1 << 19

// measure finds out how many members each host can take with the room given,
// that of everybody gone whom the ceiling admits, and makes space for its ways.
// It reports false if there are too many.
func (x *ways) measure(l ceiling, room []int64) bool {
	x.ceiling = l
	x.most, x.chosen = x.most[:0], x.chosen[:0]
	p := &x.programme
	p.first = p.first[:0]
	ways := 0
	for h := range x.hosts {
		n := x.hosted(int32(h), x.row(room, h))
		x.most, p.first = append(x.most, int32(n)), append(p.first, int32(ways))
		if ways += n; ways > mostWays {
			return false
		}
	}
	p.ways = rows.Zeros(p.ways, ways)
	p.order = &x.jobCase.order
	return true
}

// list lists the ways that a cheapest plan may be made of. It reports false if
// there are too many.
//
// If n members are on one host, at most as many hosts are in use as leave it n.
// For 5 members and n = 2 these are 4: one host has the 2, and 3 have one each.
// So of the hosts that could take 2 the 4 cheapest are enough: if a plan has 2
// members on another one, at least one of the 4 is not in use, takes them
// instead, and costs no more.
func (x *ways) list() bool {
	p := &x.programme
	p.listed = p.listed[:0]
	members := int32(len(x.todo))
	for n := int32(1); n <= members; n++ {
		if x.exhausted() || min(len(p.listed), len(x.hosts))*len(x.todo) > mostCells {
			return false
		}
		if !x.listFor(n, int(members-n)+1) {
			break // no host takes n members, and so none takes more
		}
	}
	slices.SortFunc(p.listed, func(a, b choiceOfWay) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(b.members, a.members))
	})
	return true
}

// listFor lists the cheapest ways to host n members, and reports whether any
// host can take so many. Those that may be cheap are worked out first, and no
// more of them than matter.
func (x *ways) listFor(n int32, wanted int) bool {
	x.order, x.best = x.order[:0], x.best[:0]
	x.lows = rows.Zeros(x.lows, len(x.hosts))
	for h := range x.hosts {
		if x.most[h] < n {
			continue
		}
		if low, ok := x.room.least(int32(h), x.hosts[h].free, x.demand(n)); ok {
			x.lows[h] = low
			x.order = append(x.order, int32(h))
		}
	}
	slices.SortFunc(x.order, func(g, h int32) int {
		return cmp.Or(x.lows[g].compareLevels(&x.lows[h]), cmp.Compare(g, h))
	})
	p := &x.programme
	for _, h := range x.order {
		if len(x.best) == wanted && x.lows[h].compareLevels(&p.wayOf(x.best[wanted-1], n).sums) >= 0 {
			break // neither it nor any host after it is cheaper than the last of the best
		}
		if x.workOut(h, n) {
			x.keep(h, n, wanted)
		}
	}
	for _, h := range x.best {
		p.listed = append(p.listed, choiceOfWay{h, n})
	}
	return len(x.order) > 0
}

// demand returns n members of the only kind.
func (x *ways) demand(n int32) demand { return demand{&x.kinds[0], int64(n)} }

// keep puts a host among those with the best ways to take n members.
func (x *ways) keep(h, n int32, wanted int) {
	p := &x.programme
	at, _ := slices.BinarySearchFunc(x.best, h, func(g, h int32) int {
		return cmp.Or(p.wayOf(g, n).sums.compare(&p.wayOf(h, n).sums), cmp.Compare(g, h))
	})
	if at < wanted {
		x.best = slices.Insert(x.best[:min(len(x.best), wanted-1)], at, h)
	}
}

// workOut finds the way of a host to take n members, and reports whether it
// has one.
func (x *ways) workOut(h, n int32) bool {
	w := x.programme.wayOf(h, n)
	if w.state == wayUnknown {
		x.state(h, n)
		x.cover.run(smallPace)
		x.proven = x.proven && x.cover.found.Proven
		x.note(h, n)
	}
	return w.state == wayFound
}

// state states who must go for n members on a host. No whole gang may: it would
// take what is on other hosts.
func (x *ways) state(h, n int32) {
	x.cover.begin(x.rooms.Bounds, x.budgets.soft)
	if !x.room.lacks(x.hosts[h].free, x.demand(n)) {
		return
	}
	x.room.state(x.cover, h)
	for _, u := range x.unitsOn(h) {
		if !x.units[u].whole && x.ceiling.admits(&x.units[u].Levels) {
			x.cover.offerWithin(u)
		}
	}
}

// note sets a way to what was found.
func (x *ways) note(h, n int32) {
	w := x.programme.wayOf(h, n)
	w.state = wayNone
	if !x.cover.found.Found {
		return
	}
	*w = way{state: wayFound, first: int32(len(x.chosen))}
	x.chosen = x.cover.appendFound(x.chosen)
	w.last = int32(len(x.chosen))
	for _, u := range x.chosen[w.first:] {
		w.sums.add(&x.jobCase.order, &x.units[u])
	}
	// An overrun is no sum: this is what the host alone brings about.
	w.sums.levels[victims.LevelOverrun] = x.cover.found.Total.Levels[victims.LevelOverrun]
	w.sums.rank = w.sums.rank.plus(x.hosts[h].rank, int64(n))
}

// A programme is a dynamic programme over hosts: table[i][j] is the least cost
// of j members on the hosts from the i-th listed one on. Each host is listed
// once, with the ways to take members that matter.
//
// The cost is members times listed ways.
type programme struct {
	order  *cover.Order
	first  []int32 // the ways of host h are ways[first[h]:], for one member and more
	ways   []way
	listed []choiceOfWay // by host, and of one host the most members first

	table   []way   // a row per listed host and one for the end, of sums only
	runs    []int32 // where the ways of each listed host begin
	columns int     // of table: for no member, for one, and so on
}

// solve works the table out for a number of members, from the last host to the
// first.
func (p *programme) solve(members int) {
	p.columns = members + 1
	p.runs = p.runs[:0]
	for i, c := range p.listed {
		if i == 0 || p.listed[i-1].host != c.host {
			p.runs = append(p.runs, int32(i))
		}
	}
	p.table = rows.Zeros(p.table, (len(p.runs)+1)*p.columns)
	p.table[len(p.runs)*p.columns].state = wayFound // no members on no hosts
	// From the end, so that eachChoice can walk from the first host on: of equal
	// plans the one comes first that has more members on earlier hosts.
	for i := len(p.runs) - 1; i >= 0; i-- {
		here := p.table[i*p.columns : (i+1)*p.columns]
		next := p.table[(i+1)*p.columns : (i+2)*p.columns]
		copy(here, next)
		for _, c := range p.listedOf(i) {
			p.improve(here[c.members:], next, p.wayOf(c.host, c.members))
		}
	}
}

// improve takes a way of a host wherever that is cheaper: here[j] is for as many
// members more than rest[j] as the way has.
func (p *programme) improve(here, rest []way, w *way) {
	for j := range here {
		if rest[j].state != wayFound {
			continue
		}
		if here[j].state != wayFound || w.sums.comparePlus(p.order, &rest[j].sums, &here[j].sums) < 0 {
			here[j] = way{state: wayFound, sums: w.sums.plus(p.order, &rest[j].sums)}
		}
	}
}

// wayOf returns the way of a host to take n members.
func (p *programme) wayOf(h, n int32) *way { return &p.ways[p.first[h]+n-1] }

// listedOf returns the ways of the i-th listed host, the most members first.
func (p *programme) listedOf(i int) []choiceOfWay {
	end := len(p.listed)
	if i+1 < len(p.runs) {
		end = int(p.runs[i+1])
	}
	return p.listed[p.runs[i]:end]
}

// result returns what all members cost.
func (p *programme) result() *way { return &p.table[p.columns-1] }

// eachChoice calls f with the choices of the cheapest plan, in node order. Of
// equals it puts the most members on the first host, so that their nodes come
// first in node order.
func (p *programme) eachChoice(f func(choiceOfWay)) {
	j := p.columns - 1
	for i := range p.runs {
		here := &p.table[i*p.columns+j]
		for _, c := range p.listedOf(i) {
			if int(c.members) > j {
				continue
			}
			rest := &p.table[(i+1)*p.columns+j-int(c.members)]
			if rest.state != wayFound {
				continue
			}
			w := p.wayOf(c.host, c.members)
			// The choice is found again by its sums, which are exact; so the table
			// needs no memory for it.
			if w.sums.comparePlus(p.order, &rest.sums, &here.sums) == 0 {
				f(c)
				j -= int(c.members)
				break
			}
		}
	}
}
