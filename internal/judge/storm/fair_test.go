// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// With fair shares of a fixed workload as guarantees there is no storm, and no way
// to rest has more plans than the theorem says. (DESIGN.md, Fair shares.)
func TestNoStorm_FairShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { plansWithShares(t) })
	if testing.Short() {
		return
	}
	// The same universes every time: in some of them shares must lead to plans.
	plans := 0
	for seed := range 200 {
		plans += rapid.Custom(plansWithShares).Example(seed)
	}
	require.Positive(t, plans, "universes in which shares lead to plans")
}

func FuzzNoStorm_FairShares(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { plansWithShares(t) }))
}

// plansWithShares draws a universe with fair shares, holds it to the bound, and
// returns how many plans the way to rest has that was looked at.
func plansWithShares(t *rapid.T) (plans int) {
	u := drawUniverse(t)
	u.Rules = Rules{}
	weights := make([]int, len(u.Queues))
	for q := range weights {
		weights[q] = rapid.IntRange(1, 4).Draw(t, "weight")
	}
	u.share(t, weights)
	if c, _ := u.Storm(); c != nil {
		t.Fatalf("%+v: %v", *u, c)
	}
	w := u.world()
	valid := func(state int) bool { return w.set(state) }
	w.set(rapid.IntRange(0, w.states()-1).Filter(valid).Draw(t, "state"))
	most := w.mostPlans()
	steps, ok := u.Rest(w.place)
	if !ok {
		t.Fatalf("%+v: no rest from %v", *u, w.place)
	}
	for _, s := range steps {
		if len(s.Victims) > 0 {
			plans++
		}
	}
	if plans > most {
		t.Fatalf("%+v: %d plans from %v, at most %d can be: %+v", *u, plans, w.place, most, steps)
	}
	return plans
}

// share replaces the guarantees by the fair shares of all tasks, running or not.
func (u *Universe) share(t *rapid.T, weights []int) {
	tree := treeOf(t, u, weights)
	types := tree.Schema().Len()
	w := u.world()
	demand := make([]resources.Vector, tree.Len())
	for _, task := range u.Tasks {
		leaf := leafOf(w, tree, task.Leaf)
		demand[leaf] = resources.Add(demand[leaf], demand[leaf], amountsOf(task.Size))
	}
	capacity := resources.Limit{Defined: resources.Mask(1<<types - 1)}
	for _, n := range u.Nodes {
		capacity.Value = resources.Add(capacity.Value, capacity.Value, amountsOf(n))
	}
	var shares queue.FairShares
	if err := shares.Divide(tree, demand, capacity); err != nil {
		t.Fatal(err)
	}
	for q := range u.Queues {
		g := shares.Guarantee(leafOf(w, tree, q))
		u.Queues[q].Guaranteed = u.Queues[q].Guaranteed[:0]
		for i := range types {
			v, ok := g.Bound(i)
			if !ok {
				v = -1
			}
			u.Queues[q].Guaranteed = append(u.Queues[q].Guaranteed, int(v))
		}
	}
}

// mostPlans is how many plans there can be from the present state on: what each
// queue lacks of its guarantee of a type, in units of the smallest task that has
// any of it.
func (w *world) mostPlans() (most int) {
	for t := range w.types {
		least := 0
		for i := range w.Tasks {
			if s := w.size(i, t); s > 0 && (least == 0 || s < least) {
				least = s
			}
		}
		for q := range w.Queues {
			if lacks := w.guaranteed(q, t) - w.used[q*w.types+t]; lacks > 0 && least > 0 {
				most += (lacks-1)/least + 1
			}
		}
	}
	return most
}
