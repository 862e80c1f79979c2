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

var laws = []law.Law{{Name: "Views", Holds: views}}

func TestLaws(t *testing.T) { law.Check(t, laws) }

// views: a View says of every pair of leaves what package fence says, however often it
// was used before.
func views(t *rapid.T) {
	var v View
	for range rapid.IntRange(1, 2).Draw(t, "trees") {
		tree := newTree(t, trees().Draw(t, "tree"))
		a, b := priorities().Draw(t, "ask"), priorities().Draw(t, "task")
		for leaf := range tree.Leaves(queue.Root) {
			v.Reset(tree, leaf)
			reach := slices.Collect(fence.Reach(tree, leaf))
			for w := range tree.Leaves(queue.Root) {
				got := v.Inside(w) && tree.Policies(w).Preemption != queue.Disabled
				if want := slices.Contains(reach, w); got != want {
					t.Fatalf("%s is in reach of %s: %t, want %t", tree.Path(w), tree.Path(leaf), got, want)
				}
				want := fence.Rank(tree, fence.Priority{Leaf: w, Raw: b}, fence.Priority{Leaf: leaf, Raw: a})
				if got := v.Rank(w, a).Of(b); got != want {
					t.Fatalf("rank of %d in %s for %d in %s: %d, want %d", b, tree.Path(w), a, tree.Path(leaf), got, want)
				}
			}
		}
	}
}

// TestView_Inside has leaves inside and outside; a disabled one may be either.
func TestView_Inside(t *testing.T) {
	leaf := func(name string, p string) queue.Config {
		return queue.Config{Name: name, Policies: queue.Policies{Preemption: p}}
	}
	tenant := leaf("t", queue.Fence)
	tenant.Children = []queue.Config{leaf("a", ""), leaf("b", ""), leaf("c", queue.Disabled)}
	tree := newTree(t, queue.Config{Name: "root", Children: []queue.Config{tenant, leaf("d", queue.Disabled), leaf("e", "")}})
	var v View
	for asks, want := range map[string][]string{
		"root.t.a": {"root.t.b", "root.t.c"},
		"root.t.c": {"root.t.a", "root.t.b"},
		"root.e":   {"root.t.a", "root.t.b", "root.t.c", "root.d"},
		"root.d":   {"root.t.a", "root.t.b", "root.t.c", "root.e"},
	} {
		q, _ := tree.Lookup(asks)
		v.Reset(tree, q)
		var inside []string
		for w := range tree.Leaves(queue.Root) {
			if v.Inside(w) {
				inside = append(inside, tree.Path(w))
			}
		}
		require.Equal(t, want, inside, asks)
	}
}

// TestView_OutlivesChanges shows that bounds and usage play no part in a View, and that it
// serves a clone.
func TestView_OutlivesChanges(t *testing.T) {
	tree := newTree(t, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a", Policies: queue.Policies{PriorityOffset: new(int32(2))}},
		{Name: "b", Policies: queue.Policies{PriorityOffset: new(int32(-1))}},
	}})
	a, b := queue.ID(1), queue.ID(2)
	var v View
	v.Reset(tree, a)
	before := slices.Clone(v.rows)
	require.NoError(t, tree.Add(b, []int64{5}))
	require.NoError(t, tree.Mark(b, []int64{2}))
	v.Reset(tree.Clone(), a)
	require.Equal(t, before, v.rows)
	require.Equal(t, Lift{Offset: -3}, v.Rank(b, 0)) // -1 against 0 + 2
}

// TestView_Misuse shows that a caller's bug panics with the name of the mistake.
func TestView_Misuse(t *testing.T) {
	var v View
	require.PanicsWithError(t, "eligible: a View is used before Reset", func() { v.Inside(0) })
	require.PanicsWithError(t, "eligible: a View is used before Reset", func() { v.Rank(0, 1) })
	v.Reset(newTree(t, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}}}), 1)
	require.PanicsWithError(t, "eligible: no queue 2 in a View of 2 queues: an ID of another tree?", func() { v.Rank(2, 1) })
}

// TestView_NoAllocs shows that nothing allocates once a View has seen a tree.
func TestView_NoAllocs(t *testing.T) {
	tree := newTree(t, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}, {Name: "b", Children: []queue.Config{{Name: "c"}}}}})
	small := newTree(t, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}}})
	var v View
	v.Reset(tree, 1)
	var inside bool
	var rank int64
	require.Zero(t, testing.AllocsPerRun(100, func() {
		v.Reset(small, 1)
		v.Reset(tree, 3)
		inside, rank = v.Inside(1), v.Rank(1, 7).Of(8)
	}))
	require.True(t, inside)
	require.EqualValues(t, 1, rank)
}

// BenchmarkView is what is paid once per decision, and then per task.
func BenchmarkView(b *testing.B) {
	var grow func(name string, levels int) queue.Config
	grow = func(name string, levels int) queue.Config {
		c := queue.Config{Name: name, Policies: queue.Policies{PriorityOffset: new(int32(1))}}
		for i := range 10 * min(levels, 1) {
			c.Children = append(c.Children, grow(fmt.Sprint("q", i), levels-1))
		}
		return c
	}
	for levels := 1; levels <= 3; levels++ {
		tree := newTree(b, grow("root", levels))
		leaf := queue.ID(tree.Len() / 2)
		var v View
		b.Run(fmt.Sprintf("Reset/queues=%d", tree.Len()), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.Reset(tree, leaf)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tree.Len()), "ns/queue")
		})
		b.Run(fmt.Sprintf("Rank/queues=%d", tree.Len()), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.Rank(1, 5).Of(7)
			}
		})
	}
}
