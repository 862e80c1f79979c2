package jobs

import (
	"cmp"

	"github.com/go-preempt/preempt/resources"
)

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
