// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/sat"
)

// A search that takes long gets tables of how much of each dimension a number of victims gives
// at most: those of the rows from a place on that give most of it. A dimension by itself tells
// where prices do not, and a table tells it in whole units. The last one is of all dimensions at
// the prices of the level that counts.

const (
	// widest is the largest number of victims that tables tell of.
	widest = 64
	// largestTable is how many amounts they may have in all. A search that needs more of them
	// does without.
	largestTable = 1 << 18
	// tablesAfter is after how many steps a search gets them.
	tablesAfter = 32
)

// tables are what a search knows of numbers of victims.
type tables struct {
	made  bool
	rows  int     // dimensions, and one
	width int     // victims, and one; 0 if there are no tables
	sums  []int64 // by place, dimension and number of victims
	list  []int64 // scratch: the largest pieces so far, falling
}

// row returns the sums of a dimension at a place, by number of victims.
func (t *tables) row(at, k int) []int64 {
	from := (at*t.rows + k) * t.width
	return t.sums[from : from+t.width : from+t.width]
}

// fillTables makes the tables for the rows in the order in which they are decided. No set of
// more victims than the goal has is of interest.
func (x *solver) fillTables(goal int64) {
	t, n, q := &x.tables, len(x.order), &x.priced[x.pricedAt[x.s.Order.Count]-1]
	t.made, t.rows, t.width = true, len(x.rem)+1, int(2+min(goal, widest))
	size := (n + 1) * t.rows * t.width
	if size > largestTable {
		t.width = 0
		return
	}
	x.s.Meter.Pay(int64(size))
	t.sums = slices.Grow(t.sums[:0], size)[:size]
	for k := range x.rem {
		x.fillTable(k, func(i int32) int64 { return x.p.Rows[i].Gives[k] })
	}
	x.fillTable(len(x.rem), func(i int32) int64 { return q.worth[i] })
}

// fillTable fills in that of a dimension, of which a unit of each row has an amount.
func (x *solver) fillTable(k int, amountOf func(i int32) int64) {
	t := &x.tables
	t.list = t.list[:0]
	clear(t.row(len(x.order), k))
	for at := len(x.order) - 1; at >= 0; at-- {
		r := &x.p.Rows[x.order[at]]
		if amount := amountOf(x.order[at]); amount > 0 {
			// A unit of several victims is as many pieces.
			pieces := r.Levels[x.s.Order.Count]
			t.insert((amount-1)/pieces+1, pieces, r.Count)
		}
		sum := int64(0)
		for m, row := 0, t.row(at, k); m < len(row); m++ {
			row[m] = sum
			if m < len(t.list) {
				sum = sat.Add(sum, t.list[m])
			}
		}
	}
}

// insert puts the pieces of some units into the list.
func (t *tables) insert(piece, pieces, units int64) {
	room := int64(t.width - 1)
	from := len(t.list)
	for from > 0 && t.list[from-1] < piece {
		from--
	}
	for range min(min(pieces, room)*min(units, room), room-int64(from)) {
		if len(t.list) == int(room) {
			t.list = t.list[:room-1]
		}
		t.list = slices.Insert(t.list, from, piece)
	}
}

// countsAtLeast returns how many victims it takes at least to give what is open with rows from a
// place on, if that is as many as the most or more; else something less. Of more it says no more.
func (x *solver) countsAtLeast(at int, most int64) int64 {
	if most >= int64(x.tables.width) {
		return 1
	}
	low := most - 1
	q := &x.priced[x.pricedAt[x.s.Order.Count]-1]
	for k := range len(x.rem) + 1 {
		open := int64(0)
		if k < len(x.rem) {
			open = x.rem[k]
		} else {
			open = x.open(q)
		}
		if open <= 0 {
			continue
		}
		switch sums := x.tables.row(at, k); {
		case most < 1 || sums[most] < open:
			return most + 1
		case sums[most-1] < open:
			low = most
		}
	}
	return max(low, 1)
}

// told reports whether there are tables, for sets of at most so many victims.
func (x *solver) told(most int64) bool {
	if !x.tables.made && x.single && x.steps >= cmp.Or(x.early, tablesAfter) && x.pricedAt[x.s.Order.Count] > 0 {
		x.fillTables(most)
	}
	return x.tables.made && x.tables.width > 0
}
