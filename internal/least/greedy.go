// SPDX-License-Identifier: Apache-2.0

package least

import (
	"container/heap"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/wide"
)

// greedy takes rows, the cheapest first, and of those that cost the same the ones that give most of
// what is still open; and it gives back what is not needed. If limits were in the way, it takes
// them dimension by dimension, the scarcest first.
func (x *solver) greedy() {
	for end := len(x.costly); end > 0 && !x.covered(); {
		from := end - 1
		for from > 0 && x.p.Rows[x.costly[from-1]].Levels == x.p.Rows[x.costly[from]].Levels {
			from--
		}
		x.takeAlike(x.costly[from:end])
		end = from
	}
	if len(x.room) > 0 && len(x.rem) > 1 && !x.covered() {
		x.untakeAll()
		x.takeByDimension()
	}
	if x.covered() {
		x.giveBack()
		x.now = x.sum()
		x.keep()
	}
	x.untakeAll()
}

// takeAlike takes units of rows that cost the same, those first that give most of what is open. A unit
// never gives more of that than it did before: so the rows are kept in a heap by what they gave when
// they were last looked at, and only the first of them is looked at again.
func (x *solver) takeAlike(among []int32) {
	x.s.Meter.Pay(int64(len(among) * len(x.rem) / 2))
	h := &x.gains
	*h = (*h)[:0]
	for k, i := range among {
		if gives := x.gain(i); gives > 0 {
			*h = append(*h, gain{gives, int32(k)})
		}
	}
	for heap.Init(h); len(*h) > 0; {
		x.s.Meter.Pay(int64(len(x.rem)))
		top := &(*h)[0]
		i := among[top.at]
		switch now, useful := x.gain(i), x.useful(i); {
		case now == 0 || useful == 0:
			heap.Pop(h)
		case now < top.gives:
			top.gives = now
			heap.Fix(h, 0)
		default:
			// Of many at once: others would hardly give more.
			for n := max(useful/atOnce, 1); n > 0; n-- {
				x.move(i, 1)
			}
		}
	}
}

// atOnce is one part in so many of the useful units of a row that greedy takes at once.
const atOnce = 16

// A gain is what a unit of a row gave when it was last looked at.
type gain struct {
	gives int64
	at    int32 // of ties the last one goes first
}

// gains is a heap, the largest first.
type gains []gain

func (g gains) Len() int      { return len(g) }
func (g gains) Swap(i, j int) { g[i], g[j] = g[j], g[i] }
func (g *gains) Push(any)     {}
func (g *gains) Pop() any     { *g = (*g)[:len(*g)-1]; return nil }
func (g gains) Less(i, j int) bool {
	return g[i].gives > g[j].gives || g[i].gives == g[j].gives && g[i].at > g[j].at
}

// gain returns what a unit gives that is still open, at the prices of the level that counts.
func (x *solver) gain(i int32) (gain int64) {
	prices := x.s.prices.even
	if at := x.pricedAt[x.s.Order.Count]; at > 0 {
		prices = x.priced[at-1].price
	}
	for k, price := range prices {
		if rem := x.rem[k]; rem > 0 {
			d := &x.s.prices.dims[k]
			gain += min(min(x.p.Rows[i].Gives[k], rem)>>d.shift, d.whole) * price
		}
	}
	return gain
}

// takeByDimension takes the cheapest rows for one dimension after another, the scarcest first.
func (x *solver) takeByDimension() {
	dims := x.whole[:0]
	for k := range x.rem {
		dims = append(dims, int32(k))
	}
	x.whole = dims
	slices.SortStableFunc(dims, x.compareScarcity)
	for _, k := range dims {
		for at := len(x.costly) - 1; at >= 0 && x.rem[k] > 0; at-- {
			i := x.costly[at]
			for n := x.useful(i); n > 0 && x.rem[k] > 0 && x.p.Rows[i].Gives[k] > 0; n-- {
				x.move(i, 1)
			}
		}
	}
}

// compareScarcity orders dimensions by how much is needed of what there is, the scarcest first.
func (x *solver) compareScarcity(a, b int32) int {
	needed := func(k, of int32) wide.Uint128 {
		return wide.Mul(uint64(max(x.rem[k], 0)), uint64(max(x.avail[of], 1)))
	}
	return needed(b, a).Cmp(needed(a, b))
}

// untakeAll takes all units back.
func (x *solver) untakeAll() {
	for _, i := range x.order {
		for x.taken[i] > 0 {
			x.move(i, -1)
		}
	}
}

// giveBack takes back every unit without which all is given as well, the costliest first.
func (x *solver) giveBack() {
	for _, i := range x.costly {
		for x.taken[i] > 0 {
			x.move(i, -1)
			if !x.covered() {
				x.move(i, 1)
				break
			}
		}
	}
}

// useful returns how many more units of a row can be of use within the limits.
func (x *solver) useful(i int32) int64 {
	r := &x.p.Rows[i]
	most, left := int64(0), r.Count-int64(x.taken[i])
	for k, rem := range x.rem {
		if gives := r.Gives[k]; rem > 0 && gives > 0 && most < left && rem > most*gives {
			if most = 1; rem > gives {
				most = min((rem-1)/gives+1, left)
			}
		}
	}
	if most == 0 {
		return 0
	}
	for _, t := range r.Takes { // limits, law 2 among them, are kept here
		if t.Amount > 0 {
			most = min(most, max(x.room[t.Limit], 0)/t.Amount)
		}
	}
	return most
}

// move takes a unit of a row, or takes it back, as far as sums are concerned.
func (x *solver) move(i int32, sign int64) {
	r := &x.p.Rows[i]
	for k, v := range r.Gives {
		x.rem[k] -= sign * v
	}
	for _, t := range r.Takes {
		x.room[t.Limit] -= sign * t.Amount
	}
	for t, v := range r.Size {
		x.freed[t] += sign * v
	}
	for _, use := range r.Uses {
		left := max(x.s.Budgets[use.Budget], 0)
		x.over -= max(x.used[use.Budget]-left, 0)
		x.used[use.Budget] += sign * use.Count
		x.over += max(x.used[use.Budget]-left, 0)
	}
	x.taken[i] += int32(sign)
}

// join adds the next unit of a row to the total.
func (x *solver) join(t *cost.Total, r *Row, unit int64) {
	o := x.s.Order
	for _, l := range x.some {
		switch v := r.Levels[l]; {
		case !o.IsMax(int(l)):
			t.Levels[l] += v
		case t.Units == 0 || v > t.Levels[l]:
			t.Levels[l] = v
		}
	}
	o.Settle(&t.Levels)
	t.Work = t.Work.Add(x.s.Work(r, unit))
	t.Units++
	if o.Overrun > 0 {
		t.Levels[o.Overrun] = x.over
	}
}

// sum returns the total of what is taken, computed anew.
func (x *solver) sum() (t cost.Total) {
	for _, i := range x.costly {
		for k := range x.taken[i] {
			x.join(&t, &x.p.Rows[i], int64(k))
		}
	}
	t.Excess = cost.Excess(x.freed, x.p.Wanted, x.s.Capacity)
	return t
}

// keep makes the present set, which costs x.now, the best one.
func (x *solver) keep() {
	a := &x.answer
	a.Found, a.Total, a.Taken = true, x.now, append(a.Taken[:0], x.taken...)
	x.aim()
}
