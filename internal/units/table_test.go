// SPDX-License-Identifier: Apache-2.0

package units

import (
	"math"
	"slices"
	"testing"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/resources"
)

// coverUnit builds the units of tables: one task that counts for need 0.
type coverUnit struct{ Unit }

func unitOf(key string, size ...int64) coverUnit {
	return coverUnit{Unit{Key: key, Size: size, Levels: cost.Levels{LevelVictims: 1}, Needs: []int32{0}}}
}

func (u coverUnit) level(l int, v int64) coverUnit { u.Levels[l] = v; return u }
func (u coverUnit) rank(v int64) coverUnit         { return u.level(LevelRank, v).level(LevelSumRanks, v) }
func (u coverUnit) optedOut() coverUnit            { return u.level(LevelOptedOut, 1) }
func (u coverUnit) work(v uint64) coverUnit        { u.Work = resources.Wide{Lo: v}; return u }
func (u coverUnit) needs(n ...int32) coverUnit     { u.Needs = n; return u }
func (u coverUnit) bounds(b ...int32) coverUnit    { u.Bounds = b; return u }

// shorts returns needs as a list.
func shorts(needs ...resources.Vector) []resources.Vector { return needs }

// rooms returns a bound on type 0 per amount.
func rooms(amounts ...int64) (out []Bound) {
	for _, v := range amounts {
		out = append(out, Bound{Room: resources.Limit{Value: resources.Vector{v}, Defined: 1}})
	}
	return out
}

// none is the answer where there is no set.
var none = []string{"none"}

type vec = resources.Vector

var coverTable = []struct {
	name     string
	needs    []resources.Vector
	bounds   []Bound
	units    []coverUnit
	capacity resources.Vector // 100 of every type where it is nil
	compare  func(a, b *cost.Total) int
	want     []string
	greedy   []string // where it is not the same
}{
	{name: "no needs", units: []coverUnit{unitOf("a", 1).needs()}},
	{name: "no units", needs: shorts(vec{1}), want: none},
	{name: "a need of no type", needs: shorts(vec{0, -1}, nil), units: []coverUnit{unitOf("a", 1, 1)}},
	{name: "too little", needs: shorts(vec{6}), units: []coverUnit{unitOf("a", 2), unitOf("b", 3)}, want: none},
	{name: "just enough", needs: shorts(vec{5}), units: []coverUnit{unitOf("a", 2), unitOf("b", 3)}, want: []string{"a", "b"}},
	{name: "sizes of another type", needs: shorts(vec{0, 1}), units: []coverUnit{unitOf("a", 9), unitOf("b")}, want: none},
	{name: "smaller key", needs: shorts(vec{5}), units: []coverUnit{unitOf("b", 5), unitOf("a", 5)}, want: []string{"a"}},
	{name: "smaller list of keys",
		// The amounts rule out a with b, and b with c.
		needs: shorts(vec{4, 4}),
		units: []coverUnit{unitOf("d", 2, 2), unitOf("c", 1, 3), unitOf("b", 2, 2), unitOf("a", 3, 1)},
		want:  []string{"a", "c"}, greedy: []string{"a", "c"}},
	{name: "less work", needs: shorts(vec{5}), units: []coverUnit{unitOf("a", 5).work(2), unitOf("b", 5).work(1)}, want: []string{"b"}},
	{name: "work beyond 64 bits", needs: shorts(vec{4, 4}),
		// a and b lose 2^64, as c and b, and c and d 2^64-1. Others are not enough.
		units: []coverUnit{
			unitOf("a", 1, 4).work(math.MaxUint64), unitOf("b", 3).work(1),
			unitOf("c", 2, 4).work(math.MaxUint64), unitOf("d", 2).work(0),
		},
		want: []string{"c", "d"}},
	{name: "fewer", needs: shorts(vec{6}), units: []coverUnit{unitOf("a", 3), unitOf("b", 3), unitOf("c", 9)}, want: []string{"c"}},
	{name: "less work before less freed beyond need", needs: shorts(vec{5}), units: []coverUnit{unitOf("a", 5).work(2), unitOf("b", 9).work(1)}, want: []string{"b"}},
	{name: "less freed beyond need", needs: shorts(vec{5}), units: []coverUnit{unitOf("a", 7), unitOf("b", 6)}, want: []string{"b"},
		greedy: []string{"a"}}, // both cover all, and an equal use is taken from the last size
	{name: "a share and not an amount",
		// Beyond need a frees 8 of 100, b 1 of 10.
		needs: shorts(vec{5}), units: []coverUnit{unitOf("b", 5, 1), unitOf("a", 13)}, capacity: vec{100, 10},
		want: []string{"a"}},
	{name: "a type without capacity",
		// Beyond need a frees 99 of 100, b 1 of 1.
		needs: shorts(vec{1}), units: []coverUnit{unitOf("b", 1, 1), unitOf("a", 100)}, capacity: vec{100},
		want: []string{"a"}},
	{name: "opted out last",
		needs: shorts(vec{4}), units: []coverUnit{unitOf("a", 4).optedOut(), unitOf("b", 2), unitOf("c", 2)},
		want: []string{"b", "c"}},
	{name: "lowest highest rank",
		needs: shorts(vec{6}), units: []coverUnit{unitOf("a", 6).rank(0), unitOf("b", 2).rank(-1), unitOf("c", 2).rank(-9), unitOf("d", 2).rank(-9)},
		want: []string{"b", "c", "d"}},
	{name: "lowest sum of ranks",
		// One of rank -1 is needed for type 1, and then the rank of the other matters.
		needs: shorts(vec{4, 1}), units: []coverUnit{unitOf("a", 2, 1).rank(-1), unitOf("b", 2).rank(-2), unitOf("c", 2).rank(-3)},
		want: []string{"a", "c"}},
	{name: "a sum of ranks that greedy misses",
		// Below the bound there is room for two of rank -8, and not for one of them beside the one of rank -9.
		needs: shorts(vec{4, 1}), bounds: rooms(4),
		units: []coverUnit{
			unitOf("a", 0, 1).rank(0), unitOf("b", 3).rank(-9).bounds(0), unitOf("c", 2).rank(-8).bounds(0),
			unitOf("d", 2).rank(-8).bounds(0), unitOf("e", 3).rank(-1),
		},
		want: []string{"a", "c", "d"}, greedy: []string{"a", "b", "e"}},
	{name: "cheap ones given back",
		// Without b there is not enough, and with b no need of a.
		needs: shorts(vec{5}), units: []coverUnit{unitOf("a", 2).rank(-3), unitOf("b", 5).rank(-2)},
		want: []string{"b"}},
	{name: "a gang counts its tasks",
		needs: shorts(vec{6}), units: []coverUnit{unitOf("gang", 6).level(LevelVictims, 3), unitOf("x", 3), unitOf("y", 3)},
		want: []string{"x", "y"}, greedy: []string{"x", "y"}},
	{name: "gangs that count alike",
		// Two single tasks count as much as one gang, which frees less beyond need.
		needs: shorts(vec{6}), units: []coverUnit{unitOf("gang", 6).level(LevelVictims, 2), unitOf("x", 4), unitOf("y", 4)},
		want: []string{"gang"}, greedy: []string{"x", "y"}},
	{name: "one for two needs",
		needs: shorts(vec{4}, vec{4}), units: []coverUnit{unitOf("a", 4).needs(0), unitOf("b", 4).needs(1), unitOf("c", 4).needs(0, 1)},
		want: []string{"c"}},
	{name: "nested needs",
		needs: shorts(vec{2}, vec{5}), units: []coverUnit{unitOf("a", 3).needs(1), unitOf("b", 2).needs(0, 1), unitOf("c", 4).needs(1)},
		want: []string{"a", "b"}, greedy: []string{"b", "c"}},
	{name: "a bound that forbids",
		needs: shorts(vec{4}), bounds: rooms(3), units: []coverUnit{unitOf("a", 2).bounds(0), unitOf("b", 2).bounds(0)}, want: none},
	{name: "a bound of nothing",
		needs: shorts(vec{1}), bounds: rooms(0), units: []coverUnit{unitOf("a", 1).bounds(0), unitOf("b", 1)}, want: []string{"b"}},
	{name: "a bound of less than nothing",
		needs: shorts(vec{0, 1}), bounds: rooms(-7), units: []coverUnit{unitOf("a", 1, 1).bounds(0), unitOf("b", 0, 1).bounds(0)}, want: []string{"b"}},
	{name: "a bound of less than nothing takes from no one else",
		needs: shorts(vec{5}), bounds: rooms(-7), units: []coverUnit{unitOf("a", 3).bounds(0), unitOf("b", 6), unitOf("c", 5)},
		want: []string{"c"}, greedy: []string{"b"}},
	{name: "an outer bound",
		// a and b are within their own bounds, and together beyond what is around them.
		needs: shorts(vec{5}), bounds: rooms(3, 3, 4),
		units: []coverUnit{unitOf("a", 3).bounds(0, 2), unitOf("b", 3).bounds(1, 2), unitOf("c", 2)},
		want:  []string{"a", "c"}},
	{name: "greedy goes need by need",
		// Of the cheaper b there is room for no more, and only c meets need 1.
		needs: shorts(vec{2}, vec{2}), bounds: rooms(4),
		units: []coverUnit{unitOf("a", 2).rank(-1), unitOf("b", 4).rank(-2).bounds(0), unitOf("c", 2).needs(1).bounds(0)},
		want:  []string{"a", "c"}, greedy: []string{"a", "c"}},
	{name: "greedy runs into a bound",
		// Beside b there is no room for c, which has more than enough of need 1.
		needs: shorts(vec{2}, vec{2}), bounds: rooms(20),
		units: []coverUnit{unitOf("a", 2).rank(-1), unitOf("b", 3).rank(-2).bounds(0), unitOf("c", 20).needs(1).bounds(0)},
		want:  []string{"a", "c"}},
	{name: "others in the way under a bound",
		// d could fill the bound, but need not be chosen.
		needs: shorts(vec{1}, vec{1}), bounds: rooms(3),
		units: []coverUnit{unitOf("b", 1).bounds(0), unitOf("c", 1).needs(1).bounds(0), unitOf("d", 3).needs(1).bounds(0)},
		want:  []string{"b", "c"}},
	{name: "others in the way of the cheapest",
		// b could fill the bound that lets d and e through.
		needs: shorts(vec{2, 0}, vec{0, 1}), bounds: rooms(2),
		units: []coverUnit{
			unitOf("a", 0, 1).needs(1), unitOf("b", 1, 1).needs(1).bounds(0),
			unitOf("c", 6).level(LevelVictims, 2), unitOf("d", 1).bounds(0), unitOf("e", 1).bounds(0),
		},
		want: []string{"a", "d", "e"}, greedy: []string{"b", "c"}},
	{name: "large amounts",
		needs: shorts(vec{math.MaxInt64}), bounds: rooms(math.MaxInt64),
		units: []coverUnit{unitOf("a", math.MaxInt64-2).bounds(0), unitOf("b", 1).bounds(0), unitOf("c", 1).bounds(0)},
		want:  []string{"a", "b", "c"}},
	{name: "an order that wants the most work", compare: mostWork,
		needs: shorts(vec{2}), units: []coverUnit{unitOf("a", 2).work(1), unitOf("b", 2).work(3), unitOf("c", 2).work(2)},
		want: []string{"b"}},
	{name: "an order without an opinion", compare: func(a, b *cost.Total) int { return 0 },
		// The list of a and c comes first, but they have a to give back, and c comes after b.
		needs: shorts(vec{3}), bounds: rooms(3), units: []coverUnit{unitOf("a", 1).bounds(0), unitOf("b", 3).bounds(0), unitOf("c", 3)},
		want: []string{"b"}},
}

// mostWork wants few units, and of those with as many the ones that ran longest.
func mostWork(a, b *cost.Total) int {
	if a.Units != b.Units {
		return a.Units - b.Units
	}
	return b.Work.Compare(a.Work)
}

func TestCoverTable(t *testing.T) {
	for _, tt := range coverTable {
		t.Run(tt.name, func(t *testing.T) {
			p := &Problem{Needs: tt.needs, Bounds: tt.bounds, Order: planOrder, Capacity: tt.capacity}
			p.Order.Compare = tt.compare
			for _, u := range tt.units {
				p.Units = append(p.Units, u.Unit)
			}
			for _, need := range tt.needs {
				p.Wanted = resources.Max(nil, p.Wanted, need)
			}
			if p.Capacity == nil {
				p.Capacity = vec{100, 100, 100}
			}
			var w Worker
			var s Selection
			w.Least(&s, p, enoughSteps)
			if got := keysOrNone(p, &s); !slices.Equal(got, tt.want) || !s.Proven {
				t.Errorf("least: %v, proven %t, want %v", got, s.Proven, tt.want)
			}
			if tt.greedy == nil {
				return
			}
			w.Least(&s, p, 0)
			if got := keysOrNone(p, &s); !slices.Equal(got, tt.greedy) || s.Proven {
				t.Errorf("greedy: %v, proven %t, want %v", got, s.Proven, tt.greedy)
			}
		})
	}
}

func keysOrNone(p *Problem, s *Selection) []string {
	if !s.Found {
		return none
	}
	return keysOf(p, s)
}
