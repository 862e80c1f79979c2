// SPDX-License-Identifier: Apache-2.0

package gangs

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// MostRows is how many rows a problem may have.
const MostRows = 4

// A Problem is some members, sites that could have them, and who runs there. A solver reads
// it and changes nothing. Amounts are rows of Types numbers.
type Problem struct {
	Types  int
	Scarce int     // the type that members lack most
	Kinds  []Kind  // of members, the largest first
	Sites  []Site  // in the order in which they are preferred
	Units  []Unit  // site by site, and of a site the cheapest first
	Gangs  []int32 // of how many units of each running gang may go one by one
	Wholes []Whole // running gangs as a whole
	Parts  []Part  // of wholes, one after another
	Rows   []Row   // at most MostRows

	// A plan is compared by the bits of its price from Head on, then by the highest rank of
	// who goes, then by the highest priority, and then by its price.
	Head uint
	// Below bit Levels of a price come parts of which nothing is proven. They are no less
	// than 0 in a unit.
	Levels uint
	// Waste is what each amount costs that goes beyond what sites need, if there is one
	// type. It is in the prices of units and wholes: as if nothing of them were needed.
	Waste Price
	// Closed says which sites take no members of a kind: site by site, a row of kinds. nil:
	// all take all.
	Closed []bool
	// Partial: there are more sites, units or rows, or prices have lost bits. Then nothing
	// is proven.
	Partial bool
}

// A Kind is members that are alike.
type Kind struct {
	Size  []int64
	Count int32
}

// A Site has room for members.
type Site struct {
	Free       []int64 // less than 0 if more is used than there is
	First, End int32   // its units
}

// A Unit runs on one site and may go alone.
type Unit struct {
	Size           []int64
	Price          Price
	Rank, Priority int64
	Gang           int32 // a row of Gangs, or -1
	Use            Use
}

// A Whole is a running gang that goes as a whole. Units of it do not go beside it.
type Whole struct {
	Price          Price
	Rank, Priority int64
	Gang           int32 // a row of Gangs, or -1
	Use            Use
	First, End     int32 // its parts
}

// A Part is what a whole frees on a site.
type Part struct {
	Site int32
	Size []int64
}

// A Row bounds a sum over all who go. If the room is less than 0 it is a need: uses are then
// what they free of it, less than 0 too, and more must be freed than nothing.
type Row struct {
	Room int64
	// Over is what each amount costs that goes beyond the room. Zero: none may.
	Over Price
}

// A Use is amounts of all rows.
type Use [MostRows]int64

// A Selection is a plan: who is placed where, and who goes for that.
type Selection struct {
	Seats  []Seat  // by site, and then by kind
	Units  []int32 // ascending
	Wholes []int32 // ascending

	price          Price
	rank, priority int64
}

// A Seat is some members of a kind on a site.
type Seat struct{ Site, Kind, Count int32 }

// copyFrom makes s a copy of t.
func (s *Selection) copyFrom(t *Selection) {
	s.Seats, s.Units, s.Wholes = append(s.Seats[:0], t.Seats...), append(s.Units[:0], t.Units...), append(s.Wholes[:0], t.Wholes...)
	s.price, s.rank, s.priority = t.price, t.rank, t.priority
}

// A ceiling says who may go.
type ceiling struct {
	plain          bool // nobody whose price has bits from Head on
	rank, priority int64
}

func noCeiling() ceiling { return ceiling{rank: math.MaxInt64, priority: math.MaxInt64} }

// head returns the bits of a price from Head on. What is below them may be less than 0.
func (p *Problem) head(price Price) Price {
	return price.Add(Price{lo: 1}.left(p.Head).right(1)).right(p.Head)
}

func (p *Problem) lets(l *ceiling, price Price, rank, priority int64) bool {
	return rank <= l.rank && priority <= l.priority && !(l.plain && p.head(price) != Price{})
}

func (p *Problem) letsUnit(l *ceiling, u *Unit) bool {
	return p.lets(l, u.Price, u.Rank, u.Priority)
}

func (p *Problem) letsWhole(l *ceiling, w *Whole) bool {
	return p.lets(l, w.Price, w.Rank, w.Priority)
}

// takes reports whether a site takes members of a kind.
func (p *Problem) takes(site, kind int32) bool {
	return p.Closed == nil || !p.Closed[int(site)*len(p.Kinds)+int(kind)]
}

// below returns the ceiling of a plan: it admits who is no worse than who goes.
func (p *Problem) below(s *Selection) ceiling {
	return ceiling{p.head(s.price) == Price{}, s.rank, s.priority}
}

// compare orders plans by what they cost.
func (p *Problem) compare(a, b *Selection) int {
	return cmp.Or(
		p.head(a.price).Compare(p.head(b.price)),
		cmp.Compare(a.rank, b.rank), cmp.Compare(a.priority, b.priority), a.price.Compare(b.price),
	)
}

// judge works out what a plan costs.
func (p *Problem) judge(s *Selection) {
	s.price, s.rank, s.priority = Price{}, math.MinInt64, math.MinInt64
	var use Use
	for _, i := range s.Units {
		u := &p.Units[i]
		s.price = s.price.Add(u.Price)
		s.rank, s.priority = max(s.rank, u.Rank), max(s.priority, u.Priority)
		use.add(&u.Use, +1)
	}
	for _, i := range s.Wholes {
		w := &p.Wholes[i]
		s.price = s.price.Add(w.Price)
		s.rank, s.priority = max(s.rank, w.Rank), max(s.priority, w.Priority)
		use.add(&w.Use, +1)
	}
	for at := 0; at < len(s.Seats); {
		end := at + 1
		for end < len(s.Seats) && s.Seats[end].Site == s.Seats[at].Site {
			end++
		}
		if (p.Waste != Price{}) {
			load := int64(0)
			for _, seat := range s.Seats[at:end] {
				load += int64(seat.Count) * p.Kinds[seat.Kind].Size[0]
			}
			s.price = s.price.Sub(p.Waste.Times(max(load-p.Sites[s.Seats[at].Site].Free[0], 0)))
		}
		at = end
	}
	s.price = s.price.Add(p.fine(&use))
}

// add adds sign times v.
func (u *Use) add(v *Use, sign int64) {
	for r, n := range v {
		u[r] += sign * n
	}
}

// fine returns what it costs that rows are passed that may be.
func (p *Problem) fine(use *Use) (sum Price) {
	for r := range p.Rows {
		if row := &p.Rows[r]; use[r] > row.Room && row.Over != (Price{}) {
			sum = sum.Add(row.Over.Times(use[r] - max(row.Room, 0)))
		}
	}
	return sum
}

// over returns by how much rows are passed that must not be, as 2^20ths of their rooms.
func (p *Problem) over(use *Use) (sum int64) {
	for r := range p.Rows {
		if row := &p.Rows[r]; use[r] > row.Room && row.Over == (Price{}) {
			sum += max(p.share(r, use[r]-row.Room), 1)
		}
	}
	return sum
}

// share returns an amount of a row in 2^20ths of its room, if that is no more than 2^40.
func (p *Problem) share(r int, amount int64) int64 {
	room := uint64(max(p.Rows[r].Room, -p.Rows[r].Room, 1))
	hi, lo := bits.Mul64(uint64(max(amount, 0)), 1<<20)
	if hi >= room {
		return 1 << 40
	}
	q, _ := bits.Div64(hi, lo, room)
	return int64(min(q, 1<<40))
}

// keeps reports whether rows that are no needs are kept.
func (p *Problem) keeps(use *Use) bool {
	for r := range p.Rows {
		if row := &p.Rows[r]; row.Room >= 0 && use[r] > row.Room && row.Over == (Price{}) {
			return false
		}
	}
	return true
}

// passes reports whether any row is passed.
func (p *Problem) passes(use *Use) bool {
	for r := range p.Rows {
		if use[r] > p.Rows[r].Room {
			return true
		}
	}
	return false
}

// heights lists the ranks, or the priorities, of who may go, ascending.
func (p *Problem) heights(dst []int64, of func(rank, priority int64) int64) []int64 {
	for i := range p.Units {
		dst = append(dst, of(p.Units[i].Rank, p.Units[i].Priority))
	}
	for i := range p.Wholes {
		dst = append(dst, of(p.Wholes[i].Rank, p.Wholes[i].Priority))
	}
	slices.Sort(dst)
	return slices.Compact(dst)
}
