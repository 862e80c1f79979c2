package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/victims"
)

// A pricer bounds the number of victims by prices of members. Let every member have
// a price, and every victim one and the same. Then a host that takes members with so
// many gone saves the prices of these members at most, less that of the victims;
// and no plan saves more than all hosts together. What all members cost beyond that
// must be paid for by victims.
//
// Sums are a special case of it, with prices by size. But a member of more than half
// the room that a victim makes is mostly alone there and so worth more than half a
// victim, and prices say so. Good ones come of a programme that learns which
// members hosts could take; see [priceBook]. The bound holds for any.
//
// Room is that of one type. It forgets all else that a pooler forgets, too.
type pricer struct {
	*jobCase
	*effort
	tiers   tiers
	book    priceBook
	sack    knapsack
	values  []int64 // of each step of the tiers, one tier after another
	prices  int64   // of all members
	unit    int64   // price of a victim
	members []int32 // places in todo of those who want the type, the smallest first
	sizes   []int64 // theirs
	widest  int64   // room that the knapsack has
	parcels []parcel
}

// onePrice is the price of a victim in which prices of members are counted.
const onePrice = 1 << 16

// A priceQuestion is about the victims of all plans below a ceiling.
type priceQuestion struct {
	tierQuestion
	plan *incumbent // one of them
}

// fewest returns how many victims there are at least in every plan. It may be fewer
// than it could show if that is less than the plan at hand has.
func (x *pricer) fewest(q *priceQuestion) (most int64) {
	x.listMembers(q.typ)
	if len(x.members) == 0 || x.exhausted() {
		return 0
	}
	x.tiers.jobCase = x.jobCase
	x.tiers.measure(&q.tierQuestion)
	// Room for two of the largest members is enough to look at, mostly, and cells are
	// small then. If it is not, hosts that take many of the smallest decide.
	largest, deepest := x.sizes[len(x.sizes)-1], 0
	for times := int64(2); times <= 16; times *= 2 {
		depth := x.tiers.depthFor(sat.Mul(times, largest))
		if depth == deepest {
			break // hosts have no more
		}
		x.tiers.depth, deepest = depth, depth
		x.scale()
		x.book.begin(x, q.plan)
		n, all := x.turns(q.plan.levels[victims.LevelVictims])
		if most = max(most, n); all {
			break
		}
	}
	return most
}

// turns returns how many victims prices show at the depth at hand, and whether more
// depth would be of no use.
func (x *pricer) turns(enough int64) (most int64, all bool) {
	// What the plan has on its hosts is where prices begin. After that each turn finds
	// hosts that take more than their prices say, which is then known.
	const turns = 200
	for range turns {
		// Cells are quick: sixteen of them take the time of a step.
		if x.spend(len(x.members) * x.sack.width / 16); x.exhausted() {
			return most, true
		}
		x.price()
		x.findUnit()
		most = max(most, (max(x.saved(), 0)+x.unit-1)/x.unit)
		learned := x.book.learn(x)
		// As many as the plan has is all that there is to show.
		if most >= enough || !x.book.mayShow(enough) {
			return most, true
		}
		if !learned {
			return most, false
		}
	}
	return most, true
}

// listMembers lists the members that want a type.
func (x *pricer) listMembers(typ int) {
	x.members, x.sizes = x.members[:0], x.sizes[:0]
	for m := range x.todo {
		if x.kindAt(int32(m)).size[typ] > 0 {
			x.members = append(x.members, int32(m))
		}
	}
	slices.SortStableFunc(x.members, func(a, b int32) int {
		return int(min(max(x.kindAt(a).size[typ]-x.kindAt(b).size[typ], -1), 1))
	})
	for _, m := range x.members {
		x.sizes = append(x.sizes, x.kindAt(m).size[typ])
	}
}

// scale sets how large a cell is. Sizes and rooms are both rounded down, so members
// that have room have it in cells.
func (x *pricer) scale() {
	const most, least, cells = 1 << 13, 1 << 8, 1 << 23
	x.sack.width = min(max(cells/len(x.members), least), most)
	x.widest = 1
	for i := range x.tiers.list {
		x.widest = max(x.widest, after(x.tiers.list[i].steps, x.tiers.depth))
	}
	x.sack.sizes = x.sack.sizes[:0]
	for _, size := range x.sizes {
		x.sack.sizes = append(x.sack.sizes, x.cells(size))
	}
}

// cells returns an amount in cells, which is one more than there are for more room
// than the knapsack has.
func (x *pricer) cells(amount int64) int32 {
	if amount > x.widest {
		return int32(x.sack.width) + 1
	}
	cells, _ := wide.MulDiv(uint64(amount), uint64(x.sack.width), uint64(x.widest))
	return int32(cells)
}

// price asks the book for prices, and works out what every step of the tiers is
// worth at most.
func (x *pricer) price() {
	x.sack.worth = x.book.appendPrices(x.sack.worth[:0])
	x.prices = 0
	for _, price := range x.sack.worth {
		x.prices += int64(price)
	}
	x.sack.solve()
	densest := x.densest()
	x.values = x.values[:0]
	for i := range x.tiers.list {
		for _, room := range x.tiers.list[i].steps {
			x.values = append(x.values, x.worthOf(room, densest))
		}
	}
}

// densest returns the item with the largest price for its size.
func (x *pricer) densest() (item int) {
	worth := x.sack.worth
	for i, size := range x.sizes {
		if wide.CmpRatio(uint64(worth[i]), uint64(size), uint64(worth[item]), uint64(x.sizes[item])) > 0 {
			item = i
		}
	}
	return item
}

// worthOf returns what members that some room takes are worth at most. Room beyond
// that of the knapsack counts as if it could be filled up with the densest item.
func (x *pricer) worthOf(room int64, densest int) int64 {
	if room < 0 {
		return 0
	}
	if cells := x.cells(room); int(cells) <= x.sack.width {
		return int64(x.sack.best[cells])
	}
	full := wide.Mul(uint64(room), uint64(x.sack.worth[densest]))
	if full.Cmp(wide.Mul(uint64(x.prices), uint64(x.sizes[densest]))) >= 0 {
		return x.prices
	}
	// Less than all prices, so the quotient fits.
	worth, _ := wide.MulDiv(uint64(room), uint64(x.sack.worth[densest]), uint64(x.sizes[densest]))
	return int64(worth)
}

// saved returns what members cost beyond what hosts save, if victims have the price
// of the moment: as much must be paid for by victims.
func (x *pricer) saved() int64 {
	left, values := x.prices, x.values
	for i := range x.tiers.list {
		t := &x.tiers.list[i]
		most := int64(0)
		for n, v := range values[:len(t.steps)] {
			most = max(most, v-int64(n)*x.unit)
		}
		values = values[len(t.steps):]
		left = max(left-sat.Mul(most, t.hosts), -1)
	}
	return left
}

// findUnit finds the price of victims at which most of them are needed. It is one at
// which some tier just saves nothing with so many gone.
func (x *pricer) findUnit() {
	best, most := int64(onePrice), int64(0)
	from := 0
	for i := range x.tiers.list {
		n := len(x.tiers.list[i].steps)
		for gone := 1; gone < min(n, x.tiers.depth+1); gone++ {
			v := x.values[from+gone]
			if v == 0 {
				continue
			}
			x.unit = (v + int64(gone) - 1) / int64(gone)
			// As fractions: both are below 2 to the power of 31.
			if left := x.saved(); left > 0 && left*best > most*x.unit {
				best, most = x.unit, left
			}
		}
		from += n
	}
	x.unit = best
}

// findParcels finds the members that are worth most with each number gone, for each
// tier where they cost less than they are worth.
func (x *pricer) findParcels() {
	x.parcels = x.parcels[:cap(x.parcels)] // memory stays
	n, from := 0, 0
	for i := range x.tiers.list {
		t := &x.tiers.list[i]
		for gone := range min(len(t.steps), x.tiers.depth+1) {
			if x.values[from+gone] <= int64(gone)*onePrice {
				continue
			}
			if n == len(x.parcels) {
				x.parcels = append(x.parcels, parcel{})
			}
			p := &x.parcels[n]
			p.tier, p.gone, p.room, p.items = int32(i), int32(gone), x.cells(t.steps[gone]), p.items[:0]
			n++
		}
		from += len(t.steps)
	}
	x.parcels = x.parcels[:n]
	x.sack.trace(x.parcels)
}
