// SPDX-License-Identifier: Apache-2.0

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
	source []int64 // what is free on each host to begin with
	order  []int32 // members of todo
	at     []int32 // the host of each of them
	left   []int64 // what is left of each host
	sized  bool    // the order is that of sizes, and not that of the job
	tries  int     // that are left
	cut    bool    // a way without victims may have been missed: it took too long
	gone   []int32 // units that have gone, for the predicate
	first  bool    // of all ways it is the first
}

// fits places all members without victims, if quotas, maxima and nodes have
// room at a moment, and leaves the hosts in x.at. Of all ways it is the first,
// by domain if the job requires one, by the node of the first member, then by
// that of the second, and so on; unless that takes too long to find. Without victims a
// way is worth some tries whatever the budget is.
func (x *packer) fits(m moment) bool {
	x.gate.read(m)
	x.asker.coming = m == coming
	if !x.gate.admits(x.rem) || !x.gate.hasHeadroom(x.rem) {
		return false
	}
	x.source = x.source[:0]
	for h := range x.jobCase.hosts {
		x.source = append(x.source, x.jobCase.hosts[h].freeAt(m)...)
	}
	return x.packAnywhere(nil, smallPace)
}

// packInto places all members in the given room of every host, with some units
// gone, and leaves the hosts in x.at.
func (x *packer) packInto(free []int64, gone []int32) bool {
	x.source = append(x.source[:0], free...)
	return x.packAnywhere(gone, 1)
}

// packAnywhere places all members in x.source: in the first domain in which that
// works, if the job requires one.
func (x *packer) packAnywhere(gone []int32, least int64) bool {
	if len(x.domains.list) == 0 {
		return x.packIn(x.every, gone, least)
	}
	// A domain that took too long may have room, and comes first: what is found in
	// a later one is then not known to be the first way.
	sure := true
	found := x.domains.each(func(d int32) bool {
		packed := x.packIn(x.domains.hostsOf(d), gone, least)
		sure = sure && (packed || x.tries > 0)
		return packed
	})
	x.first = x.first && sure
	return found
}

// packIn places all members on some hosts: in their order or, if that takes too long,
// the largest first. It has at least so many tries.
func (x *packer) packIn(hosts, gone []int32, least int64) bool {
	x.hosts, x.gone, x.sized = hosts, gone, false
	x.order = append(x.order[:0], x.sorted...)
	slices.Sort(x.order)
	// If a member has no room left others may have to move, and trying that can
	// take long; the budget is for those tries.
	if x.first = x.pack(int(min(pace, max(x.effort.Left, least)))); x.first {
		return true
	}
	x.order, x.sized = append(x.order[:0], x.sorted...), true
	if x.tries <= 0 && x.pack(1) {
		return true
	}
	x.cut = x.cut || x.tries <= 0
	return false
}

// pack places all members in x.order. Beside some tries it has as many as it takes if
// nobody has to move.
func (x *packer) pack(tries int) bool {
	x.at = rows.Zeros(x.at, len(x.todo))
	x.left = append(x.left[:0], x.source...)
	x.tries = tries + len(x.todo)*len(x.hosts)
	return x.packFrom(0)
}

// packFrom places the members order[i:] and reports whether all of them have a
// place.
func (x *packer) packFrom(i int) bool {
	// The predicate is asked about members in the order of the job.
	asks := x.asker.asks()
	if i == len(x.order) {
		return !asks || !x.sized || x.asker.acceptsAll(x.at, x.gone)
	}
	m := x.order[i]
	k := x.kindAt(m)
	from := 0
	// Alike members go to hosts in node order, unless a predicate may tell them
	// apart.
	if j := x.previous[m]; j >= 0 && !asks {
		from, _ = slices.BinarySearch(x.hosts, x.at[j])
	}
	for _, h := range x.hosts[from:] {
		x.spend(1)
		if x.tries--; x.tries <= 0 || x.Stopped {
			x.tries = 0
			return false
		}
		left := x.row(x.left, int(h))
		if !k.roomFor(left) || !x.takes(h, k) {
			continue
		}
		x.at[m] = h // before it is asked about: the predicate sees it there
		if asks && !x.sized && !x.asker.accepts(x.at[:i+1], x.gone) {
			continue
		}
		resources.Sub(left, left, k.size)
		if x.packFrom(i + 1) {
			return true
		}
		resources.Add(left, left, k.size)
		if len(x.kinds) == 1 && !asks {
			return false // alike members leave the same room wherever they go
		}
	}
	return false
}
