// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/resources"
)

// TestTrigger_Law4 has a branch a, guaranteed 4 gpu and 4 disk, whose leaf x is
// guaranteed 2 gpu itself, and a leaf b that is guaranteed nothing.
func TestTrigger_Law4(t *testing.T) {
	const gpu, disk = resources.Mask(1), resources.Mask(2)
	for _, test := range []struct {
		name, leaf string
		types      resources.Mask
		used       map[string]string
		want       Trigger
		holds      bool
	}{
		{"nothing runs", "root.a.x", gpu, nil, Trigger{Governed: true, Needy: 2}, true},
		{"one unit under", "root.a.x", gpu, map[string]string{"root.a.x": "gpu=1"}, Trigger{Governed: true, Needy: 2}, true},
		{"at the guarantee", "root.a.x", gpu, map[string]string{"root.a.x": "gpu=2"}, Trigger{Governed: true, Needy: 2, Met: gpu}, false},
		{"over it", "root.a.x", gpu, map[string]string{"root.a.x": "gpu=3"}, Trigger{Governed: true, Needy: 2, Met: gpu}, false},
		{"a branch at its guarantee does not stop the leaf", "root.a.x", gpu, map[string]string{"root.a.y": "gpu=9"},
			Trigger{Governed: true, Needy: 2}, true},
		{"a leaf that the branch governs", "root.a.y", gpu, map[string]string{"root.a.x": "gpu=3"}, Trigger{Governed: true, Needy: 1}, true},
		{"with the branch at its guarantee", "root.a.y", gpu, map[string]string{"root.a.x": "gpu=4"}, Trigger{Governed: true, Needy: 1, Met: gpu}, false},
		{"two types, two queues: the lower one", "root.a.x", gpu | disk, nil, Trigger{Governed: true, Needy: 2}, true},
		{"one of them met", "root.a.x", gpu | disk, map[string]string{"root.a.y": "disk=4"}, Trigger{Governed: true, Needy: 2, Met: disk}, false},
		{"a type that it does not want is not looked at", "root.a.x", gpu, map[string]string{"root.a.y": "disk=4"}, Trigger{Governed: true, Needy: 2}, true},
		{"no guarantee", "root.b", gpu | disk, nil, Trigger{}, false},
		{"nothing wanted", "root.a.x", 0, nil, Trigger{}, false},
		{"a type that there is not", "root.a.x", 1 << 63, nil, Trigger{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			tree := mustNew(t, node("root", "", "", node("a", "gpu=4 disk=4", "", node("x", "gpu=2", ""), node("y", "", "")), node("b", "", "")), Strict)
			for leaf, amounts := range test.used {
				require.NoError(t, tree.Add(mustLookup(t, tree, leaf), vector(amounts)))
			}
			got := tree.Trigger(mustLookup(t, tree, test.leaf), test.types, nil)
			require.Equal(t, test.want, got)
			require.Equal(t, test.holds, got.Holds())
		})
	}
}

// TestTrigger_Leaving shows that what is leaving is not counted.
func TestTrigger_Leaving(t *testing.T) {
	tree := mustNew(t, node("root", "", "", node("a", "gpu=2", "")), Strict)
	require.NoError(t, tree.Add(1, vector("gpu=3")))
	require.False(t, tree.Trigger(1, 1, nil).Holds())
	require.NoError(t, tree.Mark(1, vector("gpu=2")))
	require.True(t, tree.Trigger(1, 1, nil).Holds())
}

// TestTrigger_Job has a job in a leaf that is guaranteed 4: its last member has to find
// the queue under its guarantee, with those that come before it.
func TestTrigger_Job(t *testing.T) {
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
		tree := mustNew(t, node("root", "", "", node("a", "gpu=4", "")), Strict)
		require.NoError(t, tree.Add(1, vector(test.used)))
		x := tree.Trigger(1, 1, vector(test.before))
		require.Equal(t, test.holds, x.Holds(), "%s run, %s before", test.used, test.before)
	}
}

var triggerLaws = []law.Law{{Name: "Trigger", Holds: trigger}}

func TestTriggerLaws(t *testing.T) { law.Check(t, triggerLaws) }

func FuzzTriggerLaws(f *testing.F) { law.Fuzz(f, triggerLaws) }

// trigger: a leaf triggers what its twin says, type by type and by names.
func trigger(t *rapid.T) {
	tree, w := drawTree(t)
	for _, leaf := range w.leaves(w.root.Name) {
		size := make(resources.Vector, w.schema.Len())
		for i := range size {
			size[i] = rapid.Int64Range(0, 5).Draw(t, "size")
		}
		q, _ := tree.Lookup(leaf)
		if err := tree.Add(q, size); err != nil {
			t.Fatal(err)
		}
		w.change(w.used[leaf], size, +1)
	}
	leaf := rapid.SampledFrom(w.leaves(w.root.Name)).Draw(t, "leaf")
	wants := mask(t, w.schema)
	q, _ := tree.Lookup(leaf)
	got := tree.Trigger(q, wants, nil)

	needy, met := "", resources.Mask(0)
	for i := range w.schema.Len() {
		governing, ok := w.governing(leaf, i)
		if !ok || !wants.Has(i) {
			continue
		}
		if len(governing) > len(needy) {
			needy = governing
		}
		if g, _ := w.config[governing].Guaranteed.Bound(i); w.effective(governing, i) >= g {
			met |= 1 << i
		}
	}
	check(t, got.Governed, needy != "", "Governed")
	check(t, got.Met, met, "Met")
	if got.Governed {
		check(t, tree.Path(got.Needy), needy, "Needy")
	}
	check(t, got.Holds(), needy != "" && met == 0, "Holds")
}
