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
// Members of a gang that went whole come back together, as many as it needs to run, in
// the place of the last of those that went together. (DESIGN.md, Quota: gangs.)
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
		if x.canBeSpared(i) && x.giveBack(i) {
			continue
		}
		if refused++; refused*4 > len(x.heap.entries) {
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

// canBeSpared reports whether a unit may be within what may be spared: a task, or as many
// members of a gang that went whole as it needs to run, the smallest of each type.
func (x *walker) canBeSpared(i int32) bool {
	if !x.tasks[i].asOneUnit {
		return x.within(x.size(i), x.spare)
	}
	g := &x.gangs.rows[x.tasks[i].gang]
	for _, t := range x.list {
		x.smallest = x.smallest[:0]
		for m := g.first; m != noTask; m = x.gangs.next[m] {
			x.smallest = append(x.smallest, x.size(m)[t])
		}
		slices.Sort(x.smallest)
		sum := int64(0)
		for _, v := range x.smallest[:x.least(g, len(x.smallest))] {
			sum += v
		}
		if sum > x.spare[t] {
			return false
		}
	}
	return true
}

// least returns how many of so many members of a gang must run for it to be of use.
func (x *walker) least(g *gangRow, members int) int { return max(members-int(g.spare), 1) }

// giveBack gives a unit back, and reports whether it has.
func (x *walker) giveBack(i int32) bool {
	if x.tasks[i].asOneUnit {
		return x.bringBack(x.tasks[i].gang)
	}
	x.spareOne(i)
	return true
}

// spareOne gives a task back.
func (x *walker) spareOne(i int32) {
	for _, t := range x.list {
		x.spare[t] -= x.size(i)[t]
	}
	x.untake(i)
}

// bringBack gives members of a gang that went whole back together, as many as it needs to
// run: of all such sets the one with the most valuable member, then with the next, and so
// on. Those that stay victims have gone one by one then, and may follow. It reports false
// if there is no such set.
func (x *walker) bringBack(gang int32) bool {
	g := &x.gangs.rows[gang]
	x.members = x.members[:0]
	for m := g.first; m != noTask; m = x.gangs.next[m] {
		x.members = append(x.members, m)
	}
	slices.SortFunc(x.members, func(a, b int32) int { // the most valuable first
		if x.before(a, b) {
			return 1
		}
		return -1
	})
	x.back, x.steps = x.back[:0], mostSets
	if !x.choose(0, x.least(g, len(x.members))) {
		return false
	}
	for _, m := range x.members {
		x.tasks[m].asOneUnit = false
	}
	g.gone, g.single = false, int32(len(x.members))
	for _, m := range x.back {
		x.untake(m)
	}
	for _, m := range x.members {
		if x.taken[m] && x.canBeSpared(m) {
			x.push(m)
		}
	}
	return true
}

// mostSets is how many sets of members are looked at. Members of a gang are mostly alike,
// and then the first set tells.
const mostSets = 1 << 14

// choose completes the set of those who come back with so many of the members from a
// place on, within what may be spared, which it takes off. It reports whether there are
// such.
func (x *walker) choose(at, missing int) bool {
	if missing == 0 {
		return true
	}
	for ; at+missing <= len(x.members) && x.steps > 0; at++ {
		x.steps--
		m := x.members[at]
		if !x.within(x.size(m), x.spare) {
			continue
		}
		for _, t := range x.list {
			x.spare[t] -= x.size(m)[t]
		}
		if x.back = append(x.back, m); x.choose(at+1, missing-1) {
			return true
		}
		x.back = x.back[:len(x.back)-1]
		for _, t := range x.list {
			x.spare[t] += x.size(m)[t]
		}
	}
	return false
}
