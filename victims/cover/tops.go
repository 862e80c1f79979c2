package cover

import (
	"math/bits"
	"slices"
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
// A row is a row of a need. The last one is the mixture of all: a unit that has
// much of one type often has little of another, so that a sum over types says
// more than any of them.
type tops struct {
	rows, width int     // width is 0 if there is no table
	sums        []int64 // by place, row and number of units
	mix         mixture
	list        []int64 // scratch: the largest pieces so far, falling
}

// A mixture sums all rows of the needs up, each with a weight.
type mixture struct {
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
func (x *lesserSearch) fillTops() {
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
	x.fillTop(len(w.rows), func(i int32) int64 { return t.mix.amounts[i] })
	w.spend(int64(size))
}

// fillTop fills in a row, given what a unit of a class has of it.
func (x *lesserSearch) fillTop(r int, amountOf func(class int32) int64) {
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
func (m *mixture) even(w *Worker) {
	m.weights, m.shifts = m.weights[:0], m.shifts[:0]
	for _, row := range w.rows {
		shift := max(bits.Len64(uint64(row.short))-mixBits, 0)
		m.shifts = append(m.shifts, uint8(shift))
		m.weights = append(m.weights, 1<<(mixBits+4)/max(row.short>>shift, 1))
	}
	m.fill(w)
}

// mixBits is how many bits the amounts of a mixture have at most.
const mixBits = 30

// fill computes what a unit of each class has of the mixture. No more than a row
// is short of counts, and it is rounded up.
func (m *mixture) fill(w *Worker) {
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

// openOf returns what is open of a mixture, rounded down.
func (m *mixture) openOf(rem []int64) (open int64) {
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
func (x *lesserSearch) countsAtLeast(at int) int64 {
	w, t := x.w, &x.tops
	more := 1
	for r, open := range w.rem {
		if open > 0 {
			more = fromOn(t.row(at, r), more, open)
		}
	}
	return int64(fromOn(t.row(at, len(w.rows)), more, t.mix.openOf(w.rem)))
}

// fromOn returns the first index, from one on, at which sums reach an amount, or
// their number.
func fromOn(sums []int64, from int, amount int64) int {
	for from < len(sums) && sums[from] < amount {
		from++
	}
	return from
}
