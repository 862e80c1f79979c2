// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/resources"
)

// Bounds in branch and bound. Of the rows from a place on it is known beforehand what they give
// at most and have at least of all that decides. Levels that are summed up have the price bound
// as well, on what is still open. It is asked for at every step, so all that is the same in every
// set is left out when there is a new goal.

// A priced is a level that is summed up, with prices that tell of it.
type priced struct {
	knapsack
	level int
	base  int64 // for each victim: the value of a unit is what it has beyond that
	price []int64
	items []item // the rows that are worth anything, in their order
	leads bool   // rows are decided in that order
}

// An item is a row in a knapsack.
type item struct {
	value, worth, count int64
	row, place          int32
}

// survey finds out which levels the rows have any of, and whether each unit counts one.
func (x *solver) survey() {
	x.some, x.single = x.some[:0], true
	has := [cost.NumLevels]bool{}
	for _, i := range x.order {
		levels := &x.p.Rows[i].Levels
		x.single = x.single && levels[x.s.Order.Count] == 1
		for level, v := range levels {
			has[level] = has[level] || v != 0
		}
	}
	for level, any := range has {
		if any {
			x.some = append(x.some, int8(level))
		}
	}
}

// has reports whether some row has any of a level, with its low half.
func (x *solver) has(level int) bool {
	return slices.Contains(x.some, int8(level)) || x.s.isWide(level) && slices.Contains(x.some, int8(level+1))
}

// price makes the priced levels: those that are summed up, at the prices at which the ladder's
// bound is the highest.
func (x *solver) price() {
	s, l := x.s, &x.s.ladder
	x.priced, x.floored = x.priced[:0], 0
	clear(x.pricedAt[:])
	if s.Order.Compare != nil || len(x.order) == 0 || s.Meter.Over() {
		return // no prices
	}
	if l.p != x.p {
		x.standIn.Found = false
		x.climb(bound)
	}
	x.floor, x.floored = l.levels, l.rungs
	l.kept = append(l.kept[:0], x.order...)
	for level := range cost.NumLevels {
		if x.has(level) && !s.Order.IsMax(level) && !s.isLow(level) && (level != s.Order.Overrun || level == 0) {
			x.priced = rows.Next(x.priced)
			x.pricedAt[level] = int32(len(x.priced))
			x.priceLevel(level, &x.priced[len(x.priced)-1])
		}
	}
	l.p = nil // what is kept is not that of a climb any more
}

// climb lets the ladder bound the problem with the stand-in for the incumbent.
func (x *solver) climb(e effort) bool {
	s, incumbent := x.s, x.s.Best
	s.Best, s.ties = &x.standIn, true
	ok := s.climb(x.p, e)
	s.Best, s.ties = incumbent, false
	return ok
}

// priceLevel prices a level.
func (x *solver) priceLevel(level int, q *priced) {
	s, l := x.s, &x.s.ladder
	s.Meter.Pay(int64(len(x.order) * (2*priceWork + len(s.prices.dims))))
	if q.price = append(q.price[:0], l.prices[level]...); len(q.price) != len(s.prices.dims) {
		q.price = append(q.price[:0], s.prices.even...)
	}
	l.weigh(q.price)
	q.level, q.worth, q.order = level, append(q.worth[:0], l.worth...), q.order[:0]
	for _, i := range x.order {
		q.order = append(q.order, ratio{row: i})
	}
	if level <= s.Order.Count {
		x.rate(q, 0)
	} else {
		x.chooseBase(q)
	}
	x.settle(q)
}

// rate sets what units have of a level beyond so much for each victim. The rows stay in the order
// that they have.
func (x *solver) rate(q *priced, base int64) {
	q.base, q.value = base, slices.Grow(q.value[:0], len(x.p.Rows))[:len(x.p.Rows)]
	for k := range q.order {
		i := q.order[k].row
		levels := &x.p.Rows[i].Levels
		q.value[i] = x.s.valueOf(q.level, levels) - base*levels[x.s.Order.Count]
		q.order[k] = q.ratio(i)
	}
}

// settle sorts the rows of a level, with the base that it has.
func (x *solver) settle(q *priced) {
	q.sort()
	q.items = q.items[:0]
	for _, r := range q.order {
		if i := r.row; q.worth[i] > 0 {
			q.items = append(q.items, item{q.value[i], q.worth[i], x.p.Rows[i].Count, i, 0})
		}
	}
}

// chooseBase sets what units have of a level behind the one that counts. Sets of the same
// number of victims are compared, so a base may be taken off for each victim, as long as no
// value becomes negative. It is a Lagrange multiplier of their number: a lower base makes each
// victim dearer, so that the knapsack takes fewer and larger units.
func (x *solver) chooseBase(q *priced) {
	least, most := int64(noLimit), int64(-noLimit)
	for _, i := range x.order {
		levels := &x.p.Rows[i].Levels
		v := floorDiv(x.s.valueOf(q.level, levels), levels[x.s.Order.Count])
		least, most = min(least, v), max(most, v)
	}
	x.rate(q, least-(most-least))
}

// findLeast computes what the rows from each place on have at least.
func (x *solver) findLeast() {
	p, n := x.p, len(x.order)
	x.leastLevels = rows.Zeros(x.leastLevels, n+1)
	x.leastLost = rows.Zeros(x.leastLost, n+1)
	for at := n - 1; at >= 0; at-- {
		r := &p.Rows[x.order[at]]
		x.leastLevels[at], x.leastLost[at] = r.Levels, x.s.Work(r, 0)
		// Behind the level that counts it is the least for each victim.
		count := r.Levels[x.s.Order.Count]
		for level := x.s.Order.Count + 1; level < cost.NumLevels; level++ {
			if !x.s.Order.IsMax(level) {
				x.leastLevels[at][level] = floorDiv(r.Levels[level], count)
			}
		}
		if at+1 == n {
			continue
		}
		if later := x.leastLost[at+1]; later.Compare(x.leastLost[at]) < 0 {
			x.leastLost[at] = later
		}
		for _, level := range x.some {
			x.leastLevels[at][level] = min(x.leastLevels[at][level], x.leastLevels[at+1][level])
		}
	}
}

// findMost computes what the rows from each place on give at most, of each dimension by itself.
//
// Of a type the rows give what they take of its limits, but for gangs. These limits are chains,
// so to fill them row by row, in any order, gives the most.
func (x *solver) findMost() {
	p, n, dims := x.p, len(x.order), len(x.p.Need)
	x.avail = rows.Zeros(x.avail, (n+1)*dims)
	for k := range dims {
		x.sums = x.sums[:0] // what later rows leave of each limit
		for _, room := range p.Room {
			x.sums = append(x.sums, max(room, 0))
		}
		for at := n - 1; at >= 0; at-- {
			r := &p.Rows[x.order[at]]
			all := min(r.Gives[k], max(p.Need[k], 0)) * r.Count
			if all > 0 && !r.Gang && p.Typ[k] >= 0 && r.Gives[k] <= p.Need[k] {
				for _, t := range r.Takes {
					if p.Types[t.Limit] == p.Typ[k] && t.Amount > 0 {
						all = min(all, x.sums[t.Limit])
					}
				}
				for _, t := range r.Takes {
					if p.Types[t.Limit] == p.Typ[k] && t.Amount > 0 {
						x.sums[t.Limit] -= all
					}
				}
			}
			x.avail[at*dims+k] = sat.Add(x.avail[(at+1)*dims+k], all)
		}
	}
}

// reaches reports whether the rows from a place on could give what is open, if they could be
// cut.
func (x *solver) reaches(at int) bool {
	return resources.Fits(x.rem, rows.At(x.avail, at, len(x.rem)))
}

// A rung is one of what decides, in which sets may differ from the goal.
type rung struct {
	kind  kind
	level int8
	wide  bool    // it has a low half
	sign  int8    // if it is decided: how all sets compare with the goal
	most  int64   // what the goal has
	floor int64   // what sets have at least that have no more than the floor before
	q     *priced // or nil
}

// A kind is how a rung is bounded.
type kind uint8

const (
	decided kind = iota
	maximum
	sum     // not behind the level that counts
	counted // the level that counts
	later   // a sum behind that
	work
	excess
)

// aim lists the rungs, for a new goal. What all sets have as the goal does is no rung, and what
// comes after a difference in all sets is none.
func (x *solver) aim() {
	goal, s := x.goal(), x.s
	if x.rungs = x.rungs[:0]; goal == nil || s.Order.Compare != nil {
		return
	}
	for k, what := range s.Sequence {
		switch {
		case what == cost.ByWork:
			x.rungs = append(x.rungs, rung{kind: work})
			continue
		case what == cost.ByExcess:
			x.rungs = append(x.rungs, rung{kind: excess})
			continue
		case k > 0 && s.isLow(int(what)):
			continue // its high half speaks for both
		}
		level := int(what)
		r := rung{level: what, wide: s.isWide(level), most: s.valueOf(level, &goal.Levels), floor: -noLimit}
		if k < x.floored {
			r.floor = s.valueOf(level, &x.floor)
		}
		if at := x.pricedAt[level]; at > 0 {
			r.q = &x.priced[at-1]
		}
		switch v, same := x.same(level); {
		case r.most == mostValue:
			r.sign = -1 // beyond what is told apart
		case same && (r.floor == v || k >= x.floored):
			r.sign = int8(cmp.Compare(v, r.most))
			if r.sign == 0 {
				continue
			}
		case s.Order.IsMax(level):
			r.kind = maximum
		case level < s.Order.Count:
			r.kind = sum
		case level == s.Order.Count:
			r.kind = counted
		default:
			r.kind = later
		}
		if x.rungs = append(x.rungs, r); r.kind == decided {
			return
		}
	}
}

// same returns what all sets have of a level, if they have the same.
func (x *solver) same(level int) (v int64, ok bool) {
	switch o := x.s.Order; {
	case level == o.Overrun && level > 0 && len(x.s.Budgets) > 0:
		return 0, false
	case !o.IsMax(level):
		return 0, !x.has(level)
	}
	for k, i := range x.order {
		if w := x.p.Rows[i].Levels[level]; k == 0 {
			v = w
		} else if v != w {
			return 0, false
		}
	}
	return v, len(x.order) > 0
}

// beaten reports whether no set that completes the present one with rows from a place on can
// matter.
func (x *solver) beaten(at int) bool {
	if !x.reaches(at) {
		return true
	}
	goal, s := x.goal(), x.s
	if goal == nil {
		return false
	}
	if s.Order.Compare != nil {
		x.now = x.total
		x.now.Excess = cost.Excess(x.freed, x.p.Wanted, s.Capacity)
		return x.total.Units > 0 && s.Order.Compare(&x.now, goal) > 0
	}
	// So many victims are to come if a set has as many as the goal, and so many units at least.
	more, units := int64(1), int64(1)
	levels, lowest, floored := &x.total.Levels, &x.leastLevels[at], true
	for k := range x.rungs {
		r := &x.rungs[k]
		if r.kind >= work && (x.levels && x.answer.Found || s.Lesser) {
			return true
		}
		low := int64(0)
		switch r.kind {
		case decided:
			return r.sign > 0
		case work:
			if c := x.total.Work.Add(x.leastWork(at, units)).Compare(goal.Work); c != 0 {
				return c > 0
			}
			continue
		case excess:
			excess := cost.Excess(x.freed, x.p.Wanted, s.Capacity)
			if c := excess.Compare(goal.Excess); c != 0 {
				return c > 0
			}
			continue
		case maximum:
			if low = lowest[r.level]; x.total.Units > 0 {
				low = max(low, levels[r.level])
			}
		case sum, counted:
			switch low = x.value(r, levels); {
			case r.kind == counted && x.told(r.most):
				low += x.countsAtLeast(at, r.most-low)
			case r.q != nil:
				low = addValue(low, x.least(r.q, at, r.most-low), 1)
			}
			if r.kind == counted {
				// If that is as many as the goal has, so many more are to come.
				if more = max(r.most-levels[r.level], 1); x.single {
					units = more
				}
			}
		case later:
			total := x.value(r, levels)
			low = total + x.value(r, lowest)*more
			if r.q != nil && low <= r.most && (!floored || r.floor <= r.most) {
				total += r.q.base * more
				low = max(low, total+x.least(r.q, at, r.most-total))
			}
		}
		if floored {
			low = max(low, r.floor)
			floored = r.floor == r.most
		}
		if low != r.most {
			return low > r.most
		}
	}
	return x.levels && x.answer.Found || s.Lesser
}

// value returns what levels have of a rung.
func (x *solver) value(r *rung, levels *cost.Levels) int64 {
	if r.wide {
		return x.s.valueOf(int(r.level), levels)
	}
	return levels[r.level]
}

// A workOf is a unit with what it loses.
type workOf struct {
	work      resources.Wide
	row, unit int32
}

// leastWork returns what so many units more of the rows from a place on lose at least.
func (x *solver) leastWork(at int, units int64) (work resources.Wide) {
	if units == 1 {
		return x.leastLost[at]
	}
	if !x.listed {
		x.listWorks()
	}
	for k := 0; k < len(x.works) && units > 0; k++ {
		u := &x.works[k]
		if x.looked++; int(x.place[u.row]) >= at && u.unit >= x.taken[u.row] {
			work = work.Add(u.work)
			units--
		}
	}
	return work
}

// listWorks lists all units by what they lose.
func (x *solver) listWorks() {
	x.works, x.listed = x.works[:0], true
	for _, i := range x.order {
		r := &x.p.Rows[i]
		for unit := range r.Count {
			x.works = append(x.works, workOf{x.s.Work(r, unit), i, int32(unit)})
		}
	}
	x.s.Meter.Pay(int64(8 * len(x.works)))
	slices.SortFunc(x.works, func(a, b workOf) int {
		if c := a.work.Compare(b.work); c != 0 {
			return c // mostly
		}
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.unit, b.unit))
	})
}

// open returns what is open at the prices of a level.
func (x *solver) open(q *priced) (open int64) {
	for k, price := range q.price {
		if rem := x.rem[k]; rem > 0 {
			d := &x.s.prices.dims[k]
			open += min(rem>>d.shift, d.whole) * price
		}
	}
	return open
}

// least returns the least of a level with which the rows from a place on give what is open,
// if units could be cut. Of more than the most it says no more than that.
func (x *solver) least(q *priced, at int, most int64) (value int64) {
	open := x.open(q)
	if open <= 0 {
		if q.level == x.s.Order.Count {
			return 1 // something is open, and if not at these prices
		}
		return 0
	}
	items := q.items
	if q.leads {
		items = items[min(at, len(items)):]
	}
	for k := range items {
		i := &items[k]
		if int(i.place) < at {
			continue
		}
		left := i.count
		if int(i.place) == at {
			left -= int64(x.taken[i.row])
		}
		if value > most || enoughOf(left, i.worth, open) {
			x.looked += k + 1
			return min(value+cut(i.value, open, i.worth), mostValue)
		}
		open -= left * i.worth
		value = addValue(value, i.value, left)
	}
	x.looked += len(items)
	return mostValue // all together are not enough
}
