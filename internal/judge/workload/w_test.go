// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

func TestString(t *testing.T) {
	for _, test := range []struct {
		w    W
		want string
	}{
		{W{Nodes: 5, Tasks: 3, Tree: Tree2x10}, "load=plain/nodes=5/tasks=3/tree=2x10"},
		{W{Nodes: 5, Tasks: 3, Tree: Tree4x100, Mixed: true}, "load=mixed/nodes=5/tasks=3/tree=4x100"},
		{W{Nodes: 5, Tasks: 3, Tree: Tree4x1000, MaxSlack: 1}, "load=max0/nodes=5/tasks=3/tree=4x1000"},
		{W{Nodes: 5, Tasks: 3, Tree: Tree4x100, MaxSlack: 1, MaxDepth: 2}, "load=max2/nodes=5/tasks=3/tree=4x100"},
		{W{Nodes: 5, Tasks: 3, Tree: []int{2, 3}, Mixed: true, Protected: true}, "load=mixed+protected/nodes=5/tasks=3/tree=3x6"},
	} {
		require.Equal(t, test.want, test.w.String())
	}
}

// TestTrees counts the queues of the trees of the benchmarks, roots included.
func TestTrees(t *testing.T) {
	for _, test := range []struct {
		tree           []int
		queues, leaves int
	}{
		{Tree2x10, 11, 10},
		{Tree4x100, 126, 100},
		{Tree4x1000, 1111, 1000},
	} {
		w := W{Nodes: 1, Tasks: 1, Tree: test.tree}
		require.Equal(t, test.queues, w.Build().Tree().Len())
		require.Equal(t, test.leaves, w.leaves(0))
	}
}

// TestByHand counts what a small workload consists of: 4 nodes of 3 tasks of
// together 3 units, and 3 leaves.
func TestByHand(t *testing.T) {
	const (
		gi    = 1 << 30
		spare = 858993459 // a fifth of 4 GiB, rounded down
	)
	c := W{Nodes: 4, Tasks: 3, Tree: []int{3}}.Build()
	require.Equal(t, 4, c.NodeLen())
	require.Equal(t, 12, c.TaskLen())
	require.Equal(t, resources.Vector{3200, 12*gi + spare, 13, 32 * gi}, c.Node(4).Capacity, "3.2 units and 13 pods")
	require.Equal(t, resources.Vector{200, spare, 10, 2 * gi}, c.Free(nil, 4))

	// 12 units are used: each of 3 leaves is guaranteed 2 of them, and 2 pods.
	share := resources.Vector{2000, 8 * gi, 2, 20 * gi}
	for q := queue.ID(1); q < 4; q++ {
		require.Equal(t, resources.Limit{Value: share, Defined: 0b1111}, c.Tree().Guaranteed(q))
	}
	require.Zero(t, c.Tree().Guaranteed(queue.Root).Defined)

	// The first tasks of all nodes have 0.5 units. Of the 12 tasks the leaves
	// get 1 2 2 1 1 2 2 1 1 2 2 1 in turn: two tasks of each size.
	require.Equal(t, "n1-0", c.Task(3).Key)
	require.Equal(t, resources.Vector{500, 2 * gi, 1, 5 * gi}, c.Task(3).Size)
	require.Equal(t, resources.Vector{0, 0, 0, 0}, c.Tree().Usage(1))
	require.Equal(t, resources.Vector{6000, 24 * gi, 6, 60 * gi}, c.Tree().Usage(2))
	require.Equal(t, resources.Vector{6000, 24 * gi, 6, 60 * gi}, c.Tree().Usage(3))
	require.Equal(t, "app0", c.Task(3).Application)

	ask := W{Nodes: 4, Tasks: 3, Tree: []int{3}}.Ask(c, 4)
	require.Equal(t, resources.Vector{4000, 16 * gi, 1, 40 * gi}, ask.Size)
	require.Equal(t, queue.ID(1), ask.Queue)
}

// TestVictims holds the workloads to the numbers of victims that their
// documentation promises, and to being what they are for.
func TestVictims(t *testing.T) {
	for _, w := range (W{Nodes: 60, Tasks: 30, Tree: Tree4x100}).Kinds() {
		c := w.Build()
		for k, want := range map[int64]int{1: 1, 4: 3, 10: 7} {
			s := w.Subject(c, k)
			s.Planner.Steps = 1 << 24 // enough for a proof to the last key, or of the levels
			s.Decide()
			d := &s.Decision
			// If headroom is short below the root, no bound on work tells of tasks elsewhere.
			require.True(t, s.Proven() || w.MaxDepth > 0 && d.Plan.Proof == victims.ProofLevels, "%v k=%d", w, k)
			if w.Protected {
				require.Equal(t, "no-victims", d.Refusal.Reason, "%v k=%d", w, k)
				require.NoError(t, d.Count())
				require.Contains(t, d.Refusal.Counts, victims.Count{Rule: "guarantee", Tasks: c.TaskLen()}, "%v k=%d", w, k)
				require.Equal(t, d.Plan.Steps, s.Steps())
				continue
			}
			require.Equal(t, victims.Preempts, d.Outcome, "%v k=%d", w, k)
			require.Equal(t, d.Plan.Steps, s.Steps())
			if w.Mixed || w.MaxDepth > 0 {
				// Priorities come first, or the victims of the node are not of
				// the queue that is short.
				require.GreaterOrEqual(t, len(d.Plan.Victims), want, "%v k=%d", w, k)
				continue
			}
			require.Len(t, d.Plan.Victims, want, "%v k=%d", w, k)
		}
	}
}

// TestMax holds the headroom of leaf 0 to the slack, and that of other leaves
// to none where they are not below.
func TestMax(t *testing.T) {
	w := W{Nodes: 7, Tasks: 11, Tree: []int{2, 2, 3}, MaxSlack: 3, MaxDepth: 1}
	tree := w.Build().Tree()
	require.Equal(t, resources.Limit{Value: resources.Vector{300, 0, 0, 0}, Defined: 1}, tree.Headroom(resources.Limit{}, Leaf0(tree)))
	other, ok := tree.Lookup("root.q1.q0.q0")
	require.True(t, ok)
	require.Zero(t, tree.Headroom(resources.Limit{}, other).Defined)
}

// TestMixed holds the parts of mixed workloads to what is said of them.
func TestMixed(t *testing.T) {
	in := W{Nodes: 500, Tasks: 20, Tree: Tree2x10, Mixed: true}.Input()
	var optedOut, originators int
	var byPriority [10]int
	for _, task := range in.Tasks {
		byPriority[task.Priority]++
		if task.OptedOut {
			optedOut++
		}
		if task.Originator {
			originators++
		}
	}
	require.InDelta(t, 1000, optedOut, 100, "of 10000")
	require.InDelta(t, 500, originators, 100)
	for _, n := range byPriority {
		require.InDelta(t, 1000, n, 100)
	}
}

// TestInputTwice shows that an input can be used again: a cluster keeps
// nothing of it.
func TestInputTwice(t *testing.T) {
	w := W{Nodes: 5, Tasks: 4, Tree: Tree2x10}
	in := w.Input()
	first := in.Build()
	require.NoError(t, first.Resize("n0-0", resources.Vector{1, 2, 3, 4}))
	require.NoError(t, first.RemoveTask("n0-1"))
	require.Equal(t, listingOf(w.Build()), listingOf(in.Build()))
}
