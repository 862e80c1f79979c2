package cover

import (
	"math/bits"
	"slices"
)

// widest is the largest number of units that tables of tops tell about.
const widest = 64

// tops tell how much of each row a number of units can cover at most: those of
// the classes from a place on that have most of it. Units count as the level that
// counts has it, and a unit that counts several as so many pieces.
//
// A row is a row of a need, or a mix: the sum of all rows, each with a weight.
// A unit that has much of one type often has little of another, so that a mix
// says more than any row if needs are short of several types.
type tops struct {
	rows, width int
	sums        []int64 // by place, row and number of units
	mixes       [2]mixture
	open        []int64 // scratch: what is open of each row
	list        []int64 // scratch: the largest pieces so far, falling
}

// A mixture gives every row of the needs a weight.
type mixture struct {
	weights []int64
	shifts  []uint8
	amounts []int64 // by class: what a unit has
	used    bool
}

// row returns the sums of a row at a place, by number of units.
func (t *tops) row(at, r int) []int64 {
	from := (at*t.rows + r) * t.width
	return t.sums[from : from+t.width : from+t.width]
}

// fillTops orders the classes and makes the table. It reports false if that would
// be too large.
func (x *lesserSearch) fillTops() bool {
	w, t := x.w, &x.tops
	n := len(w.classes)
	t.width = 2 + int(min(x.countsAtMost(), widest))
	t.rows = len(w.rows) + len(t.mixes)
	if (n+1)*t.rows*t.width > largestTable {
		return false
	}
	x.sort()
	t.mixes[0].even(w)
	t.mixes[1].used = false
	t.sums = slices.Grow(t.sums[:0], (n+1)*t.rows*t.width)[:(n+1)*t.rows*t.width]
	for r := range w.rows {
		x.fillTop(r, func(i int32) int64 { return w.amount(i, int32(r)) })
	}
	x.fillMixes()
	w.spend(int64(n * t.rows * t.width))
	return true
}

// fillMixes fills in the rows of mixes.
func (x *lesserSearch) fillMixes() {
	w, t := x.w, &x.tops
	for m := range t.mixes {
		if mix := &t.mixes[m]; mix.used {
			x.fillTop(len(w.rows)+m, func(i int32) int64 { return mix.amounts[i] })
		}
	}
}

// countsAtMost returns what a set may count to be of interest, or as much as
// tables tell about.
func (x *lesserSearch) countsAtMost() int64 {
	w := x.w
	switch {
	case w.top.found:
		return w.top.total.Levels[w.p.Order.Count]
	case w.limit != nil:
		return w.limit.Levels[w.p.Order.Count]
	}
	return widest
}

// fillTop fills in a row, given what a unit of a class has of it.
func (x *lesserSearch) fillTop(r int, amountOf func(class int32) int64) {
	w, t, count := x.w, &x.tops, x.w.p.Order.Count
	t.list = t.list[:0]
	order := x.order
	clear(t.row(len(order), r))
	for at := len(order) - 1; at >= 0; at-- {
		c := &w.classes[order[at]]
		if amount := amountOf(order[at]); amount > 0 {
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
func (x *mixture) even(w *Worker) {
	x.weights, x.shifts = x.weights[:0], x.shifts[:0]
	for _, row := range w.rows {
		shift := max(bits.Len64(uint64(row.short))-mixBits, 0)
		x.shifts = append(x.shifts, uint8(shift))
		x.weights = append(x.weights, 1<<(mixBits+4)/max(row.short>>shift, 1))
	}
	x.fill(w)
}

// mixBits is how many bits the amounts of a mixture have at most.
const mixBits = 30

// fill computes what a unit of each class has of the mixture. No more than a row
// is short of counts, and it is rounded up.
func (x *mixture) fill(w *Worker) {
	x.used = len(w.rows) > 1 // or it says no more than the row
	x.amounts = x.amounts[:0]
	for i := range w.classes {
		amount := int64(0)
		for _, t := range w.classes[i].cover {
			v, shift := min(t.amount, w.rows[t.row].short), x.shifts[t.row]
			amount += ((v-1)>>shift + 1) * x.weights[t.row]
		}
		x.amounts = append(x.amounts, amount)
	}
}

// openOf returns what is open of a mixture, rounded down.
func (x *mixture) openOf(rem []int64) (open int64) {
	for r, v := range rem {
		if v > 0 {
			open += v >> x.shifts[r] * x.weights[r]
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
	for m := range t.mixes {
		if mix := &t.mixes[m]; mix.used {
			more = fromOn(t.row(at, len(w.rows)+m), more, mix.openOf(w.rem))
		}
	}
	return int64(more)
}

// fromOn returns the first index, from one on, at which sums reach an amount, or
// their number.
func fromOn(sums []int64, from int, amount int64) int {
	for from < len(sums) && sums[from] < amount {
		from++
	}
	return from
}
