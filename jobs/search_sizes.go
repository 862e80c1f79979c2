// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"slices"
	"sort"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// Members of very many sizes are placed by two engines, of which neither is exact. A
// filler goes host by host, and a grower member by member. The filler is better if
// room is scarce, and the grower if bounds are tight.

// A filler makes a plan with few victims. A grower lets the least go for each member
// and leaves scraps: of two victims of 1 for a member of 2 nothing is left for a
// member of 1. A filler lets the largest go, two of 1.5, and completes the host like a
// bin: the largest member that is left, and with it those that fill the room best. Of
// all hosts and numbers of victims it takes what costs the fewest victims for the room
// that members take.
//
// It stays below a ceiling of rank and priority.
type filler struct {
	*search
	ceiling ceiling
	scarce  int     // the type by which room counts
	going   []int32 // units in the order in which they go, host by host
	first   []int32 // those of host h are going[first[h]:first[h+1]]
	room    []int64 // rows: what is free with nobody gone, with one, and so on, host by host
	shapes  []shape // those first that might cost the fewest for their room
	spent   []bool  // by host: it is taken, or its units may not go after all

	sizes  []int32          // kinds with members left, the largest first by the scarce type
	left   []int32          // by kind, members without a place
	free   resources.Vector // scratch of complete
	found  []int32          // kinds: what the shape at hand takes
	chosen []int32          // likewise, of the best shape so far
}

// A shape is a host and a number of units that go there.
type shape struct {
	host, gone int32
	row        int32 // of filler.room
}

// fill offers a plan below a ceiling, if it can make one. The cost is members times
// hosts.
func (x *filler) fill(l ceiling) {
	if x.asker.asks() {
		return // it would have to be asked about members in their order
	}
	p := &x.partial
	x.ceiling, x.scarce = l, x.scarcest()
	p.begin()
	// Queues first: whom they need is gone then, and hosts have the more room.
	if !p.coverQueues(l) {
		return
	}
	x.sizes, x.left = x.sizes[:0], x.left[:0]
	for k := range x.kinds {
		x.sizes, x.left = append(x.sizes, int32(k)), append(x.left, x.kinds[k].end-x.kinds[k].first)
	}
	slices.SortStableFunc(x.sizes, func(a, b int32) int { return cmp.Compare(x.kinds[b].size[x.scarce], x.kinds[a].size[x.scarce]) })
	x.measure()
	x.sortShapes()
	for n := 1; len(x.sizes) > 0; n++ {
		if !x.place() {
			return
		}
		if n%64 == 0 { // now and then, so that they are not passed over all the time
			x.shapes = slices.DeleteFunc(x.shapes, func(s shape) bool { return x.spent[s.host] })
		}
	}
	p.finish()
}

// measure lists the units of every host in the order in which they go, the largest
// first, and works out the room that they make.
func (x *filler) measure() {
	x.going, x.first, x.room = x.going[:0], append(x.first[:0], 0), x.room[:0]
	x.spend(8*len(x.onHost) + len(x.hosts))
	for h := range x.hosts {
		from := len(x.going)
		for _, u := range x.unitsOn(int32(h)) {
			if unit := &x.units[u]; !unit.whole && x.ceiling.admits(&unit.Levels) {
				x.going = append(x.going, u)
			}
		}
		slices.SortFunc(x.going[from:], func(a, b int32) int {
			u, v := &x.units[a], &x.units[b]
			return cmp.Or(cmp.Compare(v.Size.At(x.scarce), u.Size.At(x.scarce)), byCost(u, v))
		})
		// Rooms are those of real units in the order in which they go. The most that
		// so many free, type by type, may be more than any of them do together.
		x.room = append(x.room, x.row(x.partial.free, h)...)
		for _, u := range x.going[from:] {
			row := len(x.room) - x.types
			x.room = append(x.room, x.room[row:]...)
			addTo(x.room[row+x.types:], x.units[u].Size, +1)
		}
		x.first = append(x.first, int32(len(x.going)))
	}
}

// roomOf returns what is free in a shape.
func (x *filler) roomOf(s *shape) resources.Vector { return x.row(x.room, int(s.row)) }

// priceOf returns the victims of a shape for the room that members take there.
func (x *filler) priceOf(s *shape, room int64) resources.Share {
	return resources.Share{Amount: int64(s.gone), Of: room}
}

// sortShapes lists the shapes that may be of use. Those that could cost the fewest
// victims for their room come first, so that a search ends where nothing better can
// come.
func (x *filler) sortShapes() {
	x.spent = rows.Zeros(x.spent, len(x.hosts))
	x.shapes = x.shapes[:0]
	largest, smallest := x.kinds[x.sizes[0]].size[x.scarce], x.kinds[x.sizes[len(x.sizes)-1]].size[x.scarce]
	for h := range x.hosts {
		// With host h come as many rows more as there are hosts before it.
		row := x.first[h] + int32(h)
		for gone := range x.first[h+1] - x.first[h] + 1 {
			s := shape{int32(h), gone, row + gone}
			free := x.roomOf(&s)[x.scarce]
			if free >= smallest { // else nobody has room
				x.shapes = append(x.shapes, s)
			}
			if free/2 >= largest {
				break // more could go in two hosts as well
			}
		}
	}
	x.spend(8 * len(x.shapes))
	slices.SortFunc(x.shapes, func(a, b shape) int {
		return cmp.Or(x.compareRooms(&a, &b), cmp.Compare(x.hosts[a.host].rank, x.hosts[b.host].rank), cmp.Compare(a.host, b.host))
	})
}

// compareRooms orders shapes by what their room costs if members take all of it.
func (x *filler) compareRooms(a, b *shape) int {
	r, s := x.roomOf(a), x.roomOf(b)
	return cmp.Or(
		x.priceOf(a, r[x.scarce]).Compare(x.priceOf(b, s[x.scarce])),
		cmp.Compare(a.gone, b.gone),
		slices.Compare(s, r),
	)
}

// place gives the largest member that is left a place, and with it those that fill its
// host up. It reports whether it could.
func (x *filler) place() bool {
	// Law 2 may keep whom a host was chosen for. To try many hosts would take more
	// time than what is left of the plan is worth.
	const tries = 8
	for range tries {
		if x.exhausted() {
			return false
		}
		s := x.bestShape()
		if s == nil {
			return false
		}
		x.spent[s.host] = true
		if x.clearFor(s) {
			x.seat(s.host)
			return true
		}
	}
	return false
}

// bestShape returns the shape in which the largest member that is left costs the
// fewest victims for the room that it takes there together with others, which are then
// in x.chosen, or nil.
func (x *filler) bestShape() (best *shape) {
	// Shapes that might be best come first, and some dozens of them have one that
	// nearly is. Shapes without victims come before all others and cost nothing; of
	// these the tightest is best.
	const most = 64
	k := &x.kinds[x.sizes[0]]
	var price resources.Share
	var rest int64
	var last *shape
	asked := 0
	for i := range x.shapes {
		s := &x.shapes[i]
		// Clusters are bought by the dozen and filled by the same jobs, so many shapes
		// are as the one before them.
		if x.spent[s.host] || last != nil && x.compareRooms(last, s) == 0 {
			continue
		}
		room := x.roomOf(s)
		if !k.roomFor(room) || !x.takes(s.host, k) {
			continue
		}
		last = s
		if asked++; asked > most || best != nil && price.Compare(x.priceOf(s, room[x.scarce])) < 0 {
			break
		}
		left := x.complete(s)
		of := x.priceOf(s, room[x.scarce]-left)
		if best == nil || cmp.Or(of.Compare(price), cmp.Compare(left, rest)) < 0 {
			best, price, rest = s, of, left
			x.chosen = append(x.chosen[:0], x.found...)
		}
	}
	x.spend(len(x.shapes)/64 + asked)
	return best
}

// complete finds members for a shape: again and again the largest that has room. They
// are then in x.found, and it returns what is left of the scarce type.
func (x *filler) complete(s *shape) (left int64) {
	// A type that is not the scarce one may keep some out.
	const misses = 16
	x.free, x.found = append(x.free[:0], x.roomOf(s)...), x.found[:0]
	for i, missed := 0, 0; i < len(x.sizes) && missed < misses; {
		k := &x.kinds[x.sizes[i]]
		some := x.left[x.sizes[i]] > 0
		if some && k.roomFor(x.free) && x.takes(s.host, k) {
			addTo(x.free, k.size, -1)
			x.left[x.sizes[i]]--
			x.found = append(x.found, x.sizes[i])
			continue
		}
		if some && k.size[x.scarce] <= x.free[x.scarce] {
			missed++
		}
		i = max(i+1, sort.Search(len(x.sizes), func(i int) bool { return x.kinds[x.sizes[i]].size[x.scarce] <= x.free[x.scarce] }))
	}
	// They were found, not taken: another shape may be better.
	for _, k := range x.found {
		x.left[k]++
	}
	x.spend(len(x.found))
	return x.free[x.scarce]
}

// clearFor lets units of a shape go until its host has room for x.chosen. It reports
// whether it could, and changes nothing if not.
func (x *filler) clearFor(s *shape) bool {
	p, free := &x.partial, x.row(x.partial.free, int(s.host))
	x.free = rows.Zeros(x.free, x.types)
	for _, k := range x.chosen {
		addTo(x.free, x.kinds[k].size, +1)
	}
	room := func() bool { return fitsTypes(x.free, free, resources.Positive(x.free)) }
	// If law 2 keeps one of them the next largest goes in its place. That may make
	// more victims than were counted on, and is better than no plan.
	before := len(p.chosen)
	for _, u := range x.going[x.first[s.host]:x.first[s.host+1]] {
		if room() {
			break
		}
		if p.mayGo(u) {
			p.choose(u)
		}
	}
	if !room() {
		p.takeBack(before)
		return false
	}
	return true
}

// seat places x.chosen on a host.
func (x *filler) seat(h int32) {
	for _, k := range x.chosen {
		x.partial.seat(x.sorted[x.kinds[k].end-x.left[k]], h)
		x.left[k]--
	}
	x.sizes = slices.DeleteFunc(x.sizes, func(k int32) bool { return x.left[k] == 0 })
}
