package jobs

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// A filler makes a plan with few victims for members of several sizes. A grower
// lets the least go for each member and leaves scraps: of two victims of 1 for a
// member of 2 nothing is left for a member of 1. A filler lets the largest go, two
// of 1.5, and fills what they leave with the members that come.
//
// It begins where a plan is known, and stays below the highest rank and priority
// of that plan.
type filler struct {
	*jobCase
	*effort
	partial  *partial
	finisher *finisher

	ceiling ceiling
	most    []int64 // as host.most, of the units that may go one by one below the ceiling
	first   []int32 // host h has the rows first[h]:first[h+1] of it
	gone    []int32 // by host, how many units went
	spoiled []bool  // by host: its units may not go after all
	largest []int32 // scratch of clearFor: units
}

// fill offers a plan, if it can make one that is no dearer in the levels before
// the number of victims than a plan that has these. The cost is members times
// hosts.
func (x *filler) fill(levels *cover.Levels) {
	if x.finisher.asker.asks() {
		return // it would have to be asked about members in their order
	}
	x.ceiling = ceiling{
		plain: levels[victims.LevelOptedOut]+levels[victims.LevelOriginators] == 0,
		rank:  levels[victims.LevelRank], priority: levels[victims.LevelPriority],
	}
	x.gone, x.spoiled = rows.Zeros(x.gone, len(x.hosts)), rows.Zeros(x.spoiled, len(x.hosts))
	x.measure()
	x.partial.begin()
	if !x.partial.coverQueues(x.ceiling) {
		return
	}
	for _, m := range x.sorted {
		if !x.place(m) {
			return
		}
	}
	if x.finisher.finish() {
		x.finisher.polish()
	}
}

// measure works out what the units of each host that may go free there at most.
func (x *filler) measure() {
	x.most, x.first = x.most[:0], append(x.first[:0], 0)
	for h := range x.hosts {
		from := len(x.most)
		for _, u := range x.unitsOn(int32(h)) {
			if x.admits(u) {
				x.most = append(x.most, x.units[u].Size[:x.types]...)
			}
		}
		x.addUp(x.most[from:])
		x.first = append(x.first, int32(len(x.most)/x.types))
	}
}

// admits reports whether a unit is a task alone that the ceiling lets go.
func (x *filler) admits(u int32) bool {
	unit := &x.units[u]
	return !unit.whole && x.ceiling.admits(&unit.Levels)
}

// place gives a member a place, and reports whether it could.
func (x *filler) place(m int32) bool {
	// Law 2 may keep whom a host was chosen for. To try many hosts would take more
	// time than what is left of the plan is worth.
	const tries = 8
	k := x.kindAt(m)
	for range tries {
		if x.exhausted() {
			return false
		}
		x.spend(len(x.hosts))
		h := x.bestHost(k)
		if h < 0 {
			return false
		}
		if x.clearFor(h, k) {
			x.partial.seat(m, h)
			return true
		}
		x.spoiled[h] = true
	}
	return false
}

// bestHost returns the host on which the fewest must go for a member of a kind, or
// -1. If nobody must, it is the one with the least room left; else the one with
// the most, for the members that come. Room counts in the type of which the member
// asks for the largest share.
func (x *filler) bestHost(k *kind) int32 {
	scarce := x.scarceType(k)
	best, fewest, left := int32(-1), 0, int64(0)
	for h := range x.hosts {
		if x.spoiled[h] || !x.takes(int32(h), k) {
			continue
		}
		n, room, ok := x.needed(int32(h), k, scarce)
		switch {
		case !ok, best >= 0 && n > fewest:
		case best < 0, n < fewest, n == 0 && room < left, n > 0 && room > left:
			best, fewest, left = int32(h), n, room
		}
	}
	return best
}

// scarceType returns the type of which a member asks for the largest share of the
// cluster's capacity, or 0 if it asks for nothing.
func (x *filler) scarceType(k *kind) (scarce int) {
	var largest resources.Share
	for _, t := range k.types {
		share := resources.Share{Amount: k.size[t], Of: x.c.Capacity().At(t)}
		if share.Compare(largest) > 0 {
			scarce, largest = t, share
		}
	}
	return scarce
}

// needed returns how many units must go from a host at least for a member of a
// kind, if the largest have gone before, and how much of a type there is then. It
// reports false if there are too few.
func (x *filler) needed(h int32, k *kind, scarce int) (n int, room int64, ok bool) {
	free, most := x.row(x.partial.free, int(h)), x.most[int(x.first[h])*x.types:]
	gone := int(x.gone[h])
	units := int(x.first[h+1]-x.first[h]) - gone
	// freed is the most that i more units free of a type.
	freed := func(i, t int) int64 {
		if i == 0 {
			return 0
		}
		sum := most[(gone+i-1)*x.types+t]
		if gone > 0 {
			sum -= most[(gone-1)*x.types+t]
		}
		return sum
	}
	for _, t := range k.types {
		for n <= units && free[t]+freed(n, t) < k.size[t] {
			n++
		}
		if n > units {
			return 0, 0, false
		}
	}
	return n, free[scarce] + freed(n, scarce), true
}

// clearFor lets units of a host go, the largest first, until it has room for a
// member of a kind. It reports whether it could, and changes nothing if not.
func (x *filler) clearFor(h int32, k *kind) bool {
	p, free := x.partial, x.row(x.partial.free, int(h))
	before := len(p.chosen)
	x.largest = x.largest[:0]
	if !k.roomFor(free) {
		x.listLargest(h, x.scarceType(k))
	}
	for _, u := range x.largest {
		if k.roomFor(free) {
			break
		}
		if p.mayGo(u) {
			p.choose(u)
		}
	}
	if !k.roomFor(free) {
		p.takeBack(before)
		return false
	}
	x.gone[h] += int32(len(p.chosen) - before)
	return true
}

// listLargest lists the units of a host that may go one by one, those first that
// have the most of a type, and among equals the least valuable.
func (x *filler) listLargest(h int32, scarce int) {
	for _, u := range x.unitsOn(h) {
		if x.admits(u) {
			x.largest = append(x.largest, u)
		}
	}
	slices.SortFunc(x.largest, func(a, b int32) int {
		u, v := &x.units[a], &x.units[b]
		return cmp.Or(cmp.Compare(v.Size[scarce], u.Size[scarce]), byCost(u, v))
	})
}
