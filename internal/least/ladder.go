// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// A ladder is a lower bound of what sets of a problem cost, level by level in the order in
// which levels decide.
//
// A set has at least the bound of the first level. If it has more, it is above the bound,
// whatever comes after. If it has just as much, all of its units are of rows that allow it. So
// only these rows count for the next level, and so on. With an incumbent, the rows that allow
// as much as that has count, as long as the bound is no less: sets above it do not matter.
type ladder struct {
	knapsack // of the rows that are kept, at the level that is looked at and the prices that were weighed last

	p        *Problem
	need     []int64 // by dimension with a price, coarse
	coarse   []int64 // what units give, by row and dimension with a price
	kept     []int32 // the rows that sets may have which are no dearer than the bound
	rivals   []int32 // the rows that sets may have which are cheaper than the incumbent
	low      int64   // the bound of that level, as values are counted; noLimit if all rows have the same
	alike    bool    // all units cost the same
	used     uint16  // a bit for each level of which some unit has any, unless all are alike
	critical critical
	sum      []int64
	works    []resources.Wide
	prices   [cost.NumLevels][]int64 // at which the bound of each level is the highest

	levels cost.Levels // the bound
	work   resources.Wide
	spare  int64 // how much the units that bound their number are worth beyond what is open
	units  int64 // that go at least
	rungs  int   // how many of what decides is bounded
}

// An effort is what a look at a problem may take.
type effort uint8

const (
	glance effort = iota // ends once it is clear that it must be looked at
	bound                // goes on for the bound
	seek                 // looks for prices that tell, and for the bound
)

// What it takes to look at a row for all levels, at one of its dimensions, and to price it, in
// elementary work.
const levelWork, dimWork, priceWork = 8, 1, 5

// climb bounds a problem, which must need something: nothing costs nothing. It reports false
// if no set is cheaper than the incumbent, or as cheap and for a node that comes before; if
// only lesser levels are wanted, if none has lesser ones.
func (s *Search) climb(p *Problem, e effort) bool {
	l, tied := &s.ladder, s.Best.Found
	l.begin(p, &s.prices)
	s.Meter.Pay(int64(len(p.Rows) * (levelWork + dimWork*len(s.prices.dims))))
	if !l.covers() {
		return false
	}
	for k, what := range s.Sequence {
		if what >= cost.NumLevels && s.Lesser && tied {
			return false
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
			if k > 0 && s.isLow(int(what)) && s.Sequence[k-1] == what-1 {
				l.rungs = k + 1
				continue // its high half has spoken for both
			}
			var ok bool
			if c, ok = s.climbLevel(int(what), tied, e); !ok {
				return false
			}
		}
		l.rungs = k + 1
		switch {
		case tied && c > 0:
			return false
		case tied && c < 0:
			l.rivals = append(l.rivals[:0], l.kept...)
			if tied = false; e == glance {
				return true
			}
		}
		if !tied && what < cost.NumLevels {
			l.settle(int(what), s)
		}
	}
	if tied {
		l.rivals = append(l.rivals[:0], l.kept...)
	}
	return !tied || s.ties || s.Host.Before(p.Node, s.Best.Node)
}

// begin begins with all rows of a problem.
func (l *ladder) begin(p *Problem, prices *prices) {
	l.p, l.kept, l.rungs = p, l.kept[:0], 0
	l.levels, l.work, l.spare, l.units, l.alike = cost.Levels{}, resources.Wide{}, 0, 0, true
	l.value = slices.Grow(l.value[:0], len(p.Rows))[:len(p.Rows)]
	for i := range p.Rows {
		l.kept = append(l.kept, int32(i))
		l.alike = l.alike && (i == 0 || p.Rows[i].Levels == p.Rows[i-1].Levels)
	}
	if l.used = 0; !l.alike {
		for i := range p.Rows {
			for level, v := range p.Rows[i].Levels {
				if v != 0 {
					l.used |= 1 << level
				}
			}
		}
	}
	l.rivals = append(l.rivals[:0], l.kept...)
	for level := range l.prices {
		l.prices[level] = l.prices[level][:0]
	}
	l.scale(prices)
}

// climbLevel bounds a level. If the bound is that of the incumbent so far it keeps the rows that
// allow no more than the incumbent has. It returns how the bound compares with the incumbent,
// and false if no set has as little.
func (s *Search) climbLevel(level int, tied bool, e effort) (c int, ok bool) {
	l, best := &s.ladder, &s.Best.Total.Levels
	if v, ok := l.common(level, s); ok {
		l.low, l.levels[level] = noLimit, v
		return cmp.Compare(v, s.valueOf(level, best)), true
	}
	if s.Order.IsMax(level) {
		low, ok := l.threshold(level)
		if l.low, l.levels[level] = low, low; !ok {
			return 0, false
		}
		for _, i := range l.kept {
			l.value[i] = l.p.Rows[i].Levels[level]
		}
		if tied {
			l.keep(func(i int32) bool { return l.value[i] <= best[level] })
		}
		return cmp.Compare(low, best[level]), true
	}
	base := l.weighLevel(level, s)
	goal, told := int64(noLimit), tied && s.valueOf(level, best) < mostValue
	if told {
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
	l.low = low
	s.setValue(level, &l.levels, low+base)
	switch {
	case tied && !told:
		c = -1 // beyond what is told apart
	case tied:
		c = cmp.Compare(low, goal)
	}
	return c, ok
}

// common returns the bound of a level of which all units have the same, which is the most
// frequent case, and false if there is more to it.
func (l *ladder) common(level int, s *Search) (low int64, ok bool) {
	if !l.alike {
		return 0, l.used>>level&1 == 0 && !(s.isWide(level) && l.used>>(level+1)&1 != 0)
	}
	of, count := &l.p.Rows[0].Levels, s.Order.Count
	switch {
	case s.isWide(level):
		return 0, of[level]|of[level+1] == 0
	case s.Order.IsMax(level) || of[level] == 0:
		return of[level], true
	}
	return of[level] * l.levels[count], level > count && of[count] == 1
}

// settle keeps the rows that have no more of a level than the bound: what comes after
// speaks of sets that have no more. If those rows are not enough, each set has more than the
// bound, which rises by one.
func (l *ladder) settle(level int, s *Search) {
	if l.low == noLimit || l.keep(func(i int32) bool { return l.value[i] <= l.low }) {
		return
	}
	s.setValue(level, &l.levels, s.valueOf(level, &l.levels)+1)
}

// weighLevel sets what each row has of a level that is summed up. Levels behind the one
// that counts may be negative, and knapsacks want values that are not. Such a level is only
// asked for among sets of the same number of victims. So the least per victim may be taken off
// each: weighLevel returns what that makes for all of them.
func (l *ladder) weighLevel(level int, s *Search) (base int64) {
	least, count := int64(noLimit), s.Order.Count
	for _, i := range l.kept {
		levels := &l.p.Rows[i].Levels
		l.value[i] = s.valueOf(level, levels)
		if level > count {
			least = min(least, floorDiv(l.value[i], levels[count]))
		}
	}
	if level <= count || len(l.kept) == 0 {
		return 0
	}
	for _, i := range l.kept {
		l.value[i] -= least * l.p.Rows[i].Levels[count]
	}
	return least * l.levels[count]
}

// floorDiv returns v ÷ n, rounded down. n is positive.
func floorDiv(v, n int64) int64 {
	q := v / n
	if v%n < 0 {
		q--
	}
	return q
}

// countUnits bounds how many units go, if the level that counts has not done so yet.
func (s *Search) countUnits() {
	if l := &s.ladder; l.units == 0 {
		l.weighLevel(s.Order.Count, s)
		low, _ := l.least(l.weigh(s.prices.even))
		l.units = max(l.unitsOf(low), 1)
	}
}

// unitsOf returns how many units a set of so many victims has at least. A gang counts several
// victims and is one unit.
func (l *ladder) unitsOf(victims int64) int64 {
	for _, i := range l.kept {
		if l.value[i] != 1 {
			return 1 // some of them are gangs
		}
	}
	return victims
}

// threshold returns the least value so that the rows up to it are enough, of each
// dimension.
func (l *ladder) threshold(level int) (low int64, ok bool) {
	low = noLimit
	for _, i := range l.kept {
		low = min(low, l.p.Rows[i].Levels[level])
	}
	for {
		clear(l.sum)
		next := int64(noLimit)
		for _, i := range l.kept {
			if r := &l.p.Rows[i]; r.Levels[level] <= low {
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
	for k, v := range r.Gives {
		l.sum[k] += v * r.Count
	}
}

// enough reports whether the sum is what is needed.
func (l *ladder) enough() bool { return resources.Fits(l.p.Need, l.sum) }

// covers reports whether the rows that are kept are enough, of each dimension by itself.
func (l *ladder) covers() bool {
	l.sum = rows.Zeros(l.sum, len(l.p.Need))
	for _, i := range l.kept {
		l.add(&l.p.Rows[i])
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
			l.add(&l.p.Rows[i])
		}
	}
	if !l.enough() {
		return false
	}
	l.kept = slices.DeleteFunc(l.kept, func(i int32) bool { return !is(i) })
	return true
}

// freesAsMuch reports whether so many units as go at least free as much beyond what is wanted
// as the incumbent does. Excess is the largest share over all types, so one type is enough.
func (s *Search) freesAsMuch() bool {
	l, b := &s.ladder, s.Best
	if b.Total.Excess.Amount == 0 {
		return true
	}
	for t, asMuch := range b.AsMuch {
		least := int64(noLimit)
		for _, i := range l.kept {
			least = min(least, l.p.Rows[i].Size[t])
		}
		if asMuch < noLimit && l.units*least-l.p.Wanted[t] >= asMuch {
			return true
		}
	}
	return false
}

// leastWork returns the work that each set loses at least: that of so many units as go at
// least, those that lose the least.
func (s *Search) leastWork() (work resources.Wide) {
	l := &s.ladder
	l.works = l.works[:0]
	for _, i := range l.kept {
		r := &l.p.Rows[i]
		if r.Times == nil && r.Works == nil {
			return work // nothing is known of some of them
		}
		for unit := range min(r.Count, l.units) {
			var among bool
			if l.works, among = InsertWork(l.works, l.units, s.Work(r, unit)); !among {
				break // those after it lose no less
			}
		}
	}
	for _, one := range l.works {
		work = work.Add(one)
	}
	s.Meter.Pay(int64(6*len(l.kept) + 10*len(l.works)))
	return work
}

// InsertWork inserts the work of a unit among the least, which rise, no more than so many, and
// reports whether it is one of them.
func InsertWork(works []resources.Wide, most int64, work resources.Wide) ([]resources.Wide, bool) {
	last := len(works)
	switch {
	case int64(last) < most:
		works = append(works, work)
	case last == 0 || work.Compare(works[last-1]) >= 0:
		return works, false
	default:
		last--
	}
	for ; last > 0 && work.Compare(works[last-1]) < 0; last-- {
		works[last] = works[last-1]
	}
	works[last] = work
	return works, true
}
