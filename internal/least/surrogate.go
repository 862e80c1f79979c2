// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/wide"
)

const (
	// widest is the largest number of units that tables of tops tell about.
	widest = 64
	// largestTable is how many entries the table of a stage may have. A stage that
	// needs more of them does without.
	largestTable = 1 << 18
)

// tops tell how much of each row a number of units can cover at most: those of
// the classes from a place on that have most of it. Units count as the level that
// counts has it, and a unit that counts several as so many pieces.
//
// A row is a row of a need. The last one is the surrogate of all: a unit that has
// much of one type often has little of another, so that a sum over types says
// more than any of them.
type tops struct {
	rows, width int     // width is 0 if there is no table
	sums        []int64 // by place, row and number of units
	sur         surrogate
	list        []int64 // scratch: the largest pieces so far, falling
}

// A surrogate constraint sums all rows of the needs up, each with a weight: its multiplier.
// Whoever meets every need meets it too, whatever the weights are.
type surrogate struct {
	weights []int64
	shifts  []uint8
	amounts []int64 // by class: what a unit has
}

// row returns the sums of a row at a place, by number of units.
func (t *tops) row(at, r int) []int64 {
	from := (at*t.rows + r) * t.width
	return t.sums[from : from+t.width : from+t.width]
}

// fillTops makes the table of a stage, for the classes in its order.
func (x *stages) fillTops() {
	w, t := x.w, &x.tops
	n := len(x.order)
	t.width = 2 + int(min(x.mostCounts(), widest))
	t.rows = len(w.rows) + 1
	size := (n + 1) * t.rows * t.width
	if size > largestTable {
		t.width = 0
		return
	}
	t.sums = slices.Grow(t.sums[:0], size)[:size]
	for r := range w.rows {
		x.fillTop(r, func(i int32) int64 { return w.amount(i, int32(r)) })
	}
	x.fillTop(len(w.rows), func(i int32) int64 { return t.sur.amounts[i] })
	w.spend(int64(size))
}

// fillTop fills in a row, given what a unit of a class has of it.
func (x *stages) fillTop(r int, amountOf func(class int32) int64) {
	w, t, count := x.w, &x.tops, x.w.p.Order.Count
	t.list = t.list[:0]
	clear(t.row(len(x.order), r))
	for at := len(x.order) - 1; at >= 0; at-- {
		c := &w.classes[x.order[at]]
		if amount := amountOf(x.order[at]); amount > 0 {
			pieces := c.levels[count]
			t.insert((amount-1)/pieces+1, pieces, int64(c.count))
		}
		row, sum := t.row(at, r), int64(0)
		for m := range row {
			row[m] = sum
			if m < len(t.list) {
				sum = addCapped(sum, t.list[m])
			}
		}
	}
}

// insert puts the pieces of some units into the list.
func (t *tops) insert(piece, pieces, units int64) {
	room := int64(t.width - 1)
	n := min(pieces, room) * min(units, room)
	from := len(t.list)
	for from > 0 && t.list[from-1] < piece {
		from--
	}
	for range min(n, room-int64(from)) {
		if len(t.list) == int(room) {
			t.list = t.list[:room-1]
		}
		t.list = slices.Insert(t.list, from, piece)
	}
}

// even gives every row the same weight as a part of what it is short of.
func (m *surrogate) even(w *Worker) {
	m.weights, m.shifts = m.weights[:0], m.shifts[:0]
	for _, row := range w.rows {
		shift := max(bits.Len64(uint64(row.short))-mixBits, 0)
		m.shifts = append(m.shifts, uint8(shift))
		m.weights = append(m.weights, 1<<(mixBits+4)/max(row.short>>shift, 1))
	}
	m.fill(w)
}

// mixBits is how many bits the amounts of a surrogate have at most.
const mixBits = 30

// fill computes what a unit of each class has of the surrogate. No more than a row
// is short of counts, and it is rounded up.
func (m *surrogate) fill(w *Worker) {
	m.amounts = m.amounts[:0]
	for i := range w.classes {
		amount := int64(0)
		for _, t := range w.classes[i].cover {
			v, shift := min(t.amount, w.rows[t.row].short), m.shifts[t.row]
			amount += ((v-1)>>shift + 1) * m.weights[t.row]
		}
		m.amounts = append(m.amounts, amount)
	}
}

// openOf returns what is open of a surrogate, rounded down.
func (m *surrogate) openOf(rem []int64) (open int64) {
	for r, v := range rem {
		if v > 0 {
			open += v >> m.shifts[r] * m.weights[r]
		}
	}
	return open
}

// countsAtLeast returns what a set counts at least that completes the present one
// with classes from a place on, beside what that counts. Some need is open, and
// the classes could meet all.
func (x *stages) countsAtLeast(at int) int64 {
	w, t := x.w, &x.tops
	more := 1
	for r, open := range w.rem {
		if open > 0 {
			more = fromOn(t.row(at, r), more, open)
		}
	}
	return int64(fromOn(t.row(at, len(w.rows)), more, t.sur.openOf(w.rem)))
}

// fromOn returns the first index, from one on, at which sums reach an amount, or
// their number.
func fromOn(sums []int64, from int, amount int64) int {
	for from < len(sums) && sums[from] < amount {
		from++
	}
	return from
}

// A surrogate tells most if the rows that are hard to cover weigh most in it. Which they
// are is found by trying: of all units those are taken that have most of the surrogate for
// their price, for as much as the stage may spend, and rows of which they have too little
// get more weight. (The best weights are the dual of the problem in which units may be
// cut.)

// tuneRounds is how often weights are changed at most. It was measured once on the
// families of bench/ratios -draws: with none of it a third of the draws of 16 types, and
// of own costs, end unproven.
const tuneRounds = 16

// tuneAfter is after how many steps of a stage weights are tuned. With 0 many a search that
// is short costs twice as much, and with 128 fewer levels of draws with own costs are proven.
const tuneAfter = 32

// heaviest is the most that the whole of a row weighs, so that sums over rows and units
// stay in range.
const heaviest = 1 << 44

// A tuning is what is remembered while weights are changed.
type tuning struct {
	order   []int32 // the classes of the stage, those first that have most for their price
	given   []int64 // by row: what those have that were taken
	weights []int64 // the best ones so far
	reach   int64   // what they have of the surrogate
}

// tunable reports whether the stage has a price of its own, and several rows to weigh.
func (x *stages) tunable() bool {
	return len(x.w.rows) > 1 && len(x.prices) > 0 && x.prices[0].level == x.level
}

// tune changes the weights of the surrogate for a stage that has a price. It reports false
// if they show that no set of the stage meets all needs.
func (x *stages) tune() bool {
	w, m, t := x.w, &x.tops.sur, &x.tuning
	t.order = append(t.order[:0], x.order...)
	least, whole := int64(noLimit), int64(1)
	for range tuneRounds {
		w.spend(int64(len(t.order) * (3*len(w.rows) + 8*bits.Len(uint(len(t.order))))))
		x.takeMost(&x.prices[0])
		open := m.openOf(w.rem)
		if t.reach < open {
			return false
		}
		if wide.CmpRatio(uint64(t.reach), uint64(open), uint64(least), uint64(whole)) < 0 {
			least, whole = t.reach, open
			t.weights = append(t.weights[:0], m.weights...)
		}
		x.turn()
	}
	copy(m.weights, t.weights)
	m.fill(w)
	return true
}

// takeMost notes what units have of each row, and of the surrogate, if those that have most
// of it for their price are taken, and the last one is cut.
func (x *stages) takeMost(p *price) {
	w, t, amounts := x.w, &x.tuning, x.tops.sur.amounts
	slices.SortFunc(t.order, func(i, j int32) int { return x.comparePrices(p, i, j) })
	t.given, t.reach = rows.Zeros(t.given, len(w.rows)), 0
	left := p.limit
	for _, i := range t.order {
		c := &w.classes[i]
		units := int64(c.count)
		if p.of[i] > 0 {
			units = min(units, left/p.of[i])
		}
		left -= units * p.of[i]
		t.reach = addCapped(t.reach, mulCapped(units, amounts[i]))
		for _, term := range c.cover {
			t.given[term.row] = addCapped(t.given[term.row], mulCapped(units, min(term.amount, w.rows[term.row].short)))
		}
		if units < int64(c.count) {
			quo, rem := wide.MulDiv(uint64(amounts[i]), uint64(left), uint64(p.of[i]))
			t.reach = addCapped(t.reach, int64(quo+min(rem, 1)))
			return
		}
	}
}

// turn raises the weights of rows of which too little was taken, and lowers the others,
// by up to twice the part that is missing or half of what there is. Smaller steps end
// closer to the best weights if there are few rows, but do not get there with many.
func (x *stages) turn() {
	m := &x.tops.sur
	for r, row := range x.w.rows {
		whole := row.short >> m.shifts[r]
		missing := max(whole-x.tuning.given[r]>>m.shifts[r], -whole/4)
		weight := m.weights[r] + 2*m.weights[r]*missing/whole
		m.weights[r] = min(max(weight, 1), heaviest/whole)
	}
	m.fill(x.w)
}

// comparePrices orders classes by what they cost for what they have of the surrogate.
func (x *stages) comparePrices(p *price, i, j int32) int {
	amounts := x.tops.sur.amounts
	a, b := wide.Mul(uint64(p.of[i]), uint64(amounts[j])), wide.Mul(uint64(p.of[j]), uint64(amounts[i]))
	return cmp.Or(a.Cmp(b), cmp.Compare(amounts[j], amounts[i]), cmp.Compare(i, j))
}

// mulCapped returns a · b for non-negative amounts.
func mulCapped(a, b int64) int64 {
	if hi, lo := bits.Mul64(uint64(a), uint64(b)); hi == 0 && lo < noLimit {
		return int64(lo)
	}
	return noLimit
}
