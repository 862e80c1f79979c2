// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
)

// The dynamic programme finds what trying everything does: the least sums for
// all members, and of equal ones the most members on the first hosts.
func TestProgramme(t *testing.T) { rapid.Check(t, propertyProgramme) }

func FuzzProgramme(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyProgramme)) }

func propertyProgramme(t *rapid.T) {
	c := &jobCase{order: rulebook.PlanOrder()}
	for range rapid.IntRange(1, 2).Draw(t, "kinds") {
		c.kinds = append(c.kinds, kind{end: int32(rapid.IntRange(1, 5/(1+len(c.kinds))).Draw(t, "members"))})
	}
	hosts := rapid.IntRange(1, 4).Draw(t, "hosts")
	c.hosts, c.area.hosts = make([]host, hosts), make([]int32, hosts)
	x := &spreader{search: &search{jobCase: c, effort: new(effort)}}
	require.True(t, x.begin())
	for h := range int32(hosts) {
		for s := x.states - 1; s > 0; s-- { // as list sorts them
			if rapid.IntRange(0, 3).Draw(t, "listed") == 0 {
				continue
			}
			x.ways = append(x.ways, way{host: h, state: int32(s), sums: sums{
				levels: cost.Levels{
					rulebook.LevelOriginators: rapid.Int64Range(0, 1).Draw(t, "originators"),
					rulebook.LevelOwnLow:      rapid.SampledFrom([]int64{0, 1, 1<<32 - 1}).Draw(t, "own cost"),
					rulebook.LevelVictims:     rapid.Int64Range(0, 3).Draw(t, "victims"),
					rulebook.LevelSumRanks:    -rapid.Int64Range(0, 2).Draw(t, "ranks"),
				},
				work: resources.WideOf(rapid.Int64Range(0, 2).Draw(t, "work")),
			}})
		}
	}
	x.solve()

	all := make([]int, len(c.kinds))
	for i := range all {
		all[i] = int(c.kinds[i].end)
	}
	least, states, ok := x.tryAll(0, int32(hosts), all)
	if got := x.result(); ok != got.found || ok && got.sums != least {
		t.Fatalf("%v, and trying all finds %v %v", got, least, ok)
	}
	if !ok {
		return
	}
	got := make([]int32, hosts)
	x.eachChoice(func(w *way) { got[w.host] = w.state })
	if !slices.Equal(got, states) {
		t.Fatalf("states by host %v, and trying all finds %v", got, states)
	}
}

// tryAll returns the least sums for members by kind on hosts from h on, and which
// state each host has: of equal ones the largest in lexical order.
func (x *spreader) tryAll(h, hosts int32, members []int) (least sums, states []int32, ok bool) {
	if h == hosts {
		return sums{}, nil, !slices.ContainsFunc(members, func(n int) bool { return n > 0 })
	}
	consider := func(state int32, here sums) {
		rest := slices.Clone(members)
		for k, n := range x.countsOf(int(state)) {
			if rest[k] -= int(n); rest[k] < 0 {
				return
			}
		}
		cost, others, found := x.tryAll(h+1, hosts, rest)
		if !found {
			return
		}
		cost = cost.plus(&x.order, &here)
		if !ok || cost.compare(&least) < 0 {
			least, states, ok = cost, append([]int32{state}, others...), true
		}
	}
	for i := range x.ways {
		if x.ways[i].host == h {
			consider(x.ways[i].state, x.ways[i].sums)
		}
	}
	consider(0, sums{})
	return least, states, ok
}

// States count members by kind, each choice of them once, and one has another if it
// has as many of every kind.
func TestStates(t *testing.T) {
	c := &jobCase{}
	c.kinds = []kind{{end: 2}, {first: 2, end: 3}, {first: 3, end: 6}}
	x := &spreader{search: &search{jobCase: c, effort: new(effort)}}
	require.True(t, x.begin())
	require.Equal(t, 3*2*4, x.states)
	seen := map[[3]int32]bool{}
	for s := range x.states {
		counts := [3]int32(x.countsOf(s))
		require.False(t, seen[counts])
		seen[counts] = true
		for part := range x.states {
			want := true
			for k, n := range x.countsOf(part) {
				want = want && counts[k] >= n
			}
			require.Equal(t, want, x.holds(s, part), "%d, %d", s, part)
			if want {
				for k, n := range x.countsOf(s - part) {
					require.Equal(t, counts[k]-x.countsOf(part)[k], n)
				}
			}
		}
	}

	// Members of several kinds are counted only if they are few.
	c.area.hosts = make([]int32, mostStates/24)
	require.True(t, x.begin())
	c.area.hosts = make([]int32, mostStates/24+1)
	require.False(t, x.begin())
	c.kinds = []kind{{end: 1000}}
	require.True(t, x.begin())
}

// No ceiling is ruled out below which there is a plan.
func TestSpreader_Reaches(t *testing.T) { rapid.Check(t, ceilingsOfPlansAreReached) }

func FuzzSpreader_Reaches(f *testing.F) { f.Fuzz(rapid.MakeFuzz(ceilingsOfPlansAreReached)) }

func ceilingsOfPlansAreReached(t *rapid.T) {
	d := drawDesk(t, rapid.Bool().Draw(t, "alike"))
	s := &d.search
	if s.pack.fits(coming) {
		return
	}
	s.best.found = false
	s.all.complete(math.MaxInt32)
	if s.best.found && s.best.levels[rulebook.LevelVictims] > 0 && s.spread.begin() {
		require.True(t, s.spread.reaches(below(&s.best.levels)), "%v", s.best.levels)
	}
}
