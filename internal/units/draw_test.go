// SPDX-License-Identifier: Apache-2.0

package units

import (
	"cmp"
	"fmt"
	"github.com/go-preempt/preempt/internal/least"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
	"pgregory.net/rapid"
)

// coverOrders are orders that callers may want, for the worker and for its
// slow twin. None calls a set cheaper than a part of it; some call it as cheap.
var coverOrders = []struct {
	name string
	fast func(a, b *cost.Total) int
	slow func(a, b *slowSet) int
}{
	{"the default", nil, nil},
	{"units, work",
		func(a, b *cost.Total) int { return cmp.Or(cmp.Compare(a.Units, b.Units), a.Work.Compare(b.Work)) },
		func(a, b *slowSet) int { return cmp.Or(cmp.Compare(len(a.units), len(b.units)), a.work.Cmp(b.work)) }},
	{"units, most work",
		func(a, b *cost.Total) int { return cmp.Or(cmp.Compare(a.Units, b.Units), b.Work.Compare(a.Work)) },
		func(a, b *slowSet) int { return cmp.Or(cmp.Compare(len(a.units), len(b.units)), b.work.Cmp(a.work)) }},
	{"work alone",
		func(a, b *cost.Total) int { return a.Work.Compare(b.Work) },
		func(a, b *slowSet) int { return a.work.Cmp(b.work) }},
	{"excess alone",
		func(a, b *cost.Total) int { return a.Excess.Compare(b.Excess) },
		func(a, b *slowSet) int { return a.excess.Cmp(b.excess) }},
	{"no opinion",
		func(a, b *cost.Total) int { return 0 },
		func(a, b *slowSet) int { return 0 }},
}

// coverCase is a small random problem with its slow twin.
type coverCase struct {
	Problem
	slow  slowProblem
	best  *slowSet // nil where no set meets the needs
	order string
}

func (c *coverCase) String() string { return c.order + "\n" + pictureOf(&c.Problem) }

// coverCases draws problems in which ties are frequent: few shapes of units,
// small levels and amounts, which all may also be very large. Needs and rooms
// are parts of what there is, so that most problems have a set.
func coverCases() *rapid.Generator[*coverCase] {
	return rapid.Custom(func(t *rapid.T) *coverCase {
		order := rapid.SampledFrom(append(slices.Repeat(coverOrders[:1], 6), coverOrders[1:]...)).Draw(t, "order")
		c := &coverCase{order: order.name}
		c.slow = slowProblem{&c.Problem, order.slow}
		g := coverDraw{
			T: t, slow: c.slow, Problem: &c.Problem, types: between(t, "types", 1, 3),
			scale: rapid.SampledFrom([]int64{1, 1, 1, 1 << 55}).Draw(t, "scale"),
		}
		c.Order = g.order()
		c.Order.Compare = order.fast
		if between(t, "sequence", 0, 2) == 1 {
			c.Order.Sequence = g.sequence()
		}
		c.Needs = make([]resources.Vector, rapid.SampledFrom([]int{1, 1, 1, 2, 2, 0, 2, 3, 3, 4, 3}).Draw(t, "needs"))
		c.Bounds = make([]Bound, rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(t, "bounds"))
		for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "budgets") {
			c.Budgets = append(c.Budgets, int64(between(t, "left", -1, 3)))
		}
		g.units()
		g.needs()
		g.bounds()
		g.wanted()
		c.Capacity = g.vector("capacity", 0, 1, 2, 3, 10, 20)
		c.best = c.slow.least()
		return c
	})
}

func between(t *rapid.T, label string, least, most int) int {
	return rapid.IntRange(least, most).Draw(t, label)
}

// coverDraw draws the parts of a problem one after another.
type coverDraw struct {
	*rapid.T
	*Problem
	slow  slowProblem
	types int
	scale int64
}

// vector draws amounts of every type; sometimes of one more or fewer, for what
// is beyond the length of a vector is zero.
func (g *coverDraw) vector(label string, amounts ...int64) resources.Vector {
	n := g.types + rapid.SampledFrom([]int{0, 0, 0, 0, 0, -1, -g.types, 1, 0, 0, 0, 0, 0, 0, 0}).Draw(g.T, label+" length")
	v := rapid.SliceOfN(rapid.SampledFrom(amounts), n, n).Draw(g.T, label)
	for i := range v {
		v[i] *= g.scale
	}
	return v
}

// part draws a part of what the units that count have of a type, or a little
// more or less than all.
func (g *coverDraw) part(label string, typ int, counts func(Part) bool) int64 {
	all := make([]int32, len(g.Units))
	for i := range all {
		all[i] = int32(i)
	}
	sum := g.slow.sum(all, typ, counts)
	third, quarter, fifth := sum/3, sum/4, sum/5
	parts := []int64{sum - sum/2, sum - third, sum - 2*third, sum - quarter, sum - 2*quarter, sum - 3*quarter, sum - 4*fifth}
	parts = slices.Concat(parts, []int64{0, sum - 1, sum, sum + 1}, parts, parts)
	return rapid.SampledFrom(parts).Draw(g.T, label)
}

// order draws the order of plans or any other.
func (g *coverDraw) order() cost.Order {
	if rapid.Bool().Draw(g.T, "order of plans") {
		return planOrder
	}
	count := between(g.T, "count", 0, cost.NumLevels-1)
	o := cost.Order{Count: count, Max: uint16(between(g.T, "max", 0, 1<<cost.NumLevels-1)) &^ (1 << count)}
	if count > 0 {
		o.Overrun = between(g.T, "overrun", 0, count-1)
		o.Max &^= 1 << o.Overrun
	}
	if low := between(g.T, "low half", 0, cost.NumLevels-1); low > 0 && low != count && low-1 != count && low != o.Overrun && low-1 != o.Overrun {
		o.Carry = 1 << low
		o.Max &^= 3 << (low - 1)
	}
	return o
}

// sequence draws a part of what decides, in any order: but halves of a number stay
// together, and levels that may be negative come after the one that counts.
func (g *coverDraw) sequence() (s []int8) {
	o := &g.Order
	first, later := [][]int8{{cost.ByExcess}, {cost.ByWork}}, [][]int8{}
	for l := range int8(cost.NumLevels) {
		item := []int8{l}
		switch {
		case int(l) == o.Count || o.Carry>>l&1 != 0:
			continue
		case l+1 < cost.NumLevels && o.Carry>>(l+1)&1 != 0:
			item = []int8{l, l + 1}
		}
		if int(l) < o.Count || o.IsMax(int(l)) {
			first = append(first, item)
		} else {
			later = append(later, item)
		}
	}
	first = rapid.Permutation(first).Draw(g.T, "before the count")
	after := between(g.T, "of those after it", 0, len(first))
	later = append(later, first[after:]...)
	later = rapid.Permutation(later).Draw(g.T, "after the count")
	s = append(slices.Concat(first[:after]...), int8(o.Count))
	return append(s, slices.Concat(later[:between(g.T, "counted", 0, len(later))]...)...)
}

// units draws units of few shapes, each with a key and work of its own.
func (g *coverDraw) units() {
	chains := g.chains()
	var shapes []Unit
	for range between(g.T, "shapes", 1, 8) {
		u := Unit{
			Size:   g.vector("size", 1, 2, 3, 0, 4, 5, 6),
			Levels: g.levels(),
			Bounds: rapid.SampledFrom(chains).Draw(g.T, "chain"),
		}
		u.Needs = g.some("counts", len(g.Needs))
		u.Uses = g.uses()
		if between(g.T, "gang", 0, 3) == 1 {
			u.Parts = g.parts()
		}
		shapes = append(shapes, u)
	}
	keys := rapid.Permutation([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}).Draw(g.T, "keys")
	n := rapid.SampledFrom([]int{4, 5, 6, 6, 7, 1, 2, 7, 3, 0, 8, 8, 8, 9, 10}).Draw(g.T, "units")
	for _, key := range keys[:n] {
		u := rapid.SampledFrom(shapes).Draw(g.T, "shape")
		u.Key = key
		if between(g.T, "more keys", 0, 7) == 1 {
			u.More = []string{key + "2", "m" + key}
		}
		u.Work = resources.Wide(wide.Mul(rapid.SampledFrom([]uint64{0, 1, 1, 2, 3, 1<<64 - 1}).Draw(g.T, "time"),
			rapid.SampledFrom([]uint64{1, 1, 1, 2, 1 << 58}).Draw(g.T, "weight")))
		g.Units = append(g.Units, u)
	}
}

// uses draws what a unit takes of the budgets.
func (g *coverDraw) uses() (uses []least.Use) {
	for b := range g.Budgets {
		if n := between(g.T, "uses", 0, 3); n > 0 {
			uses = append(uses, least.Use{Budget: int32(b), Count: int64(max(n-1, 1))})
		}
	}
	return uses
}

// some draws most of the numbers below n, ascending.
func (g *coverDraw) some(label string, n int) (some []int32) {
	for i := range n {
		if between(g.T, label, 0, 5) != 1 {
			some = append(some, int32(i))
		}
	}
	return some
}

// parts draws parts of any needs and bounds, of the size of the unit or not.
func (g *coverDraw) parts() []Part {
	parts := make([]Part, between(g.T, "parts", 1, 3))
	for i := range parts {
		parts[i] = Part{
			Size:   g.vector("part size", 1, 2, 3, 0, 4),
			Needs:  g.some("part counts", len(g.Needs)),
			Bounds: g.some("part is bound", len(g.Bounds)),
		}
	}
	return parts
}

// chains draws what lies around each bound and returns the chain that begins
// with each, and the empty one.
func (g *coverDraw) chains() [][]int32 {
	n := len(g.Bounds)
	chains := make([][]int32, n+1)
	for b := n - 1; b >= 0; b-- {
		chains[b] = append([]int32{int32(b)}, chains[between(g.T, "outer", b+1, n)]...)
	}
	return chains
}

// needs draws how much each need is short of, sometimes nothing.
func (g *coverDraw) needs() {
	for n := range g.Needs {
		short := g.vector("short", 1, 1, 1, 0, 1)
		for t := range short {
			if short[t] > 0 {
				short[t] = g.part("part", t, func(p Part) bool { return slices.Contains(p.Needs, int32(n)) })
			}
		}
		g.Needs[n] = short
	}
}

// bounds draws the room of each bound, which may be less than nothing.
func (g *coverDraw) bounds() {
	for b := range g.Bounds {
		room := resources.Limit{
			Value:   g.vector("room", 1),
			Defined: resources.Mask(between(g.T, "defined", 0, 1<<(g.types+1)-1)),
		}
		for t := range room.Value {
			room.Value[t] = g.part("part", t, func(p Part) bool { return slices.Contains(p.Bounds, int32(b)) })
		}
		g.Bounds[b].Room = room
	}
}

// levels draws what the order asks of the levels of a unit, and no more: those
// after the one that counts, and those of which the maximum matters, may be
// negative.
func (g *coverDraw) levels() (levels cost.Levels) {
	o := &g.Order
	for l := range levels {
		switch {
		case l > 0 && l == o.Overrun:
		case o.Carry>>l&1 != 0:
			levels[l] = rapid.SampledFrom([]int64{0, 0, 1, 1<<cost.HalfBits - 1, 1 << (cost.HalfBits - 1)}).Draw(g.T, "low half")
		case l == o.Count:
			levels[l] = rapid.SampledFrom([]int64{1, 1, 1, 2, 3}).Draw(g.T, "count")
		case l < o.Count && !o.IsMax(l):
			levels[l] = rapid.SampledFrom([]int64{0, 0, 0, 1, 2}).Draw(g.T, "sum")
		default:
			levels[l] = rapid.SampledFrom([]int64{0, 0, -1, -2, 1}).Draw(g.T, "level")
		}
	}
	return levels
}

// wanted draws anything, or what a plan wants: the larger of all needs.
func (g *coverDraw) wanted() {
	if rapid.Bool().Draw(g.T, "any wanted") {
		g.Wanted = g.vector("wanted", 0, 1, 2, 4, 8, 16)
		return
	}
	for _, need := range g.Needs {
		g.Wanted = resources.Max(nil, g.Wanted, need)
	}
}

// pictureOf writes a problem line by line.
func pictureOf(p *Problem) string {
	var b strings.Builder
	fmt.Fprintf(&b, "max %011b carry %011b overrun %d count %d sequence %v budgets %v wanted %v capacity %v\n", p.Order.Max, p.Order.Carry, p.Order.Overrun, p.Order.Count, p.Order.Sequence, p.Budgets, p.Wanted, p.Capacity)
	for i, n := range p.Needs {
		fmt.Fprintf(&b, "need %d: %v\n", i, n)
	}
	for i, r := range p.Bounds {
		fmt.Fprintf(&b, "bound %d: %v of types %b\n", i, r.Room.Value, r.Room.Defined)
	}
	for _, u := range p.Units {
		fmt.Fprintf(&b, "unit %s: %v levels %v work %v needs %v bounds %v uses %v parts %v\n", u.Key, u.Size, u.Levels, u.Work, u.Needs, u.Bounds, u.Uses, u.Parts)
	}
	return b.String()
}
