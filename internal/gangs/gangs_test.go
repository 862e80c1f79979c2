// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/gangs"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/least"
)

// The parts of a cost in tests, the most important first. Two maxima come after the first.
const (
	opted = iota
	jobs
	victims
	waste
	work
	numParts
)

// A world is a problem with the costs that its prices stand for.
type world struct {
	gangs.Problem
	units, wholes [][numParts]int64

	dearest gangs.Selection // what brute found so
}

// A cost is what a selection costs, in the order in which it is compared.
type cost [numParts + 2]int64

func drawWorld(t *rapid.T) *world {
	w := &world{}
	w.Types = rapid.IntRange(1, 2).Draw(t, "types")
	size := func(name string, from, to int64) []int64 {
		return rapid.SliceOfN(rapid.Int64Range(from, to), w.Types, w.Types).Draw(t, name)
	}
	for range rapid.IntRange(1, 2).Draw(t, "kinds") {
		k := gangs.Kind{Size: size("member", 0, 2), Count: rapid.Int32Range(1, 2).Draw(t, "count")}
		k.Size[0]++
		w.Kinds = append(w.Kinds, k)
	}
	slices.SortFunc(w.Kinds, func(a, b gangs.Kind) int { return slices.Compare(b.Size, a.Size) })
	for range rapid.IntRange(0, 2).Draw(t, "gangs") {
		w.Gangs = append(w.Gangs, rapid.Int32Range(0, 2).Draw(t, "spare"))
	}
	for range rapid.IntRange(0, 2).Draw(t, "rows") {
		w.Rows = append(w.Rows, gangs.Row{Room: rapid.Int64Range(1, 5).Draw(t, "room")})
	}
	soft := len(w.Rows) > 0 && rapid.Bool().Draw(t, "soft")
	if rapid.IntRange(0, 3).Draw(t, "need") == 0 {
		w.Rows = append(w.Rows, gangs.Row{Room: -rapid.Int64Range(1, 4).Draw(t, "needed")})
	}
	use := func() (u gangs.Use) {
		for r := range w.Rows {
			u[r] = rapid.Int64Range(0, 2).Draw(t, "use")
			if w.Rows[r].Room < 0 {
				u[r] = -u[r]
			}
		}
		return u
	}
	gang := func() int32 { return rapid.Int32Range(-1, int32(len(w.Gangs))-1).Draw(t, "gang") }
	loss := func() (c [numParts]int64) {
		c[opted], c[victims] = rapid.SampledFrom([]int64{0, 0, 0, 1}).Draw(t, "opted"), 1
		c[work] = rapid.Int64Range(0, 3).Draw(t, "work")
		return c
	}
	members := make([][]int32, len(w.Gangs))
	for s := range rapid.IntRange(2, 3).Draw(t, "sites") {
		site := gangs.Site{Free: size("free", -1, 4), First: int32(len(w.Units))}
		for range rapid.IntRange(0, 3).Draw(t, "units") {
			u := gangs.Unit{
				Size: size("unit", 0, 4), Gang: gang(), Use: use(),
				Rank: rapid.Int64Range(-1, 1).Draw(t, "rank"), Priority: rapid.Int64Range(0, 1).Draw(t, "priority"),
			}
			c := loss()
			if w.Types == 1 {
				c[waste] = u.Size[0]
			}
			if u.Gang >= 0 {
				members[u.Gang] = append(members[u.Gang], int32(s), int32(len(w.Units)))
			}
			w.Units, w.units = append(w.Units, u), append(w.units, c)
		}
		site.End = int32(len(w.Units))
		w.Sites = append(w.Sites, site)
		for range w.Kinds {
			w.Closed = append(w.Closed, rapid.SampledFrom([]bool{false, false, false, true}).Draw(t, "closed"))
		}
	}
	for g, list := range members {
		if len(list) == 0 || rapid.Bool().Draw(t, "whole") {
			continue
		}
		whole := gangs.Whole{Gang: int32(g), First: int32(len(w.Parts)), Rank: math.MinInt64, Priority: math.MinInt64}
		var c [numParts]int64
		c[jobs] = 1
		for i := 0; i < len(list); i += 2 {
			u, site := &w.Units[list[i+1]], list[i]
			at := slices.IndexFunc(w.Parts[whole.First:], func(p gangs.Part) bool { return p.Site == site })
			if at < 0 {
				w.Parts = append(w.Parts, gangs.Part{Site: site, Size: make([]int64, w.Types)})
				at = len(w.Parts) - 1 - int(whole.First)
			}
			for n, v := range u.Size {
				w.Parts[int(whole.First)+at].Size[n] += v
			}
			whole.Rank, whole.Priority = max(whole.Rank, u.Rank), max(whole.Priority, u.Priority)
			for r := range w.Rows {
				whole.Use[r] += u.Use[r]
			}
			for n, v := range w.units[list[i+1]] {
				c[n] += v
			}
		}
		whole.End = int32(len(w.Parts))
		w.Wholes, w.wholes = append(w.Wholes, whole), append(w.wholes, c)
	}
	w.price(soft)
	return w
}

// price gives units, wholes and rows their prices, and units their order.
func (w *world) price(soft bool) {
	var l gangs.Layout
	for range numParts {
		l.Add(1000)
	}
	l.Settle()
	w.Head, w.Levels = l.At(opted), l.At(victims)
	sum := func(c [numParts]int64) (p gangs.Price) {
		for i, v := range c {
			p = p.Add(l.Price(i, v))
		}
		return p
	}
	if soft {
		w.Rows[0].Over = l.Price(opted, 1)
	}
	if w.Types == 1 {
		w.Waste = l.Price(waste, 1)
	}
	for i := range w.Units {
		w.Units[i].Price = sum(w.units[i])
	}
	for i := range w.Wholes {
		w.Wholes[i].Price = sum(w.wholes[i])
	}
	for _, s := range w.Sites { // the cheapest first
		for i := s.First; i < s.End; i++ {
			for j := i; j > s.First && w.Units[j].Price.Less(w.Units[j-1].Price); j-- {
				w.Units[j], w.Units[j-1] = w.Units[j-1], w.Units[j]
				w.units[j], w.units[j-1] = w.units[j-1], w.units[j]
			}
		}
	}
}

// judge says what a selection costs, and whether it is lawful.
func (w *world) judge(s *gangs.Selection) (c cost, lawful bool) {
	c[1], c[2] = math.MinInt64, math.MinInt64
	room := make([][]int64, len(w.Sites))
	for i := range room {
		room[i] = slices.Clone(w.Sites[i].Free)
	}
	var use gangs.Use
	lost, whole := make([]int32, len(w.Gangs)), make([]bool, len(w.Gangs))
	goes := func(rank, priority int64, parts [numParts]int64, u gangs.Use) {
		c[0], c[1], c[2] = c[0]+parts[opted], max(c[1], rank), max(c[2], priority)
		for n, v := range parts[1:] {
			c[3+n] += v
		}
		for r := range use {
			use[r] += u[r]
		}
	}
	for _, i := range s.Wholes {
		g := &w.Wholes[i]
		goes(g.Rank, g.Priority, w.wholes[i], g.Use)
		whole[g.Gang] = true
		for _, p := range w.Parts[g.First:g.End] {
			for t, v := range p.Size {
				room[p.Site][t] += v
			}
		}
	}
	for i, site := range w.Sites {
		for u := site.First; u < site.End; u++ {
			if !slices.Contains(s.Units, u) {
				continue
			}
			unit := &w.Units[u]
			goes(unit.Rank, unit.Priority, w.units[u], unit.Use)
			for t, v := range unit.Size {
				room[i][t] += v
			}
			if g := unit.Gang; g >= 0 {
				if lost[g]++; whole[g] || lost[g] > w.Gangs[g] {
					return c, false
				}
			}
		}
	}
	for r, row := range w.Rows {
		if over := use[r] - row.Room; over > 0 {
			if row.Over == (gangs.Price{}) {
				return c, false
			}
			c[0] += over
		}
	}
	placed, load := make([]int32, len(w.Kinds)), make([][]int64, len(w.Sites))
	for i := range load {
		load[i] = make([]int64, w.Types)
	}
	for _, seat := range s.Seats {
		if w.Closed[int(seat.Site)*len(w.Kinds)+int(seat.Kind)] {
			return c, false
		}
		placed[seat.Kind] += seat.Count
		for t, v := range w.Kinds[seat.Kind].Size {
			load[seat.Site][t] += int64(seat.Count) * v
		}
	}
	for k := range w.Kinds {
		if placed[k] != w.Kinds[k].Count {
			return c, false
		}
	}
	for i := range w.Sites {
		for t, v := range load[i] {
			if v > 0 && v > room[i][t] {
				return c, false
			}
		}
		if w.Types == 1 {
			c[2+waste] -= max(load[i][0]-w.Sites[i].Free[0], 0) * min(load[i][0], 1)
		}
	}
	return c, true
}

// brute returns the cost of the cheapest plan, by looking at all.
func (w *world) brute() (best cost, found bool) {
	var s gangs.Selection
	var worst cost
	var place func(kind, member int32, site int32)
	place = func(kind, member, site int32) {
		if int(kind) == len(w.Kinds) {
			c, ok := w.judge(&s)
			if ok && (!found || slices.Compare(c[:], worst[:]) > 0) {
				worst = c
				w.dearest = gangs.Selection{Seats: slices.Clone(s.Seats), Units: slices.Clone(s.Units), Wholes: slices.Clone(s.Wholes)}
				slices.SortStableFunc(w.dearest.Seats, func(a, b gangs.Seat) int { return int(a.Site - b.Site) })
			}
			if ok && (!found || slices.Compare(c[:], best[:]) < 0) {
				best, found = c, true
			}
			return
		}
		if member == w.Kinds[kind].Count {
			place(kind+1, 0, 0)
			return
		}
		for i := site; i < int32(len(w.Sites)); i++ {
			s.Seats = append(s.Seats, gangs.Seat{Site: i, Kind: kind, Count: 1})
			place(kind, member+1, i)
			s.Seats = s.Seats[:len(s.Seats)-1]
		}
	}
	for set := range 1 << (len(w.Units) + len(w.Wholes)) {
		s.Units, s.Wholes = s.Units[:0], s.Wholes[:0]
		for i := range len(w.Units) + len(w.Wholes) {
			switch {
			case set>>i&1 == 0:
			case i < len(w.Units):
				s.Units = append(s.Units, int32(i))
			default:
				s.Wholes = append(s.Wholes, int32(i-len(w.Units)))
			}
		}
		place(0, 0, 0)
	}
	return best, found
}

// levels are the parts of a cost of which plans are proven.
func (c *cost) levels() []int64 { return c[:3+victims] }

const enough = 1 << 20

// A plan is lawful, no plan costs less than one that is proven, and a plan that is known is
// not made dearer.
func TestSolve_AgainstAllPlans(t *testing.T) {
	same, best, found, proofs, all := 0, 0, 0, 0, 0
	law.Check3000(t, func(t *rapid.T) {
		w := drawWorld(t)
		least, any := w.brute()
		var s gangs.Solver
		got, proven := s.Solve(&w.Problem, nil, enough)
		if !any {
			require.Nil(t, got, "there is no plan")
			return
		}
		if all++; got == nil {
			return
		}
		c, lawful := w.judge(got)
		require.True(t, lawful)
		found++
		if slices.Compare(c.levels(), least.levels()) == 0 {
			best++
		} else {
			require.False(t, proven, "%v, and there is %v", c, least)
		}
		if proven {
			proofs++
		}
		if c == least {
			same++
		}
		first := *got
		first.Seats, first.Units, first.Wholes = slices.Clone(got.Seats), slices.Clone(got.Units), slices.Clone(got.Wholes)
		got, _ = s.Solve(&w.Problem, &first, enough)
		again, lawful := w.judge(got)
		require.True(t, lawful)
		require.LessOrEqual(t, slices.Compare(again[:], c[:]), 0, "%v became %v", c, again)
	})
	t.Logf("%d problems with a plan: found %d, best %d, in work and waste %d, proven %d", all, found, best, same, proofs)
	if !testing.Short() {
		require.Greater(t, 1000*found, 975*all)
		require.Greater(t, 1000*best, 968*all)
		require.Greater(t, 1000*same, 967*all)
	}
	require.Positive(t, proofs)
}

// A solver that has solved other problems answers as a new one does. A budget is kept, and
// what is proven is true however small it is.
func TestSolve_WarmAndBounded(t *testing.T) {
	var warm gangs.Solver
	law.Check3000(t, func(t *rapid.T) {
		w := drawWorld(t)
		steps := rapid.Int64Range(1, 5000).Draw(t, "steps")
		var cold gangs.Solver
		cold.Meter, warm.Meter = &least.Meter{}, &least.Meter{}
		a, provenCold := cold.Solve(&w.Problem, nil, steps)
		b, provenWarm := warm.Solve(&w.Problem, nil, steps)
		require.Equal(t, a == nil, b == nil)
		require.Equal(t, provenCold, provenWarm)
		require.Equal(t, cold.Meter.Used, warm.Meter.Used)
		const piece = 10_000 // the longest piece of work
		require.LessOrEqual(t, cold.Meter.Used, steps+piece)
		if a != nil {
			require.Equal(t, a.Seats, b.Seats)
			require.ElementsMatch(t, a.Units, b.Units)
			require.ElementsMatch(t, a.Wholes, b.Wholes)
			c, lawful := w.judge(a)
			require.True(t, lawful)
			if least, _ := w.brute(); provenCold {
				require.Equal(t, least.levels(), c.levels())
			}
		}
	})
}

// What the caller does not accept never becomes the best plan, and then a dearer one is not
// proven.
func TestSolve_Offers(t *testing.T) {
	law.Check3000(t, func(t *rapid.T) {
		w := drawWorld(t)
		least, any := w.brute()
		if !any {
			return
		}
		before, _ := w.judge(&w.dearest)
		s := gangs.Solver{Offer: func(*gangs.Selection) bool { return false }}
		got, proven := s.Solve(&w.Problem, &w.dearest, enough)
		after, _ := w.judge(got)
		require.Equal(t, before, after)
		if proven {
			require.Equal(t, least.levels(), after.levels())
		}
	})
}

// Of plans that cost the same the one is taken whose members are on earlier sites.
func TestSolve_Ties(t *testing.T) {
	var l gangs.Layout
	l.Add(10)
	l.Settle()
	p := gangs.Problem{
		Types: 1, Kinds: []gangs.Kind{{Size: []int64{2}, Count: 1}}, Head: l.At(0) + 8, Levels: l.At(0),
		Sites: []gangs.Site{{Free: []int64{0}, First: 0, End: 1}, {Free: []int64{0}, First: 1, End: 2}},
	}
	for range p.Sites {
		p.Units = append(p.Units, gangs.Unit{Size: []int64{2}, Price: l.Price(0, 1), Gang: -1})
	}
	var s gangs.Solver
	got, proven := s.Solve(&p, nil, enough)
	require.Equal(t, []gangs.Seat{{Site: 0, Kind: 0, Count: 1}}, got.Seats)
	require.Equal(t, []int32{0}, got.Units)
	require.True(t, proven)
}

// A warm solver allocates nothing.
func TestSolve_NoAllocs(t *testing.T) {
	worlds := rapid.Custom(drawWorld)
	var s gangs.Solver
	s.Offer = func(*gangs.Selection) bool { return true }
	for seed := range 20 {
		w := worlds.Example(seed)
		require.Zero(t, testing.AllocsPerRun(1, func() { s.Solve(&w.Problem, nil, enough) }))
	}
}
