// SPDX-License-Identifier: Apache-2.0

package eligible

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

func newTree(t require.TestingT, root queue.Config) *queue.Tree {
	schema, err := resources.NewSchema("cpu")
	require.NoError(t, err)
	tree, err := queue.New(schema, root)
	require.NoError(t, err)
	return tree
}

// trees draws queues with fences and offsets, some levels deep.
func trees() *rapid.Generator[queue.Config] {
	return rapid.Custom(func(t *rapid.T) queue.Config {
		var below func(name string, levels int) queue.Config
		below = func(name string, levels int) queue.Config {
			c := queue.Config{Name: name, Policies: queue.Policies{
				Preemption:     rapid.SampledFrom([]string{"", "", queue.Fence, queue.Disabled, queue.Default}).Draw(t, "preemption"),
				PriorityFence:  rapid.SampledFrom([]string{"", "", "fence", "default"}).Draw(t, "priority fence"),
				PriorityOffset: new(priorities().Draw(t, "offset")),
			}}
			for i := range rapid.IntRange(0, min(levels, 3)).Draw(t, "children") {
				c.Children = append(c.Children, below(fmt.Sprint("q", i), levels-1))
			}
			return c
		}
		return below("root", 4)
	})
}

// priorities draws raw priorities: close to each other, or at the ends.
func priorities() *rapid.Generator[int32] {
	return rapid.OneOf(rapid.Int32Range(-3, 3), rapid.SampledFrom([]int32{-1 << 31, 1<<31 - 1}), rapid.Int32())
}

var laws = []law.Law{{Name: "Ranks", Holds: ranks}}

func TestLaws(t *testing.T) { law.Check(t, laws) }

// ranks: rules say of every pair of leaves what package fence says, however often they were
// used before.
func ranks(t *rapid.T) {
	var r Rules
	for range rapid.IntRange(1, 2).Draw(t, "trees") {
		tree := newTree(t, trees().Draw(t, "tree"))
		a, b := priorities().Draw(t, "ask"), priorities().Draw(t, "task")
		for leaf := range tree.Leaves(queue.Root) {
			r.Reset(&Taker{Tree: tree, Leaf: leaf, Priority: a})
			reach := slices.Collect(fence.Reach(tree, leaf))
			for w := range tree.Leaves(queue.Root) {
				if got, want := r.Leaves[w].Veto == 0, slices.Contains(reach, w); got != want {
					t.Fatalf("%s is in reach of %s: %t, want %t", tree.Path(w), tree.Path(leaf), got, want)
				}
				want := fence.Rank(tree, fence.Priority{Leaf: w, Raw: b}, fence.Priority{Leaf: leaf, Raw: a})
				if got := r.Rank(w, b); got != want {
					t.Fatalf("rank of %d in %s for %d in %s: %d, want %d", b, tree.Path(w), a, tree.Path(leaf), got, want)
				}
			}
		}
	}
}

// TestRules_Fence has leaves inside and outside; a disabled one may be either.
func TestRules_Fence(t *testing.T) {
	leaf := func(name string, p string) queue.Config {
		return queue.Config{Name: name, Policies: queue.Policies{Preemption: p}}
	}
	tenant := leaf("t", queue.Fence)
	tenant.Children = []queue.Config{leaf("a", ""), leaf("b", ""), leaf("c", queue.Disabled)}
	tree := newTree(t, queue.Config{Name: "root", Children: []queue.Config{tenant, leaf("d", queue.Disabled), leaf("e", "")}})
	var r Rules
	for asks, want := range map[string][]string{
		"root.t.a": {"root.t.b", "root.t.c"},
		"root.t.c": {"root.t.a", "root.t.b"},
		"root.e":   {"root.t.a", "root.t.b", "root.t.c", "root.d"},
		"root.d":   {"root.t.a", "root.t.b", "root.t.c", "root.e"},
	} {
		q, _ := tree.Lookup(asks)
		r.Reset(&Taker{Tree: tree, Leaf: q})
		var inside []string
		for w := range tree.Leaves(queue.Root) {
			if r.Leaves[w].Veto != rulebook.RuleFence {
				inside = append(inside, tree.Path(w))
			}
		}
		require.Equal(t, want, inside, asks)
	}
}

// TestRules_NoAllocs shows that nothing allocates once rules have seen a tree.
func TestRules_NoAllocs(t *testing.T) {
	tree := newTree(t, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}, {Name: "b", Children: []queue.Config{{Name: "c"}}}}})
	small := newTree(t, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}}})
	var r Rules
	r.Reset(&Taker{Tree: tree, Leaf: 1})
	require.Zero(t, testing.AllocsPerRun(100, func() {
		r.Reset(&Taker{Tree: small, Leaf: 1})
		r.Reset(&Taker{Tree: tree, Leaf: 3})
	}))
	require.EqualValues(t, 1, r.Rank(1, 1))
}
