package cover

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// hardThird is a problem of three types of which the third is hard to cover by units
// that have much of the others. Ten are lacking of each. Two of the first units have 42
// of the 30 that are lacking in all, and two of the second have 12 of the third type,
// so neither all types together nor one of them tells that two units are not enough.
// If the third type weighs four times as much, two units have 48 of the 60 lacking.
func hardThird() *Problem {
	p := &Problem{Needs: shorts(vec{10, 10, 10}), Order: planOrder, Capacity: vec{100, 100, 100}}
	for _, key := range []string{"a", "b", "c", "d"} {
		p.Units = append(p.Units, unitOf(key, 10, 10, 1).Unit)
	}
	for _, key := range []string{"e", "f", "g", "h"} {
		p.Units = append(p.Units, unitOf(key, 0, 0, 6).Unit)
	}
	return p
}

// Weights show that no two units are enough, before any is tried.
func TestTune_HardTypesWeighMore(t *testing.T) {
	p := hardThird()
	p.Limit = &Total{Units: 3, Levels: Levels{LevelVictims: 3}}
	w, s := Worker{OnlyLesser: true}, Selection{}
	w.Least(&s, p, 1000)
	require.False(t, s.Found)
	require.True(t, s.Proven)
	require.Zero(t, s.Steps)
}

// With four units three are found: weights only rule out what there is not.
func TestTune_LeavesWhatThereIs(t *testing.T) {
	p := hardThird()
	p.Limit = &Total{Units: 4, Levels: Levels{LevelVictims: 4}}
	w, s := Worker{OnlyLesser: true}, Selection{}
	w.Least(&s, p, 1000)
	require.True(t, s.Found)
	require.Len(t, s.Units, 3)
	require.True(t, s.Proven)
}

// Costs are weighed as numbers are. The first units cost 3 and the second 2, so the
// cheapest set, of one and two, costs 7, and no weights but uneven ones tell that none
// costs less than 6.
func TestTune_Costs(t *testing.T) {
	p := hardThird()
	for i := range p.Units {
		p.Units[i].Levels[LevelOwnLow] = int64(3 - i/4)
	}
	p.Limit = &Total{Units: 3, Levels: Levels{LevelOwnLow: 6, LevelVictims: 1}}
	w, s := Worker{OnlyLesser: true}, Selection{}
	w.Least(&s, p, 1000)
	require.False(t, s.Found)
	require.True(t, s.Proven)
	require.Zero(t, s.Steps)

	p.Limit = &Total{Units: 3, Levels: Levels{LevelOwnLow: 8, LevelVictims: 3}}
	w.Least(&s, p, 1000)
	require.True(t, s.Found)
	require.EqualValues(t, 7, s.Total.Levels[LevelOwnLow])
}

// What fits of the unit that goes beyond the limit counts. The first unit has most for
// its cost and leaves no room for the second, which by itself is enough and costs 5.
func TestTune_CutsTheLastUnit(t *testing.T) {
	p := &Problem{Needs: shorts(vec{10, 10}), Order: planOrder, Capacity: vec{100, 100}}
	p.Units = []Unit{
		unitOf("a", 8, 8).level(LevelOwnLow, 2).Unit,
		unitOf("b", 10, 10).level(LevelOwnLow, 5).level(LevelVictims, 2).Unit,
		unitOf("c", 2, 2).level(LevelOwnLow, 4).Unit, // with a it is enough, and costs 6
	}
	p.Limit = &Total{Units: 1, Levels: Levels{LevelOwnLow: 7, LevelVictims: 1}}
	w, s := Worker{OnlyLesser: true}, Selection{}
	w.Least(&s, p, 1000)
	require.True(t, s.Found)
	require.Equal(t, []int32{1}, s.Units)
}

// The last unit is cut and rounded up: what exactly fits is not ruled out.
func TestTune_ExactFit(t *testing.T) {
	p := &Problem{Needs: shorts(vec{7, 7}), Order: planOrder, Capacity: vec{100, 100}}
	for _, key := range []string{"a", "b", "c", "d"} {
		p.Units = append(p.Units, unitOf(key, 4, 3).Unit, unitOf(key+"'", 3, 4).Unit)
	}
	p.Limit = &Total{Units: 3, Levels: Levels{LevelVictims: 3}}
	w, s := Worker{OnlyLesser: true}, Selection{}
	w.Least(&s, p, 1000)
	require.True(t, s.Found)
	require.Len(t, s.Units, 2)
}

// A product is no more than what counts as no limit.
func TestMulCapped(t *testing.T) {
	require.EqualValues(t, 12, mulCapped(3, 4))
	require.EqualValues(t, int64(noLimit), mulCapped(1<<40, 1<<40))
	require.EqualValues(t, int64(noLimit), mulCapped(1<<31, 1<<32))
	require.Zero(t, mulCapped(0, 1<<62))
}
