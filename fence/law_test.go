// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
)

var laws = []law.Law{
	{Name: "Fences", Holds: fences},
	{Name: "EffectivePriorities", Holds: effectivePriorities},
	{Name: "AboveNothingCounts", Holds: aboveNothingCounts},
	{Name: "FencedBranchIsOne", Holds: fencedBranchIsOne},
	{Name: "Thresholds", Holds: thresholds},
}

func TestLaws(t *testing.T) { law.Check(t, laws) }

func FuzzLaws(f *testing.F) { law.Fuzz(f, laws) }

// leavesOf returns the leaves of a tree.
func leavesOf(tree *queue.Tree) []queue.ID { return slices.Collect(tree.Leaves(queue.Root)) }

// fences: Law 7. Fence roots, reach and paths are what a walk by names finds.
func fences(t *rapid.T) {
	config := configs().Draw(t, "tree")
	tree, w := mustNew(t, config), newTwin(config)
	paths := func(seq func(func(queue.ID) bool)) (list []string) {
		for q := range seq {
			list = append(list, tree.Path(q))
		}
		return list
	}
	leaves := w.leaves()
	for i, leaf := range leavesOf(tree) {
		path := leaves[i]
		if got, want := tree.Path(Root(tree, leaf)), w.root(path); got != want {
			t.Fatalf("Root(%s) = %s, want %s", path, got, want)
		}
		var reach []string
		for _, other := range leaves {
			if w.reaches(path, other) {
				reach = append(reach, other)
			}
		}
		if diff := cmp.Diff(reach, paths(Reach(tree, leaf))); diff != "" {
			t.Fatalf("Reach(%s) (-want +got):\n%s", path, diff)
		}
	}
}

// effectivePriorities: Law 6. Ranks are what a walk by names makes of them, and Compare
// compares the two priorities, in both directions.
func effectivePriorities(t *rapid.T) {
	config := configs().Draw(t, "tree")
	tree, w := mustNew(t, config), newTwin(config)
	leaves := w.leaves()
	i, j := rapid.IntRange(0, len(leaves)-1).Draw(t, "x"), rapid.IntRange(0, len(leaves)-1).Draw(t, "y")
	x, y := leavesOf(tree)[i], leavesOf(tree)[j]
	a, b := priorities().Draw(t, "a"), priorities().Draw(t, "b")

	ours, theirs := w.effective(leaves[i], leaves[j], a), w.effective(leaves[j], leaves[i], b)
	rank := new(big.Int).Sub(ours, theirs)
	if got := Rank(tree, Priority{x, a}, Priority{y, b}); rank.Cmp(big.NewInt(got)) != 0 {
		t.Fatalf("rank of %d in %s for %d in %s: %d, by name %d", a, leaves[i], b, leaves[j], got, rank)
	}
	if got := Rank(tree, Priority{y, b}, Priority{x, a}); rank.Neg(rank).Cmp(big.NewInt(got)) != 0 {
		t.Fatalf("the other way round %d, by name %d", got, rank)
	}
}

// aboveNothingCounts: an offset or a priority fence on the common ancestor, or
// above it, changes nothing.
func aboveNothingCounts(t *rapid.T) {
	config := configs().Draw(t, "tree")
	tree := mustNew(t, config)
	leaves := leavesOf(tree)
	x, y := rapid.SampledFrom(leaves).Draw(t, "x"), rapid.SampledFrom(leaves).Draw(t, "y")
	a, b := priorities().Draw(t, "a"), priorities().Draw(t, "b")

	changed := tree.CommonAncestor(x, y)
	for q := range tree.Ancestors(changed) {
		m := at(&config, tree, q).Properties
		delete(m, "priority.policy")
		delete(m, "priority.offset")
		for key, value := range properties().Draw(t, "properties above") {
			if key != "preemption.policy" {
				m[key] = value
			}
		}
	}
	other := mustNew(t, config)
	if x == y {
		// Inside a leaf nothing counts at all.
		if got := rank(other, x, a, y, b); got != int64(b)-int64(a) {
			t.Fatalf("rank of %d for %d in one leaf: %d", b, a, got)
		}
	}
	if got, want := rank(other, x, a, y, b), rank(tree, x, a, y, b); got != want {
		t.Fatalf("rank changes from %d to %d", want, got)
	}
}

// at returns the configuration of a queue of its tree.
func at(c *queue.Config, tree *queue.Tree, q queue.ID) *queue.Config {
	parent, ok := tree.Parent(q)
	if !ok {
		return c
	}
	above := at(c, tree, parent)
	i := slices.IndexFunc(above.Children, func(c queue.Config) bool { return c.Name == trees.Name(tree, q) })
	return &above.Children[i]
}

// rank returns the rank of a victim of priority b in leaf y for an ask of
// priority a in leaf x.
func rank(tree *queue.Tree, x queue.ID, a int32, y queue.ID, b int32) int64 {
	return Rank(tree, Priority{y, b}, Priority{x, a})
}

// fencedBranchIsOne: seen from outside, all tasks of a branch with a priority
// fence have one rank, in whatever leaf and of whatever priority they are. And
// all asks from inside have the same victims outside.
func fencedBranchIsOne(t *rapid.T) {
	config := configs().Draw(t, "tree")
	fence := rapid.IntRange(0, mustNew(t, config).Len()-1).Draw(t, "fence")
	branch := queue.ID(fence)
	at(&config, mustNew(t, config), branch).Properties["priority.policy"] = "fence"
	tree := mustNew(t, config)

	inside := slices.Collect(tree.Leaves(branch))
	draw := func() (queue.ID, int32) {
		return rapid.SampledFrom(inside).Draw(t, "leaf inside"), priorities().Draw(t, "priority inside")
	}
	for _, outside := range leavesOf(tree) {
		if tree.Contains(branch, outside) {
			continue
		}
		p := priorities().Draw(t, "priority outside")
		x, a := draw()
		y, b := draw()
		if tree.CommonAncestor(x, outside) != tree.CommonAncestor(y, outside) {
			t.Fatalf("two ways from %s into %s", tree.Path(outside), tree.Path(branch))
		}
		if one, two := rank(tree, outside, p, x, a), rank(tree, outside, p, y, b); one != two {
			t.Fatalf("looking in from %s: ranks %d and %d", tree.Path(outside), one, two)
		}
		if one, two := rank(tree, x, a, outside, p), rank(tree, y, b, outside, p); one != two {
			t.Fatalf("looking out to %s: ranks %d and %d", tree.Path(outside), one, two)
		}
	}
}

// thresholds: a higher victim never has a lower rank, and a higher ask never
// gives a higher one; without a fence between, each step counts as one.
func thresholds(t *rapid.T) {
	tree := mustNew(t, configs().Draw(t, "tree"))
	x, y := rapid.SampledFrom(leavesOf(tree)).Draw(t, "ask's leaf"), rapid.SampledFrom(leavesOf(tree)).Draw(t, "victim's leaf")
	list := rapid.SliceOfN(priorities(), 2, 2).Draw(t, "priorities")
	low, high := slices.Min(list), slices.Max(list)
	p := priorities().Draw(t, "other side")
	far := int64(high) - int64(low)

	for _, test := range []struct {
		name   string
		rises  int64
		fenced bool
	}{
		{"victim", rank(tree, x, p, y, high) - rank(tree, x, p, y, low), fenced(tree, y, x)},
		{"ask", rank(tree, x, low, y, p) - rank(tree, x, high, y, p), fenced(tree, x, y)},
	} {
		want := far
		if test.fenced {
			want = 0
		}
		if test.rises != want {
			t.Fatalf("from %d to %d the %s changes the rank by %d, want %d", low, high, test.name, test.rises, want)
		}
	}
}

// fenced reports whether a priority fence is between a leaf and what it has in common with
// another one.
func fenced(tree *queue.Tree, leaf, other queue.ID) bool {
	for q := range tree.Ancestors(leaf) {
		if tree.Contains(q, other) {
			return false
		}
		if tree.Policies(q).PriorityFence == "fence" {
			return true
		}
	}
	return false
}
