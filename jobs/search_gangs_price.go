// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/gangs"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// A byLevel is a number for each level. A price has a part for each of them that is a sum, in their order.
type byLevel [rulebook.LevelExcess + 1]int64

// partOf returns which part of a price a level is.
func partOf(l rulebook.Level) (part int) {
	for before := range l {
		if before.IsSum() {
			part++
		}
	}
	return part
}

// partsOf returns the values of the parts of a unit's price.
func (x *exchanger) partsOf(u int32) (v byLevel) {
	const most = 1 << 50
	unit := &x.units[u]
	copy(v[:], unit.Levels[:])
	v[rulebook.LevelOverrun] = 0
	for _, use := range unit.Uses {
		if x.budgets.soft[use.Budget] == 0 {
			v[rulebook.LevelOverrun] += use.Count
		}
	}
	v[rulebook.LevelOwn] = min(v[rulebook.LevelOwn], most>>32)<<32 + v[rulebook.LevelOwnLow]
	if x.types == 1 {
		v[rulebook.LevelExcess] = unit.Size.At(0)
	}
	v[rulebook.LevelWork], _ = wide.Uint128(unit.Work).Rsh(uint(x.cut)).Int64()
	return v
}

// layOut finds out where the parts of prices are.
func (x *exchanger) layOut() {
	const workBits = 40
	x.cut = 0
	for _, list := range [...][]int32{x.singles, x.wholly} {
		for _, u := range list {
			x.cut = max(x.cut, wide.Uint128(x.units[u].Work).Len()-workBits)
		}
	}
	var most [len(byLevel{})]uint64
	for _, list := range [...][]int32{x.singles, x.wholly} {
		for _, u := range list {
			for i, v := range x.partsOf(u) {
				most[i] += uint64(max(v, -v))
			}
			for _, use := range x.units[u].Uses {
				most[rulebook.LevelOverrun] += uint64(use.Count)
			}
		}
	}
	if x.types == 1 {
		most[rulebook.LevelExcess] += uint64(x.rem[0])
	}
	p, l := &x.problem, &x.layout
	l.Reset()
	for level, v := range most {
		if rulebook.Level(level).IsSum() {
			l.Add(v)
		}
	}
	l.Settle()
	last := partOf(rulebook.LevelSumPriorities)
	p.Head, p.Levels = l.At(partOf(rulebook.LevelOriginators)), l.At(last)
	p.Partial = p.Partial || !l.Whole(last+1)
	p.Waste = gangs.Price{}
	if x.types == 1 && l.Whole(partOf(rulebook.LevelExcess)+1) && !x.needs.open() {
		p.Waste = l.Price(partOf(rulebook.LevelExcess), 1)
	}
}

// priceAll prices all units.
func (x *exchanger) priceAll() {
	price := func(u int32) (sum gangs.Price) {
		part := 0
		for l, v := range x.partsOf(u) {
			l := rulebook.Level(l)
			if !l.IsSum() {
				continue
			}
			if l != rulebook.LevelExcess || x.problem.Waste != (gangs.Price{}) {
				sum = sum.Add(x.layout.Price(part, v))
			}
			part++
		}
		return sum
	}
	for row, u := range x.singles {
		x.problem.Units[row].Price, x.problem.Units[row].Use = price(u), x.useOf(u)
	}
	for row, u := range x.wholly {
		x.problem.Wholes[row].Price, x.problem.Wholes[row].Use = price(u), x.useOf(u)
	}
}

// A bounded is a type of a bound that those who may go could pass, a soft budget, or a type
// of what a queue needs.
type bounded struct {
	what         rowKind
	bound, typ   int32
	room, potent int64 // what it has left, and what could go
}

type rowKind uint8

const (
	needed rowKind = iota
	limited
	budgeted
)

func (b bounded) is(c bounded) bool { return b.what == c.what && b.bound == c.bound && b.typ == c.typ }

// findRows finds the sums that those who may go could pass: those for which plans were
// refused, and then those with the least room for what could go.
func (x *exchanger) findRows() {
	x.bounds = x.bounds[:0]
	x.potent = rows.Zeros(x.potent, len(x.rooms.Bounds)*x.types)
	soft := rows.Zeros(x.counts, len(x.budgets.soft))
	x.counts = soft
	for _, list := range [...][]int32{x.singles, x.wholly} {
		for _, u := range list {
			for part := range x.units[u].All {
				for _, b := range part.Bounds {
					addTo(x.row(x.potent, int(b)), part.Size, +1)
				}
			}
			for _, use := range x.units[u].Uses {
				soft[use.Budget] += int32(use.Count)
			}
		}
	}
	for i := range x.gangs { // these are counted otherwise
		if g := &x.gangs[i]; g.counted {
			clear(x.row(x.potent, int(g.bounds[0])))
		}
	}
	x.listNeeds()
	for b := range x.rooms.Bounds {
		room := &x.rooms.Bounds[b].Room
		for t := range room.Defined.All() {
			if t < x.types && x.row(x.potent, b)[t] > max(room.Value.At(t), 0) {
				x.bounds = append(x.bounds, bounded{limited, int32(b), int32(t), max(room.Value.At(t), 0), x.row(x.potent, b)[t]})
			}
		}
	}
	for b, n := range soft {
		if left := x.budgets.soft[b]; left > 0 && int64(n) > left {
			x.bounds = append(x.bounds, bounded{budgeted, int32(b), 0, left, int64(n)})
		}
	}
	slices.SortStableFunc(x.bounds, func(a, b bounded) int {
		return cmp.Or(cmp.Compare(min(a.what, limited), min(b.what, limited)), cmp.Compare(x.tightness(a), x.tightness(b)), resources.Share{Amount: a.room, Of: a.potent}.Compare(resources.Share{Amount: b.room, Of: b.potent}))
	})
	x.bounds = x.bounds[:min(len(x.bounds), gangs.MostRows)]
	p := &x.problem
	p.Rows = p.Rows[:0]
	for _, b := range x.bounds {
		row := gangs.Row{Room: b.room}
		if b.what == budgeted {
			row.Over = x.layout.Price(partOf(rulebook.LevelOverrun), 1)
		}
		p.Rows = append(p.Rows, row)
	}
}

// tightness returns when plans were refused for a bound first: lately, before, or not at all.
func (x *exchanger) tightness(b bounded) int {
	return -1 - slices.IndexFunc(x.tight, b.is)
}

// blame notes the bounds for which a unit may not go.
func (x *exchanger) blame(u int32) {
	p := &x.partial
	p.move(u, +1)
	for part := range x.units[u].All {
		for _, b := range part.Bounds {
			room := &p.left[b].Room
			for t := range room.Defined.All() {
				if room.Value.At(t) < 0 {
					x.tighten(bounded{what: limited, bound: b, typ: int32(t)})
				}
			}
		}
	}
	p.move(u, -1)
}

// tighten notes a bound that the problem should have.
func (x *exchanger) tighten(b bounded) {
	if !slices.ContainsFunc(x.tight, b.is) {
		x.tight = append(x.tight, b)
	}
}

// useOf returns what a unit uses of rows.
func (x *exchanger) useOf(u int32) (use gangs.Use) {
	for r, b := range x.bounds {
		switch b.what {
		case needed:
			use[r] = -x.helps(u, b)
		case budgeted:
			for _, take := range x.units[u].Uses {
				if take.Budget == b.bound {
					use[r] += take.Count
				}
			}
		default:
			for part := range x.units[u].All {
				if slices.Contains(part.Bounds, b.bound) {
					use[r] += part.Size.At(int(b.typ))
				}
			}
		}
	}
	return use
}

// helps returns what a unit frees of what a queue needs.
func (x *exchanger) helps(u int32, b bounded) (sum int64) {
	for _, i := range x.tasksOf(u) {
		if c := &x.cands[i]; c.leaf.Level <= b.bound {
			sum += c.size.At(int(b.typ))
		}
	}
	return sum
}

// listNeeds lists what queues need, if those who may go have as much.
func (x *exchanger) listNeeds() {
	for n, short := range x.needs.short {
		for t, v := range short {
			if v <= 0 {
				continue
			}
			b := bounded{what: needed, bound: int32(n), typ: int32(t), room: -v}
			for _, u := range x.singles {
				b.potent += x.helps(u, b)
			}
			if b.potent >= v {
				x.bounds = append(x.bounds, b)
			}
		}
	}
}
