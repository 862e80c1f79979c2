// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The twins of engines that claim an exact answer look at everything: all ways to
// place the members, and with each of them all sets of units.

// A unitSet is some units that may go together, and what they free on each host.
type unitSet struct {
	units []int32
	free  [][]int64 // by host, with what was free before
}

// everySet returns all sets of units that may go together.
func everySet(c *jobCase) (sets []unitSet) {
	for set := range 1 << len(c.units) {
		s := unitSet{}
		for u := range c.units {
			if set>>u&1 == 1 {
				s.units = append(s.units, int32(u))
			}
		}
		if !lawful(c, s.units) {
			continue
		}
		for h := range c.hosts {
			free := slices.Clone(c.hosts[h].free)
			for _, u := range s.units {
				for _, i := range c.tasksOf(u) {
					if c.cands[i].host == int32(h) {
						addTo(free, c.cands[i].size, +1)
					}
				}
			}
			s.free = append(s.free, free)
		}
		sets = append(sets, s)
	}
	return sets
}

// carries reports whether members have room at some hosts with the set gone.
func (s *unitSet) carries(c *jobCase, at []int32) bool {
	for h, free := range s.free {
		for t := range free {
			asked := int64(0)
			for m, on := range at {
				if int(on) == h {
					asked += c.kindAt(int32(m)).size[t]
				}
			}
			if asked > 0 && asked > free[t] {
				return false
			}
		}
	}
	return true
}

// wantedAt returns what members want beyond what is free, on all hosts together.
func wantedAt(c *jobCase, at []int32) resources.Vector {
	wanted := make(resources.Vector, c.types)
	for h := range c.hosts {
		for t := range wanted {
			asked := int64(0)
			for m, on := range at {
				if int(on) == h {
					asked += c.kindAt(int32(m)).size[t]
				}
			}
			if asked > 0 {
				wanted[t] += max(asked-c.hosts[h].free[t], 0)
			}
		}
	}
	return wanted
}

// eachPlacing calls f with every way to place the members, which it must not keep.
func eachPlacing(c *jobCase, f func(at []int32)) {
	at := make([]int32, len(c.todo))
	for {
		f(at)
		m := len(at) - 1
		for m >= 0 && int(at[m]) == len(c.hosts)-1 {
			at[m] = 0
			m--
		}
		if m < 0 {
			return
		}
		at[m]++
	}
}

// bestOfAll is the cheapest of all plans that a predicate accepts, or none.
func bestOfAll(c *jobCase, accepts func(m int, h int32) bool) *incumbent {
	best := &incumbent{jobCase: c}
	sets := everySet(c)
	eachPlacing(c, func(at []int32) {
		for m, h := range at {
			if !accepts(m, h) {
				return
			}
		}
		wanted := wantedAt(c, at)
		for i := range sets {
			if s := &sets[i]; s.carries(c, at) {
				total := best.totalOf(s.units, wanted)
				best.offer(at, s.units, &total)
			}
		}
	})
	return best
}

func requireSame(t *rapid.T, want, got *incumbent) {
	require.Equal(t, want.found, got.found)
	if want.found {
		require.Equal(t, want.levels, got.levels)
		require.Zero(t, want.cost.Compare(&got.cost), "%v, and %v", &want.cost, &got.cost)
		require.Equal(t, want.at, got.at)
		require.True(t, slices.Equal(want.keys, got.keys), "%v, and %v", want.keys, got.keys)
	}
}

// The completer finds the cheapest plan of all, and of equals the first.
func TestCompleter_Twin(t *testing.T) { rapid.Check(t, completerIsTwin) }

func FuzzCompleter(f *testing.F) { f.Fuzz(rapid.MakeFuzz(completerIsTwin)) }

func completerIsTwin(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	s := &d.search
	if s.pack.fits(coming) {
		return // nobody is searched for then
	}
	s.best.found = false
	require.True(t, s.all.complete(math.MaxInt32))
	requireSame(t, bestOfAll(d.board, func(int, int32) bool { return true }), &s.best)
}

// With few steps the completer says that it has not looked at all; what it has
// found is then a plan all the same.
func TestCompleter_FewSteps(t *testing.T) { rapid.Check(t, completerStops) }

func completerStops(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	s := &d.search
	if s.pack.fits(coming) {
		return
	}
	s.best.found = false
	proven := s.all.complete(rapid.IntRange(0, 12).Draw(t, "steps"))
	found, levels := s.best.found, s.best.levels
	best := bestOfAll(d.board, func(int, int32) bool { return true })
	switch {
	case proven:
		requireSame(t, best, &s.best)
	case found:
		require.True(t, best.found)
		require.LessOrEqual(t, slices.Compare(best.levels[:], levels[:]), 0)
	}
}

// With a predicate in the loop the completer finds the cheapest plan of all that a predicate accepts.
func TestCompleter_Predicate(t *testing.T) { rapid.Check(t, completerObeys) }

func FuzzCompleter_Predicate(f *testing.F) { f.Fuzz(rapid.MakeFuzz(completerObeys)) }

func completerObeys(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	s := &d.search
	if s.pack.fits(coming) {
		return
	}
	refused := map[[2]int]bool{}
	for m := range d.board.todo {
		for h := range d.board.hosts {
			refused[[2]int{m, h}] = rapid.IntRange(0, 3).Draw(t, "refused") == 0
		}
	}
	accepts := func(m int, h int32) bool { return !refused[[2]int{m, int(h)}] }
	s.asker.picky, s.asker.predicate = true, func(p *victims.Question) bool {
		return accepts(slices.IndexFunc(p.Ask.Members, func(m victims.Member) bool { return m.Key == p.Member.Key }), d.board.hostAt(p.Node))
	}
	s.best.found = false
	require.True(t, s.all.complete(math.MaxInt32))
	requireSame(t, bestOfAll(d.board, accepts), &s.best)
}

// Plans offered in any order leave the same best one.
func TestIncumbent_Order(t *testing.T) { rapid.Check(t, incumbentKeepsBest) }

func incumbentKeepsBest(t *rapid.T) {
	c := drawDesk(t, rapid.Bool().Draw(t, "alike")).board
	type plan struct{ at, units []int32 }
	var plans []plan
	sets := everySet(c)
	eachPlacing(c, func(at []int32) {
		for i := range sets {
			if len(plans) < 40 && sets[i].carries(c, at) {
				plans = append(plans, plan{slices.Clone(at), sets[i].units})
			}
		}
	})
	offer := func(plans []plan) *incumbent {
		b := &incumbent{jobCase: c}
		for _, p := range plans {
			total := b.totalOf(p.units, wantedAt(c, p.at))
			b.offer(p.at, p.units, &total)
		}
		return b
	}
	requireSame(t, offer(plans), offer(rapid.Permutation(plans).Draw(t, "order")))
}

// The host that offers the most is found, and its offer is the least that makes
// room there.
func TestOffers_Twin(t *testing.T) { rapid.Check(t, offersAreTwin) }

func FuzzOffers(f *testing.F) { f.Fuzz(rapid.MakeFuzz(offersAreTwin)) }

func offersAreTwin(t *rapid.T) {
	d := drawDesk(t, true)
	c, x := d.board, &d.search.grow
	x.partial.begin()
	x.ceiling, x.patience = noCeiling(), math.MaxInt
	x.collect(&c.kinds[0])
	h := x.cheapest()
	var least *sums
	for on := range c.hosts {
		if cost, ok := leastOn(c, int32(on)); ok && (least == nil || cost.compareLevels(least) < 0) {
			least = &cost
		}
	}
	if least == nil {
		require.Equal(t, int32(-1), h)
		return
	}
	require.GreaterOrEqual(t, h, int32(0))
	require.Zero(t, x.list[h].sums.compareLevels(least), "%v on %d, want %v", x.list[h].sums, h, least)
	for at := range x.heap { // who comes up later asks for no less
		if at > 0 {
			require.False(t, x.comesBefore(x.heap[at], x.heap[(at-1)/2]))
		}
	}
}

// leastOn returns the least sums of lawful units on a host that make room there
// for one member of the only kind.
func leastOn(c *jobCase, h int32) (best sums, found bool) {
	for _, s := range everySet(c) {
		var cost sums
		here := true
		for _, u := range s.units {
			cost.add(&c.order, &c.units[u])
			here = here && slices.Contains(c.unitsOn(h), u)
		}
		cost.levels[rulebook.LevelOverrun] = c.budgets.overrun((&incumbent{jobCase: c}).usedBy(s.units))
		if here && c.kinds[0].roomFor(s.free[h]) && (!found || cost.compareLevels(&best) < 0) {
			best, found = cost, true
		}
	}
	return best, found
}

// However impatient, offers name a host with room, and none only if there is
// none: estimates never ask too much.
func TestOffers_Impatient(t *testing.T) { rapid.Check(t, offersAreHonest) }

func offersAreHonest(t *rapid.T) {
	d := drawDesk(t, true)
	c, x := d.board, &d.search.grow
	x.partial.begin()
	x.ceiling, x.patience = noCeiling(), rapid.IntRange(0, 2).Draw(t, "patience")
	x.collect(&c.kinds[0])
	any := false
	for h := range c.hosts {
		_, ok := leastOn(c, int32(h))
		any = any || ok
	}
	h := x.cheapest()
	require.Equal(t, any, h >= 0)
	if h >= 0 {
		require.True(t, lawful(c, x.unitsOf(h)))
		_, ok := leastOn(c, h)
		require.True(t, ok)
	}
}

// The lowest ceiling is the first that reaches, rank before priority.
func TestCeilings_Twin(t *testing.T) { rapid.Check(t, ceilingsAreTwin) }

func FuzzCeilings(f *testing.F) { f.Fuzz(rapid.MakeFuzz(ceilingsAreTwin)) }

func ceilingsAreTwin(t *rapid.T) {
	d := drawDesk(t, true)
	x := &d.search.bounds
	l := noCeiling()
	l.plain = rapid.Bool().Draw(t, "plain")
	reaches := func(l ceiling) bool { return x.reaches(x.every, &x.kinds[0], l) }
	if !reaches(l) {
		return
	}
	got := x.lowest(l, reaches)
	require.True(t, reaches(got))
	// A rank lower by one, or a priority, does not reach, unless it is lower than
	// that of every candidate: then nobody is needed.
	below := got
	if below.rank > math.MinInt64 && below.rank < math.MaxInt64 {
		below.rank--
		below.priority = l.priority
		require.True(t, below.rank < x.ranks[0] || !reaches(below), "%v", got)
	}
	below = got
	if below.priority > math.MinInt64 && below.priority < math.MaxInt64 {
		below.priority--
		l.rank = got.rank
		require.True(t, below.priority < x.priorities[0] || !reaches(below), "%v", got)
	}
}

// A domain is bounded by no more than the cheapest plan in it, and passed over
// only if it has none.
func TestBounder_Twin(t *testing.T) { rapid.Check(t, bounderIsTwin) }

func FuzzBounder(f *testing.F) { f.Fuzz(rapid.MakeFuzz(bounderIsTwin)) }

func bounderIsTwin(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	c := d.board
	if d.search.pack.fits(coming) {
		return
	}
	c.domains.begin()
	for h := range c.hosts {
		c.domains.of = append(c.domains.of, c.domains.row([]string{"r"}, c.hosts[h].id))
	}
	c.domains.group()
	var x bounder
	x.begin(c)
	bound, ok := x.bound(0)
	best := bestOfAll(c, func(int, int32) bool { return true })
	if !best.found {
		return
	}
	require.True(t, ok)
	require.False(t, bound.passes(&best.levels), "%v, and %v does", bound.levels, best.levels)
}

// No unit of a finished plan can be given back.
func TestFinisher_Minimal(t *testing.T) { rapid.Check(t, finisherIsMinimal) }

func FuzzFinisher(f *testing.F) { f.Fuzz(rapid.MakeFuzz(finisherIsMinimal)) }

func finisherIsMinimal(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	c, s := d.board, &d.search
	if !s.conceivable() || s.pack.fits(coming) {
		return
	}
	for _, engine := range []func(){s.grow.grow, s.change.exchange} {
		s.best.found = false
		engine()
		if !s.best.found {
			continue
		}
		for i := range s.best.chosen {
			rest := slices.Delete(slices.Clone(s.best.chosen), i, i+1)
			for _, set := range everySet(c) {
				if slices.Equal(set.units, slices.Sorted(slices.Values(rest))) {
					require.False(t, set.carries(c, s.best.at), "%v at %v without %d", s.best.chosen, s.best.at, i)
				}
			}
		}
	}
}

// What the units of a host free at most, so many of them, is what the best of so
// many do, type by type; and nobody goes below the least levels.
func TestSite_Twin(t *testing.T) { rapid.Check(t, siteIsTwin) }

func siteIsTwin(t *rapid.T) {
	c := drawDesk(t, true).board
	for h := range c.hosts {
		units := c.unitsOn(int32(h))
		for typ := range c.types {
			var frees []int64
			for _, u := range units {
				sum := int64(0)
				for _, i := range c.tasksOf(u) {
					if c.cands[i].host == int32(h) {
						sum += c.cands[i].size.At(typ)
					}
				}
				frees = append(frees, sum)
			}
			for n := range units {
				require.Equal(t, mostOf(frees, n+1), c.hosts[h].most[n*c.types+typ])
			}
		}
		for _, u := range units {
			for _, i := range c.tasksOf(u) {
				for l, v := range c.cands[i].levels {
					if c.cands[i].host == int32(h) {
						require.LessOrEqual(t, c.hosts[h].least[l], v)
					}
				}
			}
		}
	}
}

// mostOf returns the largest sum of n numbers.
func mostOf(list []int64, n int) (most int64) {
	most = math.MinInt64
	for set := range 1 << len(list) {
		sum, count := int64(0), 0
		for i, v := range list {
			if set>>i&1 == 1 {
				sum, count = sum+v, count+1
			}
		}
		if count == n {
			most = max(most, sum)
		}
	}
	return most
}

// The number of ways to place members is that of the multisets of hosts, kind by
// kind.
func TestWays_Twin(t *testing.T) { rapid.Check(t, waysAreTwin) }

func waysAreTwin(t *rapid.T) {
	c := drawDesk(t, rapid.Bool().Draw(t, "alike")).board
	seen := map[string]bool{}
	eachPlacing(c, func(at []int32) {
		counts := make([]byte, len(c.kinds)*len(c.hosts))
		for m, h := range at {
			counts[int(c.kindOf[m])*len(c.hosts)+int(h)]++
		}
		seen[string(counts)] = true
	})
	require.Equal(t, uint64(len(seen)), c.ways())
}

// So many that they do not fit are the most there is, and not few.
func TestWays_Many(t *testing.T) {
	if testing.Short() {
		t.Skip("it has a million hosts")
	}
	c := &jobCase{area: area{hosts: make([]int32, 1<<20)}}
	for range 3 {
		c.kinds = append(c.kinds, kind{first: 0, end: 2})
	}
	require.Equal(t, uint64(math.MaxUint64), c.ways())
	require.False(t, c.within(medium))
}

// Kinds part the members: alike within, different between, the largest first, and
// members of one kind in the order of the job.
func TestKinds(t *testing.T) { rapid.Check(t, kindsPart) }

func kindsPart(t *rapid.T) {
	c := drawDesk(t, rapid.Bool().Draw(t, "alike")).board
	var seen []int32
	for n := range c.kinds {
		k := &c.kinds[n]
		last := int32(-1)
		for _, m := range c.sorted[k.first:k.end] {
			require.Equal(t, int32(n), c.kindOf[m])
			require.Equal(t, k.size, slices.Clone(c.job.Members[c.todo[m]].Size))
			require.Equal(t, last, c.previous[m])
			require.Greater(t, m, last)
			last = m
			seen = append(seen, m)
		}
		for o := range n {
			require.False(t, c.kinds[o].alike(k))
			share := resources.DominantShare(k.size, c.c.Capacity())
			require.GreaterOrEqual(t, resources.DominantShare(c.kinds[o].size, c.c.Capacity()).Compare(share), 0)
		}
	}
	slices.Sort(seen)
	for m := range c.todo {
		require.Equal(t, int32(m), seen[m])
	}
	require.Len(t, seen, len(c.todo))
}

// A leaf below which nothing is short counts for no need.
func TestNeeds_Level(t *testing.T) {
	d := drawnDesk(t)
	c := d.board
	low, _ := c.tree.Lookup("root.low")
	q, _ := c.tree.Lookup("root.q")
	n := needs{queues: []queue.ID{q, queue.Root}}
	level := func(leaf queue.ID, lacking []queue.ID) int32 {
		var r eligible.Rules
		r.Reset(&eligible.Taker{Tree: c.tree, Leaf: q, Lacking: lacking})
		return r.Leaves[leaf].Level
	}
	require.Equal(t, int32(0), level(q, n.queues))
	require.Equal(t, int32(1), level(low, n.queues))
	require.Equal(t, int32(1), level(low, n.queues[:1]), "none")

	short := []int64{4, 4, 7, 7} // two queues, two types
	cand := candidate{leaf: &eligible.Leaf{Level: 1}, size: resources.Vector{3, 1}}
	n.cut(short, &cand, -1)
	require.Equal(t, []int64{4, 4, 4, 6}, short)
	n.cut(short, &cand, +1)
	require.Equal(t, []int64{4, 4, 7, 7}, short)
}

// drawnDesk returns some desk.
func drawnDesk(t *testing.T) (d *desk) {
	return rapid.Custom(func(t *rapid.T) *desk { return drawDesk(t, true) }).Example(1)
}
