package jobs

import "github.com/go-preempt/preempt/resources"

// A packer places all members of todo in some room, without regard to victims.
type packer struct {
	*jobCase
	*effort
	asker *asker

	source []int64 // what is free on each host to begin with
	at     []int32 // the host of each member of todo
	left   []int64 // what is left of each host
	tries  int     // that are left
	gone   []int32 // units that have gone, for the predicate
	first  bool    // of all ways it is the first
}

// fits places all members without victims, if quotas, maxima and nodes have
// room at a moment, and leaves the hosts in x.at. Of all ways it is the first,
// by the node of the first member, then by that of the second, and so on; unless
// that takes too long to find.
func (x *packer) fits(m moment) bool {
	x.gate.read(m)
	x.asker.moment = m.public()
	if !x.gate.admits(x.claim()) || !x.gate.hasHeadroom(x.rem, m) {
		return false
	}
	x.source = x.source[:0]
	for h := range x.hosts {
		x.source = append(x.source, x.hosts[h].freeAt(m)...)
	}
	return x.pack(nil)
}

// packInto places all members in the given room of every host, with some units
// gone, and leaves the hosts in x.at.
func (x *packer) packInto(free []int64, gone []int32) bool {
	x.source = append(x.source[:0], free...)
	return x.pack(gone)
}

// pack places all members in x.source.
func (x *packer) pack(gone []int32) bool {
	x.gone = gone
	x.at = zeros(x.at, len(x.todo))
	x.empty()
	// If a member has no room left others may have to move, and trying that can
	// take long; the budget is for those tries.
	x.tries = x.budget() + len(x.todo)*len(x.hosts)
	if x.first = x.packFrom(0); x.first {
		return true
	}
	return x.tries <= 0 && x.packSorted()
}

// empty takes all members away.
func (x *packer) empty() { x.left = append(x.left[:0], x.source...) }

// packFrom places the members of todo[i:] and reports whether all of them have
// a place.
func (x *packer) packFrom(i int) bool {
	if i == len(x.todo) {
		return true
	}
	k := x.kindAt(int32(i))
	for h := x.firstFor(i); h < int32(len(x.hosts)); h++ {
		if x.tries--; x.tries <= 0 {
			return false
		}
		left := x.row(x.left, int(h))
		if !x.takes(h, k) || !k.roomFor(left) {
			continue
		}
		x.at[i] = h
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

// firstFor returns the first host to try for a member: alike members go to
// hosts in node order, unless a predicate may tell them apart.
func (x *packer) firstFor(i int) int32 {
	if x.asker.asks() {
		return 0
	}
	if j := x.previous[i]; j >= 0 {
		return x.at[j]
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
	for h := range x.hosts {
		if x.takes(int32(h), k) && k.roomFor(x.row(x.left, h)) {
			return int32(h)
		}
	}
	return -1
}
