// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
)

// Greedy takes units, the cheapest first and among equals those that cover most, and
// gives back what is not needed, the costliest first. If bounds bind it may miss a set
// that exists; Proven is then false. The cost is that of sorting.
func (w *Worker) Greedy(dst *Selection, p *Problem) {
	if !w.build(p) {
		w.impossible(dst)
		return
	}
	w.greedy()
	w.answer(dst, nothing)
}

// greedy leaves the set it finds, if any, as the best.
func (w *Worker) greedy() {
	// Classes are ordered the costliest first, so this goes from the cheapest
	// up.
	for i := len(w.classes) - 1; i >= 0; i-- {
		c := &w.classes[i]
		w.spend(int64(len(c.cover) + len(c.pack)))
		for n := w.useful(i); n > 0; n-- {
			w.take(i)
		}
	}
	if len(w.room) > 0 && len(w.rows) > 1 && !w.covered() && w.reachable() {
		w.greedyByRow()
	}
	// If not, bounds were in the way: another order might have found a set, and
	// so nothing is proven.
	if w.covered() {
		w.giveBack()
		w.now = w.sum()
		w.keep()
	}
	w.untakeAll()
}

// greedyByRow takes units row by row of what is needed, those first of which the most is
// needed beside what there is. For some rows few units are there, and the cheap units of
// others must not take the room that bounds leave them.
func (w *Worker) greedyByRow() {
	w.untakeAll()
	scarcity := func(r int) float64 { return float64(w.rem[r]) / float64(w.avail[r]) }
	order := w.rowOrder[:0]
	for r := range w.rows {
		if w.rem[r] > 0 {
			order = append(order, int32(r))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(scarcity(int(b)), scarcity(int(a))) })
	w.rowOrder = order
	for _, r := range order {
		for i := len(w.classes) - 1; i >= 0 && w.rem[r] > 0; i-- {
			w.spend(1)
			if w.amount(int32(i), r) == 0 {
				continue
			}
			for n := w.useful(i); n > 0 && w.rem[r] > 0; n-- {
				w.take(i)
			}
		}
	}
}

// untakeAll goes back to nothing taken, which is where a search begins.
func (w *Worker) untakeAll() {
	for i := range w.classes {
		for w.taken[i] > 0 {
			w.untake(i)
		}
	}
}

// giveBack takes back every unit without which the needs are met as well, the
// costliest class first. One pass is enough: what is needed stays needed while
// others go.
func (w *Worker) giveBack() {
	for i := range w.classes {
		for w.taken[i] > 0 {
			w.untake(i)
			if !w.covered() {
				w.take(i)
				break
			}
		}
	}
}

// useful returns how many more units of class i can be of use: no more than
// meet the needs that they reduce, and than the bounds allow.
func (w *Worker) useful(i int) int {
	c := &w.classes[i]
	var most int64
	for _, t := range c.cover {
		if rem := w.rem[t.row]; rem > 0 {
			// As many as meet the need, rounded up. The largest over all needs,
			// since the others are met on the way.
			most = max(most, (rem-1)/t.amount+1)
		}
	}
	most = min(most, int64(c.count-w.taken[i]))
	for _, t := range c.pack {
		most = min(most, w.room[t.row]/t.amount)
	}
	return int(most)
}

// take adds a unit of class i to the set as far as sums are concerned.
func (w *Worker) take(i int) { w.move(i, 1) }

// untake takes a unit of class i back out.
func (w *Worker) untake(i int) { w.move(i, -1) }

func (w *Worker) move(i int, sign int64) {
	c := &w.classes[i]
	for _, t := range c.cover {
		w.rem[t.row] -= sign * t.amount
	}
	for _, t := range c.pack {
		w.room[t.row] -= sign * t.amount
	}
	for t := range w.freed {
		w.freed[t] += sign * c.size.At(t)
	}
	for _, use := range c.uses {
		left := w.left(use.Budget)
		// Out with the old overrun and in with the new: a budget overruns by
		// what goes beyond it, not by the whole use.
		w.soft.over -= max(w.soft.used[use.Budget]-left, 0)
		w.soft.used[use.Budget] += sign * use.Count
		w.soft.over += max(w.soft.used[use.Budget]-left, 0)
	}
	w.taken[i] += int32(sign)
}

// covered reports whether the set meets every need.
func (w *Worker) covered() bool {
	for _, rem := range w.rem {
		if rem > 0 {
			return false
		}
	}
	return true
}

// keep makes the present set, which costs w.now, the best one.
func (w *Worker) keep() {
	w.top.total, w.top.found = w.now, true
	w.top.taken = append(w.top.taken[:0], w.taken...)
}

// sum returns the total of what is taken, computed anew.
func (w *Worker) sum() (t cost.Total) {
	for i := range w.classes {
		c := &w.classes[i]
		// The first units of a class are the cheapest of it, so a number of
		// them says which.
		for _, m := range w.members[c.first : c.first+w.taken[i]] {
			t.Levels = w.p.Order.Join(&t.Levels, t.Units, &c.levels)
			t.Work = t.Work.Add(w.p.Units[m].Work)
			t.Units++
		}
	}
	w.noteOverrun(&t.Levels)
	t.Excess = cost.Excess(w.freed, w.p.Wanted, w.p.Capacity)
	return t
}

// noteOverrun sets the overrun among the levels of what is taken.
func (w *Worker) noteOverrun(l *cost.Levels) {
	if o := w.p.Order.Overrun; o > 0 {
		l[o] = w.soft.over
	}
}

// answer sets dst to the best set.
func (w *Worker) answer(dst *Selection, g grade) {
	// What was found stands also if the search was cut short. The grade says
	// what is known of it.
	dst.Found, dst.Steps = w.top.found, w.steps
	dst.Proven, dst.LevelsProven = g == whole, g >= leastLevels
	dst.Units, dst.Total = dst.Units[:0], cost.Total{}
	if !w.top.found {
		return
	}
	dst.Total = w.top.total
	for i := range w.classes {
		first := w.classes[i].first
		dst.Units = append(dst.Units, w.members[first:first+w.top.taken[i]]...)
	}
	// In the order of the problem, which is the caller's.
	slices.Sort(dst.Units)
}

// impossible sets dst to the answer that no set exists.
func (w *Worker) impossible(dst *Selection) {
	*dst = Selection{Units: dst.Units[:0], Proven: true, LevelsProven: true}
}
