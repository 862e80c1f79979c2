package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// A knapsack tells what the members that a room takes are worth at most, for all
// rooms up to a width, and who these are. Sizes and rooms are in cells.
type knapsack struct {
	width  int
	sizes  []int32 // of items
	worth  []int32 // of items; all of them together are within int32
	best   []int32 // by room, of all items
	before []int32 // by block, a row: by room, of the items before the block
	block  []int32 // scratch: row by row, by room, of the items up to each of a block
}

// blockItems is how many items are traced at once. To note for every item and room
// whether it is in takes twice the time of all the rest; so rows are kept only from
// block to block, and a block is worked out again if one of its items is in.
const blockItems = 32

// A parcel is the items that are worth most in some room.
type parcel struct {
	tier, gone int32 // whose room it is
	room       int32 // what is left of it, while it is traced
	items      []int32
}

// solve works out what every room takes.
func (x *knapsack) solve() {
	n := x.width + 1
	x.best = rows.Zeros(x.best, n)
	blocks := (len(x.sizes) + blockItems - 1) / blockItems
	x.before = slices.Grow(x.before[:0], blocks*n)[:blocks*n]
	for i := range x.sizes {
		if i%blockItems == 0 {
			copy(x.before[i/blockItems*n:], x.best)
		}
		x.add(x.best, i)
	}
}

// add adds an item to a row.
func (x *knapsack) add(row []int32, i int) {
	size, worth := int(x.sizes[i]), x.worth[i]
	if worth <= 0 || size >= len(row) {
		return
	}
	// Downwards, so that what is read is without the item.
	with := row[size:]
	without := row[:len(with)]
	for c := len(with) - 1; c >= 0; c-- {
		with[c] = max(with[c], without[c]+worth)
	}
}

// trace finds the items of parcels, of which rooms are set.
func (x *knapsack) trace(parcels []parcel) {
	n := x.width + 1
	after := x.best
	for b := (len(x.sizes)+blockItems-1)/blockItems - 1; b >= 0; b-- {
		before := x.before[b*n : (b+1)*n]
		if slices.ContainsFunc(parcels, func(p parcel) bool { return after[p.room] != before[p.room] }) {
			x.traceBlock(parcels, b)
		}
		after = before
	}
}

// traceBlock is trace for the items of a block.
func (x *knapsack) traceBlock(parcels []parcel, b int) {
	n := x.width + 1
	first, end := b*blockItems, min((b+1)*blockItems, len(x.sizes))
	x.block = slices.Grow(x.block[:0], (end-first+1)*n)[:(end-first+1)*n]
	copy(x.block, x.before[b*n:(b+1)*n])
	for i := first; i < end; i++ {
		row := x.block[(i-first+1)*n : (i-first+2)*n]
		copy(row, x.block[(i-first)*n:])
		x.add(row, i)
	}
	for i := end - 1; i >= first; i-- {
		with, without := x.block[(i-first+1)*n:], x.block[(i-first)*n:]
		for p := range parcels {
			if room := parcels[p].room; with[room] != without[room] {
				parcels[p].items = append(parcels[p].items, int32(i))
				parcels[p].room -= x.sizes[i]
			}
		}
	}
}
