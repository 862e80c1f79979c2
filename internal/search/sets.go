// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// What prices cannot tell, a look at a few sets of units often can: three units come in
// whole numbers. It is a depth-first search over the rows that the ladder has kept, those
// first that are worth most, and it knows no laws over sums. So if it finds no set there
// is no plan; and if it finds one, those units are tried as a plan.

const (
	// mostSets is how many sets are looked at for the cheapest plan of a node, and mostDug
	// how many for one of lesser levels. With more of them a search by classes takes about
	// as long.
	mostSets = 1 << 8
	mostDug  = 1 << 9
	// setWork is what it takes to look at a set, in elementary work, besides what it takes
	// for each type; and beginWork what it takes to begin.
	setWork, typeWork, beginWork = 20, 2, 150
	// mostRows is how many rows are looked at. With more of them sets are too many.
	mostRows = 1 << 8
	// lowBits is how many bits the low half of a level has; see [cost.Order].
	lowBits = 32
)

// sets is the state of such a search.
type sets struct {
	order  []int32       // the rows, those first that are worth most
	least  []cost.Levels // by place in the order: the least of each level from there on
	levels []cost.Levels // by row, without what is taken off; see level
	base   cost.Levels   // what is taken off per victim, so that no level is negative
	short  []int64       // by number of units taken, and type: what is still lacking
	sums   []cost.Levels // by number of units taken: what they cost
	taken  []Pick
	steps  int
	prices []int64

	alike  bool  // all units cost the same, and so the number of them tells the levels
	most   int64 // then: of how many units a set is cheap enough
	any    bool  // any set will do: there is no goal
	full   bool  // work and excess count, too
	goal   cost.Levels
	than   *Yardstick
	own    Yardstick // of the cheapest set so far
	found  bool
	tied   bool // another set has the same work and excess, and keys decide
	picks  []Pick
	total  cost.Total // of the picks
	missed attempts
}

// An outcome is what a look at sets tells.
type outcome uint8

const (
	unclear outcome = iota // it would take too long
	none                   // there is no set that is cheap enough
	some                   // the picks are such a set
)

// dig looks at up to so many sets for the cheapest one of the rivals, or of the kept rows if
// there is no best plan. If only lesser levels are wanted, the first set of lesser levels is
// enough. With the most steps that it ever takes it is tried only if that has not been in
// vain.
func (s *Search) dig(steps int) outcome {
	x, l := &s.sets, &s.ladder
	// Without a best plan those are looked at that may be as cheap as the bound.
	rivals := l.rivals
	if !s.Best.Found {
		rivals = l.kept
	}
	if len(rivals) > mostRows || steps == mostDug && x.missed.vain() || !s.Lesser && ways(l.units, int64(len(rivals))) > mostSets {
		return unclear
	}
	x.any, x.full, x.found, x.tied = !s.Best.Found, !s.Lesser, false, false
	x.steps = steps
	l.kept = append(l.kept[:0], rivals...)
	s.level()
	if x.than = &s.Best.Yardstick; x.any {
		x.than = &x.own
		x.own.any = true
	}
	before := x.steps
	x.short, x.taken = append(x.short[:0], l.site.Need...), x.taken[:0]
	x.sums = append(x.sums[:0], cost.Levels{})
	s.digFrom(0, 0, resources.Wide{})
	s.Meter.Pay(int64((before-max(x.steps, 0))*(setWork+typeWork*len(s.Capacity)) + beginWork + 8*len(x.order)))
	got := none
	switch {
	case x.found:
		got = some
	case x.steps < 0:
		got = unclear
	}
	if steps == mostDug {
		x.missed.note(got != unclear)
	}
	return got
}

// ways returns in how many ways so many units can be dealt out to so many rows, or
// something above mostSets.
func ways(units, rows int64) int64 {
	// Choose rows-1 of units+rows-1. Each step divides without rest.
	n := int64(1)
	for k := int64(1); k < rows && n <= mostSets; k++ {
		n = n * (units + k) / k
	}
	return n
}

// level lists the rows in order, with levels of which none is negative: then those of a
// part of a set are no more than those of all of it. What is taken off is the same for
// all victims, and levels that may be negative are compared for sets of one number only.
func (s *Search) level() {
	x, l, o := &s.sets, &s.ladder, s.Order
	if !l.memo.dug {
		s.sortRows()
	}
	x.base = cost.Levels{}
	if x.alike = l.alike && s.single(); x.alike {
		s.countMost()
		return
	}
	for level := o.Count + 1; level < cost.NumLevels; level++ {
		x.base[level] = noLimit
		for _, i := range x.order {
			levels := &l.site.Rows[i].Levels
			x.base[level] = min(x.base[level], floorDiv(levels[level], levels[o.Count]))
		}
	}
	x.levels = slices.Grow(x.levels[:0], len(l.site.Rows))[:len(l.site.Rows)]
	x.least = slices.Grow(x.least[:0], len(x.order)+1)[:len(x.order)+1]
	for at := len(x.order) - 1; at >= 0; at-- {
		i := x.order[at]
		x.levels[i] = x.lower(&l.site.Rows[i].Levels, o)
		x.least[at] = x.levels[i]
		if at+1 < len(x.order) {
			for k, v := range x.least[at+1] {
				x.least[at][k] = min(x.least[at][k], v)
			}
		}
	}
	if !x.any {
		x.goal = x.lower(&s.Best.Total.Levels, o)
	}
}

// sortRows lists the rows in the order in which they are taken.
func (s *Search) sortRows() {
	x, l := &s.sets, &s.ladder
	l.memo.dug = s.plain
	x.prices = append(x.prices[:0], s.prices.even...)
	if n := &s.prices.learned[s.Order.Count]; s.Lesser && n.n > 0 {
		x.prices = append(x.prices[:0], n.rows[(n.next+lessons-1)%lessons]...)
	}
	l.weigh(x.prices)
	x.order = x.order[:0]
	for _, i := range l.kept {
		if l.worth[i] > 0 {
			x.order = append(x.order, i)
		}
	}
	slices.SortFunc(x.order, func(i, j int32) int { return cmp.Or(cmp.Compare(l.worth[j], l.worth[i]), cmp.Compare(i, j)) })
}

// single reports whether a unit is one victim without a cost in two halves.
func (s *Search) single() bool {
	of := &s.ladder.site.Rows[0].Levels
	for level, v := range of {
		if v != 0 && (s.isWide(level) || s.Order.Carry>>level&1 != 0) {
			return false
		}
	}
	return of[s.Order.Count] == 1
}

// countMost finds out how many units a set may have if all cost the same.
func (s *Search) countMost() {
	x := &s.sets
	x.most = mostUnits
	if x.any {
		return
	}
	x.goal = s.Best.Total.Levels
	// The bound is enough, and one more never costs less.
	for x.most = max(s.ladder.units, 1) - 1; x.most < mostUnits; x.most++ {
		levels := s.levelsOf(x.most + 1)
		if c := s.Order.CompareLevels(&levels, &x.goal); c > 0 || c == 0 && s.Lesser {
			return
		}
	}
}

// levelsOf returns what so many units cost that all cost the same.
func (s *Search) levelsOf(units int64) cost.Levels {
	levels := s.ladder.site.Rows[0].Levels
	for level := range levels {
		if s.Order.Max>>level&1 == 0 {
			levels[level] *= units
		}
	}
	return levels
}

// lower takes the base off for each victim.
func (x *sets) lower(levels *cost.Levels, o *cost.Order) (low cost.Levels) {
	low = *levels
	for level := o.Count + 1; level < cost.NumLevels; level++ {
		low[level] -= x.base[level] * levels[o.Count]
	}
	return low
}

// digFrom goes on with units of the row at a place of the order, so many of which are
// taken, and of those behind it. So each set is looked at once.
func (s *Search) digFrom(place int, here int64, work resources.Wide) {
	x, types := &s.sets, len(s.Capacity)
	n := len(x.short)/types - 1 // units that are taken
	open, covered := s.open(rows.At(x.short, n, types))
	if covered {
		if x.alike {
			x.sums[0] = s.levelsOf(int64(n))
			s.consider(&x.sums[0], work)
			return
		}
		s.consider(&x.sums[n], work)
		return
	}
	for ; place < len(x.order); place, here = place+1, 0 {
		i := x.order[place]
		row := &s.ladder.site.Rows[i]
		if here == row.Count {
			continue
		}
		// Those that come later are worth less, and have no less of any level.
		more, ok := s.unitsFor(place, here, open)
		if !ok || x.alike && int64(n)+more > x.most || !x.alike && !s.promises(&x.sums[n], n, &x.least[place], more) || x.steps < 0 {
			return
		}
		if x.steps--; x.steps < 0 {
			return
		}
		x.short = append(x.short[:(n+1)*types], x.short[n*types:(n+1)*types]...)
		for t, v := range row.Size {
			x.short[(n+1)*types+t] -= v
		}
		if here == 0 {
			x.taken = append(x.taken, Pick{Row: i})
		}
		x.taken[len(x.taken)-1].Count++
		lost := work
		if !x.alike {
			x.sums = append(x.sums[:n+1], s.Order.Join(&x.sums[n], n, &x.levels[i]))
		}
		if x.full && row.Times != nil {
			lost = work.Add(s.work(row, here))
		}
		s.digFrom(place, here+1, lost)
		if x.short = x.short[:(n+1)*types]; s.Lesser && x.found {
			return
		}
		if x.taken[len(x.taken)-1].Count--; here == 0 {
			x.taken = x.taken[:len(x.taken)-1]
		}
	}
}

// open returns what is lacking of all types at the prices, and whether nothing is.
func (s *Search) open(short []int64) (open int64, covered bool) {
	covered = true
	for k := range s.prices.dims {
		d := &s.prices.dims[k]
		if lack := short[d.typ]; lack > 0 {
			open += min(lack>>d.shift, s.ladder.need[k]) * s.sets.prices[k]
			covered = false
		}
	}
	return open, covered
}

// unitsFor returns how many units it takes at least that are worth what is open, of the
// rows from a place on, and false if all of them are not.
func (s *Search) unitsFor(place int, here, open int64) (units int64, ok bool) {
	x, l := &s.sets, &s.ladder
	if open <= 0 {
		return 1, true
	}
	for ; place < len(x.order); place, here = place+1, 0 {
		i := x.order[place]
		worth, left := l.worth[i], l.site.Rows[i].Count-here
		if take := (open-1)/worth + 1; take <= left {
			return units + take, true
		}
		open -= left * worth
		units += left
	}
	return 0, false
}

// promises reports whether a set that has some levels so far, of n units, may reach the
// goal with so many more units that have the least of each level.
func (s *Search) promises(levels *cost.Levels, n int, least *cost.Levels, more int64) bool {
	x, o := &s.sets, s.Order
	if x.any && !x.found {
		return true
	}
	for _, what := range s.sequence {
		if what >= cost.NumLevels {
			break
		}
		low := levels[what]
		switch {
		case o.Max>>what&1 == 0:
			low += more * least[what]
		case n == 0 || least[what] > low:
			low = least[what]
		}
		// What the low half of a number comes to is carried into the high one.
		if s.isWide(int(what)) {
			low += (levels[what+1] + more*least[what+1]) >> lowBits
		}
		if o.Carry>>what&1 != 0 {
			low &= 1<<lowBits - 1
		}
		if low != x.goal[what] {
			return low < x.goal[what]
		}
	}
	return x.full
}

// consider takes note of the set that is taken if it is cheaper than those before it.
func (s *Search) consider(levels *cost.Levels, work resources.Wide) {
	x := &s.sets
	missing := rows.At(x.short, len(x.short)/len(s.Capacity)-1, len(s.Capacity))
	c := 0
	if x.any && !x.found {
		c = -1
	} else {
		c = s.Order.CompareLevels(levels, &x.goal)
	}
	if c == 0 && x.full {
		c = x.than.Compare(work, missing)
	} else if c == 0 {
		return
	}
	switch {
	case c > 0:
		return
	case c == 0 && x.found:
		x.tied = true
		return
	case c == 0 && !s.Host.Before(s.ladder.site.Node, s.Best.Node):
		return
	}
	x.found, x.tied = true, false
	x.picks = append(x.picks[:0], x.taken...)
	if x.goal = *levels; x.alike {
		x.most = int64(len(x.short)/len(s.Capacity) - 1)
	}
	var share resources.Share
	for t, v := range missing {
		if over := (resources.Share{Amount: max(-v, 0), Of: max(s.Capacity[t], 1)}); t == 0 || over.Compare(share) > 0 {
			share = over
		}
	}
	// From now on a set has to be cheaper than this one.
	x.own.Note(work, share, s.Capacity)
	x.than = &x.own
	x.total = cost.Total{Levels: *levels, Excess: share, Work: work}
	for level := s.Order.Count + 1; level < cost.NumLevels; level++ {
		x.total.Levels[level] += x.base[level] * levels[s.Order.Count] // 0 if all are alike
	}
}
