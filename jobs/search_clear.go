package jobs

import (
	"cmp"
	"slices"
)

// A clearer lets everybody go who may, places the members where there is room
// then, and gives back what is not needed. It is the engine for cases in which
// bounds are tight and members hard to place, so that no plan comes about member
// by member.
type clearer struct {
	*jobCase
	finisher *finisher
	pack     *packer
	order    []int32 // units
}

// clear offers the first plan that comes of clearing in some order. If bounds
// let not all units go it matters who goes first: the least valuable; or whole
// gangs, which cannot go once some of their members have; or host by host, so
// that some are cleared as far as can be.
func (x *clearer) clear() {
	orders := [...]func(u, v *unit) int{
		byCost,
		func(u, v *unit) int { return cmp.Or(wholesFirst(u, v), byCost(u, v)) },
		func(u, v *unit) int { return cmp.Or(cmp.Compare(x.hostOfUnit(u), x.hostOfUnit(v)), byCost(u, v)) },
	}
	// The first that works is kept: this engine is asked for any plan, after those
	// that look for a cheap one have found none.
	for _, order := range orders {
		if x.clearBy(order) {
			return
		}
	}
}

// clearBy is clear in one order. It reports whether that came to a plan.
func (x *clearer) clearBy(order func(u, v *unit) int) bool {
	p := x.finisher.partial
	p.begin()
	p.chooseAll(x.sortedUnits(order))
	if !p.queuesCovered() || !x.pack.packInto(p.free, p.chosen) {
		return false
	}
	p.seatAll(x.pack.at)
	return x.finisher.finish()
}

// sortedUnits returns all units in an order. It is good until the next call.
func (x *clearer) sortedUnits(order func(u, v *unit) int) []int32 {
	x.order = x.order[:0]
	for u := range x.units {
		x.order = append(x.order, int32(u))
	}
	slices.SortFunc(x.order, func(a, b int32) int { return order(&x.units[a], &x.units[b]) })
	return x.order
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
func (x *clearer) hostOfUnit(u *unit) int32 {
	first := int32(-1)
	for _, i := range x.tasks[u.first:u.end] {
		if h := x.cands[i].host; h >= 0 && (first < 0 || h < first) {
			first = h
		}
	}
	return first
}
