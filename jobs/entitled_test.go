// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Every plan of a job by guarantee makes Φ larger: the sum of min(e, g) over queues and
// guaranteed types. (DESIGN.md, Storm freedom.)
func TestPhiGrows(t *testing.T) {
	enough(t, func(t *rapid.T) int {
		h := entitled(t, world.Small, world.Crowded, world.Large)
		if h.d.Outcome != victims.Preempts {
			return 0
		}
		before := potential(h.cluster, h.planner.Scarce)
		after := h.cluster.Clone()
		if err := after.Apply(&h.d); err != nil {
			t.Fatalf("%v\n%v", err, h.c)
		}
		if phi := potential(after, h.planner.Scarce); phi <= before {
			t.Fatalf("%s: Φ goes from %d to %d\n%v", h.said(), before, phi, h.c)
		}
		return 1
	})
}

// What a gang of members of one size gets by one plan, its members would be entitled to one
// by one: with the victims told to stop and those before it granted, law 4 refuses none.
func TestLaw4_MembersOneByOne(t *testing.T) {
	enough(t, func(t *rapid.T) int {
		h := entitled(t, world.Small, world.Crowded)
		if h.d.Outcome != victims.Preempts || !h.alike() {
			return 0
		}
		stops := h.d
		stops.Plan.Places = nil
		c := h.cluster.Clone()
		if err := c.Apply(&stops); err != nil {
			t.Fatalf("%v\n%v", err, h.c)
		}
		for i, at := range h.d.Plan.Places[:len(h.d.Plan.Places)-h.further()] {
			ask := h.d.Plan.Ask.MemberAsk(at.Member)
			tree, _ := trees.Counting(c.Tree(), new(queue.Tree), h.planner.Scarce)
			if asks := (trigger.Case{Tree: tree, Leaf: ask.Queue, Arriving: ask.Size}); !asks.Guarantees().Hold() {
				t.Fatalf("%s: law 4 refuses member %d by itself\n%v", h.said(), i, h.c)
			}
			if _, err := c.GrantPlace(&ask, at.Node, time.Time{}); err != nil {
				t.Fatalf("%v\n%v", err, h.c)
			}
		}
		return 1
	})
}

// enough checks a property, and that enough of the same cases are ones that it is about.
func enough(t *testing.T, holds func(*rapid.T) int) {
	rapid.Check(t, func(t *rapid.T) { holds(t) })
	about := 0
	for seed := range 100 {
		about += rapid.Custom(holds).Example(seed)
	}
	require.Greater(t, about, 5, "plans")
}

// entitled draws a case of a job by guarantee, whose own leaf gives nothing, and has it
// decided.
func entitled(t *rapid.T, shapes ...world.Shape) *harness {
	c := world.JobCases(rapid.SampledFrom(shapes).Draw(t, "shape").With(everything)).Draw(t, "case")
	c.ByPriority = false
	c.SetOwnLeaf("")
	h := newHarness(t, c)
	h.decide("entitled")
	if h.d.Outcome == victims.Refused && h.d.Refusal.Reason == victims.Unlawful {
		t.Fatalf("a plan that the auditor withholds\n%v", c)
	}
	return h
}

// further returns how many members beyond the minimum the plan places: the last ones.
func (h *harness) further() (n int) {
	for _, p := range h.d.Plan.Places {
		if p.Extra {
			n++
		}
	}
	return n
}

// potential is Φ.
func potential(c *victims.Cluster, scarce *resources.Mask) (phi int64) {
	tree, _ := trees.Counting(c.Tree(), new(queue.Tree), scarce)
	for q := range queue.ID(tree.Len()) {
		g, used := tree.Guaranteed(q), tree.Effective(nil, q)
		for t := range g.Defined.All() {
			phi += min(used[t], g.Value[t])
		}
	}
	return phi
}
