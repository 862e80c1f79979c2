// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/resources"
)

// TestOwn shows that a tree that was taken over shows all changes and takes none.
func TestOwn(t *testing.T) {
	view := mustNew(t, node("root", "gpu=9", "", node("a", "gpu=4", "")), Strict)
	own, err := view.Own()
	require.NoError(t, err)
	_, err = view.Own()
	require.ErrorIs(t, err, ErrOwned)

	const a = ID(1)
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
		require.ErrorIs(t, err, ErrOwned, name)
		require.ErrorContains(t, err, "queue: root.a: the tree belongs to its owner", name)
	}
	require.Equal(t, before, view.String())

	free := view.Clone()
	require.NoError(t, free.Add(a, one), "a clone belongs to nobody")
	require.Equal(t, before, view.String())

	other, err := mustNew(t, node("root", "gpu=1", ""), Strict).Own()
	require.NoError(t, err)
	other.Show(view)
	require.Equal(t, other.String(), view.String())
	require.ErrorIs(t, view.Add(Root, one), ErrOwned)
}

// TestTreeCopyFrom shows that a copy into a tree is what a clone is, whatever
// the tree was before.
func TestTreeCopyFrom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, _ := drawTree(t)
		into, _ := drawTree(t)
		into.CopyFrom(from)
		if diff := cmp.Diff(from.String(), into.String()); diff != "" {
			t.Fatal(diff)
		}
		before := from.String()
		for leaf := range into.Leaves(Root) {
			if err := into.Add(leaf, ones(into)); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(before, from.String()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// ones is an amount of one of each type of a tree.
func ones(t *Tree) resources.Vector {
	v := make(resources.Vector, t.Schema().Len())
	for i := range v {
		v[i] = 1
	}
	return v
}
