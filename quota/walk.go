// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// walk is the memory of walks, which take tasks in order until a goal is met, and of
// trims, which give back what is not needed.
type walk struct {
	line []int32          // the tasks to come
	left resources.Vector // what the tasks of the leaf may sum to yet
	open resources.Vector // what is still to be freed

	spare resources.Vector // see trim
	// Of a gang of which some come back; see bringBack.
	members, back []int32
	smallest      []int64
	steps         int
}

// takeInOrder frees as much of a goal of leaf w as it can, in order: each task that has
// of what is still open, unless law 2, NeverOvershoot or a hard budget keeps it. It reports
// whether it took any. What was taken before is kept.
func (x *enforcement) takeInOrder(w queue.ID, goal resources.Vector) (took bool) {
	k := &x.walk
	k.open = x.beyond(k.open, goal, x.row(x.freed, w))
	if !x.isAny(k.open) {
		return false
	}
	x.gather(w)
	k.left = x.roomOf(k.left, w, k.open)
	if x.e.Order == Pack {
		x.pack(w, k.open)
	}
	k.line = k.line[:0]
	for i := x.at(w).first; i < x.at(w).end; i++ {
		if !x.task(i).taken {
			k.line = append(k.line, i)
		}
	}
	// A heap, since as a rule few of many are taken.
	for at := len(k.line)/2 - 1; at >= 0; at-- {
		x.sink(at)
		x.meter.Pay(2)
	}
	for len(k.line) > 0 && x.isAny(k.open) {
		x.meter.Pay(int64(bits.Len(uint(len(k.line)))))
		i, last := k.line[0], len(k.line)-1
		k.line[0] = k.line[last]
		k.line = k.line[:last]
		x.sink(0)
		took = x.consider(i) || took
	}
	return took
}

// sink moves a task down the heap that the line is in a walk, to where it belongs.
func (x *enforcement) sink(at int) {
	line := x.walk.line
	for child := 2*at + 1; child < len(line); at, child = child, 2*child+1 {
		if child+1 < len(line) && x.compare(line[child+1], line[child]) < 0 {
			child++
		}
		if x.compare(line[child], line[at]) >= 0 {
			return
		}
		line[at], line[child] = line[child], line[at]
	}
}

// consider takes the next task in order, if it helps and may go, and reports
// whether it did. A gang whose members go no longer one by one stands at the
// place of the last of them: what is left of it goes as one unit.
func (x *enforcement) consider(i int32) bool {
	k := &x.walk
	singly, together := x.mayGo(i)
	whole := !singly
	if whole && (!together || !x.comesLast(i)) || !x.fits(i, whole, k.open, k.left) {
		return false
	}
	size := x.sizeOf(i, whole)
	k.left = resources.Sub(k.left, k.left, size)
	k.open = x.beyond(k.open, k.open, size)
	x.take(i, whole)
	return true
}

// trim gives back each unit that is not needed for the target, the most
// valuable first. One pass is enough: what is needed stays needed while others
// go.
//
// Members of a gang that went whole come back together, as many as it needs to run, in
// the place of the last of those that went together. (DESIGN.md, Quota: gangs.)
func (x *enforcement) trim() {
	k := &x.walk
	k.spare = x.beyond(k.spare, x.row(x.freed, x.q), x.target)
	k.line = k.line[:0]
	x.meter.Pay(int64(len(x.roster.tasks)))
	for i := range int32(len(x.roster.tasks)) {
		if x.task(i).taken && x.standsForUnit(i) && x.canBeSpared(i) {
			k.line = append(k.line, i)
		}
	}
	// The most valuable is the last, so that those of a gang can follow.
	slices.SortFunc(k.line, x.compare)
	for len(k.line) > 0 {
		i := k.line[len(k.line)-1]
		k.line = k.line[:len(k.line)-1]
		switch {
		case !x.canBeSpared(i):
		case x.task(i).asOneUnit:
			x.bringBack(x.task(i).gang)
		default:
			k.spare = resources.Sub(k.spare, k.spare, x.size(i))
			x.untake(i)
		}
	}
}

// standsForUnit reports whether a victim is one that the trim may look at: a
// task alone, unless the rest of its gang goes with it, or of the rest of a
// gang the last in order.
func (x *enforcement) standsForUnit(i int32) bool {
	t := x.task(i)
	if t.gang == noGang || !x.roster.gangs[t.gang].gone {
		return true
	}
	return t.asOneUnit && x.comesLast(i)
}

// canBeSpared reports whether a unit may be within what may be spared: a task, or as many
// members of a gang that went whole as it needs to run, the smallest of each type.
func (x *enforcement) canBeSpared(i int32) bool {
	k := &x.walk
	if !x.task(i).asOneUnit {
		return x.within(x.size(i), k.spare)
	}
	g := &x.roster.gangs[x.task(i).gang]
	for _, t := range x.list {
		k.smallest = k.smallest[:0]
		for m := g.last; m != noTask; m = x.task(m).next {
			k.smallest = append(k.smallest, x.size(m)[t])
		}
		slices.Sort(k.smallest)
		sum := int64(0)
		for _, v := range k.smallest[:g.least(len(k.smallest))] {
			sum += v
		}
		if sum > k.spare[t] {
			return false
		}
	}
	return true
}

// least returns how many of so many members of a gang must run for it to be of use.
func (g *gangRow) least(members int) int { return max(members-int(g.spare), 1) }

// bringBack gives members of a gang that went whole back together, as many as it needs to
// run: of all such sets the one with the most valuable member, then with the next, and so
// on, if there is such a set. Those that stay victims have gone one by one then, and may
// follow.
func (x *enforcement) bringBack(gang int32) {
	k, g := &x.walk, &x.roster.gangs[gang]
	k.members = k.members[:0]
	for m := g.last; m != noTask; m = x.task(m).next {
		k.members = append(k.members, m)
	}
	slices.SortFunc(k.members, func(a, b int32) int { return x.compare(b, a) }) // the most valuable first
	k.back, k.steps = k.back[:0], mostSets
	if x.meter.Over() {
		k.steps = 2 * len(k.members) // the first set that comes to mind
	}
	if !x.choose(0, g.least(len(k.members))) {
		return
	}
	for _, m := range k.members {
		x.task(m).asOneUnit = false
	}
	g.gone, g.single = false, int32(len(k.members))
	for _, m := range k.back {
		x.untake(m)
	}
	for _, m := range k.members {
		if x.task(m).taken && x.canBeSpared(m) {
			k.line = append(k.line, m)
		}
	}
	slices.SortFunc(k.line, x.compare)
}

// mostSets is how many sets of members are looked at. Members of a gang are mostly alike,
// and then the first set tells.
const mostSets = 1 << 14

// choose completes the set of those who come back with so many of the members from a
// place on, within what may be spared, which it takes off. It reports whether there are
// such.
func (x *enforcement) choose(at, missing int) bool {
	if missing == 0 {
		return true
	}
	k := &x.walk
	for ; at+missing <= len(k.members) && k.steps > 0; at++ {
		k.steps--
		x.meter.Pay(1)
		m := k.members[at]
		if !x.within(x.size(m), k.spare) {
			continue
		}
		k.spare = resources.Sub(k.spare, k.spare, x.size(m))
		if k.back = append(k.back, m); x.choose(at+1, missing-1) {
			return true
		}
		k.back = k.back[:len(k.back)-1]
		k.spare = resources.Add(k.spare, k.spare, x.size(m))
	}
	return false
}
