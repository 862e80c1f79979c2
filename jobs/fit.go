package jobs

import "github.com/go-preempt/preempt/resources"

// packing places members where there is room, without victims.
type packing struct {
	moment moment
	source []int64 // what is free on each host to begin with
	at     []int32 // the host of each member of todo
	left   []int64 // what is left of each host
	steps  int
	units  []int32 // that fall, for the predicate
	first  bool    // of all ways it is the first
}

// fits places all members of todo without victims, where the quotas, the maxima
// and the nodes have room at a moment, and leaves the hosts in d.pack.at. Of
// all ways it is the first, by the node of the first member, then by that of
// the second, and so on; unless that takes too long to find.
func (d *decision) fits(m moment) bool {
	x := &d.pack
	x.moment, x.units = m, nil
	if !d.admitted(m) || !d.hasHeadroom(d.rem, m) {
		return false
	}
	x.at = zeros(x.at, len(d.todo))
	x.source = x.source[:0]
	for h := range d.hosts {
		x.source = append(x.source, d.hosts[h].freeAt(m)...)
	}
	d.resetPacking()
	// Where a member has no room left others may have to move, and trying that
	// can take long; the budget is for those tries.
	x.steps = d.budget() + len(d.todo)*len(d.hosts)
	if x.first = d.packFrom(0); x.first {
		return true
	}
	return x.steps <= 0 && d.packSorted()
}

// resetPacking empties the hosts.
func (d *decision) resetPacking() {
	x := &d.pack
	x.left = append(x.left[:0], x.source...)
}

// packFrom places the members of todo[i:] and reports whether all of them have
// a place.
func (d *decision) packFrom(i int) bool {
	if i == len(d.todo) {
		return true
	}
	x := &d.pack
	k := &d.kinds[d.kindOf[i]]
	for h := d.firstFor(i); h < int32(len(d.hosts)); h++ {
		if x.steps--; x.steps <= 0 {
			return false
		}
		left := d.row(x.left, int(h))
		if !d.hosts[h].takes(k) || !roomFor(k, left) {
			continue
		}
		x.at[i] = h
		if d.asks() && !d.accepts(x.at[:i+1], x.units) {
			continue
		}
		resources.Sub(left, left, k.size)
		if d.packFrom(i + 1) {
			return true
		}
		resources.Add(left, left, k.size)
		if len(d.kinds) == 1 && !d.asks() {
			return false // alike members leave the same room wherever they go
		}
	}
	return false
}

// firstFor returns the first host to try for a member: alike members go to
// hosts in node order, unless a predicate may tell them apart.
func (d *decision) firstFor(i int) int32 {
	if d.asks() {
		return 0
	}
	if j := d.previous[i]; j >= 0 {
		return d.pack.at[j]
	}
	return 0
}

// packSorted places the largest members first, each on the first host with
// room.
func (d *decision) packSorted() bool {
	x := &d.pack
	d.resetPacking()
	for _, m := range d.sorted {
		k := &d.kinds[d.kindOf[m]]
		h := d.firstWithRoom(k)
		if h < 0 {
			return false
		}
		left := d.row(x.left, int(h))
		resources.Sub(left, left, k.size)
		x.at[m] = h
	}
	for i := range d.todo {
		if d.asks() && !d.accepts(x.at[:i+1], x.units) {
			return false
		}
	}
	return true
}

// firstWithRoom returns the first host with room for a member of a kind, or -1.
func (d *decision) firstWithRoom(k *kind) int32 {
	for h := range d.hosts {
		if d.hosts[h].takes(k) && roomFor(k, d.row(d.pack.left, h)) {
			return int32(h)
		}
	}
	return -1
}

// roomFor reports whether a member of a kind fits, in the types that it wants.
func roomFor(k *kind, left resources.Vector) bool {
	for _, t := range k.types {
		if left[t] < k.size[t] {
			return false
		}
	}
	return true
}

// admitted reports whether the quotas admit the members of todo at a moment.
func (d *decision) admitted(m moment) bool {
	d.read(m)
	d.breaches = d.ledger.Admit(d.breaches[:0], d.claim())
	return len(d.breaches) == 0
}

// read reads the accounts of the quotas on the path at a moment.
func (d *decision) read(m moment) {
	d.ledger.Cluster, d.ledger.Quotas, d.ledger.Present = d.c, d.p.Quotas, m == present
	d.ledger.Read(d.job.Queue)
}

// placements appends the placements of the members of todo.
func (d *decision) placements(dst []Placement, at []int32) []Placement {
	for i, h := range at {
		dst = append(dst, Placement{Member: d.todo[i], Node: d.hosts[h].id})
	}
	return dst
}
