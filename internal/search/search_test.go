// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/cost"
	_ "github.com/go-preempt/preempt/internal/judge/law" // draws the same cases in every run
	"github.com/go-preempt/preempt/internal/least"
)

// Levels of the tests: flags are summed up, a maximum, the high and the low half of a cost,
// the number of victims, and a sum that may be negative.
const (
	flagged = iota
	highest
	costHigh
	costLow
	victims
	total
)

var order = cost.Order{Max: 1 << highest, Carry: 1 << costLow, Count: victims}

// A field is nodes that lack something, and a host without any laws.
type field struct {
	search  *Search
	best    Best
	meter   least.Meter
	sites   []Site
	trusted bool // sets of rows are plans
	solved  []int32
}

// newField poses the nodes.
func newField(o *cost.Order, size []int64, sites ...Site) *field {
	f := &field{sites: sites, trusted: true}
	f.meter.Left = 1 << 40
	types, capacity, nodes := []int{}, []int64{}, []int32{}
	for t := range size {
		types, capacity = append(types, t), append(capacity, 1000)
	}
	for n := range sites {
		sites[n].Node, nodes = int32(n), append(nodes, int32(n))
	}
	f.search = &Search{
		Budget: Budget{Meter: &f.meter}, Host: f, Order: o, Size: size, Types: types, Capacity: capacity, Nodes: nodes, Best: &f.best,
	}
	f.search.Reset()
	return f
}

func (f *field) Skip(int32) bool        { return false }
func (f *field) Admits(int32) bool      { return true }
func (f *field) Before(n, m int32) bool { return n < m }

func (f *field) State(s *Site, n int32) bool {
	*s = f.sites[n]
	return true
}

// Solve tries all sets.
func (f *field) Solve(n int32) bool {
	f.solved = append(f.solved, n)
	if best, ok := cheapest(f.search, &f.sites[n], nil); ok {
		f.offer(n, best)
	}
	return true
}

func (f *field) Try(s *Site, picks []Pick) (cost.Total, bool) {
	if !f.trusted {
		return cost.Total{}, false
	}
	sum, ok := cheapest(f.search, s, picks)
	if ok {
		f.offer(s.Node, sum)
	}
	return sum, ok
}

func (f *field) offer(n int32, t cost.Total) {
	b := &f.best
	if c := compare(f.search, &t, &b.Total); !b.Found || c < 0 || c == 0 && n <= b.Node {
		b.Found, b.Exact, b.Node, b.Total = true, true, n, t
		b.Note(t.Work, t.Excess, f.search.Capacity)
	}
}

func compare(s *Search, a, b *cost.Total) int {
	for _, what := range s.sequence {
		var c int
		switch what {
		case cost.ByExcess:
			c = a.Excess.Compare(b.Excess)
		case cost.ByWork:
			c = a.Work.Compare(b.Work)
		default:
			c = cmp.Compare(a.Levels[what], b.Levels[what])
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// cheapest returns the cheapest of all sets of units that are enough; of the picks, if
// there are any.
func cheapest(s *Search, site *Site, picks []Pick) (best cost.Total, found bool) {
	left := make([]int64, len(site.Rows))
	for i := range site.Rows {
		left[i] = site.Rows[i].Count
	}
	if picks != nil {
		clear(left)
		for _, p := range picks {
			left[p.Row] = int64(p.Count)
		}
	}
	var go_ func(i int, t cost.Total, freed []int64)
	go_ = func(i int, t cost.Total, freed []int64) {
		if i == len(site.Rows) {
			for k := range freed {
				if freed[k] < site.Need[k] {
					return
				}
			}
			t.Excess = cost.Excess(freed, site.Wanted, s.Capacity)
			if !found || compare(s, &t, &best) < 0 {
				best, found = t, true
			}
			return
		}
		freed = slices.Clone(freed)
		row := &site.Rows[i]
		for n := int64(0); ; n++ {
			go_(i+1, t, freed)
			if n == left[i] {
				return
			}
			t.Levels = s.Order.Join(&t.Levels, t.Units, &row.Levels)
			t.Units++
			if row.Times != nil {
				t.Work = t.Work.Add(s.work(row, n))
			}
			for k, v := range row.Size {
				freed[k] += v
			}
		}
	}
	go_(0, cost.Total{}, make([]int64, len(site.Need)))
	return best, found
}

// drawSite draws a node that lacks something. Some of its units may be gangs.
func drawSite(t *rapid.T, types int, gangs bool) (s Site) {
	amount := rapid.Int64Range(0, 6)
	for range types {
		s.Need = append(s.Need, rapid.Int64Range(0, 9).Draw(t, "need"))
	}
	s.Need[0] = max(s.Need[0], 1)
	s.Wanted, s.Exact = s.Need, !gangs
	for range rapid.IntRange(1, 4).Draw(t, "rows") {
		r := Row{Count: rapid.Int64Range(1, 3).Draw(t, "count")}
		for range types {
			r.Size = append(r.Size, amount.Draw(t, "size"))
		}
		r.Levels[flagged] = rapid.SampledFrom([]int64{0, 0, 0, 1}).Draw(t, "flagged")
		r.Levels[highest] = rapid.SampledFrom([]int64{-2, 0, 0, 3}).Draw(t, "priority")
		r.Levels[costLow] = rapid.SampledFrom([]int64{0, 0, 1, 5}).Draw(t, "cost")
		r.Levels[victims] = 1
		if gangs {
			r.Levels[victims] = rapid.Int64Range(1, 4).Draw(t, "members")
		}
		r.Levels[total] = r.Levels[highest] * r.Levels[victims]
		for range r.Count {
			r.Times = append(r.Times, -rapid.Int64Range(1, 20).Draw(t, "began"))
		}
		r.Weight = rapid.SampledFrom([]uint64{1, 1, 2, 5, 1 << 62}).Draw(t, "weight")
		slices.SortFunc(r.Times, func(a, b int64) int { return cmp.Compare(b, a) })
		s.Rows = append(s.Rows, r)
	}
	return s
}

// drawOrder draws the order of the levels, or another one.
func drawOrder(t *rapid.T) *cost.Order {
	o := order
	if !rapid.Bool().Draw(t, "own order") {
		return &o
	}
	rest := rapid.Permutation([]int8{flagged, highest, costHigh, cost.ByExcess, cost.ByWork}).Draw(t, "order")
	at := rapid.IntRange(0, len(rest)).Draw(t, "count")
	for i, what := range rest {
		if i == at {
			o.Sequence = append(o.Sequence, victims, total)
		}
		if o.Sequence = append(o.Sequence, what); what == costHigh {
			o.Sequence = append(o.Sequence, costLow)
		}
	}
	if at == len(rest) {
		o.Sequence = append(o.Sequence, victims)
	}
	return &o
}

func drawField(t *rapid.T, nodes int, o *cost.Order) *field {
	types, gangs := rapid.IntRange(1, 3).Draw(t, "types"), rapid.Bool().Draw(t, "gangs")
	var sites []Site
	for range nodes {
		sites = append(sites, drawSite(t, types, gangs))
	}
	size := make([]int64, types)
	for k := range size {
		size[k] = 1
		for i := range sites {
			size[k] = max(size[k], sites[i].Need[k])
		}
	}
	return newField(o, size, sites...)
}

// No rung of the ladder is above the cheapest of all sets, whatever the order of levels,
// the prices and the incumbent; and no node is out that has a cheaper set.
func TestClimb_AgainstAllSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawField(t, 2, drawOrder(t))
		s := f.search
		goal, ok := cheapest(s, &f.sites[0], nil)
		if ok && rapid.Bool().Draw(t, "incumbent") {
			f.offer(0, goal)
		}
		s.Lesser = f.best.Found && s.sequence[0] < cost.NumLevels && rapid.Bool().Draw(t, "lesser")
		least, any := cheapest(s, &f.sites[1], nil)
		for _, e := range []effort{glance, bound, seek, glance} { // with what it has learned
			if !s.state(1, false) {
				t.Fatal("a node that lacks something")
			}
			in := s.climb(e)
			cheaper := any && (!f.best.Found || compare(s, &least, &f.best.Total) < 0)
			if s.Lesser {
				cheaper = any && s.Order.CompareLevels(&least.Levels, &f.best.Total.Levels) < 0
			}
			if cheaper {
				require.True(t, in, "%v is cheaper than %v", least, f.best.Total)
			}
			if any && in && e != glance {
				require.LessOrEqual(t, s.compareTo(&s.ladder.levels, s.ladder.work, &least), 0, "bound %v of %v", s.ladder.levels, least)
			}
		}
	})
}

// A look at sets finds the cheapest of all, or that there is none.
func TestDig_AgainstAllSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := order
		f := drawField(t, 2, &o)
		s := f.search
		if goal, ok := cheapest(s, &f.sites[0], nil); ok && rapid.Bool().Draw(t, "incumbent") {
			f.offer(0, goal)
		}
		s.Lesser = f.best.Found && rapid.Bool().Draw(t, "lesser")
		least, any := cheapest(s, &f.sites[1], nil)
		if !s.state(1, false) || !s.climb(glance) {
			return
		}
		switch got := s.dig(mostSets); {
		case got == unclear || !f.best.Found && s.sets.total.Levels != s.ladder.levels:
		case !f.best.Found:
			require.Zero(t, compare(s, &s.sets.total, &least))
		case s.Lesser:
			require.Equal(t, any && slices.Compare(least.Levels[:], f.best.Total.Levels[:]) < 0, got == some)
		default:
			require.Equal(t, any && compare(s, &least, &f.best.Total) < 0, got == some, "%v, and the best is %v", least, f.best.Total)
			if got == some {
				require.Zero(t, compare(s, &s.sets.total, &least))
			}
		}
	})
}

// Scan and frontier leave the cheapest plan of all nodes, the first one of equals.
func TestSearch_AgainstAllNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawField(t, rapid.IntRange(1, 5).Draw(t, "nodes"), drawOrder(t))
		f.trusted = rapid.Bool().Draw(t, "sets are plans")
		s := f.search
		var want Best
		for n := range f.sites {
			if c, ok := cheapest(s, &f.sites[n], nil); ok && (!want.Found || compare(s, &c, &want.Total) < 0) {
				want.Found, want.Node, want.Total = true, int32(n), c
			}
		}
		if front := rapid.Bool().Draw(t, "frontier first"); front && (s.Front(new(Scan)) || s.sequence[0] < cost.NumLevels) {
			require.Equal(t, want.Found, f.best.Found)
			require.Zero(t, s.Order.CompareLevels(&want.Total.Levels, &f.best.Total.Levels))
		}
		require.True(t, s.Scan(new(Scan)))
		require.Equal(t, want.Found, f.best.Found)
		if want.Found {
			require.Zero(t, compare(s, &want.Total, &f.best.Total), "want %v, got %v", want.Total, f.best.Total)
			require.Equal(t, want.Node, f.best.Node)
		}
	})
}

// units returns a row of plain units of a priority.
func units(count, priority int64, size ...int64) Row {
	r := Row{Size: size, Count: count}
	r.Levels[highest], r.Levels[victims], r.Levels[total] = priority, 1, priority
	for range count {
		r.Times = append(r.Times, -1)
	}
	return r
}

// The nodes of the documentation.
func Example() {
	need := []int64{4, 4}
	site := func(rows ...Row) Site { return Site{Need: need, Wanted: need, Rows: rows, Exact: true} }
	f := newField(&order, need,
		site(units(2, 0, 3, 0)), site(units(2, 5, 4, 4)), site(units(4, 0, 3, 1), units(4, 0, 1, 3)), site(units(8, 0, 3, 1)))
	f.search.Lesser = true
	for _, incumbent := range []int64{2, 3} {
		f.best.Found, f.best.Node, f.best.Total.Levels = true, 9, cost.Levels{victims: incumbent}
		fmt.Printf("an incumbent of %d victims\n", incumbent)
		for n, name := range []string{"a", "b", "c", "c of one kind"} {
			fmt.Printf("  %s: looked at %t, after prices were sought %t\n", name, f.search.state(int32(n), false) && f.search.climb(glance), f.search.climb(seek))
		}
	}
	// Output:
	// an incumbent of 2 victims
	//   a: looked at false, after prices were sought false
	//   b: looked at false, after prices were sought false
	//   c: looked at false, after prices were sought false
	//   c of one kind: looked at false, after prices were sought false
	// an incumbent of 3 victims
	//   a: looked at false, after prices were sought false
	//   b: looked at false, after prices were sought false
	//   c: looked at true, after prices were sought true
	//   c of one kind: looked at true, after prices were sought false
}
