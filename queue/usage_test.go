// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/resources"
)

// pair is a root with two leaves: a uses gpu=5 disk=5, of which gpu=2 leave.
func pair(t *testing.T) (tree *Tree, a, b ID) {
	tree = mustNew(t, node("root", "", "", node("a", "", ""), node("b", "", "")), lenient)
	a, b = mustLookup(t, tree, "root.a"), mustLookup(t, tree, "root.b")
	require.NoError(t, tree.Add(a, vector("gpu=5 disk=5")))
	require.NoError(t, tree.Mark(a, vector("gpu=2")))
	return tree, a, b
}

// Changes of what pair returns, and what a uses and has leaving then.
var usageTests = []struct {
	name          string
	verb          func(*Tree, ID, resources.Vector) error
	queue         ID
	size          resources.Vector
	used, leaving string // where there is no error
	err           string
}{
	{name: "add", verb: (*Tree).Add, queue: 1, size: vector("gpu=1 disk=2"), used: "gpu=6 disk=7", leaving: "gpu=2"},
	{name: "add nothing", verb: (*Tree).Add, queue: 1, size: nil, used: "gpu=5 disk=5", leaving: "gpu=2"},
	{name: "add few types", verb: (*Tree).Add, queue: 1, size: resources.Vector{3}, used: "gpu=8 disk=5", leaving: "gpu=2"},
	{name: "add many types", verb: (*Tree).Add, queue: 1, size: resources.Vector{3, 1, 0, 0}, used: "gpu=8 disk=6", leaving: "gpu=2"},
	{name: "add up to the end of the range", verb: (*Tree).Add, queue: 1, size: resources.Vector{math.MaxInt64 - 5},
		used: "gpu=9223372036854775807 disk=5", leaving: "gpu=2"},
	{name: "add beyond it", verb: (*Tree).Add, queue: 1, size: resources.Vector{math.MaxInt64 - 4},
		err: `queue: root.a: sum of amounts out of range: gpu 9223372036854775803 where the root uses 5`},
	{name: "add beyond it in another leaf", verb: (*Tree).Add, queue: 2, size: resources.Vector{0, math.MaxInt64},
		err: `queue: root.b: sum of amounts out of range: disk 9223372036854775807 where the root uses 5`},
	{name: "add to an inner queue", verb: (*Tree).Add, queue: 0, size: vector("gpu=1"),
		err: `queue: root: not a leaf`},
	{name: "add a negative amount", verb: (*Tree).Add, queue: 1, size: vector("gpu=1 disk=-1"),
		err: `queue: root.a: bad amount: disk -1 where 5 are used and 0 of them leave`},
	{name: "add the most negative amount", verb: (*Tree).Add, queue: 1, size: resources.Vector{math.MinInt64},
		err: `queue: root.a: bad amount: gpu -9223372036854775807 where 5 are used and 2 of them leave`},
	{name: "add an unknown type", verb: (*Tree).Add, queue: 1, size: resources.Vector{0, 0, 7},
		err: `queue: root.a: bad amount: 7 of type 2 of 2`},
	{name: "add less than nothing of an unknown type", verb: (*Tree).Add, queue: 1, size: resources.Vector{0, 0, 0, -7},
		err: `queue: root.a: bad amount: -7 of type 3 of 2`},

	{name: "remove", verb: (*Tree).Remove, queue: 1, size: vector("gpu=3 disk=5"), used: "gpu=2", leaving: "gpu=2"},
	{name: "remove what leaves", verb: (*Tree).Remove, queue: 1, size: vector("gpu=4"),
		err: `queue: root.a: bad amount: gpu 4 where 5 are used and 2 of them leave`},
	{name: "remove more than there is", verb: (*Tree).Remove, queue: 1, size: vector("disk=6"),
		err: `queue: root.a: bad amount: disk 6 where 5 are used and 0 of them leave`},
	{name: "remove what another leaf has", verb: (*Tree).Remove, queue: 2, size: vector("disk=1"),
		err: `queue: root.b: bad amount: disk 1 where 0 are used and 0 of them leave`},
	{name: "remove from an inner queue", verb: (*Tree).Remove, queue: 0, size: vector("gpu=1"),
		err: `queue: root: not a leaf`},
	{name: "remove a negative amount", verb: (*Tree).Remove, queue: 1, size: vector("gpu=-1"),
		err: `queue: root.a: bad amount: gpu -1 where 5 are used and 2 of them leave`},

	{name: "mark", verb: (*Tree).Mark, queue: 1, size: vector("gpu=3 disk=1"), used: "gpu=5 disk=5", leaving: "gpu=5 disk=1"},
	{name: "mark what leaves already", verb: (*Tree).Mark, queue: 1, size: vector("gpu=4"),
		err: `queue: root.a: bad amount: gpu 4 where 5 are used and 2 of them leave`},
	{name: "mark an inner queue", verb: (*Tree).Mark, queue: 0, size: nil,
		err: `queue: root: not a leaf`},
	{name: "mark an unknown type", verb: (*Tree).Mark, queue: 1, size: resources.Vector{1, 0, 1},
		err: `queue: root.a: bad amount: 1 of type 2 of 2`},

	{name: "unmark", verb: (*Tree).Unmark, queue: 1, size: vector("gpu=1"), used: "gpu=5 disk=5", leaving: "gpu=1"},
	{name: "unmark what does not leave", verb: (*Tree).Unmark, queue: 1, size: vector("gpu=2 disk=1"),
		err: `queue: root.a: bad amount: disk 1 where 5 are used and 0 of them leave`},
	{name: "unmark a negative amount", verb: (*Tree).Unmark, queue: 1, size: vector("gpu=-2"),
		err: `queue: root.a: bad amount: gpu -2 where 5 are used and 2 of them leave`},
}

func TestUsage(t *testing.T) {
	for _, test := range usageTests {
		t.Run(test.name, func(t *testing.T) {
			tree, a, _ := pair(t)
			before := tree.String()
			if err := test.verb(tree, test.queue, test.size); test.err != "" {
				require.EqualError(t, err, test.err)
				require.Equal(t, before, tree.String())
				return
			} else {
				require.NoError(t, err)
			}
			for _, q := range []ID{a, Root} {
				require.Equal(t, vector(test.used), tree.Usage(q), "usage of %s", tree.Path(q))
				require.Equal(t, vector(test.leaving), tree.Leaving(q), "leaving in %s", tree.Path(q))
			}
		})
	}
}

// TestSizeIsView shows that a size may be a view of what it changes.
func TestSizeIsView(t *testing.T) {
	tree, a, b := pair(t)
	require.NoError(t, tree.Add(b, vector("gpu=1")))
	step := func(err error, rootUsed, rootLeaving, aUsed, aLeaving string) {
		t.Helper()
		require.NoError(t, err)
		require.Equal(t, vector(rootUsed), tree.Usage(Root))
		require.Equal(t, vector(rootLeaving), tree.Leaving(Root))
		require.Equal(t, vector(aUsed), tree.Usage(a))
		require.Equal(t, vector(aLeaving), tree.Leaving(a))
	}
	step(tree.Unmark(a, tree.Leaving(a)), "gpu=6 disk=5", "", "gpu=5 disk=5", "")
	step(tree.Add(a, tree.Usage(a)), "gpu=11 disk=10", "", "gpu=10 disk=10", "")
	step(tree.Add(a, tree.Usage(Root)), "gpu=22 disk=20", "", "gpu=21 disk=20", "")
	step(tree.Mark(a, tree.Usage(a)), "gpu=22 disk=20", "gpu=21 disk=20", "gpu=21 disk=20", "gpu=21 disk=20")
	step(tree.Unmark(a, tree.Leaving(Root)), "gpu=22 disk=20", "", "gpu=21 disk=20", "")
	step(tree.Remove(a, tree.Usage(a)), "gpu=1", "", "", "")
}
