// SPDX-License-Identifier: Apache-2.0

package least

import (
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rows"
)

// The price bound of a level that is summed up. With prices c(d) of dimensions, a set that
// gives what is needed has
//
//	Σ x(r) · worth(r) ≥ open,  worth(r) = Σ c(d) · min(gives(r, d), need(d)),  open = Σ c(d) · need(d)
//
// This surrogate constraint alone takes no more of the level than all constraints do. With it
// alone, and with units that may be cut, the units that have the least value for their worth
// take the least: the fractional knapsack. In its literature the row that is cut is the
// critical one.
//
// That holds for any prices that are not negative. So they need not be the best ones. Amounts are
// cut to 30 bits, what is given rounded up and what is needed down, which makes the constraint
// weaker and never wrong.

const (
	roughBits  = 30             // that an amount has at most, without those that play no part
	evenWorth  = 1 << 34        // what all that is wanted of a dimension is worth at first
	mostWorth  = evenWorth << 8 // and at most, so that sums stay in range
	mostUnits  = 1 << 10        // how many units a bound tells of
	rounds     = 16             // how many subgradient steps one question may take
	mostMissed = 16             // once so many more attempts failed than not, no more are made
)

// prices are the dimensions with a price, and prices that are tried.
type prices struct {
	dims   []dimension
	even   []int64
	draft  []int64             // that are being changed
	given  []int64             // by the units of a bound, per dimension
	missed [cost.NumLevels]int // how much more often seeking prices for a level was in vain
}

// A dimension is what is needed of one at most, without the lowest bits, which play no part.
type dimension struct {
	shift uint8
	whole int64
}

func (p *prices) reset(most []int64) {
	p.dims, p.even = p.dims[:0], p.even[:0]
	for _, whole := range most {
		shift := max(bits.Len64(uint64(whole))-roughBits, 0)
		x := dimension{uint8(shift), max(whole>>shift, 1)}
		p.dims, p.even = append(p.dims, x), append(p.even, evenWorth/x.whole)
	}
	clear(p.missed[:])
}

// step takes a subgradient step: it raises the prices of what was given too little and lowers
// the others, in proportion, and by less in each round. No price becomes zero, for then it
// would stay so.
func (p *prices) step(need []int64, round int64) {
	for k, lack := range need {
		if lack <= 0 {
			continue
		}
		missing := min(max(lack-p.given[k], -lack/2), lack/2)
		w := p.draft[k]
		w += w * (missing << 10 / lack) * 12 / (6 + round) >> 10
		p.draft[k] = min(max(w, 1), mostWorth/p.dims[k].whole)
	}
}

// scale makes the amounts of the problem rough: what rows give is rounded up, and what is
// needed is rounded down.
func (l *ladder) scale(p *prices) {
	l.need = l.need[:0]
	for k := range p.dims {
		d := &p.dims[k]
		l.need = append(l.need, min(max(l.p.Need[k], 0)>>d.shift, d.whole))
	}
	n := len(p.dims)
	l.coarse = slices.Grow(l.coarse[:0], len(l.p.Rows)*n)[:len(l.p.Rows)*n]
	l.worth = slices.Grow(l.worth[:0], len(l.p.Rows))[:len(l.p.Rows)]
	for i := range l.p.Rows {
		gives, rough := l.p.Rows[i].Gives, l.coarse[i*n:(i+1)*n]
		for k := range rough {
			d := &p.dims[k]
			v := gives[k] >> d.shift
			if v < l.need[k] {
				v = (gives[k] + 1<<d.shift - 1) >> d.shift
			}
			rough[k] = min(v, l.need[k])
		}
	}
}

// weigh works out what rows are worth at some prices, and returns what is needed.
func (l *ladder) weigh(prices []int64) (need int64) {
	n := len(prices)
	for k, v := range l.need {
		need += v * prices[k]
	}
	for _, i := range l.kept {
		worth := int64(0)
		for k, v := range l.coarse[int(i)*n:][:n] {
			worth += v * prices[k]
		}
		l.worth[i] = worth
	}
	return need
}

// leastValue returns the least of a level that is summed up: at even prices; at prices of
// what rows without any of the level leave open; and after subgradient steps. It returns false
// if no set has as little as the goal. To know that it is more than the goal is enough, and if
// only lesser levels are wanted, as much.
func (s *Search) leastValue(level int, goal int64, e effort) (low int64, ok bool) {
	l, p := &s.ladder, &s.prices
	l.prices[level] = append(l.prices[level][:0], p.even...)
	if level != s.Order.Count && !slices.ContainsFunc(l.kept, func(i int32) bool { return l.value[i] > 0 }) {
		return 0, true
	}
	for prices, scarce := p.even, false; ; prices, scarce = p.draft, true {
		s.Meter.Pay(int64(len(l.kept) * (priceWork + len(p.dims))))
		v, enough := s.price(level, prices, goal)
		if v > low {
			low = v
			l.prices[level] = append(l.prices[level][:0], prices...)
		}
		if !enough || low > goal || low == goal && s.Lesser {
			return low, enough
		}
		if scarce || !s.scarce(level) {
			break
		}
	}
	if missed := &p.missed[level]; e == seek && low < goal && goal < noLimit && len(p.dims) > 1 && *missed < mostMissed {
		if *missed++; s.descend(level, goal) {
			low, *missed = goal, max(*missed-2, -mostMissed)
		}
		l.prices[level] = append(l.prices[level][:0], p.draft...)
	}
	return low, true
}

// scarce drafts prices of what the rows leave open that have nothing of a level, and
// reports whether that tells more than prices of all that is needed.
func (s *Search) scarce(level int) bool {
	l, p := &s.ladder, &s.prices
	if level == s.Order.Count || len(p.dims) < 2 {
		return false
	}
	p.draft = rows.Zeros(p.draft, len(p.dims))
	open := 0
	for k, lack := range l.need {
		for _, i := range l.kept {
			if v := l.coarse[int(i)*len(p.dims)+k]; v > 0 && l.value[i] == 0 {
				lack -= min(lack, v*min(l.p.Rows[i].Count, mostUnits))
			}
		}
		if lack > 0 {
			p.draft[k] = p.even[k]
			open++
		}
	}
	return open > 0 && open < len(p.dims)
}

// price bounds a level at some prices, and drops the rows that are in no set which has no
// more of it than the goal. It returns false if there is no such set.
func (s *Search) price(level int, prices []int64, goal int64) (low int64, ok bool) {
	l := &s.ladder
	low, ok = l.least(l.weigh(prices))
	if level == s.Order.Count && l.critical.row >= 0 {
		l.spare = l.worth[l.critical.row] - l.critical.open
	}
	if ok && low <= goal && goal < noLimit {
		ok = l.drop(goal)
	}
	return low, ok
}

// least solves the knapsack of the rows that are kept. It returns false if all together are
// worth less.
func (l *ladder) least(open int64) (low int64, ok bool) {
	l.critical, l.order = critical{row: -1}, l.order[:0]
	if open <= 0 {
		return 0, true
	}
	if len(l.kept) == 0 {
		return 0, false
	}
	for _, i := range l.kept {
		if l.worth[i] > 0 {
			l.order = append(l.order, l.ratio(i))
		}
	}
	l.sort()
	low, l.critical = l.fill(l.p.Rows, open)
	return low, l.critical.row >= 0
}

// drop drops the rows that are in no set which has no more of a level than the goal, by
// their reduced costs, and reports whether the others are enough.
//
// Say that the bound is z, and that its critical row has the value v for the worth w. A unit of
// value x and worth y that a set must have takes the place of y worth. No worth is cheaper to
// give back than at v/w, but what the bound has taken before at less. So the bound with that
// unit is at least z + x - y·v/w. If this is more than the goal the unit is in no such set. With
// z = before + v·open/w, times w, that is the test.
func (l *ladder) drop(goal int64) bool {
	last := l.critical
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
		// Each product has at most 2^62: worth is below 2^50 for 256 dimensions.
		return !reduced || x >= mostUnits || (last.before+x-goal)*w+v*last.open-v*l.worth[i] <= 0
	})
}

// descend takes subgradient steps until the rows that are kept have as much of a level as the
// goal at least, and reports whether it came that far.
func (s *Search) descend(level int, goal int64) bool {
	l, p := &s.ladder, &s.prices
	if !s.scarce(level) {
		p.draft = append(p.draft[:0], p.even...)
	}
	for round := range int64(rounds) {
		s.Meter.Pay(int64(len(l.kept) * (priceWork + dimWork*len(p.dims))))
		low, ok := l.least(l.weigh(p.draft))
		if !ok || low >= goal {
			return true
		}
		// What the units of the bound give says which prices are too low.
		p.given = rows.Zeros(p.given, len(p.dims))
		for _, x := range l.order {
			n := l.p.Rows[x.row].Count
			if x.row == l.critical.row {
				n = (l.critical.open-1)/l.worth[x.row] + 1
			}
			for k, v := range rows.At(l.coarse, int(x.row), len(p.dims)) {
				p.given[k] += n * v
			}
			if x.row == l.critical.row {
				break
			}
		}
		p.step(l.need, round)
	}
	return false
}
