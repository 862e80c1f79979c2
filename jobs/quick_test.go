// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// What is done for cases too large to search completely is right on small ones:
// a plan is lawful, and as cheap as it claims; a refusal that is proven holds;
// what fits without victims is found.
func TestQuick(t *testing.T) { eachFeature(t, quickAgrees) }

func FuzzQuick(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { quickAgrees(t, everything) }))
}

func quickAgrees(t *rapid.T, features world.Features) {
	c := world.JobCases(world.Small.With(features)).Draw(t, "case")
	h := newHarness(t, c)
	h.planner.SetQuick(true)
	h.decide("quick")
	want := oracle.DecideJob(c)
	switch {
	case h.d.Outcome == victims.Refused && want.Outcome == oracle.Preempts && !h.d.Refusal.Proven:
		return // it says so
	case h.d.Outcome.String() != want.Outcome:
		t.Fatalf("%s, and the oracle says %s %v %v\n%v", h.said(), want.Outcome, want.Victims, want.Placements, c)
	case h.d.Outcome == victims.Refused:
		return
	}
	h.lawful("quick")
	if h.d.Plan.Proof != victims.ProofLevels {
		return
	}
	places, _ := h.places()
	cost := oracle.JobCostOf(c, places, h.stops())
	least := cmp.Options{compareNumbers, leastLevels}
	if diff := cmp.Diff(want.Cost, cost, least...); diff != "" {
		t.Fatalf("%s: oracle (-) and planner (+) differ in levels:\n%s\n%v", h.said(), diff, c)
	}
}

// Both searches find the same levels for members of one size where nothing but
// nodes decides, and say so.
func TestSpread(t *testing.T) {
	for _, test := range []struct{ name, town, want string }{
		{"one each", "node n1 4\nnode n2 4\ntask v low n1 4\ntask w low n2 4\njob q 4,4", "plan j0=n1 j1=n2 -v -w"},
		{"two on one", "node n1 8\nnode n2 8\ntask v low n1 8\ntask w low n2 4\ntask x low n2 4\njob q 4,4", "plan j0=n1 j1=n1 -v"},
		{"what is free already", "node n1 4\nnode n2 4\ntask v low n1 2\ntask w low n2 2\ntask x low n2 2\njob q 2,2,2", "plan j0=n1 j1=n1 j2=n2 -v -w"},
		{"the highest rank before the number", "node n1 8\nnode n2 8\ntask v low n1 8 p=2\ntask w low n2 4 p=1\ntask x low n2 4 p=1\njob q 4,4", "plan j0=n2 j1=n2 -w -x"},
		{"a high rank that is needed costs nothing more", "node n1 4\nnode n2 4\nnode n3 4\ntask v low n1 4 p=5\n" +
			"task w low n2 2 p=1\ntask x low n2 2 p=1\ntask y low n3 4 p=5\njob q 4,4", "plan j0=n1 j1=n3 -v -y"},
		{"no originator", "node n1 4\nnode n2 8\ntask v low n1 4 originator\ntask w low n2 4 p=5\ntask x low n2 4 p=5\njob q 4,4", "plan j0=n2 j1=n2 -w -x"},
		{"one originator rather than two", "node n1 8\nnode n2 4\ntask v low n1 8 originator p=5\ntask w low n2 4 originator\njob q 4,4", "plan j0=n1 j1=n1 -v"},
		{"one opted out", "node n1 4\nnode n2 4\ntask v low n1 4 opted\ntask w low n2 4\njob q 4,4", "plan j0=n1 j1=n2 -v -w"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for proof, quick := range map[victims.Proof]bool{victims.ProofCost: false, victims.ProofLevels: true} {
				w := build(t, "queue q\nqueue low\n"+test.town)
				p := w.planner()
				p.SetQuick(quick)
				var d victims.Decision
				if err := p.Decide(&d, &w.job, noon); err != nil {
					t.Fatal(err)
				}
				if got := w.brief(&d); got != test.want {
					t.Errorf("quick %v: got  %s\nwant %s", quick, got, test.want)
				}
				if d.Plan.Proof != proof {
					t.Errorf("quick %v: proof of %v, want %v", quick, d.Plan.Proof, proof)
				}
			}
		})
	}
}
