package victims

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// widen tries a node whose cheapest set the predicate has refused with all its
// candidates: as many as law 2 allows, the cheapest first. Where the predicate
// accepts those they are trimmed, the costliest first, until no victim can be
// given back so that needs and predicate still hold. (Step 6.)
func (d *decision) widen(n NodeID) bool {
	short := d.nodeNeed(d.nodeShort, n)
	d.local.gather(d, n, short)
	if d.needs.open() && d.searchHeadroom() {
		for i, id := range d.pool.ids {
			if d.c.tasks[id].node != n {
				d.local.add(id, d.pool.units[i])
			}
		}
	}
	d.want()
	d.setNeeds()
	u := &d.local
	taken := d.takeAll(u)
	if d.isBest(u, taken) || !d.suffices(n, u, taken) {
		// A predicate that refuses all candidates refuses any of them; where
		// law 2 lets not all go, others than these may do.
		d.proven = d.proven && len(taken) == len(u.units)
		return false
	}
	d.proven = false // sets between the cheapest and this one are not tried
	for trimmed := true; trimmed; {
		trimmed = false
		for i := len(taken) - 1; i >= 0; i-- {
			back := taken[i]
			taken = slices.Delete(taken, i, i+1)
			if d.suffices(n, u, taken) {
				trimmed = true
			} else {
				taken = slices.Insert(taken, i, back)
			}
		}
	}
	d.best.found = false
	d.found.Found, d.found.Units, d.found.Total = true, append(d.found.Units[:0], taken...), d.totalOf(u, taken)
	d.offer(n, &d.found, u.ids)
	return true
}

// isBest reports whether units are the victims of the best plan.
func (d *decision) isBest(u *unitSet, units []int32) bool {
	if len(units) != len(d.best.victims) {
		return false
	}
	for _, i := range units {
		if !slices.Contains(d.best.victims, u.ids[i]) {
			return false
		}
	}
	return true
}

// takeAll returns units, the cheapest first, each where it still fits the
// bounds beside those before it.
func (d *decision) takeAll(u *unitSet) []int32 {
	order := d.order[:0]
	for i := range u.units {
		order = append(order, int32(i))
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &u.units[i], &u.units[j]
		return cmp.Or(slices.Compare(a.Levels[:], b.Levels[:]), cmp.Compare(a.Work, b.Work), strings.Compare(a.Key, b.Key))
	})
	d.order = order
	for len(d.left) < len(d.rooms.Bounds) {
		d.left = append(d.left, resources.Limit{})
	}
	rooms := d.left
	for b := range d.rooms.Bounds {
		rooms[b] = resources.AddOnlyExisting(rooms[b], d.rooms.Bounds[b].Room, nil)
	}
	return slices.DeleteFunc(order, func(i int32) bool {
		unit := &u.units[i]
		for _, b := range unit.Bounds {
			if !resources.Admits(rooms[b], unit.Size) {
				return true
			}
		}
		for _, b := range unit.Bounds {
			rooms[b] = resources.SubOnlyExisting(rooms[b], rooms[b], unit.Size)
		}
		return false
	})
}

// suffices reports whether the units meet every need and the predicate accepts
// them. It is asked only where they do.
func (d *decision) suffices(n NodeID, u *unitSet, units []int32) bool {
	for row, need := range d.problem.Needs {
		if !d.meets(u, units, int32(row), need.Short) {
			return false
		}
	}
	d.best.victims = d.best.victims[:0]
	for _, i := range units {
		d.best.victims = append(d.best.victims, u.ids[i])
	}
	return d.accepts(n, d.best.victims)
}

// totalOf returns what a set of units costs.
func (d *decision) totalOf(u *unitSet, units []int32) (t cover.Total) {
	clear(d.sum)
	order := PlanOrder()
	for _, i := range units {
		unit := &u.units[i]
		t.Levels = order.Join(&t.Levels, t.Units, &unit.Levels)
		t.Work = t.Work.Add(cover.WorkOfNanos(unit.Work))
		t.Units++
		d.sum = resources.Add(d.sum, d.sum, unit.Size)
	}
	t.Excess = cover.Excess(d.sum, d.problem.Wanted, d.problem.Capacity)
	return t
}
