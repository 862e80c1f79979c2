// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// A ladder is a lower bound of what plans for a node cost, level by level in the order in
// which levels decide.
//
// A plan has at least so much of a level, and if it has just as much, its victims are
// among those rows that allow it. So only these count for the next level, whatever the
// order. See the documentation of the package.
type ladder struct {
	site  *Site
	need  []int64 // by dimension, rough; see state
	rough []int64 // by row and dimension
	kept  []int32 // the rows that plans may have which are no dearer than the bound
	// The rows that plans may have which are cheaper than the best. They are the same up
	// to the level in which the bound is less.
	rivals []int32
	worth  []int64 // by row, at the prices that were asked last
	value  []int64 // by row, at the level that is looked at
	order  []int32 // the rows in the order in which they are taken for a bound
	low    int64   // the bound of that level, as values are counted; noLimit if all rows have the same
	alike  bool    // all units cost the same
	used   uint16  // a bit for each level of which some unit has any, unless all are alike
	last   taken
	memo   memo
	sum    []int64          // scratch: an amount per type
	works  []resources.Wide // scratch

	levels cost.Levels // the bound
	work   resources.Wide
	spare  int64    // by how much the rows exceed what is lacking that bound the units
	units  int64    // that go at least
	paid   [5]int64 // what is lacking is worth so many quarters of the best work; see pricedWork
	best   int      // which of them told last
}

// An effort is what a look at a node may take.
type effort uint8

const (
	glance effort = iota // ends once it is clear that the node must be looked at
	bound                // goes on for the bound
	seek                 // looks for prices that tell, and for the bound
)

// climb bounds a node that was stated. It reports false if no plan for it is cheaper than
// the best, or as cheap and on a node that comes first; if only lesser levels are wanted,
// if no plan has lesser ones.
func (s *Search) climb(e effort) bool {
	l := &s.ladder
	first, tied := 0, s.Best.Found
	if s.plain && s.site.Same && l.memo.holds(s, e) {
		// Nodes are often alike: what was found out about the levels of one is then true
		// of the next.
		l.kept, l.rivals = append(l.kept[:0], l.memo.kept...), append(l.rivals[:0], l.memo.rivals...)
		if first, tied = cost.NumLevels, l.memo.tied; l.memo.out || !tied && e == glance {
			return !l.memo.out
		}
	} else {
		l.begin(&s.site)
		l.memo.begin(s, e)
		s.Meter.Pay(int64(len(s.site.Rows) * (levelWork + len(s.prices.dims))))
		if !l.covers() {
			return false
		}
	}
	for k, what := range s.sequence[first:] {
		if what >= cost.NumLevels && s.Lesser && tied {
			return false
		}
		if k += first; k == cost.NumLevels && first == 0 {
			l.memo.end(l, tied)
		}
		var c int
		switch what {
		case cost.ByExcess:
			s.countUnits()
			if tied && !s.freesAsMuch() {
				c = -1
			}
		case cost.ByWork:
			s.countUnits()
			if l.work = s.leastWork(); tied {
				c = l.work.Compare(s.Best.Total.Work)
			}
		default:
			if k > 0 && s.Order.Carry>>what&1 != 0 && s.sequence[k-1] == what-1 {
				continue // its high half has spoken for both
			}
			var ok bool
			if c, ok = s.climbLevel(int(what), tied, e); !ok {
				return false
			}
		}
		switch {
		case tied && c > 0:
			return false
		case tied && c < 0:
			l.rivals = append(l.rivals[:0], l.kept...)
			if tied = false; e == glance {
				l.memo.end(l, false)
				return true
			}
		}
		if !tied && what < cost.NumLevels {
			l.settle(int(what), s.Order)
		}
	}
	if tied {
		l.rivals = append(l.rivals[:0], l.kept...)
	}
	return !tied || s.Host.Before(s.site.Node, s.Best.Node)
}

// levelWork is what it takes to look at a row for all levels, in elementary work.
const levelWork = 8

// A memo is what was found out about the levels of a node, for nodes that are like it.
type memo struct {
	known, lesser bool
	best          cost.Levels // of the best plan at that time
	found         bool        // there was one
	effort        effort
	out           bool // no plan is cheaper
	tied          bool // all levels are those of the best plan
	dug           bool // the rows are in the order in which sets are looked at
	kept, rivals  []int32
}

// holds reports whether the memo tells of a search as it is now.
func (m *memo) holds(s *Search, e effort) bool {
	return m.known && m.lesser == s.Lesser && m.effort == e && m.found == s.Best.Found && (!m.found || m.best == s.Best.Total.Levels)
}

// begin begins with another node. It is out unless end is called, for the climb leaves early
// only if no plan is cheaper.
func (m *memo) begin(s *Search, e effort) {
	m.known, m.lesser, m.found, m.effort, m.out, m.tied, m.dug = true, s.Lesser, s.Best.Found, e, true, false, false
	if m.found {
		m.best = s.Best.Total.Levels
	}
}

// end notes what is known of the levels.
func (m *memo) end(l *ladder, tied bool) {
	m.out, m.tied = false, tied
	m.kept, m.rivals = append(m.kept[:0], l.kept...), append(m.rivals[:0], l.rivals...)
}

// begin begins with all rows of a site.
func (l *ladder) begin(site *Site) {
	l.site, l.kept = site, l.kept[:0]
	l.levels, l.work, l.spare, l.units, l.alike = cost.Levels{}, resources.Wide{}, 0, 0, true
	l.value = slices.Grow(l.value[:0], len(site.Rows))[:len(site.Rows)]
	for i := range site.Rows {
		l.kept = append(l.kept, int32(i))
		l.alike = l.alike && (i == 0 || site.Rows[i].Levels == site.Rows[i-1].Levels)
	}
	if l.used = 0; !l.alike {
		for i := range site.Rows {
			for level, v := range site.Rows[i].Levels {
				if v != 0 {
					l.used |= 1 << level
				}
			}
		}
	}
	l.rivals = append(l.rivals[:0], l.kept...)
}

// climbLevel bounds a level, and keeps the rows that allow no more of it than the bound,
// or than the best plan has if that is as good so far. It returns how the bound compares
// with the best plan, and false if no rows are enough.
func (s *Search) climbLevel(level int, tied bool, e effort) (c int, ok bool) {
	l, best := &s.ladder, &s.Best.Total.Levels
	if v, ok := l.common(level, s); ok {
		l.low, l.levels[level] = noLimit, v
		return cmp.Compare(v, s.valueOf(level, best)), true // nobody need be looked at
	}
	if s.Order.Max>>level&1 != 0 {
		low, ok := l.threshold(level)
		if l.low, l.levels[level] = low, low; !ok {
			return 0, false
		}
		for _, i := range l.kept {
			l.value[i] = l.site.Rows[i].Levels[level]
		}
		if tied {
			l.keep(func(i int32) bool { return l.value[i] <= best[level] })
		}
		return cmp.Compare(low, best[level]), true
	}
	base := l.weighLevel(level, s.Order)
	goal := int64(noLimit)
	if tied {
		if goal = s.valueOf(level, best) - base; goal < 0 {
			return 1, true
		}
	}
	var low int64
	if goal == 0 {
		ok = l.keep(func(i int32) bool { return l.value[i] == 0 })
	} else {
		low, ok = s.leastValue(level, goal, e)
	}
	if !ok {
		return 0, false
	}
	if level == s.Order.Count {
		l.units = l.unitsOf(low)
	}
	l.low, l.levels[level] = low, low+base
	if s.isWide(level) {
		l.levels[level], l.levels[level+1] = resources.WideOf(low).Halves()
	}
	switch {
	case tied && goal >= mostValue:
		c = -1 // beyond what is told apart
	case tied:
		c = cmp.Compare(low, goal)
	}
	return c, ok
}

// common returns the bound of a level if all units have the same of it, as they mostly
// have, and false if more is to be asked.
func (l *ladder) common(level int, s *Search) (low int64, ok bool) {
	if !l.alike {
		return 0, l.used>>level&1 == 0 && !(s.isWide(level) && l.used>>(level+1)&1 != 0)
	}
	of, count := &l.site.Rows[0].Levels, s.Order.Count
	switch {
	case s.isWide(level):
		return 0, of[level]|of[level+1] == 0
	case s.Order.Max>>level&1 != 0 || of[level] == 0:
		return of[level], true
	}
	return of[level] * l.levels[count], level > count && of[count] == 1
}

// settle keeps the rows that have no more of a level than the bound: what comes after
// speaks of plans that have no more. If those are not enough, plans have more of it.
func (l *ladder) settle(level int, o *cost.Order) {
	if l.low == noLimit || l.keep(func(i int32) bool { return l.value[i] <= l.low }) {
		return
	}
	if l.levels[level]++; level+1 < cost.NumLevels && o.Carry>>(level+1)&1 != 0 {
		l.levels[level], l.levels[level+1] = resources.WideOf(l.low + 1).Halves()
	}
}

// isWide reports whether a level is the high half of a number.
func (s *Search) isWide(level int) bool {
	return level+1 < cost.NumLevels && s.Order.Carry>>(level+1)&1 != 0
}

// valueOf returns what levels have of one, with its low half.
func (s *Search) valueOf(level int, levels *cost.Levels) int64 {
	if !s.isWide(level) {
		return levels[level]
	}
	if v, ok := resources.WideOfHalves(levels[level], levels[level+1]).Int64(); ok {
		return min(v, mostValue)
	}
	return mostValue
}

// mostValue is more than any value that is told apart from others.
const mostValue = noLimit / 4

// weighLevel sets what each row has of a level that is summed up. Levels behind the one
// that counts may be negative. They are compared for sets of one number only, so that the
// same for each may be taken off: it returns that for all.
func (l *ladder) weighLevel(level int, o *cost.Order) (base int64) {
	wide := level+1 < cost.NumLevels && o.Carry>>(level+1)&1 != 0
	least := int64(noLimit)
	for _, i := range l.kept {
		levels := &l.site.Rows[i].Levels
		v := levels[level]
		if wide {
			v = mostValue
			if own, ok := resources.WideOfHalves(levels[level], levels[level+1]).Int64(); ok {
				v = min(own, mostValue)
			}
		}
		l.value[i] = v
		if level > o.Count {
			least = min(least, floorDiv(v, levels[o.Count]))
		}
	}
	if level <= o.Count || len(l.kept) == 0 {
		return 0
	}
	for _, i := range l.kept {
		l.value[i] -= least * l.site.Rows[i].Levels[o.Count]
	}
	return least * l.levels[o.Count]
}

// floorDiv returns v ÷ n, rounded down. n is positive.
func floorDiv(v, n int64) int64 {
	q := v / n
	if v%n < 0 {
		q--
	}
	return q
}

// countUnits bounds how many units go, if no level has told yet.
func (s *Search) countUnits() {
	if l := &s.ladder; l.units == 0 {
		l.weighLevel(s.Order.Count, s.Order)
		goal := int64(noLimit)
		if s.Best.Found {
			goal = s.Best.Total.Levels[s.Order.Count] // one more is enough to know
		}
		low, _ := l.least(l.weigh(s.prices.even), goal)
		l.units = max(l.unitsOf(low), 1)
	}
}

// unitsOf returns how many units a set of so many victims has at least.
func (l *ladder) unitsOf(victims int64) int64 {
	for _, i := range l.kept {
		if l.value[i] != 1 {
			return 1 // some of them are gangs
		}
	}
	return victims
}

// threshold returns the least value so that the rows up to it are enough, of each type.
func (l *ladder) threshold(level int) (low int64, ok bool) {
	low = noLimit
	for _, i := range l.kept {
		low = min(low, l.site.Rows[i].Levels[level])
	}
	for {
		clear(l.sum)
		next := int64(noLimit)
		for _, i := range l.kept {
			if r := &l.site.Rows[i]; r.Levels[level] <= low {
				l.add(r)
			} else {
				next = min(next, r.Levels[level])
			}
		}
		if l.enough() {
			return low, true
		}
		if next == noLimit {
			return low, false
		}
		low = next
	}
}

// add adds all units of a row to the sum.
func (l *ladder) add(r *Row) {
	for t, v := range r.Size {
		l.sum[t] += v * r.Count
	}
}

// enough reports whether the sum is what is lacking.
func (l *ladder) enough() bool {
	for t, lack := range l.site.Need {
		if l.sum[t] < lack {
			return false
		}
	}
	return true
}

// covers reports whether the rows that are kept are enough, of each type by itself.
func (l *ladder) covers() bool {
	l.sum = rows.Zeros(l.sum, len(l.site.Need))
	for _, i := range l.kept {
		l.add(&l.site.Rows[i])
	}
	return l.enough()
}

// keep keeps some rows. It reports false, and keeps all, if those are not enough.
func (l *ladder) keep(is func(i int32) bool) bool {
	if !slices.ContainsFunc(l.kept, func(i int32) bool { return !is(i) }) {
		return true // mostly
	}
	clear(l.sum)
	for _, i := range l.kept {
		if is(i) {
			l.add(&l.site.Rows[i])
		}
	}
	if !l.enough() {
		return false
	}
	l.kept = slices.DeleteFunc(l.kept, func(i int32) bool { return !is(i) })
	return true
}

// freesAsMuch reports whether so many units as go at least free as much beyond what is
// wanted as the best plan does. One type that does is enough.
func (s *Search) freesAsMuch() bool {
	l, b := &s.ladder, s.Best
	if b.Total.Excess.Amount == 0 {
		return true
	}
	for t, asMuch := range b.AsMuch {
		least := int64(noLimit)
		for _, i := range l.kept {
			least = min(least, l.site.Rows[i].Size[t])
		}
		if asMuch < noLimit && l.units*least-l.site.Wanted[t] >= asMuch {
			return true
		}
	}
	return false
}

// leastWork returns the work that so many units of the rows lose at least.
func (s *Search) leastWork() (work resources.Wide) {
	l := &s.ladder
	l.works = l.works[:0]
	for _, i := range l.kept {
		r := &l.site.Rows[i]
		if r.Times == nil {
			return work // nothing is known of some of them
		}
		for unit := range min(r.Count, l.units) {
			if !l.insertLeast(s.work(r, unit)) {
				break // those after it lose no less
			}
		}
	}
	for _, one := range l.works {
		work = work.Add(one)
	}
	if s.plain || !s.Best.Found || work.Compare(s.Best.Total.Work) > 0 {
		return work
	}
	// In an order of the caller's work may decide before the number of victims. New tasks
	// are often small, and the newest say little then.
	for k := range len(l.paid) {
		price := (l.best + k) % len(l.paid)
		if lost := s.pricedWork(l.paid[price]); lost.Compare(work) > 0 {
			work, l.best = lost, price
		}
		if work.Compare(s.Best.Total.Work) > 0 {
			break
		}
	}
	return work
}

// insertLeast inserts the work of a unit among the least, which rise, as many as units go at
// least, and reports whether it is one of them.
func (l *ladder) insertLeast(work resources.Wide) bool {
	at := len(l.works)
	switch {
	case int64(at) < l.units:
		l.works = append(l.works, work)
	case work.Compare(l.works[at-1]) >= 0:
		return false
	default:
		at--
	}
	for ; at > 0 && l.works[at-1].Compare(work) > 0; at-- {
		l.works[at] = l.works[at-1]
	}
	l.works[at] = work
	return true
}

// pricedWork returns the work that every plan loses at least if what is lacking is worth some
// quarters of the work of the best plan. A unit gains what it gives at that price, less what
// it loses. No set saves more than the gains of all units that have any, and so what is left
// is lost in every plan, whatever the price is. (It is the dual of the problem in which units
// may be cut.)
func (s *Search) pricedWork(quarters int64) (least resources.Wide) {
	l := &s.ladder
	open := uint64(l.weigh(s.prices.even))
	best := s.Best.Total.Work
	// In 128 bits nothing would be left to multiply with: the lowest bits play no part.
	cut := max(best.Len()-pricedBits, 0)
	all, _ := best.Rsh(cut).Int64()
	all = all * quarters / 4
	if open == 0 || all == 0 {
		return least
	}
	left := all
	s.Meter.Pay(int64(len(l.kept)))
	for _, i := range l.kept {
		quo, _ := wide.MulDiv(uint64(all), min(uint64(l.worth[i]), open), open)
		gives := int64(quo) + 1 // rounded up
		r := &l.site.Rows[i]
		for unit := range r.Count {
			lost, ok := s.work(r, unit).Rsh(cut).Int64()
			if !ok || lost >= gives {
				break // those after it lose more
			}
			if gives-lost > left {
				return least
			}
			left -= gives - lost
		}
	}
	return least.AddTimes(uint64(left), 1).Lsh(cut)
}

// pricedBits is how many bits of work are priced.
const pricedBits = 58
