// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// TestGuarantees_Law4 has a branch a, guaranteed 4 gpu and 4 disk, whose leaf x is
// guaranteed 2 gpu itself, and a leaf b that is guaranteed nothing.
func TestGuarantees_Law4(t *testing.T) {
	const gpu, disk = resources.Mask(1), resources.Mask(2)
	for _, test := range []struct {
		name, leaf string
		types      resources.Mask
		used       map[string]string
		want       Guarantees
		holds      bool
	}{
		{"nothing runs", "root.a.x", gpu, nil, Guarantees{Governed: true, Needy: 2}, true},
		{"one unit under", "root.a.x", gpu, map[string]string{"root.a.x": "gpu=1"}, Guarantees{Governed: true, Needy: 2}, true},
		{"at the guarantee", "root.a.x", gpu, map[string]string{"root.a.x": "gpu=2"}, Guarantees{Governed: true, Needy: 2, Met: gpu}, false},
		{"over it", "root.a.x", gpu, map[string]string{"root.a.x": "gpu=3"}, Guarantees{Governed: true, Needy: 2, Met: gpu}, false},
		{"a branch at its guarantee does not stop the leaf", "root.a.x", gpu, map[string]string{"root.a.y": "gpu=9"},
			Guarantees{Governed: true, Needy: 2}, true},
		{"a leaf that the branch governs", "root.a.y", gpu, map[string]string{"root.a.x": "gpu=3"}, Guarantees{Governed: true, Needy: 1}, true},
		{"with the branch at its guarantee", "root.a.y", gpu, map[string]string{"root.a.x": "gpu=4"}, Guarantees{Governed: true, Needy: 1, Met: gpu}, false},
		{"two types, two queues: the lower one", "root.a.x", gpu | disk, nil, Guarantees{Governed: true, Needy: 2}, true},
		{"one of them met", "root.a.x", gpu | disk, map[string]string{"root.a.y": "disk=4"}, Guarantees{Governed: true, Needy: 2, Met: disk}, false},
		{"a type that it does not want is not looked at", "root.a.x", gpu, map[string]string{"root.a.y": "disk=4"}, Guarantees{Governed: true, Needy: 2}, true},
		{"no guarantee", "root.b", gpu | disk, nil, Guarantees{}, false},
		{"nothing wanted", "root.a.x", 0, nil, Guarantees{}, false},
		{"a type that there is not", "root.a.x", 1 << 63, nil, Guarantees{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			tree := mustNew(t, node("a", "gpu=4 disk=4", node("x", "gpu=2"), node("y", "")), node("b", ""))
			for leaf, amounts := range test.used {
				require.NoError(t, tree.Add(mustLookup(t, tree, leaf), vector(t, amounts)))
			}
			got := read(tree, mustLookup(t, tree, test.leaf), test.types, nil)
			require.Equal(t, test.want, got)
			require.Equal(t, test.holds, got.Hold())
		})
	}
}

// TestGuarantees_Leaving shows that what is leaving is not counted.
func TestGuarantees_Leaving(t *testing.T) {
	tree := mustNew(t, node("a", "gpu=2"))
	require.NoError(t, tree.Add(1, vector(t, "gpu=3")))
	require.False(t, read(tree, 1, 0b01, nil).Hold())
	require.NoError(t, tree.Mark(1, vector(t, "gpu=2")))
	require.True(t, read(tree, 1, 0b01, nil).Hold())
}

// TestGuarantees_Job has a job in a leaf that is guaranteed 4: its last member has to find
// the queue under its guarantee, with those that come before it.
func TestGuarantees_Job(t *testing.T) {
	for _, test := range []struct {
		used, before string
		holds        bool
	}{
		{"gpu=0", "gpu=3", true},
		{"gpu=0", "gpu=4", false},
		{"gpu=1", "gpu=2", true},
		{"gpu=1", "gpu=3", false},
		{"gpu=3", "gpu=0", true},
		{"gpu=3", "disk=9", true},
	} {
		tree := mustNew(t, node("a", "gpu=4"))
		require.NoError(t, tree.Add(1, vector(t, test.used)))
		x := read(tree, 1, 0b01, vector(t, test.before))
		require.Equal(t, test.holds, x.Hold(), "%s run, %s before", test.used, test.before)
	}
}

// read returns what guarantees say to an ask, or job, of a leaf that wants types.
func read(tree *queue.Tree, leaf queue.ID, types resources.Mask, before resources.Vector) Guarantees {
	arriving := make(resources.Vector, resources.MaxTypes)
	for i := range types.All() {
		arriving[i] = 1
	}
	return (&Case{Tree: tree, Leaf: leaf, Arriving: arriving, Before: before}).Guarantees()
}

// node is a queue with a guarantee.
func node(name, guaranteed string, children ...queue.Config) queue.Config {
	l, err := schema().ParseLimit(guaranteed)
	if err != nil {
		panic(err)
	}
	return queue.Config{Name: name, Guaranteed: l, Children: children}
}

func schema() *resources.Schema {
	s, err := resources.NewSchema("gpu", "disk")
	if err != nil {
		panic(err)
	}
	return s
}

func mustNew(t *testing.T, children ...queue.Config) *queue.Tree {
	tree, err := queue.New(schema(), queue.Config{Name: "root", Children: children})
	require.NoError(t, err)
	return tree
}

func mustLookup(t *testing.T, tree *queue.Tree, path string) queue.ID {
	q, ok := tree.Lookup(path)
	require.True(t, ok, path)
	return q
}

func vector(t *testing.T, amounts string) resources.Vector {
	v, err := schema().Parse(amounts)
	require.NoError(t, err)
	return v
}
