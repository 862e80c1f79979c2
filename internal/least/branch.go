// SPDX-License-Identifier: Apache-2.0

package least

import (
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
)

// Branch and bound, depth first. Rows are decided one after another, in the order of their
// value for their worth: first as many units of a row are taken as can be of use, then ever
// fewer. That is a dive along the fractional knapsack, so good sets come early. A branch is
// left if no set that completes it can matter, by the price bound of what is open and of the
// rows that are not decided.

// What a step takes beside the rows that bounds look at, and each unit that it takes, in
// elementary work.
const stepWork, unitWork = 24, 20

// branch decides the rows from a place on, and reports whether it looked at all that matters.
func (x *solver) branch(at int) bool {
	if x.covered() {
		if x.any {
			x.now = x.total
			x.now.Excess = cost.Excess(x.freed, x.p.Wanted, x.s.Capacity)
			x.answer.Found = x.beats(&x.now)
			return !x.answer.Found // it ends with the first one
		}
		x.consider()
		return true
	}
	most := int64(0)
	for ; at < len(x.order); at++ {
		if most = x.useful(x.order[at]); most > 0 && !x.isDominated(at) {
			break
		}
	}
	switch {
	case at == len(x.order) || x.beaten(at):
		return true
	case x.steps >= x.budget || x.s.Meter.Over():
		return false
	}
	x.steps++
	i, first := x.order[at], len(x.totals)
	for ; most > 0; most-- {
		x.take(i)
		if most > 1 && x.beaten(at) {
			x.putBack(i) // so many are too many
			break
		}
	}
	x.s.Meter.Pay(int64(stepWork + (len(x.totals)-first)*(unitWork+2*len(x.rem)) + x.looked/2))
	x.looked = 0
	for {
		if !x.branch(at + 1) {
			for len(x.totals) > first {
				x.putBack(i)
			}
			return false
		}
		if len(x.totals) == first {
			return true
		}
		x.putBack(i)
	}
}

// take takes the next unit of a row, and putBack puts back the last that was taken.
func (x *solver) take(i int32) {
	x.totals = append(x.totals, x.total)
	unit := int64(x.taken[i])
	x.move(i, 1)
	x.join(&x.total, &x.p.Rows[i], unit)
}

func (x *solver) putBack(i int32) {
	x.move(i, -1)
	last := len(x.totals) - 1
	x.total, x.totals = x.totals[last], x.totals[:last]
}

// consider takes note of the present set, or of what is left of it when all that is not
// needed is given back.
func (x *solver) consider() {
	x.now = x.total
	x.now.Excess = cost.Excess(x.freed, x.p.Wanted, x.s.Capacity)
	if !x.better() {
		return
	}
	x.whole = append(x.whole[:0], x.taken...)
	x.giveBack()
	if x.now = x.sum(); x.better() {
		x.keep()
	}
	for i, n := range x.whole {
		for x.taken[i] < n {
			x.move(int32(i), 1)
		}
	}
}

// better reports whether the present set, which costs x.now, comes before the best one and
// is within the limit.
func (x *solver) better() bool {
	if !x.beats(&x.now) {
		return false
	}
	if !x.answer.Found {
		return true
	}
	c := x.s.Order.CompareTotals(&x.now, &x.answer.Total)
	return c < 0 || c == 0 && x.smallerKeys()
}

// beats reports whether a set is within the limit.
func (x *solver) beats(t *cost.Total) bool { return x.limit == nil || x.s.beats(t, x.limit) }

// smallerKeys reports whether the sorted keys of the present set come before those of the
// best one.
func (x *solver) smallerKeys() bool {
	x.keys[0] = x.sortedKeys(x.keys[0][:0], x.taken)
	x.keys[1] = x.sortedKeys(x.keys[1][:0], x.answer.Taken)
	return slices.Compare(x.keys[0], x.keys[1]) < 0
}

func (x *solver) sortedKeys(dst []string, taken []int32) []string {
	for i, n := range taken {
		for k := range n {
			dst = x.s.Keys.Keys(dst, x.p, int32(i), k)
		}
	}
	slices.Sort(dst)
	return dst
}
