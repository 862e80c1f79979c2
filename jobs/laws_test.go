// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// The laws are checked in the words of package oracle, on worlds that are too
// large to try everything, with all that jobs know: gangs, budgets, own costs,
// ranks, labels, domains and the own leaf.

// Law 1: tasks that opted out go only if nothing else does, and then as few as
// possible. The first level of the cost says so, and the oracle counts them.
func TestLaw1_OptedOutOnlyAsLastResort(t *testing.T) { rapid.Check(t, propertyLaw1) }

func FuzzLaw1(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyLaw1))
}

func propertyLaw1(t *rapid.T) {
	c := world.JobCases(world.Small.With(everything)).Draw(t, "case")
	for i := range c.World.Tasks { // many of them, or it would hardly ever matter
		c.World.Tasks[i].OptedOut = rapid.Bool().Draw(t, "opted out")
	}
	h := newHarness(t, c)
	h.planner.SetQuick(rapid.Bool().Draw(t, "quick"))
	h.decide("law 1")
	want := oracle.DecideJob(c)
	if h.d.Outcome != victims.Preempts || h.d.Plan.Proof == victims.NoProof {
		return
	}
	if got := h.d.Plan.Cost.OptedOut; got != want.Cost.OptedOut {
		t.Fatalf("%s: %d opted out, and %d are enough\n%v", h.said(), got, want.Cost.OptedOut, c)
	}
	stopped := 0
	for _, v := range h.d.Plan.Victims {
		if v.OptedOut {
			stopped++
		}
	}
	if h.d.Plan.Cost.OptedOut != stopped {
		t.Fatalf("%s: the cost says %d opted out\n%v", h.said(), h.d.Plan.Cost.OptedOut, c)
	}
}

func TestLaw2_NeverBelowGuarantee(t *testing.T)  { checkLaws(t, oracle.Law2) }
func TestLaw3_NeverSameApplication(t *testing.T) { checkLaws(t, oracle.Law3) }
func TestLaw6_NeverHigherPriority(t *testing.T)  { checkLaws(t, oracle.Law6) }
func TestLaw7_NeverOutsideFence(t *testing.T)    { checkLaws(t, oracle.Law7, oracle.Disabled) }

// Who is no candidate is no victim: it leaves already, is bound to its node, is
// not preemptible, or its time has not come.
func TestCandidates_Only(t *testing.T) { checkLaws(t, oracle.Candidate, oracle.Exempt) }

// Every member of the minimum has room on a node that may take it.
func TestRoom_OnTheNodes(t *testing.T) { checkLaws(t, oracle.Node) }

// No queue of the path passes its max, nor the max or the min of its quota.
func TestRoom_InTheQueues(t *testing.T) { checkLaws(t, oracle.Headroom, oracle.Quota) }

// No running job is left below its minimum: then all of it goes.
func TestGangs_Whole(t *testing.T) { checkLaws(t, oracle.Gang) }

// No hard budget loses more than it has left.
func TestBudgets_Hard(t *testing.T) { checkLaws(t, oracle.Budget) }

// No part of the plan would do.
func TestMinimality(t *testing.T) { checkLaws(t, oracle.Minimal) }

func checkLaws(t *testing.T, laws ...oracle.Law) {
	rapid.Check(t, func(t *rapid.T) { propertyLawsOf(t, laws) })
}

// propertyLawsOf checks the plan of a random case against some laws. They hold
// for whatever was found, however few steps there were.
func propertyLawsOf(t *rapid.T, laws []oracle.Law) {
	shape := rapid.SampledFrom([]world.Shape{world.Crowded, world.Large}).Draw(t, "shape")
	h := newHarness(t, world.JobCases(shape.With(everything)).Draw(t, "case"))
	h.planner.Steps = rapid.SampledFrom([]int64{0, 1, 1000, 10_000}).Draw(t, "budget")
	h.decide("laws")
	if h.d.Outcome == victims.Refused {
		return
	}
	places, _ := h.places()
	for _, broken := range oracle.JobBreaks(h.c, places, h.stops()) {
		if slices.Contains(laws, broken) {
			t.Fatalf("%s breaks %s\n%v", h.said(), broken, h.c)
		}
	}
}

// A plan with a victim put back, or with one more, is no plan: of the first the
// oracle says that there is no room or half a gang, of the second that it is not
// minimal. So the laws above are not true of any plan at all.
func TestLaws_TellOtherPlans(t *testing.T) {
	told := map[string]int{}
	both := func() bool { return told["back"] > 0 && told["more"] > 0 }
	law.CheckUntil(t, both, func(t *rapid.T) {
		h := newHarness(t, world.JobCases(world.Small).Draw(t, "case"))
		h.decide("plan")
		stops := h.stops()
		if h.d.Outcome != victims.Preempts {
			return
		}
		places, _ := h.places()
		i := rapid.IntRange(0, len(stops)-1).Draw(t, "back")
		broken := oracle.JobBreaks(h.c, places, slices.Delete(slices.Clone(stops), i, i+1))
		if len(broken) == 0 {
			t.Fatalf("%s, and %s may come back\n%v", h.said(), stops[i], h.c)
		}
		told["back"]++
		for _, v := range h.c.World.Tasks {
			if slices.Contains(stops, v.Key) {
				continue
			}
			if broken := oracle.JobBreaks(h.c, places, append(slices.Clone(stops), v.Key)); len(broken) == 0 {
				t.Fatalf("%s, and %s might go as well\n%v", h.said(), v.Key, h.c)
			}
			told["more"]++
		}
	})
}
