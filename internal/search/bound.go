// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/wide"
)

// The price bound: how much of a level it takes to give what is lacking, if units could be
// cut. It is a surrogate constraint, by prices, and the fractional knapsack of rows by their
// value for their worth.

// taken is how the rows of a bound end: the last unit is cut, so that the worth of all is
// what is lacking.
type taken struct {
	before int64 // the value of all others
	open   int64 // what they leave open
	row    int32 // that is cut; -1 if none is
}

// leastValue returns the least of a level that is summed up: by even prices; if they do not
// tell, by prices of what rows without any of the level leave open; and if these do not, by
// those that have told of other nodes. More than the goal is enough to know, and if only
// lesser levels are wanted, as much.
func (s *Search) leastValue(level int, goal int64, e effort) (low int64, ok bool) {
	l, p := &s.ladder, &s.prices
	learned := &p.learned[level]
	if level != s.Order.Count && !slices.ContainsFunc(l.kept, func(i int32) bool { return l.value[i] > 0 }) {
		return 0, true
	}
	const even, scarce = -2, -1 // and from 0 on what was learned
	for k := even; k < learned.n; k++ {
		prices := p.even
		switch {
		case k == scarce && !s.scarce(level):
			continue
		case k == scarce:
			prices = p.draft
		case k >= 0 && goal == noLimit:
			return low, true
		case k >= 0:
			prices = learned.rows[k]
		}
		if k > even {
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
