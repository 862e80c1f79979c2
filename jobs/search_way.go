package jobs

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/victims"
)

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
