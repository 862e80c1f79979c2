package search

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/victims/cover"
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
	low    int64   // the bound of that level, as values are counted
	alike  bool    // all units cost the same
	used   uint16  // a bit for each level of which some unit has any, unless all are alike
	last   taken
	memo   memo
	sum    []int64 // scratch: an amount per type
	times  []int64 // scratch

	levels cover.Levels // the bound
	work   cover.Work
	spare  int64     // by how much the rows exceed what is lacking that bound the units
	units  int64     // that go at least
	paid   [5]uint64 // what is lacking is worth so many quarters of the best work; see pricedWork
	best   int       // which of them told last
}

// taken is how the rows of a bound end: the last unit is cut, so that the worth of all is
// what is lacking.
type taken struct {
	before int64 // the value of all others
	open   int64 // what they leave open
	row    int32 // that is cut; -1 if none is
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
		if first, tied = cover.NumLevels, l.memo.tied; l.memo.out || !tied && e == glance {
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
		if what >= cover.NumLevels && s.Lesser && tied {
			return false
		}
		if k += first; k == cover.NumLevels && first == 0 {
			l.memo.end(l, tied)
		}
		var c int
		switch what {
		case cover.ByExcess:
			s.countUnits()
			if tied && !s.freesAsMuch() {
				c = -1
			}
		case cover.ByWork:
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
		if !tied && what < cover.NumLevels {
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
	best          cover.Levels // of the best plan at that time
	found         bool         // there was one
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

// begin begins with another node. Until its levels are known no plan is cheaper.
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
	l.levels, l.work, l.spare, l.units, l.alike = cover.Levels{}, cover.Work{}, 0, 0, true
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
		l.levels[level], l.levels[level+1] = cover.WideOf(low).Split()
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
func (l *ladder) settle(level int, o *cover.Order) {
	if l.low == noLimit || l.keep(func(i int32) bool { return l.value[i] <= l.low }) {
		return
	}
	if l.levels[level]++; level+1 < cover.NumLevels && o.Carry>>(level+1)&1 != 0 {
		l.levels[level], l.levels[level+1] = cover.WideOf(l.low + 1).Split()
	}
}

// isWide reports whether a level is the high half of a number.
func (s *Search) isWide(level int) bool {
	return level+1 < cover.NumLevels && s.Order.Carry>>(level+1)&1 != 0
}

// valueOf returns what levels have of one, with its low half.
func (s *Search) valueOf(level int, levels *cover.Levels) int64 {
	if !s.isWide(level) {
		return levels[level]
	}
	if v, ok := cover.Join(levels[level], levels[level+1]).Int64(); ok {
		return min(v, mostValue)
	}
	return mostValue
}

// mostValue is more than any value that is told apart from others.
const mostValue = noLimit / 4

// weighLevel sets what each row has of a level that is summed up. Levels behind the one
// that counts may be negative. They are compared for sets of one number only, so that the
// same for each may be taken off: it returns that for all.
func (l *ladder) weighLevel(level int, o *cover.Order) (base int64) {
	wide := level+1 < cover.NumLevels && o.Carry>>(level+1)&1 != 0
	least := int64(noLimit)
	for _, i := range l.kept {
		levels := &l.site.Rows[i].Levels
		v := levels[level]
		if wide {
			v = mostValue
			if own, ok := cover.Join(levels[level], levels[level+1]).Int64(); ok {
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

// leastValue returns the least of a level that is summed up: by even prices, and if they
// do not tell by those that have told of other nodes. More than the goal is enough to
// know, and if only lesser levels are wanted, as much.
func (s *Search) leastValue(level int, goal int64, e effort) (low int64, ok bool) {
	l, p := &s.ladder, &s.prices
	learned := &p.learned[level]
	if level != s.Order.Count && !slices.ContainsFunc(l.kept, func(i int32) bool { return l.value[i] > 0 }) {
		return 0, true
	}
	for k := -2; k < learned.n; k++ {
		prices := p.even
		switch {
		case k == -1 && !s.scarce(level):
			continue
		case k == -1:
			prices = p.draft
		case k >= 0 && goal == noLimit:
			return low, true
		case k >= 0:
			prices = learned.rows[k]
		}
		if k > -2 {
			s.Meter.Pay(int64(len(l.kept) * (1 + len(p.dims))))
		}
		v, enough := s.price(level, prices, goal)
		if low = max(low, v); !enough || low > goal || low == goal && (s.Lesser || k >= 0) {
			return low, enough
		}
	}
	if e == seek && low < goal && goal < noLimit && len(p.dims) > 1 && !learned.sought.vain() {
		told := s.turnFor(level, goal)
		learned.sought.note(told)
		if told {
			low = goal
		}
	}
	return low, true
}

// scarce drafts prices of what the rows leave open that have nothing of a level, and
// reports whether that tells more than prices of all that is lacking.
func (s *Search) scarce(level int) bool {
	l, p := &s.ladder, &s.prices
	if level == s.Order.Count || len(p.dims) < 2 {
		return false
	}
	p.draft = rows.Zeros(p.draft, len(p.dims))
	open := 0
	for k, lack := range l.need {
		for _, i := range l.kept {
			if v := l.rough[int(i)*len(p.dims)+k]; v > 0 && l.value[i] == 0 {
				lack -= min(lack, v*min(l.site.Rows[i].Count, mostUnits))
			}
		}
		if lack > 0 {
			p.draft[k] = p.even[k]
			open++
		}
	}
	return open > 0 && open < len(p.dims)
}

// price bounds a level at some prices, and drops the rows that no set has which has no
// more of it than the goal.
func (s *Search) price(level int, prices []int64, goal int64) (low int64, ok bool) {
	l := &s.ladder
	low, ok = l.least(l.weigh(prices), goal)
	if level == s.Order.Count && l.last.row >= 0 {
		l.spare = l.worth[l.last.row] - l.last.open
	}
	if ok && low <= goal && goal < noLimit {
		ok = l.drop(goal)
	}
	return low, ok
}

// least returns the least value with which units are worth what is open, if they could be
// cut: those go first that have the least value for their worth. It reports false if all
// together are worth less. Of more than the goal it says no more than that.
func (l *ladder) least(open, goal int64) (low int64, ok bool) {
	l.last = taken{row: -1}
	if open <= 0 {
		return 0, true
	}
	if len(l.kept) == 0 {
		return 0, false
	}
	// With the same value for each, those that are worth most go first, and no more are
	// listed than are of interest.
	most := int64(noLimit)
	if v := l.value[l.kept[0]]; v > 0 && goal < noLimit && l.even(v) {
		most = goal/v + 1
	}
	l.sort(most)
	value := int64(0)
	for _, i := range l.order {
		worth, count := l.worth[i], l.site.Rows[i].Count
		if (open-1)/worth+1 > count {
			open -= count * worth
			value = addValue(value, l.value[i], count)
			continue
		}
		l.last = taken{value, open, i}
		if hi, lo := bits.Mul64(uint64(l.value[i]), uint64(open)); hi >= uint64(worth) {
			return mostValue, true
		} else if quo, rem := bits.Div64(hi, lo, uint64(worth)); quo < mostValue {
			return min(value+int64(quo)+int64(min(rem, 1)), mostValue), true
		}
		return mostValue, true
	}
	return value + 1, most < noLimit && value > goal
}

// even reports whether all units have some value.
func (l *ladder) even(value int64) bool {
	for _, i := range l.kept {
		if l.value[i] != value {
			return false
		}
	}
	return true
}

// addValue returns a sum of values with those of so many more units.
func addValue(sum, value, count int64) int64 {
	if hi, lo := bits.Mul64(uint64(value), uint64(count)); hi == 0 && lo < mostValue {
		return min(sum+int64(lo), mostValue)
	}
	return mostValue
}

// fewInserted is up to how many rows are sorted by inserting one after the other.
const fewInserted = 24

// sort lists the rows that are worth anything by their value for their worth. If only so many
// units are of interest, no more rows are listed than have so many, or a few more.
func (l *ladder) sort(most int64) {
	l.order = l.order[:0]
	if most > fewInserted && len(l.kept) > fewInserted {
		for _, i := range l.kept {
			if l.worth[i] > 0 {
				l.order = append(l.order, i)
			}
		}
		slices.SortFunc(l.order, l.compare)
		return
	}
	for _, x := range l.kept {
		j := len(l.order)
		if l.worth[x] == 0 || int64(j) == most && l.compare(l.order[j-1], x) <= 0 {
			continue
		}
		if int64(j) < most {
			l.order = append(l.order, x)
		} else {
			j--
		}
		for ; j > 0 && l.compare(l.order[j-1], x) > 0; j-- {
			l.order[j] = l.order[j-1]
		}
		l.order[j] = x
	}
}

// compare orders rows by value for worth: those that are worth more come first of those
// that have the same value.
func (l *ladder) compare(i, j int32) int {
	v, w := l.value[i], l.value[j]
	if v == w {
		return cmp.Or(cmp.Compare(l.worth[j], l.worth[i]), cmp.Compare(i, j))
	}
	a, b := wide.Mul(uint64(v), uint64(l.worth[j])), wide.Mul(uint64(w), uint64(l.worth[i]))
	return cmp.Or(a.Cmp(b), cmp.Compare(i, j))
}

// drop drops the rows that are in no set which has no more of a level than the goal, by
// their reduced costs, and reports whether the others are enough.
//
// Say that the bound has a value z, and that its last unit has the value v for the worth w.
// A unit of value x and worth y that is not in it takes the place of y worth, and so adds
// x - y·v/w to z at least. If that is beyond the goal the unit is in no such set.
func (l *ladder) drop(goal int64) bool {
	last := l.last
	reduced := last.row >= 0 && goal < mostUnits && last.before < mostUnits && l.value[last.row] < mostUnits
	var v, w int64
	if reduced {
		v, w = l.value[last.row], l.worth[last.row]
	}
	return l.keep(func(i int32) bool {
		x := l.value[i]
		if x > goal {
			return false
		}
		// At most 2^61 in all.
		return !reduced || x >= mostUnits || (last.before+x-goal)*w+v*last.open-v*l.worth[i] <= 0
	})
}

// turnFor looks for prices at which the rows that are kept have as much of a level as the
// goal at least, and reports whether it has found some. They are a lesson for other nodes.
func (s *Search) turnFor(level int, goal int64) bool {
	l, p := &s.ladder, &s.prices
	if !s.scarce(level) {
		p.draft = append(p.draft[:0], p.even...)
	}
	for round := range int64(priceRounds) {
		s.Meter.Pay(int64(2 * len(l.kept) * (1 + len(p.dims))))
		low, ok := l.least(l.weigh(p.draft), goal)
		if !ok || low >= goal {
			p.keep(level)
			return true
		}
		// What those give that the bound takes tells which prices are too low.
		p.given = rows.Zeros(p.given, len(p.dims))
		for _, i := range l.order {
			r := l.site.Rows[i].Count
			if i == l.last.row {
				r = (l.last.open-1)/l.worth[i] + 1
			}
			for k := range p.given {
				p.given[k] += r * l.rough[int(i)*len(p.dims)+k]
			}
			if i == l.last.row {
				break
			}
		}
		p.turn(l.need, round)
	}
	return false
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

// leastWork returns the work that so many units of the rows lose at least: the newest.
func (s *Search) leastWork() (work cover.Work) {
	l := &s.ladder
	l.times = l.times[:0]
	for _, i := range l.kept {
		if l.site.Rows[i].Times == nil {
			return work // nothing is known of some of them
		}
		l.times = insertNewest(l.times, int(l.units), l.site.Rows[i].Times)
	}
	for _, start := range l.times {
		work = work.AddNanos(s.lost(start), 1)
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

// pricedWork returns the work that every plan loses at least if what is lacking is worth some
// quarters of the work of the best plan. A unit gains what it gives at that price, less what
// it loses. No set saves more than the gains of all units that have any, and so what is left
// is lost in every plan, whatever the price is. (It is the dual of the problem in which units
// may be cut.)
func (s *Search) pricedWork(quarters uint64) (least cover.Work) {
	l := &s.ladder
	open := uint64(l.weigh(s.prices.even))
	best, ok := s.Best.Total.Work.Duration()
	if !ok || open == 0 || best > noLimit/16 {
		return least
	}
	all := uint64(best) * quarters / 4
	left := all
	s.Meter.Pay(int64(len(l.kept)))
	for _, i := range l.kept {
		gives, _ := wide.MulDiv(all, min(uint64(l.worth[i]), open), open)
		gives++ // rounded up
		for _, start := range l.site.Rows[i].Times {
			lost := s.lost(start)
			if lost >= gives {
				break // those after it lose more
			}
			if gives-lost > left {
				return least
			}
			left -= gives - lost
		}
	}
	return least.AddNanos(left, 1)
}

// insertNewest merges times, which fall, into newest, which falls too and keeps
// no more than the most newest.
func insertNewest(newest []int64, most int, times []int64) []int64 {
	if len(newest) == 0 {
		return append(newest, times[:min(most, len(times))]...) // mostly there is one row of a size
	}
	for _, v := range times {
		if len(newest) == most {
			if v <= newest[most-1] {
				break
			}
			newest = newest[:most-1]
		}
		i := len(newest)
		newest = append(newest, v)
		for ; i > 0 && newest[i-1] < v; i-- {
			newest[i] = newest[i-1]
		}
		newest[i] = v
	}
	return newest
}
