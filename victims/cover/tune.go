package cover

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/wide"
)

// A mixture tells most if the rows that are hard to cover weigh most in it. Which they
// are is found by trying: of all units those are taken that have most of the mixture for
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
	reach   int64   // what they have of the mixture
}

// tunable reports whether the stage has a price of its own, and several rows to weigh.
func (x *lesserSearch) tunable() bool {
	return len(x.w.rows) > 1 && len(x.prices) > 0 && x.prices[0].level == x.level
}

// tune changes the weights of the mixture for a stage that has a price. It reports false
// if they show that no set of the stage meets all needs.
func (x *lesserSearch) tune() bool {
	w, m, t := x.w, &x.tops.mix, &x.tuning
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

// takeMost notes what units have of each row, and of the mixture, if those that have most
// of it for their price are taken, and the last one is cut.
func (x *lesserSearch) takeMost(p *price) {
	w, t, amounts := x.w, &x.tuning, x.tops.mix.amounts
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
// by up to twice the part that is missing or half of what there is. Smaller steps would
// end closer to the best weights, and too far away from them if there are many rows.
func (x *lesserSearch) turn() {
	m := &x.tops.mix
	for r, row := range x.w.rows {
		whole := row.short >> m.shifts[r]
		missing := max(whole-x.tuning.given[r]>>m.shifts[r], -whole/4)
		weight := m.weights[r] + 2*m.weights[r]*missing/whole
		m.weights[r] = min(max(weight, 1), heaviest/whole)
	}
	m.fill(x.w)
}

// comparePrices orders classes by what they cost for what they have of the mixture.
func (x *lesserSearch) comparePrices(p *price, i, j int32) int {
	amounts := x.tops.mix.amounts
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
