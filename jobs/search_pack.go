package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// A packer places all members of todo in some room, without regard to victims.
type packer struct {
	*jobCase
	*effort
	asker *asker

	hosts  []int32 // those that it may use, in node order
	all    []int32 // scratch: every host
	source []int64 // what is free on each host to begin with
	at     []int32 // the host of each member of todo
	place  []int32 // likewise, as a place in hosts
	left   []int64 // what is left of each host
	tries  int     // that are left
	gone   []int32 // units that have gone, for the predicate
	first  bool    // of all ways it is the first
}

// fits places all members without victims, if quotas, maxima and nodes have
// room at a moment, and leaves the hosts in x.at. Of all ways it is the first,
// by domain if the job requires one, by the node of the first member, then by
// that of the second, and so on; unless that takes too long to find.
func (x *packer) fits(m moment) bool {
	x.gate.read(m)
	x.asker.moment = m.public()
	if !x.gate.admits(x.claim()) || !x.gate.hasHeadroom(x.rem, m) {
		return false
	}
	x.source = x.source[:0]
	for h := range x.jobCase.hosts {
		x.source = append(x.source, x.jobCase.hosts[h].freeAt(m)...)
	}
	return x.packAnywhere(nil)
}

// packInto places all members in the given room of every host, with some units
// gone, and leaves the hosts in x.at.
func (x *packer) packInto(free []int64, gone []int32) bool {
	x.source = append(x.source[:0], free...)
	return x.packAnywhere(gone)
}

// packAnywhere places all members in x.source: in the first domain in which that
// works, if the job requires one.
func (x *packer) packAnywhere(gone []int32) bool {
	if len(x.domains.list) == 0 {
		return x.packIn(x.everyHost(), gone)
	}
	// A domain that took too long may have room, and comes first: what is found in
	// a later one is then not known to be the first way.
	sure := true
	found := x.domains.each(func(d int32) bool {
		packed := x.packIn(x.domains.hostsOf(d), gone)
		sure = sure && (packed || x.tries > 0)
		return packed
	})
	x.first = x.first && sure
	return found
}

// everyHost lists all hosts.
func (x *packer) everyHost() []int32 {
	x.all = x.all[:0]
	for h := range x.jobCase.hosts {
		x.all = append(x.all, int32(h))
	}
	return x.all
}

// packIn places all members on some hosts.
func (x *packer) packIn(hosts, gone []int32) bool {
	x.hosts, x.gone = hosts, gone
	x.at, x.place = rows.Zeros(x.at, len(x.todo)), rows.Zeros(x.place, len(x.todo))
	x.empty()
	// If a member has no room left others may have to move, and trying that can
	// take long; the budget is for those tries.
	x.tries = int(min(pace, max(x.effort.Left, 1))) + len(x.todo)*len(x.hosts)
	if x.first = x.packFrom(0); x.first {
		return true
	}
	return x.tries <= 0 && x.packSorted()
}

// empty takes all members away.
func (x *packer) empty() {
	x.left = slices.Grow(x.left[:0], len(x.source))[:len(x.source)]
	for _, h := range x.hosts {
		copy(x.row(x.left, int(h)), x.row(x.source, int(h)))
	}
}

// packFrom places the members of todo[i:] and reports whether all of them have
// a place.
func (x *packer) packFrom(i int) bool {
	if i == len(x.todo) {
		return true
	}
	k := x.kindAt(int32(i))
	for n := x.firstFor(i); n < int32(len(x.hosts)); n++ {
		if x.tries--; x.tries <= 0 {
			return false
		}
		h := x.hosts[n]
		left := x.row(x.left, int(h))
		if !k.roomFor(left) || !x.takes(h, k) {
			continue
		}
		x.at[i], x.place[i] = h, n // before it is asked about: the predicate sees it there
		if x.asker.asks() && !x.asker.accepts(x.at[:i+1], x.gone) {
			continue
		}
		resources.Sub(left, left, k.size)
		if x.packFrom(i + 1) {
			return true
		}
		resources.Add(left, left, k.size)
		if len(x.kinds) == 1 && !x.asker.asks() {
			return false // alike members leave the same room wherever they go
		}
	}
	return false
}

// firstFor returns the place of the first host to try for a member: alike
// members go to hosts in node order, unless a predicate may tell them apart.
func (x *packer) firstFor(i int) int32 {
	if x.asker.asks() {
		return 0
	}
	if j := x.previous[i]; j >= 0 {
		return x.place[j]
	}
	return 0
}

// packSorted places the largest members first, each on the first host with
// room.
func (x *packer) packSorted() bool {
	x.empty()
	for _, m := range x.sorted {
		k := x.kindAt(m)
		h := x.firstWithRoom(k)
		if h < 0 {
			return false
		}
		left := x.row(x.left, int(h))
		resources.Sub(left, left, k.size)
		x.at[m] = h
	}
	for i := range x.todo {
		if x.asker.asks() && !x.asker.accepts(x.at[:i+1], x.gone) {
			return false
		}
	}
	return true
}

// firstWithRoom returns the first host with room for a member of a kind, or -1.
func (x *packer) firstWithRoom(k *kind) int32 {
	for _, h := range x.hosts {
		if k.roomFor(x.row(x.left, int(h))) && x.takes(h, k) {
			return h
		}
	}
	return -1
}
