package jobs

import (
	"cmp"
	"slices"
	"strings"
)

// clearAll lets all fall that may, places the members where there is room, and
// gives back what is not needed. Where bounds let not all fall it matters what
// falls first: the least valuable; or whole gangs, which cannot go once some of
// their members have; or host by host, so that some are cleared as far as can
// be. It offers the first plan that comes of it.
func (d *decision) clearAll() {
	orders := [...]func(u, v *unit) int{
		byCost,
		func(u, v *unit) int { return cmp.Or(wholesFirst(u, v), byCost(u, v)) },
		func(u, v *unit) int { return cmp.Or(cmp.Compare(d.hostOfUnit(u), d.hostOfUnit(v)), byCost(u, v)) },
	}
	for _, order := range orders {
		if d.clearBy(order) {
			return
		}
	}
}

// clearBy is clearAll in one order. It reports whether that came to a plan.
func (d *decision) clearBy(order func(u, v *unit) int) bool {
	d.begin()
	d.fallAll(order)
	if !d.queuesCovered() || !d.packStand() {
		return false
	}
	for m, h := range d.pack.at {
		d.seat(int32(m), h)
	}
	return d.finish()
}

// fallAll lets all fall that may, in an order.
func (d *decision) fallAll(order func(u, v *unit) int) {
	d.chosen = d.chosen[:0]
	for u := range d.units {
		d.chosen = append(d.chosen, int32(u))
	}
	slices.SortFunc(d.chosen, func(a, b int32) int { return order(&d.units[a], &d.units[b]) })
	for _, u := range d.chosen {
		if d.stands(u) {
			d.takeUnit(u)
		}
	}
}

// byCost puts the least valuable unit first. It is total: of units of the same
// key one is the whole gang of the other.
func byCost(u, v *unit) int {
	return cmp.Or(
		slices.Compare(u.levels[:], v.levels[:]),
		cmp.Compare(u.work, v.work),
		strings.Compare(u.key, v.key),
		wholesFirst(v, u),
	)
}

func wholesFirst(u, v *unit) int {
	switch {
	case u.whole == v.whole:
		return 0
	case u.whole:
		return -1
	}
	return +1
}

// hostOfUnit returns the first host on which a unit has a task, or -1.
func (d *decision) hostOfUnit(u *unit) int32 {
	first := int32(-1)
	for _, i := range d.falls[u.first:u.end] {
		if h := d.cands[i].host; h >= 0 && (first < 0 || h < first) {
			first = h
		}
	}
	return first
}

// packStand places all members of todo in the room that the stand has, and
// leaves the hosts in d.pack.at.
func (d *decision) packStand() bool {
	x := &d.pack
	x.at = zeros(x.at, len(d.todo))
	x.steps = d.budget() + len(d.todo)*len(d.hosts)
	x.source = append(x.source[:0], d.stand.free...)
	x.units = d.stand.units
	d.resetPacking()
	if d.packFrom(0) {
		return true
	}
	return x.steps <= 0 && d.packSorted()
}
