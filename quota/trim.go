package quota

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// trim gives back each unit that is not needed for a goal of all, the most
// valuable first. One pass is enough: what is needed stays needed while others
// go.
//
// What was taken as the rest of a gang goes back together, in the place of its
// last member. None of the members that went one by one goes back before.
func (x *walker) trim(goal resources.Vector) {
	freed := x.row(x.freed, x.q)
	x.spare = rows.Zeros(x.spare, x.types)
	for _, t := range x.list {
		x.spare[t] = max(freed[t]-goal[t], 0)
	}
	x.heap.reset(backFirst)
	for i := range int32(len(x.tasks)) {
		if x.taken[i] && x.standsForUnit(i) && x.canBeSpared(i) {
			x.add(i)
		}
	}
	x.heapify()
	refused := 0
	for len(x.heap.entries) > 0 {
		i := x.pop()
		if x.canBeSpared(i) {
			x.giveBack(i)
		} else if refused++; refused*4 > len(x.heap.entries) {
			// To look at all that is left costs less than to go on.
			x.heap.entries = slices.DeleteFunc(x.heap.entries, func(e heapEntry) bool {
				return !x.canBeSpared(e.row)
			})
			x.heapify()
			refused = 0
		}
	}
}

// standsForUnit reports whether a victim is one that the trim may look at: a
// task alone, unless the rest of its gang goes with it, or of the rest of a
// gang the last in order.
func (x *walker) standsForUnit(i int32) bool {
	t := &x.tasks[i]
	if t.gang == noGang || !x.gangs.rows[t.gang].gone {
		return true
	}
	if !t.asOneUnit {
		return false
	}
	for m := x.gangs.rows[t.gang].first; m != noTask; m = x.gangs.next[m] {
		if x.tasks[m].asOneUnit && x.before(i, m) {
			return false
		}
	}
	return true
}

// canBeSpared reports whether a unit is within what may be spared, and leaves its
// size in unit.
func (x *walker) canBeSpared(i int32) bool {
	if !x.tasks[i].asOneUnit {
		return x.within(x.size(i), x.spare)
	}
	x.unit = x.unitSize(x.unit, i)
	return x.within(x.unit, x.spare)
}

// giveBack gives a unit back. After the rest of a gang its other members may
// follow.
func (x *walker) giveBack(i int32) {
	x.unit = x.unitSize(x.unit, i)
	for _, t := range x.list {
		x.spare[t] -= x.unit[t]
	}
	if !x.tasks[i].asOneUnit {
		x.untake(i)
		return
	}
	gang := x.tasks[i].gang
	x.untakeRest(gang)
	for m := x.gangs.rows[gang].first; m != noTask; m = x.gangs.next[m] {
		if x.taken[m] && x.canBeSpared(m) {
			x.push(m)
		}
	}
}
