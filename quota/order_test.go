// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The order of traits is the one that the enforcer packs into numbers: given as an order
// of the caller's, it decides the same, with every order of types and nodes.
func TestTraits_AreTheDefault(t *testing.T) { rapid.Check(t, propertyTraits) }

func FuzzTraits(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyTraits))
}

func propertyTraits(t *rapid.T) {
	c := draw(t)
	cluster := c.build(t)
	want := keys(c.enforce(t, cluster))
	e := c.enforcer(cluster)
	e.CompareTasks = quota.ByTraits(cluster.Capacity())
	q, _ := cluster.Tree().Lookup(c.Queue)
	var o victims.Decision
	require.NoError(t, e.Enforce(&o, q, world.Epoch))
	if got := keys(&o); !slices.Equal(want, got) {
		t.Fatalf("%v, and by traits %v\n%v", want, got, c)
	}
}

// An order of the caller's stands in the place of the default, and keys decide
// if it has no opinion.
func TestCompare(t *testing.T) {
	f := newFixture(t, leaf("a"))
	f.e.CompareTasks = func(a, b *victims.Task) int { return cmp.Compare(b.Priority, a.Priority) } // the highest first
	f.task("y", "a", 5, priority(9), originator)
	f.task("z", "a", 5, priority(9))
	f.task("x", "a", 5)
	require.Equal(t, []string{"y"}, keys(f.enforce("a", slots(10))))
	require.Equal(t, []string{"y", "z"}, keys(f.enforce("a", slots(5))))
	f.e.CompareTasks = func(a, b *victims.Task) int { return 0 }
	require.Equal(t, []string{"x"}, keys(f.enforce("a", slots(10))))
}

// Node ranks decide between nodes of the same share, before node order.
func TestPack_Ranks(t *testing.T) {
	f := newFixture(t, leaf("a"))
	f.e.Order = quota.Pack
	id, err := f.c.AddNode(&victims.Node{Name: "n2", Capacity: resources.Vector{100}, Penalty: -1})
	require.NoError(t, err)
	f.task("a", "a", 5)
	f.task("b", "a", 5, func(t *victims.Task) { t.Node = id })
	require.Equal(t, []string{"b"}, keys(f.enforce("a", slots(5))))
}

// A task of a closed node goes as any other: closed nodes have places of their
// own, after all others and by name, so that each of them still goes as a whole.
func TestPack_ClosedNodes(t *testing.T) {
	f := newFixture(t, leaf("a"))
	f.e.Order = quota.Pack
	on := func(id victims.NodeID) func(*victims.Task) { return func(t *victims.Task) { t.Node = id } }
	n3, n2 := f.node("n3"), f.node("n2")
	f.task("a", "a", 5, on(n3))
	f.task("b", "a", 5, on(n2))
	f.task("c", "a", 5)
	f.task("d", "a", 5, on(n3))
	f.task("e", "a", 5, on(n2))
	f.task("f", "a", 5)
	require.NoError(t, law.ErrOf(f.c.RemoveNode("n3")))
	require.NoError(t, law.ErrOf(f.c.RemoveNode("n2")))
	for _, want := range [][]string{{"c"}, {"c", "f"}, {"c", "f", "b"}, {"c", "f", "b", "e"}, {"c", "f", "b", "e", "a"}} {
		require.ElementsMatch(t, want, keys(f.enforce("a", slots(int64(30-5*len(want))))))
	}
}
