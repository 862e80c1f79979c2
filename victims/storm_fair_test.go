// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// Fair shares of a fixed workload are guarantees like others: the bound holds, and
// asks that come back for ever come to rest. (DESIGN.md, Fair shares.)
func TestStormFreedom_FairShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { calmWithShares(t) })
	if testing.Short() {
		return
	}
	// The same histories every time: in some of them shares must lead to plans.
	plans := 0
	for seed := range 50 {
		plans += rapid.Custom(calmWithShares).Example(seed)
	}
	require.Positive(t, plans, "histories in which shares lead to plans")
}

func FuzzStormFreedom_FairShares(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { calmWithShares(t) }))
}

// calmWithShares plays a history with fair shares, holds it to the bound, and
// returns the number of plans.
func calmWithShares(t *rapid.T) int {
	workload := world.Workloads(world.Crowded.With(calmFeatures)).Draw(t, "workload")
	share(t, workload)
	h := newHistory(t, workload)
	before := h.String()
	most := h.mostPlans()
	for h.step() {
		if h.plans > most {
			t.Fatalf("%d plans, at most %d can be; from\n%s%v", h.plans, most, before, h)
		}
	}
	return h.plans
}

// share makes the fair shares of all that runs and all that waits the guarantees
// of a workload. Weights are drawn.
func share(t *rapid.T, w *world.Workload) {
	each(&w.World.Root, "", func(q *world.Queue, _ string) {
		if q.Properties == nil {
			q.Properties = make(map[string]string)
		}
		q.Properties["fair.weight"] = strconv.Itoa(rapid.IntRange(1, 4).Draw(t, "weight"))
	})
	cluster := build(t, &w.World)
	tree := cluster.Tree().Clone()
	demand := make([]resources.Vector, tree.Len())
	for leaf := range tree.Leaves(queue.Root) {
		demand[leaf] = slices.Clone(tree.Usage(leaf))
	}
	for i := range w.Asks {
		leaf, _ := tree.Lookup(w.Asks[i].Queue)
		for name, amount := range w.Asks[i].Size {
			at, _ := tree.Schema().Index(name)
			size := make(resources.Vector, tree.Schema().Len())
			size[at] = amount
			demand[leaf] = resources.Add(demand[leaf], demand[leaf], size)
		}
	}
	capacity := resources.Limit{Value: cluster.Capacity(), Defined: resources.Mask(1<<tree.Schema().Len() - 1)}
	var shares queue.FairShares
	if err := shares.Divide(tree, demand, capacity); err != nil {
		t.Fatal(err)
	}
	each(&w.World.Root, "", func(q *world.Queue, path string) {
		id, _ := tree.Lookup(path)
		g := shares.Guarantee(id)
		q.Guaranteed = make(world.Amounts)
		for i := range g.Defined.All() {
			q.Guaranteed[tree.Schema().Name(i)] = g.Value[i]
		}
	})
}

// each calls do for a queue and those below it, with their paths.
func each(q *world.Queue, above string, do func(q *world.Queue, path string)) {
	path := above + q.Name
	do(q, path)
	for i := range q.Children {
		each(&q.Children[i], path+".", do)
	}
}
