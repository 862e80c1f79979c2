package jobs

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// A stower makes a plan with few victims for members of several sizes. A grower
// lets the least go for each member and leaves scraps: of two victims of 1 for a
// member of 2 nothing is left for a member of 1. A stower lets the largest go, two
// of 1.5, and stows the host full at once: the largest member that is left, and with
// it those that fill the room best. Of all hosts and numbers of victims it takes
// what costs the fewest victims for the room that members take.
//
// It stays below a ceiling of rank and priority.
type stower struct {
	*jobCase
	*effort
	partial  *partial
	finisher *finisher

	ceiling ceiling
	scarce  int     // the type by which room counts
	going   []int32 // units in the order in which they go, host by host
	first   []int32 // those of host h are going[first[h]:first[h+1]]
	rooms   []int64 // rows: what is free with nobody gone, with one, and so on, host by host
	shapes  []shape // those first that might cost the fewest for their room
	runs    []run   // of shapes that are alike
	spent   []bool  // by host: it is taken, or its units may not go after all

	sizes  []int32          // kinds, the largest first by the scarce type
	left   []int32          // by place in sizes, members without a place
	next   []int32          // by place in sizes, the first one from there on that may have some
	placed []int32          // by place in sizes, members that have places
	free   resources.Vector // scratch of fill
	found  []int32          // places in sizes: what the shape at hand takes
	best   []int32          // likewise, of the best shape so far
}

// A shape is a host and a number of units that go there.
type shape struct {
	host, gone int32
	room       int32 // the row
}

// A run is shapes[next:end], those of the hosts that are not spent, and maybe some
// that are.
type run struct{ next, end int32 }

// stow offers a plan below a ceiling, if it can make one. The cost is members times
// hosts that differ.
func (x *stower) stow(l ceiling) {
	if x.finisher.asker.asks() {
		return // it would have to be asked about members in their order
	}
	x.ceiling, x.scarce = l, x.scarcest()
	x.partial.begin()
	// Queues first: whom they need is gone then, and hosts have the more room.
	if !x.partial.coverQueues(l) {
		return
	}
	x.sortKinds()
	x.measure()
	x.sortShapes()
	for k := x.nextKind(0); k >= 0; k = x.nextKind(k) {
		if !x.place(k) {
			return
		}
	}
	if x.finisher.finish() {
		x.finisher.polish()
	}
}

// scarcest returns the type of which the members ask for the largest share of the
// cluster's capacity.
func (x *stower) scarcest() (scarce int) {
	var largest resources.Share
	for t := range x.wants.All() {
		share := resources.Share{Amount: x.rem[t], Of: x.c.Capacity().At(t)}
		if share.Compare(largest) > 0 {
			scarce, largest = t, share
		}
	}
	return scarce
}

// sortKinds sorts the kinds, and makes all of their members those that are left.
func (x *stower) sortKinds() {
	x.sizes, x.left, x.next = x.sizes[:0], x.left[:0], x.next[:0]
	for k := range x.kinds {
		x.sizes = append(x.sizes, int32(k))
	}
	slices.SortStableFunc(x.sizes, func(a, b int32) int {
		return cmp.Compare(x.kinds[b].size[x.scarce], x.kinds[a].size[x.scarce])
	})
	for i := range x.sizes {
		k := x.kindIn(int32(i))
		x.left, x.next = append(x.left, k.end-k.first), append(x.next, int32(i))
	}
	x.next = append(x.next, int32(len(x.sizes)))
	x.placed = rows.Zeros(x.placed, len(x.sizes))
}

// kindOf returns the kind at a place in x.sizes.
func (x *stower) kindIn(i int32) *kind { return &x.kinds[x.sizes[i]] }

// nextKind returns the first place in sizes from i on that has members left, or -1.
func (x *stower) nextKind(i int32) int32 {
	for int(i) < len(x.sizes) && x.left[i] == 0 {
		// Every step skips what an earlier one has skipped, and notes that for later
		// ones.
		x.next[i] = max(x.next[i], i+1)
		x.next[i] = x.next[x.next[i]]
		i = x.next[i]
	}
	if int(i) == len(x.sizes) {
		return -1
	}
	return i
}

// measure lists the units of every host in the order in which they go, the largest
// first, and works out the room that they make.
func (x *stower) measure() {
	x.going, x.first, x.rooms = x.going[:0], append(x.first[:0], 0), x.rooms[:0]
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
		x.rooms = append(x.rooms, x.row(x.partial.free, h)...)
		for _, u := range x.going[from:] {
			row := len(x.rooms) - x.types
			x.rooms = append(x.rooms, x.rooms[row:]...)
			addTo(x.rooms[row+x.types:], x.units[u].Size, +1)
		}
		x.first = append(x.first, int32(len(x.going)))
	}
}

// room returns what is free in a shape.
func (x *stower) room(s *shape) resources.Vector { return x.row(x.rooms, int(s.room)) }

// sortShapes lists the shapes that may be of use, and the runs of those that are
// alike. Shapes that could cost the fewest victims for their room come first, so
// that a search ends where nothing better can come.
func (x *stower) sortShapes() {
	x.spent = rows.Zeros(x.spent, len(x.hosts))
	x.shapes, x.runs = x.shapes[:0], x.runs[:0]
	largest := x.kindIn(0).size[x.scarce]
	smallest := x.kindIn(int32(len(x.sizes) - 1)).size[x.scarce]
	for h := range x.hosts {
		// With host h come as many rows more as there are hosts before it.
		row := x.first[h] + int32(h)
		for gone := range x.first[h+1] - x.first[h] + 1 {
			s := shape{int32(h), gone, row + gone}
			free := x.room(&s)[x.scarce]
			if free >= smallest { // else nobody has room
				x.shapes = append(x.shapes, s)
			}
			if free/2 >= largest {
				break // more could go in two hosts as well
			}
		}
	}
	// Clusters are bought by the dozen and filled by the same jobs, so thousands of
	// hosts may make a handful of runs; and if not, they are just as many.
	slices.SortFunc(x.shapes, x.compareShapes)
	for i := range x.shapes {
		if i == 0 || x.compareRooms(&x.shapes[i-1], &x.shapes[i]) != 0 {
			x.runs = append(x.runs, run{next: int32(i)})
		}
		x.runs[len(x.runs)-1].end = int32(i) + 1
	}
}

// compareShapes is compareRooms, and puts hosts of alike rooms in their order.
func (x *stower) compareShapes(a, b shape) int {
	return cmp.Or(
		x.compareRooms(&a, &b),
		cmp.Compare(x.hosts[a.host].rank, x.hosts[b.host].rank),
		cmp.Compare(a.host, b.host),
	)
}

// compareRooms orders shapes by what their room costs if members take all of it.
func (x *stower) compareRooms(a, b *shape) int {
	r, s := x.room(a), x.room(b)
	return cmp.Or(
		resources.Share{Amount: int64(a.gone), Of: r[x.scarce]}.Compare(resources.Share{Amount: int64(b.gone), Of: s[x.scarce]}),
		cmp.Compare(a.gone, b.gone),
		slices.Compare(s, r),
	)
}

// head returns the first shape of a run whose host is not spent, or nil.
func (x *stower) head(r *run) *shape {
	for r.next < r.end && x.spent[x.shapes[r.next].host] {
		r.next++
	}
	if r.next == r.end {
		return nil
	}
	return &x.shapes[r.next]
}

// place gives a member at a place of sizes a place, and with it those that fill its
// host up. It reports whether it could.
func (x *stower) place(k int32) bool {
	// Law 2 may keep whom a host was chosen for. To try many hosts would take more
	// time than what is left of the plan is worth.
	const tries = 8
	for range tries {
		if x.exhausted() {
			return false
		}
		s := x.bestShape(k)
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

// bestShape returns the shape in which a member costs the fewest victims for the room
// that it takes there together with others, which are then in x.best, or nil.
func (x *stower) bestShape(k int32) (best *shape) {
	// Shapes that might be best come first, and some dozens of them have one that
	// nearly is. Shapes without victims come before all others and cost nothing; of
	// these the tightest is best.
	const most = 64
	var price resources.Share
	var rest int64
	asked := 0
	x.spend(len(x.runs) / 8) // most are passed over at a glance
	for i := range x.runs {
		s := x.head(&x.runs[i])
		if s == nil {
			continue
		}
		room := x.room(s)
		if !x.kindIn(k).roomFor(room) || !x.takes(s.host, x.kindIn(k)) {
			continue
		}
		if asked++; asked > most || best != nil && price.Compare(resources.Share{Amount: int64(s.gone), Of: room[x.scarce]}) < 0 {
			break
		}
		left := x.fill(s, k)
		of := resources.Share{Amount: int64(s.gone), Of: room[x.scarce] - left}
		if best == nil || cmp.Or(of.Compare(price), cmp.Compare(left, rest)) < 0 {
			best, price, rest = s, of, left
			x.best = append(x.best[:0], x.found...)
		}
	}
	return best
}

// fill finds members for a shape beside one of a kind: again and again the largest
// that has room. They are then in x.found, and it returns what is left of the scarce
// type.
func (x *stower) fill(s *shape, k int32) (left int64) {
	// A type that is not the scarce one may keep some out.
	const misses = 16
	x.free = append(x.free[:0], x.room(s)...)
	x.found = x.found[:0]
	for missed := 0; k >= 0 && missed < misses; {
		kind := x.kindIn(k)
		if x.left[k] > 0 && kind.roomFor(x.free) && x.takes(s.host, kind) {
			addTo(x.free, kind.size, -1)
			x.left[k]--
			x.found = append(x.found, k)
			continue
		}
		if kind.size[x.scarce] <= x.free[x.scarce] && x.left[k] > 0 {
			missed++
		}
		k = x.nextKind(max(k+1, x.firstWithin(x.free[x.scarce])))
	}
	// They were found, not taken: another shape may be better.
	for _, k := range x.found {
		x.left[k]++
	}
	x.spend(len(x.found) + 1)
	return x.free[x.scarce]
}

// firstWithin returns the first place in sizes with no more than so much of the
// scarce type.
func (x *stower) firstWithin(room int64) int32 {
	lo, hi := 0, len(x.sizes)
	for lo < hi {
		if mid := (lo + hi) / 2; x.kindIn(int32(mid)).size[x.scarce] <= room {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return int32(lo)
}

// clearFor lets units of a shape go until its host has room for x.best. It reports
// whether it could, and changes nothing if not.
func (x *stower) clearFor(s *shape) bool {
	p, free := x.partial, x.row(x.partial.free, int(s.host))
	x.free = resources.Sub(x.free, x.free, x.free)
	for _, k := range x.best {
		x.free = resources.Add(x.free, x.free, x.kindIn(k).size)
	}
	room := func() bool {
		for t, v := range x.free {
			if v > 0 && free[t] < v {
				return false
			}
		}
		return true
	}
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

// seat places x.best on a host.
func (x *stower) seat(h int32) {
	for _, k := range x.best {
		x.partial.seat(x.sorted[x.kindIn(k).first+x.placed[k]], h)
		x.placed[k]++
		x.left[k]--
	}
}
