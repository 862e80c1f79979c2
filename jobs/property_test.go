// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// More room on a node never makes a job wait that did not, or costs it more in
// the parts of the cost that do not speak of capacity.
func TestMonotone(t *testing.T) { rapid.Check(t, propertyMonotone) }

func FuzzMonotone(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyMonotone))
}

func propertyMonotone(t *rapid.T) {
	c := world.JobCases(world.Small).Draw(t, "case")
	h := newHarness(t, c)
	h.decide("before")
	outcome, cost, proof := h.d.Outcome, h.d.Plan.Cost, h.d.Plan.Proof

	id, _ := h.cluster.LookupNode(rapid.SampledFrom(c.World.Nodes).Draw(t, "node").Name)
	node := h.cluster.Node(id)
	node.Capacity = slices.Clone(node.Capacity)
	node.Capacity[rapid.IntRange(0, len(node.Capacity)-1).Draw(t, "type")] += rapid.Int64Range(1, 4).Draw(t, "more")
	if err := h.cluster.UpdateNode(&node); err != nil {
		t.Skip("capacities beyond all")
	}
	h.decide("after")
	if h.d.Outcome > outcome {
		t.Fatalf("%v before, %s with more on %s\n%v", outcome, h.said(), node.Name, c)
	}
	both := outcome == victims.Preempts && h.d.Outcome == victims.Preempts
	if both && proof == victims.ProofCost && h.d.Plan.Proof == victims.ProofCost && compareLevels(&h.d.Plan.Cost, &cost) > 0 {
		t.Fatalf("cost %v before, %v with more on %s: %s\n%v", &cost, &h.d.Plan.Cost, node.Name, h.said(), c)
	}
}

func compareLevels(a, b *victims.Cost) int {
	return cmp.Or(
		cmp.Compare(a.OptedOut, b.OptedOut), cmp.Compare(a.Originators, b.Originators),
		cmp.Compare(a.MaxRank, b.MaxRank), cmp.Compare(a.MaxPriority, b.MaxPriority),
		cmp.Compare(a.Jobs, b.Jobs), cmp.Compare(a.Victims, b.Victims), cmp.Compare(a.SumRanks, b.SumRanks),
	)
}

// What a decision is does not depend on the rows of tasks and queues of tasks,
// with whatever search; and it changes neither the cluster nor the job.
func TestDeterministic(t *testing.T) { rapid.Check(t, propertyDeterministic) }

func FuzzDeterministic(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyDeterministic))
}

func propertyDeterministic(t *rapid.T) {
	c := world.JobCases(world.Small).Draw(t, "case")
	h := newHarness(t, c)
	h.planner.SetQuick(rapid.Bool().Draw(t, "quick"))
	h.planner.Steps = rapid.SampledFrom([]int64{0, 1, 1000}).Draw(t, "budget")
	job := h.job
	job.Members = slices.Clone(job.Members)
	version := h.cluster.Version()
	h.decide("as built")
	if h.cluster.Version() != version {
		t.Fatalf("the cluster was changed\n%v", c)
	}
	if diff := gocmp.Diff(job, h.job); diff != "" {
		t.Fatalf("the job was changed:\n%s\n%v", diff, c)
	}
	first, cost := h.said(), h.d.Plan.Cost
	refusal := h.d.Refusal
	refusal.Breaches = slices.Clone(refusal.Breaches)

	h.reshuffle(t)
	h.decide("shuffled")
	if got := h.said(); got != first {
		t.Fatalf("%s, and shuffled %s\n%v", first, got, c)
	}
	if h.d.Plan.Cost.Compare(&cost) != 0 {
		t.Fatalf("cost %v, and shuffled %v\n%v", &cost, &h.d.Plan.Cost, c)
	}
	if diff := gocmp.Diff(refusal, h.d.Refusal, gocmp.AllowUnexported(victims.Refusal{}, victims.Protector{}), cmpopts.IgnoreFields(victims.Cause{}, "Node"), cmpopts.IgnoreUnexported(victims.Help{}), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("refusals differ when shuffled:\n%s\n%v", diff, c)
	}
}
