// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
)

// tinier is tiny for what decides draws of every family several times, also with budgets without end.
func tinier() *report {
	r := tiny()
	r.small = 20
	return r
}

// Each family has a row, for as many draws as fall to it.
func TestSurveys(t *testing.T) {
	var out strings.Builder
	tiny().surveys(&out, 1)
	require.Equal(t, 3, strings.Count(out.String(), "\n"), "two lines of heading, and one family was drawn")
	require.Contains(t, out.String(), "| "+families[0].name+" | 1 | ")
}

// Likewise for jobs, of which none has more victims than its members in turn.
func TestJobSurveys(t *testing.T) {
	if testing.Short() {
		t.Skip("it decides jobs of every family, three times")
	}
	var out strings.Builder
	tiny().jobSurveys(&out, 1)
	require.Equal(t, 3, strings.Count(out.String(), "\n"))
	for i := range families {
		s := tiny().jobSurvey(i, 1)
		require.Zero(t, s.more, families[i].name)
		require.Len(t, s.ratios, 1)
	}
}

// So has each family of loads in which tasks move.
func TestMoves(t *testing.T) {
	var out strings.Builder
	tiny().moves(&out, 2)
	require.Equal(t, 4, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), "| "+movesFamilies[1].name+" | 1 | ")
}

// Of no list of asks more stop together than one by one. If queues keep what they have,
// asks are refused.
func TestTogether(t *testing.T) {
	var out strings.Builder
	r := tiny()
	r.small = 10
	r.together(&out, 1)
	require.Equal(t, 3, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), "| "+togetherFamilies[0].name+" | 1 | ")
	for i := range togetherFamilies {
		f, random := &togetherFamilies[i], rand.New(rand.NewPCG(uint64(i), 5))
		x := r.draw(0, random).crowd(f, 10, random)
		x.together()
		x.oneByOne()
		var s togetherSurvey
		s.count(x)
		require.Equal(t, [3]int{10, x.served, 1}, [3]int{s.asks, s.served, s.both}, f.name)
		require.Positive(t, s.served, f.name)
		require.LessOrEqual(t, s.victims, s.oneByOne, f.name)
		if f.loose > 0 {
			require.Less(t, s.served, s.asks, f.name)
		}
	}
}

// Of each draw there is a line, the same every time, with its cost.
func TestAnswers(t *testing.T) {
	var first, second strings.Builder
	tiny().answers(&first, len(families))
	tiny().answers(&second, len(families))
	require.Equal(t, first.String(), second.String())
	require.Equal(t, len(families), strings.Count(first.String(), "\n"))
	require.Contains(t, first.String(), families[0].name+"/0\tplan\t")
}

// A draw of each family is decided with a plan.
func TestSurvey(t *testing.T) {
	if testing.Short() {
		t.Skip("it decides draws with budgets without end")
	}
	for i := range families {
		s := tinier().survey(i, 1)
		require.Equal(t, 1, s.draws, families[i].name)
		require.Equal(t, 1, s.plans, families[i].name)
		require.Len(t, s.ratios, 1)
		require.LessOrEqual(t, s.cost, s.levels)
		require.Zero(t, s.against.missed)
	}
}

func TestThorough(t *testing.T) {
	plan := func(victimsOf int, proof victims.Proof) *victims.Decision {
		d := &victims.Decision{Outcome: victims.Preempts}
		d.Plan.Victims, d.Plan.Proof = make([]victims.Victim, victimsOf), proof
		return d
	}
	refused := &victims.Decision{Outcome: victims.Refused}
	var x thorough
	x.compare(plan(3, victims.NoProof), plan(3, victims.ProofCost))
	x.compare(plan(4, victims.NoProof), plan(3, victims.ProofLevels))
	x.compare(plan(5, victims.NoProof), plan(3, victims.NoProof))
	x.compare(refused, plan(3, victims.NoProof))
	x.compare(refused, refused)
	require.Equal(t, thorough{missed: 1, oneMore: 1, more: 1, levels: 2}, x)
}
