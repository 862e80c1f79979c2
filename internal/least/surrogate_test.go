// SPDX-License-Identifier: Apache-2.0

package least

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/resources"
	"github.com/stretchr/testify/require"
)

// hardThird is a problem of three types of which the third is hard to cover by units
// that have much of the others. Fifty are lacking of each. Of the first units it takes
// five, and of the second then eight. If neither could be split twelve and a half would
// do, so weights show that twelve are not enough; even ones do not.
func hardThird() *Problem {
	p := &Problem{Needs: shorts(vec{50, 50, 50}), Order: planOrder, Capacity: vec{100, 100, 100}}
	for i := range int64(12) {
		p.Units = append(p.Units, unitOf(fmt.Sprint("a", i), 10, 10, 1, i).Unit, unitOf(fmt.Sprint("b", i), 0, 0, 6, i).Unit)
	}
	return p
}

// Weights show that no twelve units are enough, as soon as they are tuned.
func TestTune_HardTypesWeighMore(t *testing.T) {
	p := hardThird()
	p.Limit = &cost.Total{Units: 13, Levels: cost.Levels{LevelVictims: 13}}
	w, s := Worker{OnlyLesser: true}, Selection{}
	w.Least(&s, p, 1000)
	require.False(t, s.Found)
	require.True(t, s.Proven)
	require.Equal(t, tuneAfter, s.Steps)
}

// If fourteen are allowed, thirteen are found: weights rule out only what there is not.
func TestTune_LeavesWhatThereIs(t *testing.T) {
	p := hardThird()
	p.Limit = &cost.Total{Units: 14, Levels: cost.Levels{LevelVictims: 14}}
	w, s := Worker{OnlyLesser: true}, Selection{}
	w.Least(&s, p, 1000)
	require.True(t, s.Found)
	require.Len(t, s.Units, 13)
	require.True(t, s.Proven)
}

// Costs are weighed as numbers are: thirteen that cost 2 each cost 26, and 25 if they
// could be split. With the same weights a look shows that no twelve are enough.
func TestTune_Costs(t *testing.T) {
	p := hardThird()
	for i := range p.Units {
		p.Units[i].Levels[LevelOwnLow] = 2
	}
	p.Limit = &cost.Total{Units: 13, Levels: cost.Levels{LevelOwnLow: 25, LevelVictims: 13}}
	w, s := Worker{OnlyLesser: true}, Selection{}
	w.Least(&s, p, 1000)
	require.False(t, s.Found)
	require.True(t, s.Proven)
	require.Equal(t, tuneAfter+1, s.Steps)

	p.Limit = &cost.Total{Units: 14, Levels: cost.Levels{LevelOwnLow: 27, LevelVictims: 14}}
	w.Least(&s, p, 1000)
	require.True(t, s.Found)
	require.EqualValues(t, 26, s.Total.Levels[LevelOwnLow])
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
	p.Limit = &cost.Total{Units: 1, Levels: cost.Levels{LevelOwnLow: 7, LevelVictims: 1}}
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
	p.Limit = &cost.Total{Units: 3, Levels: cost.Levels{LevelVictims: 3}}
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

// TestTune_AgainstAllSets: with weights tuned, the least own cost of a set that is enough is
// still found. Units are so many, and so alike, that searches are long enough for tuning.
func TestTune_AgainstAllSets(t *testing.T) {
	tuned := 0
	seeds := uint64(300)
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 3))
		n, rows := 13, 2+random.IntN(2)
		p := &Problem{Order: planOrder, Capacity: make(vec, rows)}
		sum, costs := make(vec, rows), make([]int64, n)
		for i := range n {
			size := make(vec, rows)
			for r := range size {
				size[r] = 30 + random.Int64N(60)
				cost := 40 + random.Int64N(90)
				if seed%2 == 0 { // all cost what they have, so that bounds are tight
					size[r] = size[0]
					cost = size[0]
				}
				costs[i] = cost
				sum[r] += size[r]
				p.Capacity[r] += 100
			}
			p.Units = append(p.Units, unitOf(fmt.Sprint("u", i), size...).level(LevelOwnLow, costs[i]).Unit)
		}
		short := make(vec, rows)
		for r := range short {
			short[r] = sum[r] * (3 + random.Int64N(4)) / 10
		}
		p.Needs = shorts(short)
		least := int64(math.MaxInt64)
		for set := range 1 << n {
			cost, have := int64(0), make(vec, rows)
			for i := range p.Units {
				if set>>i&1 != 0 {
					cost += p.Units[i].Levels[LevelOwnLow]
					resources.Add(have, have, p.Units[i].Size)
				}
			}
			if resources.Fits(short, have) {
				least = min(least, cost)
			}
		}
		w, s := Worker{}, Selection{}
		w.Least(&s, p, 1<<30)
		require.True(t, s.Found)
		require.True(t, s.LevelsProven)
		require.Equal(t, least, s.Total.Levels[LevelOwnLow], "seed %d", seed)
		tuned += len(w.stages.tuning.weights)
	}
	require.Positive(t, tuned, "no search was long enough")
}
