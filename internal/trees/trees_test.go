// SPDX-License-Identifier: Apache-2.0

package trees

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// TestOwn shows that a tree that was taken over shows all changes and takes none.
func TestOwn(t *testing.T) {
	view := mustNew(t, 9, queue.Config{Name: "a", Guaranteed: limit(4)})
	own, err := Own(view)
	require.NoError(t, err)
	_, err = Own(view)
	require.ErrorIs(t, err, queue.ErrReadOnly)

	const a = queue.ID(1)
	one, bound := resources.Vector{1}, resources.Limit{Value: resources.Vector{3}, Defined: 1}
	require.NoError(t, own.Add(a, resources.Vector{2}))
	require.NoError(t, own.Mark(a, one))
	require.NoError(t, own.SetGuaranteed(a, bound))
	before := view.String()
	require.Equal(t, own.String(), before)
	for name, err := range map[string]error{
		"Add": view.Add(a, one), "Remove": view.Remove(a, one), "Mark": view.Mark(a, one), "Unmark": view.Unmark(a, one),
		"SetGuaranteed": view.SetGuaranteed(a, bound), "SetMax": view.SetMax(a, bound),
	} {
		require.ErrorIs(t, err, queue.ErrReadOnly, name)
		require.ErrorContains(t, err, "queue: root.a: the tree belongs to a cluster", name)
	}
	require.Equal(t, before, view.String())

	free := view.Clone()
	require.NoError(t, free.Add(a, one), "a clone belongs to nobody")
	require.Equal(t, before, view.String())

	other, err := Own(mustNew(t, 1))
	require.NoError(t, err)
	Show(other, view)
	require.Equal(t, other.String(), view.String())
	require.ErrorIs(t, view.Add(queue.Root, one), queue.ErrReadOnly)
}

// TestCopyFrom shows that a copy into a tree is what a clone is, whatever the tree was before.
func TestCopyFrom(t *testing.T) {
	from := mustNew(t, 9, queue.Config{Name: "a", Guaranteed: limit(4)}, queue.Config{Name: "b", Max: limit(7)})
	require.NoError(t, from.Add(1, resources.Vector{5}))
	require.NoError(t, from.Mark(1, resources.Vector{2}))
	view, err := Counting(from.Clone(), new(queue.Tree), new(resources.Mask(0)))
	require.NoError(t, err)
	for _, into := range []*queue.Tree{{}, mustNew(t, 1), from.Clone(), view} {
		CopyFrom(into, from)
		require.Equal(t, from.String(), into.String())
		before := from.String()
		require.NoError(t, into.Add(2, resources.Vector{1}), "it can be changed")
		require.NoError(t, into.SetMax(2, limit(8)))
		require.Equal(t, before, from.String())
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { CopyFrom(view, from) }))
	CopyFrom(from, from)
	require.Equal(t, limit(4), from.Guaranteed(1))
}

// TestCounting shows that a tree that counts no type guarantees nothing, and that a type that
// there is not is told.
func TestCounting(t *testing.T) {
	tree := mustNew(t, 9, queue.Config{Name: "a", Guaranteed: limit(4)})
	same, err := Counting(tree, nil, nil)
	require.NoError(t, err)
	require.Same(t, tree, same)
	view, err := Counting(tree, new(queue.Tree), new(resources.Mask(0)))
	require.NoError(t, err)
	require.Zero(t, view.Guaranteed(1).Defined)
	require.ErrorIs(t, view.Add(1, nil), queue.ErrReadOnly)
	require.NoError(t, tree.Add(1, resources.Vector{3}))
	require.Equal(t, resources.Vector{3}, view.Surplus(nil, 1), "it shows changes")
	_, err = Counting(tree, new(queue.Tree), new(resources.Mask(0b11)))
	require.EqualError(t, err, "bad configuration: type 1 of 1 is to be scarce")
	require.ErrorIs(t, err, queue.ErrConfig)
}

// TestNumbers has ends of subtrees, depths, names, and who disables.
func TestNumbers(t *testing.T) {
	a := queue.Config{Name: "a", Policies: queue.Policies{Preemption: queue.Disabled}, Children: []queue.Config{
		{Name: "x"}, {Name: "y", Policies: queue.Policies{Preemption: queue.Fence}},
	}}
	tree := mustNew(t, 9, a, queue.Config{Name: "b"})
	for _, test := range []struct {
		q, end     queue.ID
		depth      int
		name       string
		disabledBy queue.ID // 0: none
	}{{0, 5, 0, "root", 0}, {1, 4, 1, "a", 1}, {2, 3, 2, "x", 1}, {3, 4, 2, "y", 0}, {4, 5, 1, "b", 0}} {
		require.Equal(t, test.end, End(tree, test.q))
		require.Equal(t, test.depth, Depth(tree, test.q))
		require.Equal(t, test.name, Name(tree, test.q))
		disabled := tree.Policies(test.q).Preemption == queue.Disabled
		require.Equal(t, test.disabledBy != 0, disabled)
		if disabled {
			require.True(t, lent.Of(tree).SaysItself(int32(test.disabledBy), "preemption.policy"))
			require.Equal(t, test.disabledBy == test.q, lent.Of(tree).SaysItself(int32(test.q), "preemption.policy"))
		}
	}
}

func limit(gpus int64) resources.Limit {
	return resources.Limit{Value: resources.Vector{gpus}, Defined: 1}
}

func mustNew(t *testing.T, gpus int64, children ...queue.Config) *queue.Tree {
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Max: limit(gpus), Children: children})
	require.NoError(t, err)
	return tree
}
