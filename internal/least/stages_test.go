// SPDX-License-Identifier: Apache-2.0

package least

import (
	"testing"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/resources"
	"github.com/stretchr/testify/require"
)

// topsOf makes the table of the stage of victims.
func topsOf(t *testing.T, p *Problem) *stages {
	t.Helper()
	var w Worker
	require.True(t, w.build(p))
	w.p.Limit = &cost.Total{Levels: cost.Levels{LevelVictims: 9}}
	require.True(t, w.stages.prepare(&w))
	w.stages.level, w.stages.goal = LevelVictims, w.p.Limit.Levels
	for i := range w.classes {
		w.stages.order = append(w.stages.order, int32(i))
	}
	w.stages.fillTops()
	return &w.stages
}

// Four are lacking of each of two types. Each row by itself says two units: a and
// b have three of the first type, c and d of the second. Their sum says three:
// eight are lacking, and nobody has more than three and none.
func TestTops_AllRowsTogether(t *testing.T) {
	p := &Problem{Needs: shorts(vec{4, 4}), Order: planOrder, Capacity: vec{100, 100}}
	for key, size := range map[string]vec{"a": {3, 0}, "b": {3, 0}, "c": {0, 3}, "d": {0, 3}} {
		p.Units = append(p.Units, unitOf(key, size...).Unit)
	}
	x := topsOf(t, p)
	require.EqualValues(t, 3, x.countsAtLeast(0))
	require.Equal(t, []int64{0, 3, 6}, x.tops.row(0, 0)[:3])
}

// What a unit has beyond a need plays no part in the sum: a is no better for
// having a hundred of the first type.
func TestTops_NoMoreThanIsLacking(t *testing.T) {
	p := &Problem{Needs: shorts(vec{4, 4}), Order: planOrder, Capacity: vec{100, 100}}
	p.Units = []Unit{unitOf("a", 100, 0).Unit, unitOf("b", 0, 2).Unit, unitOf("c", 0, 3).Unit}
	require.EqualValues(t, 3, topsOf(t, p).countsAtLeast(0))
}

// A gang of three that covers six counts as three pieces of two: it takes
// no fewer than its three to cover five.
func TestTops_GangsCountAllTheirMembers(t *testing.T) {
	p := &Problem{Needs: shorts(vec{5}), Order: planOrder, Capacity: vec{100}}
	p.Units = []Unit{unitOf("a", 6).level(LevelVictims, 3).Unit, unitOf("b", 1).Unit}
	require.EqualValues(t, 3, topsOf(t, p).countsAtLeast(0))
}

// Rounding ends above and not below: amounts beyond 30 bits lose their low bits.
func TestTops_LargeAmountsRoundUp(t *testing.T) {
	const large = 1 << 40
	p := &Problem{Needs: shorts(vec{2*large + 1, 2*large + 1}), Order: planOrder, Capacity: vec{100, 100}}
	p.Units = []Unit{unitOf("a", large, large).Unit, unitOf("b", large+1, large+1).Unit, unitOf("c", 1, 1).Unit}
	require.EqualValues(t, 2, topsOf(t, p).countsAtLeast(0), "a and b are enough")
}

// Two units of low cost would do if they could be cut: all of a, at 84, and the rest
// from b. As they cannot, b alone is what beats 405. It costs more than is left of
// the limit once a is paid for, and counts all the same.
func TestLesser_ACostlyUnitInsteadOfACheapOne(t *testing.T) {
	p := &Problem{Needs: shorts(vec{900}), Order: planOrder, Capacity: vec{5000}}
	p.Units = []Unit{
		unitOf("a", 456).level(LevelOwnLow, 84).Unit,
		unitOf("b", 1650).level(LevelOwnLow, 379).Unit,
		unitOf("c", 553).level(LevelOwnLow, 366).Unit,
	}
	p.Limit = &cost.Total{Units: 1, Levels: cost.Levels{LevelOwnLow: 405, LevelVictims: 1}}
	w, s := Worker{OnlyLesser: true}, Selection{}
	w.Least(&s, p, 1000)
	require.True(t, s.Found)
	require.Equal(t, []int32{1}, s.Units)
}

// Own costs from 2^62 on are not told apart as prices: what costs one less than the
// limit is found, or nothing is shown.
func TestLesser_HugeOwnCosts(t *testing.T) {
	p := &Problem{Needs: shorts(vec{9}), Order: planOrder, Capacity: vec{50}}
	high, low := resources.WideOf(noLimit - 1).Halves()
	p.Units = []Unit{unitOf("a", 9).level(LevelOwnHigh, high).level(LevelOwnLow, low).Unit}
	limit := &cost.Total{Units: 1, Levels: cost.Levels{LevelVictims: 1}}
	limit.Levels[LevelOwnHigh], limit.Levels[LevelOwnLow] = resources.WideOf(noLimit).Halves()
	p.Limit = limit
	w, s := Worker{OnlyLesser: true}, Selection{}
	w.Least(&s, p, 1000)
	require.True(t, s.Found || !s.Proven)
}
