// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// The order of plans, as package victims has it.
var planOrder = cost.Order{Max: 1<<3 | 1<<4, Carry: 1 << 7, Overrun: 1, Count: 8}

// A field is nodes with their problems, and a host of them.
type field struct {
	few    bool // units elsewhere are stated in any case
	search *Search
	meter  Meter
	best   Best
	nodes  []node
	skips  bool    // sums tell all
	taken  []int32 // of the best
	ties   bool    // sets that cost as much as the best are of interest
	wrong  string  // what was wrong with a set that was offered
}

// A node has the problem of its own units, that with units elsewhere, and a rough one.
type node struct {
	near, all, rough Problem
	keys             [][][]string // by row and unit of all
	admitted         bool
	plans            []set // of all its units, within limits and with nothing to give back
}

// cast draws parts of a field one after another.
type cast struct {
	*rapid.T
	f           *field
	types, dims int
	scale       int64
	like        int   // one row in so many is like another one
	outer       []int // by limit: the one around it, or as many as there are
	keys        []string
}

func (c *cast) between(label string, least, most int) int {
	return rapid.IntRange(least, most).Draw(c.T, label)
}

// often draws true in one of so many cases.
func (c *cast) often(label string, one int) bool { return c.between(label, 1, one) == one }

// amount draws a small amount, or a large one that is not round.
func (c *cast) amount(label string, of ...int64) int64 {
	v := rapid.SampledFrom(of).Draw(c.T, label)
	if v > 0 && c.scale > 1 {
		return v*c.scale + int64(c.between("odd", -1, 1))
	}
	return v
}

// part draws a part of a sum, or a little more or less than all.
func (c *cast) part(label string, sum int64) int64 {
	return rapid.SampledFrom([]int64{
		sum - sum/2, sum/3 + 1, sum - sum/4, sum / 4, sum / 5, sum/2 + 1, sum - sum/3, 2 * (sum / 5), sum / 3, sum / 2, 0, sum, sum + 1, sum - 1,
	}).Draw(c.T, label)
}

// fields draws so many nodes. They have units elsewhere if there are several of them.
func fields(most int) *rapid.Generator[*field] {
	return rapid.Custom(func(t *rapid.T) *field {
		c := cast{T: t, f: new(field), scale: rapid.SampledFrom([]int64{1, 1, 1, 1 << 54}).Draw(t, "scale")}
		c.types, c.dims = c.between("types", 1, 3), c.between("dimensions", 1, 4)
		c.like = rapid.SampledFrom([]int{3, 1, 1}).Draw(t, "like another")
		for i := range 300 {
			c.keys = append(c.keys, fmt.Sprintf("%03d", i*7%300))
		}
		f, order := c.f, c.order()
		f.meter.Left, f.skips = 1<<40, rapid.Bool().Draw(t, "skips")
		f.search = &Search{Host: f, Keys: f, Order: &order, Meter: &f.meter, Best: &f.best, Now: 100}
		f.search.solver.early = rapid.SampledFrom([]int{1, 1, 1, 2, 3, 0}).Draw(t, "early")
		for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "budgets") {
			f.search.Budgets = append(f.search.Budgets, int64(c.between("left", -1, 3)))
		}
		for range c.types {
			f.search.Capacity = append(f.search.Capacity, c.amount("capacity", 0, 1, 2, 3, 10, 20))
		}
		typ := make([]int32, c.dims)
		for k := range typ {
			typ[k] = int32(c.between("type", -1, c.types-1))
		}
		shared := [2]int{c.dims, c.dims}
		if most > 1 && rapid.Bool().Draw(t, "elsewhere") {
			shared[0], f.few = c.between("shared", 0, c.dims-1), c.often("few elsewhere", 3)
		}
		for n := range c.between("nodes", 1, most) {
			f.search.Nodes = append(f.search.Nodes, int32(n))
			f.nodes = append(f.nodes, c.node(int32(n), typ, shared))
		}
		for k := range c.between("priced", min(1, most-1), c.dims) {
			whole := int64(1)
			for i := range f.nodes {
				whole = max(whole, f.nodes[i].all.Need[k])
			}
			f.search.Dims = append(f.search.Dims, whole*int64(c.between("whole", 1, 3)))
		}
		if most == 1 {
			f.search.Pose(&f.nodes[0].near)
			return f
		}
		f.search.Blind = order.Compare != nil
		f.search.Reset()
		for i := range f.nodes {
			f.nodes[i].plans = f.minimal(&f.nodes[i].all)
		}
		return f
	})
}

// order draws the order of plans or any other, and often what decides.
func (c *cast) order() (o cost.Order) {
	if o = planOrder; c.often("any order", 2) {
		o = cost.Order{Count: c.between("count", 0, cost.NumLevels-1)}
		o.Max = uint16(c.between("max", 0, 1<<cost.NumLevels-1)) &^ (1 << o.Count)
		if o.Count > 0 {
			o.Overrun = c.between("overrun", 0, o.Count-1)
			o.Max &^= 1 << o.Overrun
		}
		if low := c.between("low half", 1, cost.NumLevels-1); low != o.Count && low-1 != o.Count && low != o.Overrun && low-1 != o.Overrun {
			o.Carry, o.Max = 1<<low, o.Max&^(3<<(low-1))
		}
	}
	if c.often("sequence", 2) {
		o.Sequence = c.sequence(&o)
	}
	if c.often("own comparison", 9) {
		o.Compare = rapid.SampledFrom(comparisons).Draw(c.T, "comparison")
	}
	return o
}

// comparisons are orders of callers. None calls a set cheaper than a part of it.
var comparisons = []func(a, b *cost.Total) int{
	func(a, b *cost.Total) int { return cmp.Or(cmp.Compare(a.Units, b.Units), b.Work.Compare(a.Work)) },
	func(a, b *cost.Total) int { return a.Work.Compare(b.Work) },
	func(a, b *cost.Total) int { return a.Excess.Compare(b.Excess) },
	func(a, b *cost.Total) int { return 0 },
}

// sequence draws some of what decides, in any order: but halves of a number stay together,
// and levels that may be negative come after the one that counts.
func (c *cast) sequence(o *cost.Order) (s []int8) {
	first, later := [][]int8{{cost.ByExcess}, {cost.ByWork}}, [][]int8{}
	for l := range int8(cost.NumLevels) {
		item := []int8{l}
		if l+1 < cost.NumLevels && o.Carry>>(l+1)&1 != 0 {
			item = append(item, l+1)
		}
		switch {
		case int(l) == o.Count || o.Carry>>l&1 != 0:
		case int(l) < o.Count || o.IsMax(int(l)):
			first = append(first, item)
		default:
			later = append(later, item)
		}
	}
	first = rapid.Permutation(first).Draw(c.T, "before the count")
	split := c.between("before", 0, len(first))
	later = rapid.Permutation(append(later, first[split:]...)).Draw(c.T, "after the count")
	s = append(slices.Concat(first[:c.between("of these", 0, split)]...), int8(o.Count))
	return append(s, slices.Concat(later[:c.between("of those", 0, len(later))]...)...)
}

// node draws a node. Needs and rooms are parts of what there is.
func (c *cast) node(n int32, typ []int32, shared [2]int) (x node) {
	x.admitted = !c.often("not admitted", 8)
	p := &x.all
	p.Node, p.Typ, p.Shared = n, typ, shared
	c.limits(p)
	own := rapid.SampledFrom([]int{3, 4, 5, 1, 2, 6}).Draw(c.T, "rows")
	c.rows(&x, own, 0)
	if shared[0] < shared[1] {
		c.rows(&x, c.between("rows elsewhere", 0, 2), shared[0])
	}
	for k := range c.dims {
		sum := int64(0)
		for i := range p.Rows {
			sum += p.Rows[i].Count * p.Rows[i].Gives[k]
		}
		if p.Need = append(p.Need, c.part("need", sum)); c.often("no need", 4) {
			p.Need[k] = int64(c.between("less than nothing", -1, 0))
		}
	}
	if k := c.between("needed in any case", 0, 2*c.dims); k < shared[0] {
		p.Need[k] = max(p.Need[k], 1)
	}
	for l := range p.Room {
		sum := int64(0)
		for i := range p.Rows {
			for _, t := range p.Rows[i].Takes {
				if int(t.Limit) == l {
					sum += p.Rows[i].Count * t.Amount
				}
			}
		}
		if p.Room[l] = c.part("room", sum); c.often("broken", 9) {
			p.Room[l] = -7
		}
	}
	for t := range c.types {
		if p.Wanted = append(p.Wanted, c.amount("wanted", 0, 1, 2, 4, 8)); c.often("wants what is needed", 2) {
			for k, v := range p.Need {
				if int(typ[k]) == t {
					p.Wanted[t] = max(p.Wanted[t], v)
				}
			}
		}
	}
	x.near = *p
	x.near.Rows, x.near.Need = p.Rows[:own:own], slices.Clone(p.Need)
	x.rough = c.relaxed(&x.near)
	return x
}

// limits draws limits. Those of a type are chains.
func (c *cast) limits(p *Problem) {
	n := rapid.SampledFrom([]int{0, 0, 1, 2, 3, 4}).Draw(c.T, "limits")
	p.Room, p.Types, c.outer = make([]int64, n), nil, nil
	for l := range n {
		c.outer = append(c.outer, c.between("outer", l+1, n))
		p.Types = append(p.Types, int32(c.between("limited type", -1, c.types-1)))
	}
}

// rows draws rows that give to dimensions from the given one on.
func (c *cast) rows(x *node, n, from int) {
	p := &x.all
	counted := c.f.search.Order.Counts(cost.ByWork)
	for range n {
		var r Row
		if len(p.Rows) > 0 && c.often("as another", c.like) {
			r = c.another(p.Rows[c.between("which", 0, len(p.Rows)-1)], from)
		} else {
			r = c.row(p, from)
		}
		if r.Count = int64(rapid.SampledFrom([]int{1, 1, 2, 1, 1, 2, 3, 4}).Draw(c.T, "count")); r.Gang {
			r.Count = 1
		}
		var keys [][]string
		for range r.Count {
			more := 0
			if r.Gang {
				more = c.between("more keys", 0, 2)
			}
			keys, c.keys = append(keys, c.keys[:1+more]), c.keys[1+more:]
		}
		slices.SortFunc(keys, slices.Compare)
		r.Times, r.Works, r.Weight = nil, nil, 0
		alike := c.f.search.Order.Compare != nil
		switch kind := c.between("work", 0, 4); {
		case kind < 2:
			r.Weight = rapid.SampledFrom([]uint64{1, 1, 2, 1 << 58}).Draw(c.T, "weight")
			for range r.Count {
				r.Times = append(r.Times, 100-rapid.SampledFrom([]int64{0, 1, 1, 2, 3, -5, math.MaxInt64}).Draw(c.T, "time"))
			}
			if alike {
				r.Times = slices.Repeat(r.Times[:1], len(r.Times))
			}
			if counted {
				slices.SortFunc(r.Times, func(a, b int64) int { return cmp.Compare(b, a) })
			}
		case kind < 4:
			for range r.Count {
				r.Works = append(r.Works, resources.Wide(wide.Mul(rapid.SampledFrom([]uint64{0, 1, 1, 2, 3, 1<<64 - 1}).Draw(c.T, "time"),
					rapid.SampledFrom([]uint64{1, 1, 1, 2, 1 << 58}).Draw(c.T, "weight"))))
			}
			if alike {
				r.Works = slices.Repeat(r.Works[:1], len(r.Works))
			}
			if counted {
				slices.SortFunc(r.Works, resources.Wide.Compare)
			}
		}
		p.Rows, x.keys = append(p.Rows, r), append(x.keys, keys)
	}
}

// another draws a row that is like a given one: it gives what that gives, from a dimension on, and
// takes and uses the same, but mostly not all else is the same.
func (c *cast) another(r Row, from int) Row {
	r.Gives, r.Size, r.Takes, r.Uses = slices.Clone(r.Gives), slices.Clone(r.Size), slices.Clone(r.Takes), slices.Clone(r.Uses)
	clear(r.Gives[:from])
	switch c.between("other levels", 0, 3) {
	case 0, 1:
		r.Levels = c.levels()
	case 2:
		others, l := c.levels(), c.between("other level", 0, cost.NumLevels-1)
		r.Levels[l] = others[l]
	}
	if c.often("other size", 3) {
		r.Size[c.between("of", 0, len(r.Size)-1)] = c.amount("size", 1, 2, 3, 0, 4, 5, 6)
	}
	if len(r.Takes) > 0 && c.often("takes more", 6) {
		r.Takes[c.between("of", 0, len(r.Takes)-1)].Amount++
	}
	if len(r.Uses) > 0 && c.often("other uses", 6) {
		r.Uses[c.between("of", 0, len(r.Uses)-1)].Count = int64(c.between("uses", 1, 3))
	}
	return r
}

// row draws what units of a row are. Of a type they give and take what they are, but for gangs.
func (c *cast) row(p *Problem, from int) (r Row) {
	r.Levels, r.Gang = c.levels(), c.often("gang", 4)
	for range c.types {
		r.Size = append(r.Size, c.amount("size", 1, 2, 3, 0, 4, 5, 6))
	}
	for k, typ := range p.Typ {
		v := int64(0)
		switch {
		case k < from || c.often("gives nothing", 4):
		case typ < 0 || r.Gang:
			v = c.amount("gives", 0, 1, 2, 3, 7)
		default:
			v = r.Size[typ]
		}
		r.Gives = append(r.Gives, v)
	}
	for l := c.between("inner limit", 0, len(c.outer)); l < len(c.outer); l = c.outer[l] {
		v := int64(1)
		switch typ := p.Types[l]; {
		case r.Gang:
			v = c.amount("takes", 0, 1, 2, 3, 7)
		case typ >= 0:
			v = r.Size[typ]
		}
		r.Takes = append(r.Takes, Take{int32(l), v})
	}
	for b := range c.f.search.Budgets {
		if n := c.between("uses", 0, 2); n > 0 {
			r.Uses = append(r.Uses, Use{int32(b), int64(n)})
		}
	}
	return r
}

// levels draws no more than the order asks of levels.
func (c *cast) levels() (levels cost.Levels) {
	o := c.f.search.Order
	of := func(label string, values ...int64) int64 { return rapid.SampledFrom(values).Draw(c.T, label) }
	for l := range levels {
		switch {
		case l > 0 && l == o.Overrun:
		case o.Carry>>l&1 != 0:
			levels[l] = of("low half", 0, 0, 1, 1<<cost.HalfBits-1, 1<<(cost.HalfBits-1))
		case o.Carry>>(l+1)&1 != 0 && l < o.Count:
			levels[l] = of("high half", 0, 0, 0, 1, 2, 1<<28, 1<<29-1, 1<<29, 1<<40)
		case l == o.Count:
			levels[l] = of("count", 1, 1, 1, 1, 2, 3)
		case l < o.Count && !o.IsMax(l):
			levels[l] = of("sum", 0, 0, 0, 1, 2)
		default:
			levels[l] = of("level", 0, 0, -1, -2, 1)
		}
	}
	return levels
}

// relaxed returns a problem whose units cost no more and give no less, without limits. A unit
// may stand for several.
func (c *cast) relaxed(p *Problem) Problem {
	q, o := *p, c.f.search.Order
	q.Room, q.Types, q.Need, q.Rows, q.Wanted = nil, nil, slices.Clone(p.Need), slices.Clone(p.Rows), slices.Clone(p.Wanted)
	clear(q.Need[p.Shared[0]:p.Shared[1]])
	for i := range q.Rows {
		r := &q.Rows[i]
		r.Takes, r.Uses, r.Size, r.Gives = nil, nil, slices.Clone(r.Size), slices.Clone(r.Gives)
		if parts := r.Levels[o.Count]; parts > 1 && c.often("parts", 2) {
			r.Count, r.Times, r.Works = r.Count*parts, nil, nil
			for l := range r.Levels {
				if !o.IsMax(l) {
					r.Levels[l] = floorDiv(r.Levels[l], parts)
				}
				if o.Carry>>l&1 != 0 {
					r.Levels[l] = 0
				}
			}
			for k := range r.Gives {
				r.Gives[k] = (r.Gives[k] + parts - 1) / parts
			}
			for t := range r.Size {
				r.Size[t] /= parts
			}
			continue
		}
		if c.often("cheaper", 3) {
			l := c.between("level", 0, cost.NumLevels-1)
			if r.Levels[l]--; l <= o.Count && !o.IsMax(l) || o.Carry>>l&1 != 0 {
				r.Levels[l] = max(r.Levels[l], 0)
			}
			r.Levels[o.Count] = max(r.Levels[o.Count], 1)
		}
		if c.often("rougher", 4) {
			r.Size[0] /= 2
			r.Gives[len(r.Gives)-1]++
			q.Wanted[0]++
			r.Times, r.Works = nil, nil
		}
	}
	return q
}

// A field is a host that has the last word by its sets.

func (f *field) Few() bool              { return f.few }
func (f *field) Elsewhere() bool        { p := &f.nodes[0].all; return p.Shared[0] < p.Shared[1] }
func (f *field) Admits(n int32) bool    { return f.nodes[n].admitted }
func (f *field) Before(n, m int32) bool { return n < m }

func (f *field) Keys(dst []string, p *Problem, row, unit int32) []string {
	return append(dst, f.nodes[p.Node].keys[row][unit]...)
}

func (f *field) State(p *Problem, n int32, how Extent) bool {
	x := &f.nodes[n]
	from := []*Problem{Rough: &x.rough, Near: &x.near, All: &x.all}[how]
	*p = *from
	p.Need = slices.Clone(from.Need) // a search may waive some
	return how != Rough || open(p.Need)
}

// open reports whether anything is needed. Nodes that need nothing of their own have no bounds.
func open(need []int64) bool {
	return slices.ContainsFunc(need, func(v int64) bool { return v > 0 })
}

func (f *field) Skip(n int32) bool {
	if !f.skips || f.best.Found && n == f.best.Node {
		return false
	}
	for i := range f.nodes[n].plans {
		if f.matters(n, &f.nodes[n].plans[i].total) {
			return false
		}
	}
	return true
}

func (f *field) Offer(p *Problem, a *Answer) {
	x := &f.nodes[p.Node]
	taken := append(slices.Clone(a.Taken), make([]int32, len(x.all.Rows)-len(a.Taken))...)
	if !gives(&x.all, taken) || !lawful(&x.all, taken) || !minimal(&x.all, taken) || !x.admitted {
		f.wrong = fmt.Sprintf("node %d was offered %v", p.Node, taken)
	}
	b := &f.best
	if b.Found {
		if c := f.search.Order.CompareTotals(&a.Total, &b.Total); c > 0 || c == 0 && p.Node > b.Node {
			return
		}
	}
	b.Found, b.Exact, b.Node, b.Total = true, a.Proven && !f.search.Lesser, p.Node, a.Total
	b.Note(f.search.Capacity)
	f.taken = taken
}

// GoString is what a property prints of what it has drawn.
func (f *field) GoString() string { return f.String() }

// String writes a field line by line.
func (f *field) String() string {
	var b strings.Builder
	s := f.search
	fmt.Fprintf(&b, "order %+v budgets %v capacity %v dims %v\n", *s.Order, s.Budgets, s.Capacity, s.Dims)
	for n := range f.nodes {
		p := &f.nodes[n].all
		fmt.Fprintf(&b, "node %d: need %v of %v, room %v of %v, wanted %v, shared %v, admitted %t\n", n, p.Need, p.Typ, p.Room, p.Types, p.Wanted, p.Shared, f.nodes[n].admitted)
		for i, r := range p.Rows {
			where := ""
			if i >= len(f.nodes[n].near.Rows) {
				where = " elsewhere"
			}
			fmt.Fprintf(&b, "  %+v %v%s\n", r, f.nodes[n].keys[i], where)
		}
		for _, r := range f.nodes[n].rough.Rows {
			fmt.Fprintf(&b, "  rough %+v\n", r)
		}
	}
	return b.String()
}
