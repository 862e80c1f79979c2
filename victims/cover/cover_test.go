// SPDX-License-Identifier: Apache-2.0

package cover_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A shape is how many levels a cost has, and how many of them are maxima.
type shape struct{ levels, maxima int }

func drawShape(t *rapid.T) shape {
	levels := rapid.IntRange(0, 3).Draw(t, "levels")
	return shape{levels, rapid.IntRange(0, levels).Draw(t, "maxima")}
}

// draw draws a problem of up to seven units.
func draw(t *rapid.T, name string, of shape) *cover.Problem {
	small := rapid.Int64Range(0, 4)
	vector := func(label string) resources.Vector {
		return resources.Vector{small.Draw(t, label), small.Draw(t, label)}
	}
	p := &cover.Problem{Need: vector(name + " need"), Maxima: of.maxima}
	for range rapid.IntRange(0, 2).Draw(t, "bounds") {
		p.Bounds = append(p.Bounds, resources.Limit{
			Value: vector("room"), Defined: resources.Mask(rapid.IntRange(0, 7).Draw(t, "defined")),
		})
	}
	for i := range rapid.IntRange(0, 7).Draw(t, "units") {
		u := cover.Unit{Key: fmt.Sprint(name, rapid.IntRange(0, 9).Draw(t, "key"), "-", i), Size: vector("size")}
		if rapid.IntRange(0, 3).Draw(t, "draws") == 0 {
			u.Draws = append(vector("draws"), small.Draw(t, "draws"))[:rapid.IntRange(0, 3).Draw(t, "types")]
		}
		for level := range of.levels {
			v := small.Draw(t, "level")
			if level < p.Maxima {
				v -= 2
			}
			u.Cost = append(u.Cost, v)
		}
		for b := range p.Bounds {
			if rapid.Bool().Draw(t, "held") {
				u.Bounds = append(u.Bounds, b)
			}
		}
		p.Units = append(p.Units, u)
	}
	return p
}

// A set is one that meets the need within all bounds.
type set struct {
	units []int
	cost  []int64
	keys  []string
}

func (s *set) compare(other *set) int {
	return cmp.Or(slices.Compare(s.cost, other.cost), cmp.Compare(len(s.units), len(other.units)), slices.Compare(s.keys, other.keys))
}

// cheapest tries all sets.
func cheapest(p *cover.Problem) (best *set) {
	for bits := range 1 << len(p.Units) {
		s := &set{}
		var freed resources.Vector
		taken := make([]resources.Vector, len(p.Bounds))
		for i := range p.Units {
			if bits>>i&1 == 0 {
				continue
			}
			u := &p.Units[i]
			freed = resources.Add(nil, freed, u.Size)
			for _, b := range u.Bounds {
				draws := u.Draws
				if draws == nil {
					draws = u.Size
				}
				taken[b] = resources.Add(nil, taken[b], draws)
			}
			for level, v := range u.Cost {
				switch {
				case len(s.units) == 0:
					s.cost = append(s.cost, v)
				case level < p.Maxima:
					s.cost[level] = max(s.cost[level], v)
				default:
					s.cost[level] += v
				}
			}
			s.units, s.keys = append(s.units, i), append(s.keys, u.Key)
		}
		slices.Sort(s.keys)
		lawful := true
		for t := range 3 {
			lawful = lawful && freed.At(t) >= p.Need.At(t)
			for b, room := range p.Bounds {
				if most, ok := room.Bound(t); ok {
					lawful = lawful && taken[b].At(t) <= max(most, 0)
				}
			}
		}
		if lawful && (best == nil || s.compare(best) < 0) {
			best = s
		}
	}
	return best
}

// requireIs holds a selection to a set.
func requireIs(t require.TestingT, want *set, p *cover.Problem, got *cover.Selection) {
	require.Equal(t, append([]int{}, want.units...), append([]int{}, got.Units...))
	if len(want.units) > 0 {
		require.Equal(t, append([]int64{}, want.cost...), append([]int64{}, got.Cost...))
	}
	require.True(t, got.Proven)
}

// The answer is the least of all sets.
func TestSolver_Least(t *testing.T) {
	found := 0
	law.Check3000(t, func(t *rapid.T) {
		p := draw(t, "u", drawShape(t))
		var s cover.Solver
		var got cover.Selection
		want := cheapest(p)
		require.Equal(t, want != nil, s.Solve(&got, p))
		if want == nil {
			require.True(t, got.Proven)
			require.Empty(t, got.Units)
			return
		}
		if len(want.units) > 1 {
			found++
		}
		requireIs(t, want, p, &got)
	})
	require.Greater(t, found, 5, "worlds that need more than one unit")
}

// The group is the one whose least set costs least, and the first of those. Keys say nothing
// between groups.
func TestSolver_Fit(t *testing.T) {
	later := 0
	var s cover.Solver // its memory is used again
	law.Check3000(t, func(t *rapid.T) {
		of := drawShape(t)
		var groups []cover.Problem
		for range rapid.IntRange(0, 4).Draw(t, "groups") {
			groups = append(groups, *draw(t, "u", of))
		}
		var best *set
		at := -1
		for g := range groups {
			x := cheapest(&groups[g])
			if x == nil || len(x.units) == 0 && best != nil && len(best.units) == 0 {
				continue
			}
			if best == nil || len(x.units) == 0 || len(best.units) > 0 &&
				cmp.Or(slices.Compare(x.cost, best.cost), cmp.Compare(len(x.units), len(best.units))) < 0 {
				best, at = x, g
			}
		}
		var got cover.Selection
		group, ok := s.Fit(&got, groups)
		require.Equal(t, at, group)
		require.Equal(t, best != nil, ok)
		if best != nil {
			if at > 0 {
				later++
			}
			requireIs(t, best, &groups[at], &got)
		}
	})
	require.Greater(t, later, 5, "the first group is not the cheapest")
}

// Two units share a bound, and only one of them has another one.
func TestSolver_BoundsAreNotNested(t *testing.T) {
	p := cover.Problem{
		Need:   resources.Vector{0, 1},
		Bounds: []resources.Limit{{Value: resources.Vector{0, 1}, Defined: 2}, {Value: resources.Vector{0, 0}, Defined: 1}},
		Units: []cover.Unit{
			{Key: "a", Size: resources.Vector{2, 1}, Bounds: []int{0, 1}}, {Key: "b", Size: resources.Vector{2, 1}, Bounds: []int{0}},
		},
	}
	var s cover.Solver
	var got cover.Selection
	require.True(t, s.Solve(&got, &p))
	require.Equal(t, []int{1}, got.Units)
}

// Once the steps are spent there is still an answer, and no proof.
func TestSolver_Steps(t *testing.T) {
	p := &cover.Problem{Need: resources.Vector{1000, 1000}}
	for i := range int64(40) {
		p.Units = append(p.Units, cover.Unit{
			Key: fmt.Sprintf("u%02d", i), Size: resources.Vector{30 + i*7%31, 30 + i*11%37}, Cost: []int64{10 + i*13%17},
		})
	}
	s := cover.Solver{Steps: 1}
	var got cover.Selection
	require.True(t, s.Solve(&got, p))
	require.False(t, got.Proven)
	var freed resources.Vector
	for _, i := range got.Units {
		freed = resources.Add(nil, freed, p.Units[i].Size)
	}
	require.True(t, freed.At(0) >= 1000 && freed.At(1) >= 1000)
	group, ok := s.Fit(&got, []cover.Problem{*p, *p})
	require.Equal(t, 0, group)
	require.True(t, ok)
	require.False(t, got.Proven)
}

func TestSolver_Panics(t *testing.T) {
	unit := func(change func(u *cover.Unit)) *cover.Problem {
		p := &cover.Problem{Need: resources.Vector{1}, Units: []cover.Unit{
			{Key: "a", Size: resources.Vector{1}, Cost: []int64{1}}, {Key: "b", Size: resources.Vector{1}, Cost: []int64{1}},
		}}
		change(&p.Units[1])
		return p
	}
	most := int64(1<<63 - 1)
	for want, p := range map[string]*cover.Problem{
		`cover: unit "b": a cost of 0 levels, and "a" has 1`:                               unit(func(u *cover.Unit) { u.Cost = nil }),
		`cover: unit "b": level 0: -1 is negative or too much`:                             unit(func(u *cover.Unit) { u.Cost[0] = -1 }),
		fmt.Sprintf(`cover: unit "b": level 0: %d is negative or too much`, most):          unit(func(u *cover.Unit) { u.Cost[0] = most }),
		`cover: unit "b": type 0: a draw of -1 is negative or too much`:                    unit(func(u *cover.Unit) { u.Draws = resources.Vector{-1} }),
		`cover: unit "b": type 0: a size of -1 is negative or too much`:                    unit(func(u *cover.Unit) { u.Size[0] = -1 }),
		fmt.Sprintf(`cover: unit "b": type 0: a size of %d is negative or too much`, most): unit(func(u *cover.Unit) { u.Size[0] = most }),
		`cover: unit "b": bound 0 of 0`:                                                    unit(func(u *cover.Unit) { u.Bounds = []int{0} }),
		`cover: unit "a": a cost of 11 levels, at most 10`:                                 {Units: []cover.Unit{{Key: "a", Cost: make([]int64, 11)}}},
		`cover: 2 maxima of 1 levels`:                                                      {Units: []cover.Unit{{Key: "a", Cost: []int64{1}}}, Maxima: 2},
	} {
		var s cover.Solver
		require.PanicsWithValue(t, want, func() { s.Solve(new(cover.Selection), p) })
		require.PanicsWithValue(t, want, func() { s.Fit(new(cover.Selection), []cover.Problem{*p}) })
	}
}

func TestFit_Panics(t *testing.T) {
	groups := []cover.Problem{
		{}, {Units: []cover.Unit{{Key: "a", Cost: []int64{1, 1}}}, Maxima: 1}, {Units: []cover.Unit{{Key: "b", Cost: []int64{1, 1}}}},
	}
	var s cover.Solver
	require.PanicsWithValue(t, "cover: group 2: 2 levels, 0 of them maxima, and group 1 has 2 and 1", func() { s.Fit(new(cover.Selection), groups) })
}

// A solver whose memory has grown allocates nothing.
func TestNoAllocs(t *testing.T) {
	var groups []cover.Problem
	for g := range int64(8) {
		p := cover.Problem{Need: resources.Vector{20, 8}, Maxima: 1, Bounds: []resources.Limit{{Value: resources.Vector{30}, Defined: 1}, {Value: resources.Vector{0, 9}, Defined: 2}}}
		for i := range int64(12) {
			p.Units = append(p.Units, cover.Unit{
				Key: fmt.Sprint(g, "-", i), Size: resources.Vector{1 + (g*5+i*7)%9, i % 4}, Cost: []int64{(g + i) % 5, 1}, Bounds: []int{0, 1}[:1+i%2],
			})
		}
		groups = append(groups, p)
	}
	var s cover.Solver
	var got cover.Selection
	_, ok := s.Fit(&got, groups)
	require.True(t, ok)
	require.Zero(t, testing.AllocsPerRun(20, func() { s.Fit(&got, groups) }))
}
