// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/units"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// Bounds by hand, and beside slow twins: what a domain costs at least, how many
// must go there, which ceiling is the lowest, and the sums that engines compare.

// inDomains puts the hosts of a case into domains by name: the first host into
// the first name, and so on.
func inDomains(c *jobCase, names ...string) {
	c.domains.begin()
	for h, name := range names {
		c.domains.of = append(c.domains.of, c.domains.row([]string{name}, c.hosts[h].id))
	}
	c.domains.group()
}

// A domain costs at least what its dearest kind of members does by itself: the
// rank and the priority below which all of them have room, and the fewest who
// make it. The job has priority 9, so a task of priority 1 has rank -8.
func TestBounder_Table(t *testing.T) {
	for _, test := range []struct {
		name, hosts string
		members     []int64
		want        string
	}{
		{"nobody need go", "4:", []int64{4}, "free"},
		{"no room", "0: a3", []int64{4}, "none"},
		{"one victim", "0: a4", []int64{4}, "originators 0, rank -9, priority 0, 1 victims, ranks -9, priorities 0"},
		{"two victims", "0: a2 b2", []int64{4}, "originators 0, rank -9, priority 0, 2 victims, ranks -18, priorities 0"},
		{"the higher of two", "0: a2p1 b2", []int64{4}, "originators 0, rank -8, priority 1, 2 victims, ranks -17, priorities 1"},
		{"the lower of two", "0: a4p1 b4", []int64{4}, "originators 0, rank -9, priority 0, 1 victims, ranks -9, priorities 0"},
		// The largest go first: c alone would do, though it is dearer than a and b.
		{"the fewest, not the cheapest", "0: a2 b2 c4p1 | 0: d4p1", []int64{4, 4},
			"originators 0, rank -8, priority 1, 2 victims, ranks -17, priorities 1"},
		{"somebody opted out", "0: a4!", []int64{4}, "originators 1, rank -9, priority 0, 1 victims, ranks -9, priorities 0"},
		{"on two hosts", "0: a4 | 0: b4", []int64{4, 4}, "originators 0, rank -9, priority 0, 2 victims, ranks -18, priorities 0"},
		{"what is free counts", "3: a1 | 0: b4", []int64{4, 4}, "originators 0, rank -9, priority 0, 2 victims, ranks -18, priorities 0"},
		{"three on one, one on another", "0: a9 | 0: b3", []int64{3, 3, 3, 3}, "originators 0, rank -9, priority 0, 2 victims, ranks -18, priorities 0"},
		// 6 needs b, of priority 1; 4 needs a only. The dearer kind bounds both.
		{"the dearer kind", "0: a4 | 0: b6p1", []int64{4, 6}, "originators 0, rank -8, priority 1, 1 victims, ranks -8, priorities 1"},
		{"one kind is free", "4: | 0: b6", []int64{4, 6}, "originators 0, rank -9, priority 0, 1 victims, ranks -9, priorities 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := tableDesk(t, test.hosts, test.members...).board
			inDomains(c, slices.Repeat([]string{"r"}, len(c.hosts))...)
			var x bounder
			x.begin(c)
			b, ok := x.bound(0)
			got := "none"
			if l := &b.levels; ok && b.free {
				got = "free"
			} else if ok {
				got = fmt.Sprintf("originators %d, rank %d, priority %d, %d victims, ranks %d, priorities %d",
					l[rulebook.LevelOriginators], l[rulebook.LevelRank], l[rulebook.LevelPriority],
					l[rulebook.LevelVictims], l[rulebook.LevelSumRanks], l[rulebook.LevelSumPriorities])
			}
			require.Equal(t, test.want, got)
		})
	}
}

// Domains come in the order in which they are searched: those of which nothing is
// known, then the cheapest; of equals the first. One without room is left out.
func TestBounder_Order(t *testing.T) {
	c := tableDesk(t, "0: a4p1 | 0: b4 | 4: | 0: c3 | 0: d4", 4).board
	inDomains(c, "dear", "cheap", "free", "small", "cheap too")
	var x bounder
	x.begin(c)
	var order []int32
	for _, b := range x.boundAll(nil) {
		order = append(order, b.domain)
	}
	require.Equal(t, []int32{2, 1, 4, 0}, order)

	// Members are placed in one of them already: no other comes into question.
	c.domains.base = 0
	bounds := x.boundAll(nil)
	require.Len(t, bounds, 1)
	require.Equal(t, int32(0), bounds[0].domain)
}

// A domain is passed over if it costs more, and not if it costs as much: its nodes
// may come first.
func TestDomainBound_Passes(t *testing.T) {
	two := cost.Levels{rulebook.LevelVictims: 2}
	for n, want := range []bool{true, true, false, false} {
		best := cost.Levels{rulebook.LevelVictims: int64(n)}
		require.Equal(t, want, (&domainBound{levels: two}).passes(&best), "%d victims", n)
		require.False(t, (&domainBound{free: true, levels: two}).passes(&best), "nothing is known")
	}
}

// Of several domains each is bounded by no more than the cheapest plan on its own
// hosts, and left out only if it has none.
func TestBounder_Domains(t *testing.T) { rapid.Check(t, domainsAreBounded) }

func FuzzBounder_Domains(f *testing.F) { f.Fuzz(rapid.MakeFuzz(domainsAreBounded)) }

func domainsAreBounded(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	c := d.board
	if d.search.pack.fits(coming) {
		return
	}
	var names []string
	for range c.hosts {
		names = append(names, rapid.SampledFrom([]string{"r1", "r2"}).Draw(t, "domain"))
	}
	inDomains(c, names...)
	var x bounder
	x.begin(c)
	bounds := x.boundAll(nil)
	for row := range c.domains.list {
		best := bestOfAll(c, func(_ int, h int32) bool { return c.domains.of[h] == int32(row) })
		if !best.found {
			continue
		}
		i := slices.IndexFunc(bounds, func(b domainBound) bool { return b.domain == int32(row) })
		require.GreaterOrEqual(t, i, 0, "domain %d has a plan of %v", row, best.levels)
		require.False(t, bounds[i].passes(&best.levels), "domain %d: %v, and %v does", row, bounds[i].levels, best.levels)
	}
}

// The fewest victims are no more than those of any set that makes room, and
// exactly so many if members want one type: then the largest are the best.
func TestFewest_Twin(t *testing.T) { rapid.Check(t, fewestIsTwin) }

func FuzzFewest(f *testing.F) { f.Fuzz(rapid.MakeFuzz(fewestIsTwin)) }

func fewestIsTwin(t *rapid.T) {
	c := drawDesk(t, true).board
	inDomains(c, slices.Repeat([]string{"r"}, len(c.hosts))...)
	var x bounder
	x.begin(c)
	k := &c.kinds[0]
	if !x.reaches(x.every, k, noCeiling()) {
		return
	}
	got := x.fewestOn(x.every, k, noCeiling())
	least := int64(math.MaxInt64)
	for set := range 1 << len(c.cands) {
		n := int64(0)
		members := int64(0)
		for h := range c.hosts {
			free := slices.Clone(c.hosts[h].free)
			for i := range c.cands {
				if set>>i&1 == 1 && c.grades[i].usable && c.cands[i].host == int32(h) {
					addTo(free, c.cands[i].size, +1)
					n++
				}
			}
			members += hostedBy(k, free, int64(len(c.todo)))
		}
		if members >= int64(len(c.todo)) {
			least = min(least, n)
		}
	}
	require.LessOrEqual(t, got, max(least, 1))
	if len(k.types) == 1 {
		require.Equal(t, max(least, 1), got)
	}
}

// hostedBy counts the members of a kind that have room, and no more than most.
func hostedBy(k *kind, free []int64, most int64) (n int64) {
	for n < most {
		for _, t := range k.types {
			if free[t] < (n+1)*k.size[t] {
				return n
			}
		}
		n++
	}
	return n
}

// Of several types the one that takes most decides how many must go: 8 of the first
// take two units of 4, and 1 of the second takes one.
func TestFewest_Types(t *testing.T) {
	c := &jobCase{types: 2}
	c.hosts = []host{{free: resources.Vector{0, 0}}}
	for i, size := range []resources.Vector{{4, 0}, {4, 0}, {0, 1}, {0, 1}} {
		c.cands = append(c.cands, candidate{size: size})
		c.grades = append(c.grades, grade{plain: true, usable: true, alone: true})
		c.units, c.tasks = append(c.units, unit{first: int32(i), end: int32(i) + 1}), append(c.tasks, int32(i))
	}
	c.listOnHosts()
	var x bounder
	x.begin(c)
	for _, test := range []struct {
		size resources.Vector
		want []int64 // for one member, for two
	}{
		{resources.Vector{4, 1}, []int64{1, 2}},
		{resources.Vector{8, 1}, []int64{2}},
		{resources.Vector{4, 2}, []int64{2}},
		{resources.Vector{9, 1}, []int64{}},
		{resources.Vector{9, 0}, []int64{}},
	} {
		k := &kind{size: test.size, end: 2}
		for typ, v := range test.size {
			if v > 0 {
				k.types = append(k.types, typ)
			}
		}
		x.countOn(0, k, noCeiling())
		require.Equal(t, test.want, x.needed, "%v", test.size)
	}
}

// A domain that is too large for its victims to be counted is bounded by one.
func TestFewest_Large(t *testing.T) {
	const members = 129 // on as many hosts: more than mostCounted
	hosts := "0: a1"
	for range members - 1 {
		hosts += " | 1:"
	}
	sizes := slices.Repeat([]int64{1}, members)
	c := tableDesk(t, hosts, sizes...).board
	inDomains(c, slices.Repeat([]string{"r"}, len(c.hosts))...)
	var x bounder
	x.begin(c)
	require.Greater(t, len(c.hosts)*len(c.todo), mostCounted)
	require.Equal(t, int64(1), x.fewestOn(x.every, &c.kinds[0], noCeiling()))
}

// With everybody gone whom a ceiling admits, hosts take so many members: as many
// as one counts. What is free then is told of every host.
func TestBounder_Reaches(t *testing.T) { rapid.Check(t, reachIsTwin) }

func reachIsTwin(t *rapid.T) {
	d := drawDesk(t, true)
	c := d.board
	l := ceiling{
		plain:    rapid.Bool().Draw(t, "plain"),
		rank:     rapid.SampledFrom([]int64{-10, -9, -8, -7, math.MaxInt64}).Draw(t, "rank"),
		priority: rapid.SampledFrom([]int64{-1, 0, 1, math.MaxInt64}).Draw(t, "priority"),
	}
	x := &d.search.bounds
	want := int64(0)
	for h := range c.hosts {
		free := slices.Clone(c.hosts[h].free)
		for i := range c.cands {
			if cand := &c.cands[i]; c.grades[i].usable && cand.host == int32(h) && l.admits(&cand.levels) {
				addTo(free, cand.size, +1)
			}
		}
		require.True(t, slices.Equal(free, x.roomOn(int32(h), l)), "host %d", h)
		hosted := hostedBy(&c.kinds[0], free, int64(len(c.todo)))
		require.Equal(t, hosted, c.hosted(int32(h), &c.kinds[0], free))
		want += hosted
	}
	require.Equal(t, want >= int64(len(c.todo)), x.reaches(x.every, &c.kinds[0], l))
}

// The lowest ceiling has the least rank first, and with that the least priority.
// Rank is what laws compare: with a raw priority of 1 a task of this desk has rank
// -8, whatever its queue adds.
func TestCeilings_Table(t *testing.T) {
	for _, test := range []struct {
		name, hosts    string
		members        []int64
		rank, priority int64
	}{
		{"one", "0: a4p3", []int64{4}, -6, 3},
		{"the lowest that is enough", "0: a2p1 b2p3 | 0: c4p2", []int64{4}, -7, 2},
		{"both", "0: a2p1 b2p3 | 0: c4p2", []int64{4, 4}, -6, 3},
		{"what is free needs nobody", "4: a4p5", []int64{4}, -4, 5}, // the least there is: nothing lower to try
	} {
		x := &tableDesk(t, test.hosts, test.members...).search.bounds
		got := x.lowest(noCeiling(), func(l ceiling) bool { return x.reaches(x.every, &x.kinds[0], l) })
		require.Equal(t, ceiling{rank: test.rank, priority: test.priority}, got, test.name)
	}
}

// drawSums draws sums that come close to each other in every level, the two halves
// of own costs included.
func drawSums(t *rapid.T, name string) (s sums) {
	s.levels = cost.Levels{
		rulebook.LevelOptedOut: rapid.Int64Range(0, 1).Draw(t, name),
		rulebook.LevelOwnLow:   rapid.SampledFrom([]int64{0, 1, 1<<32 - 1}).Draw(t, name),
		rulebook.LevelVictims:  rapid.Int64Range(0, 2).Draw(t, name),
		rulebook.LevelSumRanks: -rapid.Int64Range(0, 2).Draw(t, name),
	}
	s.work = resources.Wide(wide.Mul(rapid.SampledFrom([]uint64{0, 1, 2, math.MaxUint64}).Draw(t, name), rapid.SampledFrom([]uint64{1, 1, math.MaxInt64}).Draw(t, name)))
	s.rank = s.rank.plus(rapid.SampledFrom([]int64{-1, 0, 1, math.MaxInt64, math.MinInt64}).Draw(t, name), 1)
	return s
}

// Sums add up in any order, and what is cheaper stays no dearer with the same on
// top. The dynamic programme relies on both: it compares parts of plans before it
// knows the rest.
func TestSums_Laws(t *testing.T) { rapid.Check(t, sumsKeepLaws) }

func sumsKeepLaws(t *rapid.T) {
	order, most := rulebook.PlanOrder(), resources.Wide{Hi: math.MaxUint64}.Add(resources.Wide(wide.Mul(math.MaxInt64, 4)))
	a, b, c := drawSums(t, "a"), drawSums(t, "b"), drawSums(t, "c")
	plus := func(x, y sums) sums { return x.plus(&order, &y) }
	require.Equal(t, plus(a, b), plus(b, a))
	require.Equal(t, plus(plus(a, b), c), plus(a, plus(b, c)))
	require.Equal(t, a, plus(a, sums{}))

	require.Equal(t, a.compare(&b), -b.compare(&a))
	require.Equal(t, a == b, a.compare(&b) == 0)
	x, y := plus(a, c), plus(b, c)
	require.Equal(t, x.compare(&b), a.comparePlus(&order, &c, &b))
	require.Zero(t, a.comparePlus(&order, &c, &x))
	if levels := a.compareLevels(&b); levels != 0 {
		require.Equal(t, levels, x.compareLevels(&y))
	} else if a.compare(&b) < 0 && b.work.Add(c.work) != most {
		// Lost work that saturates leaves it to the nodes.
		require.Negative(t, x.compare(&y))
	}
	require.Equal(t, slices.Compare(a.levels[:], b.levels[:]), a.compareLevels(&b))
}

// What a unit costs below a ceiling leaves rank and priority out: they are known
// already.
func TestSums_Add(t *testing.T) {
	order := rulebook.PlanOrder()
	u := unit{Unit: units.Unit{Work: resources.WideOf(5), Levels: cost.Levels{
		rulebook.LevelRank: -3, rulebook.LevelPriority: 6, rulebook.LevelOwnLow: 1<<32 - 1, rulebook.LevelVictims: 1, rulebook.LevelSumRanks: -3,
	}}}
	var s sums
	s.add(&order, &u)
	s.add(&order, &u)
	require.Equal(t, cost.Levels{
		rulebook.LevelOwn: 1, rulebook.LevelOwnLow: 1<<32 - 2, // carried
		rulebook.LevelVictims: 2, rulebook.LevelSumRanks: -6,
	}, s.levels)
	require.Equal(t, resources.WideOf(10), s.work)
	u.Work = resources.Wide(wide.Mul(math.MaxInt64, math.MaxInt64))
	s.add(&order, &u)
	require.Equal(t, u.Work.Add(resources.WideOf(10)), s.work, "more than 64 bits")
}

// Sums of ranks beyond 64 bits are compared as they are, and told as the nearest
// number.
func TestRankSum_Table(t *testing.T) {
	sum := func(ranks ...int64) (s rankSum) {
		for _, rank := range ranks {
			s = s.plus(rank, 1)
		}
		return s
	}
	const most, least = math.MaxInt64, math.MinInt64
	for _, test := range []struct {
		a, b rankSum
		want int // a compared with b
		told int64
	}{
		{sum(), sum(0), 0, 0},
		{sum(-1), sum(), -1, -1},
		{sum(-1, 1), sum(), 0, 0},
		{sum(most, most), sum(most), +1, most},
		{sum(most, most, least, least), sum(-2), 0, -2},
		{sum(least, least), sum(least), -1, least},
		{sum(least, -1), sum(least), -1, least},
		{sum(most, 1), sum(most), +1, most},
		{sum(5, 5, 5), rankSum{}.plus(5, 3), 0, 15},
	} {
		require.Equal(t, test.want, test.a.compare(test.b), "%v and %v", test.a, test.b)
		require.Equal(t, -test.want, test.b.compare(test.a), "%v and %v", test.b, test.a)
		require.Equal(t, test.told, test.a.int64())
	}
}

// A host that would have to free more than 64 bits can count to is no trouble: most
// is capped.
func TestHosts_Capped(t *testing.T) {
	c := &jobCase{types: 1}
	rows := []int64{math.MaxInt64 - 1, 5, 7}
	c.addUp(rows)
	require.Equal(t, []int64{math.MaxInt64 - 1, math.MaxInt64, math.MaxInt64}, rows, "the largest first, then sums")
	require.True(t, resources.Fits(resources.Vector{5}, resources.Vector(rows[1:2])))
}
