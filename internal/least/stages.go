// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/wide"
)

// Which levels are the least is often shown long before a search over all that
// costs is done, for these say who is stopped. So it has a search of its own. It
// goes along the levels in stages. Each stage asks: is there a set that has less
// of one level than the best, and no more of those before it? So all those are
// limits. A level of which sets have the maximum limits who may be chosen at all;
// one that sums up is a price, and what is left to spend on it bounds the search
// from the first step on. If no stage finds a set, the best has the least levels.
//
// If the caller has a sequence of its own, the stages follow it.
//
// A stage decides the classes in the order of their price for what they cover,
// the cheapest first, and first takes a unit before it leaves it out. Its bounds
// are tables, so that a step costs a few lookups per row, however many classes
// there are.

// lesserWork is what a step costs beside its rows, in elementary work. It was
// measured once.
const lesserWork = 100

// A stages is what the search for the least levels knows of a problem.
type stages struct {
	w     *Worker
	ready bool   // the surrogate is that of the problem
	along []int8 // the levels that decide before work and excess, the most important first

	level  int         // of the stage
	upTo   []int8      // the levels before it, and it
	goal   cost.Levels // of the best set
	order  []int32     // the classes of the stage in the order of deciding
	place  []int32     // by class: its place in the order
	avail  []int64     // by place and row, as Worker.avail
	prices []price     // of the stage; that of its level is the first, if it has one
	counts bool        // the stage limits what counts
	over   int64       // no more of the overrun is of interest
	again  bool        // the stage found a set, and has to begin anew
	tops   tops
	tuning tuning
}

// A price is what units of each class cost at a level that sums up.
type price struct {
	level int
	least int64   // of each that a unit counts: the price is what is above it
	limit int64   // of the sum of prices
	spent int64   // by what is taken
	of    []int64 // by class
	order []int32 // the classes of the stage, the cheapest for what they cover first
}

// prepare makes ready for stages. It reports false if levels do not decide first, or
// no set is known that could have more than the least.
func (x *stages) prepare(w *Worker) bool {
	x.w = w
	if !w.p.Order.LevelsFirst() || w.goal() == nil {
		return false
	}
	x.along = x.along[:0]
	for _, what := range w.p.Order.Sequence {
		if what >= cost.NumLevels {
			break
		}
		x.along = append(x.along, what)
	}
	for l := int8(0); w.p.Order.Sequence == nil && l < cost.NumLevels; l++ {
		x.along = append(x.along, l)
	}
	if !x.ready {
		x.ready = true
		x.tops.sur.even(w)
	}
	return true
}

// search goes through all stages, and reports whether it came to an end.
func (x *stages) search() bool {
	for at, level := range x.along {
		if x.w.p.Order.Carry>>level&1 != 0 {
			continue // the high half speaks for both
		}
		for x.again = true; x.again; {
			if x.upTo = x.along[:at+1]; !x.stage(int(level)) {
				return false
			}
		}
	}
	return true
}

// stage looks for sets that have less of a level. It reports false if it was
// ended early.
func (x *stages) stage(level int) bool {
	w, o := x.w, &x.w.p.Order
	x.level, x.goal, x.again = level, w.goal().Levels, false
	x.prices, x.order = x.prices[:0], x.order[:0]
	x.over, x.counts = noLimit, slices.Contains(x.upTo, int8(o.Count))
	if level < o.Count && !o.IsMax(level) && x.goal[level] == 0 && (!x.paired(level) || x.goal[level+1] == 0) {
		return true // nobody has less than nothing
	}
	if x.paired(level) && x.valueOf(&x.goal, level) == noLimit {
		return false // prices of such size are not told apart
	}
	for i := range w.classes {
		if x.allows(&w.classes[i].levels) {
			x.order = append(x.order, int32(i))
		}
	}
	for _, l := range slices.Backward(x.upTo) {
		x.limit(int(l))
	}
	w.spend(int64(len(x.order) * (len(w.rows) + 2*len(x.prices))))
	x.order = slices.DeleteFunc(x.order, x.unaffordable)
	if !x.enough() {
		return true
	}
	x.arrange()
	if !x.tunable() {
		return x.branch(0) || x.again
	}
	// Most searches end within a few steps, and to tune costs as much as some.
	steps := w.budget
	w.budget = min(steps, w.steps+tuneAfter)
	done := x.branch(0) || x.again
	untuned := w.steps >= w.budget && !w.spent()
	if w.budget = steps; done || !untuned {
		return done
	}
	if x.prices[0].limit < 0 || !x.tune() {
		return true
	}
	x.arrange()
	return x.branch(0) || x.again
}

// arrange puts the classes of the stage in order, and makes the tables of its bounds.
func (x *stages) arrange() {
	w := x.w
	x.sort()
	w.fillAvail(&x.avail, x.order)
	if x.counts {
		x.fillTops()
	}
	w.spend(int64(len(x.order) * (4*len(w.rows) + 40*len(x.prices))))
}

// paired reports whether a level is the high half of a number.
func (x *stages) paired(l int) bool { return l+1 < cost.NumLevels && x.w.p.Order.Carry>>(l+1)&1 != 0 }

// allows reports whether units of some levels may be chosen in the stage.
func (x *stages) allows(levels *cost.Levels) bool {
	o := &x.w.p.Order
	for _, at := range x.upTo {
		switch l := int(at); {
		case o.IsMax(l):
			if levels[l] > x.goal[l] || l == x.level && levels[l] == x.goal[l] {
				return false
			}
		case l < o.Count && o.Carry>>l&1 == 0 && levels[l] > x.goal[l]:
			return false
		}
	}
	return true
}

// unaffordable reports whether a unit of class i by itself passes a limit.
func (x *stages) unaffordable(i int32) bool {
	for k := range x.prices {
		if p := &x.prices[k]; p.of[i] > p.limit {
			return true
		}
	}
	return false
}

// enough reports whether the classes of the stage together meet every need.
func (x *stages) enough() bool {
	w := x.w
	for r, row := range w.rows {
		sum := int64(0)
		for _, i := range x.order {
			sum = addCapped(sum, int64(w.classes[i].count)*w.amount(i, int32(r)))
		}
		if sum < row.short {
			return false
		}
	}
	return true
}

// limit makes a price of a level that sums up.
func (x *stages) limit(l int) {
	w, o := x.w, &x.w.p.Order
	less := int64(0) // than the best
	if l == x.level {
		less = 1
	}
	switch {
	case o.IsMax(l) || o.Carry>>l&1 != 0:
		return
	case l == o.Overrun && l > 0:
		x.over = x.goal[l] - less
		return
	}
	p := x.newPrice(l)
	for i := range w.classes {
		p.of = append(p.of, x.valueOf(&w.classes[i].levels, l))
	}
	costs := func(i int32) bool { return p.of[i] != 0 }
	if p.limit = x.valueOf(&x.goal, l); l != x.level && (p.limit == noLimit || !slices.ContainsFunc(x.order, costs)) {
		x.prices = x.prices[:len(x.prices)-1] // it tells nobody apart
		return
	}
	if l <= o.Count {
		p.limit -= less
		return
	}
	// Of sets that count less there are none, by the stage before. So it is
	// exactly that many, and what every one of them has at least plays no part.
	p.least = noLimit
	for _, i := range x.order {
		p.least = min(p.least, floorDiv(p.of[i], w.classes[i].levels[o.Count]))
	}
	for i := range p.of {
		p.of[i] -= p.least * w.classes[i].levels[o.Count]
	}
	p.limit = x.goal[l] - less - x.goal[o.Count]*p.least
}

// newPrice returns another price, in memory that there was.
func (x *stages) newPrice(l int) *price {
	n := len(x.prices)
	if n == cap(x.prices) {
		x.prices = append(x.prices, price{})
	}
	x.prices = x.prices[:n+1]
	p := &x.prices[n]
	*p = price{level: l, of: p.of[:0], order: p.order[:0]}
	return p
}

// valueOf returns a level, both halves of it, or noLimit if that is too much.
func (x *stages) valueOf(levels *cost.Levels, l int) int64 {
	if !x.paired(l) {
		return levels[l]
	}
	if levels[l] >= 1<<(62-cost.HalfBits) {
		return noLimit
	}
	return levels[l]<<cost.HalfBits | levels[l+1]
}

// floorDiv returns the largest integer that is not above a ÷ b, for positive b.
func floorDiv(a, b int64) int64 {
	quo := a / b
	if a%b < 0 {
		quo--
	}
	return quo
}

// sort orders the classes of the stage, and once more for each price.
func (x *stages) sort() {
	amounts := x.tops.sur.amounts
	for k := range x.prices {
		p := &x.prices[k]
		if p.level == x.w.p.Order.Count && p.level != x.level {
			continue // tables tell more
		}
		p.order = append(p.order[:0], x.order...)
		slices.SortFunc(p.order, func(i, j int32) int { return x.comparePrices(p, i, j) })
	}
	if len(x.prices) > 0 && x.prices[0].level == x.level {
		copy(x.order, x.prices[0].order)
	} else {
		slices.SortFunc(x.order, func(i, j int32) int {
			return cmp.Or(cmp.Compare(amounts[j], amounts[i]), cmp.Compare(i, j))
		})
	}
	x.place = rows.Zeros(x.place, len(x.w.classes))
	for at, i := range x.order {
		x.place[i] = int32(at)
	}
}

// branch decides the classes from a place in the order on, and reports whether it
// looked at all sets of interest.
//
// Invariant: as for [Worker.branch], for the classes and the order of the stage,
// and some units of the class at the place may be taken already.
func (x *stages) branch(at int) bool {
	w := x.w
	if w.covered() {
		return x.consider()
	}
	if w.steps >= w.budget || w.spent() {
		return false
	}
	w.steps++
	w.spend(lesserWork + int64(8*len(w.rows)+40*len(x.prices)))
	if at == len(x.order) || !x.inReach(at) || x.tooDear(at) {
		return true
	}
	return x.takeOne(at) && x.branch(at+1)
}

// consider takes note of the present set, and makes the stage look for less.
func (x *stages) consider() bool {
	w := x.w
	w.consider()
	goal := &w.goal().Levels
	if *goal == x.goal {
		return true
	}
	if x.goal = *goal; w.p.Order.IsMax(x.level) || x.level == w.p.Order.Overrun || x.level > w.p.Order.Count {
		x.again = true // others are allowed now
		return false
	}
	if len(x.prices) > 0 && x.prices[0].level == x.level {
		x.prices[0].limit = x.valueOf(goal, x.level) - 1
	}
	return true
}

// takeOne goes on with one more unit of the class at a place, if that is of use.
func (x *stages) takeOne(at int) (done bool) {
	w := x.w
	i := int(x.order[at])
	if w.useful(i) == 0 {
		return true
	}
	c := &w.classes[i]
	saved := w.total
	w.total.Levels = w.p.Order.Join(&w.total.Levels, w.total.Units, &c.levels)
	w.total.Work = w.total.Work.Add(w.p.Units[w.members[c.first+w.taken[i]]].Work)
	w.total.Units++
	w.take(i)
	w.noteOverrun(&w.total.Levels)
	x.pay(i, 1)
	done = x.branch(at)
	x.pay(i, -1)
	w.untake(i)
	w.total = saved
	return done
}

// pay notes the prices of a unit of class i.
func (x *stages) pay(i int, times int64) {
	for k := range x.prices {
		x.prices[k].spent += times * x.prices[k].of[i]
	}
}

// inReach reports whether the classes from a place on could meet every need, if
// units could be split.
func (x *stages) inReach(at int) bool {
	w := x.w
	avail := x.avail[at*len(w.rows):]
	for r, rem := range w.rem {
		if rem > avail[r] {
			return false
		}
	}
	return true
}

// tooDear reports whether no set that completes the present one with classes from
// a place on keeps all limits.
func (x *stages) tooDear(at int) bool {
	w := x.w
	if w.soft.over > x.over {
		return true
	}
	for k := range x.prices {
		p := &x.prices[k]
		if p.spent > p.limit {
			return true
		}
	}
	if x.counts && x.tops.width > 0 && w.total.Levels[w.p.Order.Count]+x.countsAtLeast(at) > x.mostCounts() {
		return true
	}
	open := x.tops.sur.openOf(w.rem)
	for k := range x.prices {
		if p := &x.prices[k]; p.level != w.p.Order.Count && x.exceeds(p, at, open) {
			return true
		}
	}
	return false
}

// mostCounts returns what a set of the stage counts at most.
func (x *stages) mostCounts() int64 {
	most := x.goal[x.w.p.Order.Count]
	if x.level == x.w.p.Order.Count {
		most--
	}
	return most
}

// exceeds reports whether what is open of the surrogate costs more than is left of
// a limit, if units of the classes from a place on could be split.
func (x *stages) exceeds(p *price, at int, open int64) bool {
	w, left, order := x.w, p.limit-p.spent, p.order
	most := left // of a unit: one that costs more goes beyond the limit by itself
	if p.level == x.level {
		order = order[at:]
	}
	for _, i := range order {
		cost, amount := uint64(p.of[i]), x.tops.sur.amounts[i]
		if int(x.place[i]) < at || p.of[i] > most {
			continue
		}
		units := int64(w.classes[i].count - w.taken[i])
		if hi, lo := bits.Mul64(uint64(units), uint64(amount)); hi > 0 || lo >= uint64(open) {
			hi, _ := bits.Mul64(cost, uint64(open))
			if hi >= uint64(amount) {
				return true
			}
			quo, rem := wide.MulDiv(cost, uint64(open), uint64(amount))
			return quo+min(rem, 1) > uint64(left)
		}
		open -= units * amount
		if hi, all := bits.Mul64(uint64(units), cost); hi > 0 || all > uint64(left) {
			return true
		} else {
			left -= int64(all)
		}
	}
	return true // all together are not enough
}
