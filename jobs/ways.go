package jobs

import (
	"cmp"
	"slices"
)

// way is the cheapest way for a host to take a number of members.
type way struct {
	state       wayState
	sums        sums
	first, last int32 // what falls is spread.units[first:last]
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
// worth its time.
const mostWays, mostCells = 1 << 20, 1 << 19

// measureWays finds out how many members each host can take, and makes room
// for its ways. It reports false where there are too many.
func (d *decision) measureWays(l limit) bool {
	x := &d.spread
	x.limit, d.grown.kind = l, 0
	d.capacity(l) // leaves in x.room what is free on hosts with all gone
	x.most, x.first = x.most[:0], x.first[:0]
	x.units = x.units[:0]
	ways := 0
	for h := range d.hosts {
		n := d.hosted(int32(h), d.row(x.room, h))
		x.most, x.first = append(x.most, int32(n)), append(x.first, int32(ways))
		if ways += n; ways > mostWays {
			return false
		}
	}
	x.ways = zeros(x.ways, ways)
	return true
}

// listWays lists the ways that a cheapest plan may be made of. Where n members
// are on a host, at most as many hosts are in use as leave it n; so of the hosts
// that could take n of them it is one of the cheapest so many, or could be
// exchanged for one that is not in use and costs no more. It reports false where
// there are too many.
func (d *decision) listWays() bool {
	x := &d.spread
	x.listed = x.listed[:0]
	members := int32(len(d.todo))
	for n := int32(1); n <= members; n++ {
		if d.exhausted() || min(len(x.listed), len(d.hosts))*len(d.todo) > mostCells {
			return false
		}
		if !d.listWaysOf(n, int(members-n)+1) {
			break
		}
	}
	slices.SortFunc(x.listed, func(a, b choiceOfWay) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(b.members, a.members))
	})
	return true
}

// listWaysOf lists the cheapest ways to host n members, and reports whether
// any host can take so many. Those that may be cheap are worked out first, and
// no more of them than matter.
func (d *decision) listWaysOf(n int32, wanted int) bool {
	x := &d.spread
	x.order, x.best = x.order[:0], x.best[:0]
	x.lows = zeros(x.lows, len(d.hosts))
	for h := range d.hosts {
		if x.most[h] < n {
			continue
		}
		if low, ok := d.leastFor(int32(h), d.hosts[h].free, int64(n)); ok {
			x.lows[h] = low
			x.order = append(x.order, int32(h))
		}
	}
	slices.SortFunc(x.order, func(g, h int32) int {
		return cmp.Or(x.lows[g].compareLevels(&x.lows[h]), cmp.Compare(g, h))
	})
	for _, h := range x.order {
		if len(x.best) == wanted && x.lows[h].compareLevels(&d.wayOf(x.best[wanted-1], n).sums) >= 0 {
			break
		}
		if d.workOut(h, n) {
			d.keepBest(h, n, wanted)
		}
	}
	for _, h := range x.best {
		x.listed = append(x.listed, choiceOfWay{h, n})
	}
	return len(x.order) > 0
}

// keepBest puts a host among those with the best ways to take n members.
func (d *decision) keepBest(h, n int32, wanted int) {
	x := &d.spread
	at, _ := slices.BinarySearchFunc(x.best, h, func(g, h int32) int {
		return cmp.Or(d.wayOf(g, n).sums.compare(&d.wayOf(h, n).sums), cmp.Compare(g, h))
	})
	if at < wanted {
		x.best = slices.Insert(x.best[:min(len(x.best), wanted-1)], at, h)
	}
}

// wayOf returns the way of a host to take n members.
func (d *decision) wayOf(h, n int32) *way {
	x := &d.spread
	return &x.ways[x.first[h]+n-1]
}

// workOut finds the way of a host to take n members, and reports whether it
// has one.
func (d *decision) workOut(h, n int32) bool {
	w := d.wayOf(h, n)
	if w.state == wayUnknown {
		d.poseWay(h, n)
		d.run(d.smallBudget())
		d.proven = d.proven && d.pose.found.Proven
		d.noteWay(w)
	}
	return w.state == wayFound
}

// noteWay sets a way to what was found.
func (d *decision) noteWay(w *way) {
	x := &d.spread
	w.state = wayNone
	if !d.pose.found.Found {
		return
	}
	*w = way{state: wayFound, first: int32(len(x.units))}
	for _, i := range d.pose.found.Units {
		u := d.pose.units[i]
		x.units = append(x.units, u)
		w.sums.add(&d.units[u])
	}
	w.last = int32(len(x.units))
}

// poseWay states what must fall for n members on a host. No whole gang may: it
// would take what is on other hosts.
func (d *decision) poseWay(h, n int32) {
	d.beginPose(d.rooms.Bounds)
	if !d.poseRoom(h, d.hosts[h].free, int64(n)) {
		return
	}
	for _, u := range d.unitsOn(h) {
		if !d.units[u].whole && d.spread.limit.admits(&d.units[u].levels) {
			d.offerWithin(u)
		}
	}
}
