// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// forest is the tree of the tables below, with the numbers that it must have.
var forest = node("root", "", "", // 0
	node("a", "", "", // 1
		node("x", "", ""),                     // 2
		node("y", "", "", node("z", "", ""))), // 3, 4
	node("ab", "", ""),                   // 5
	node("b", "", "", node("a", "", ""))) // 6, 7

var numberTests = []struct {
	path     string
	end      ID
	depth    int
	up       []ID
	children []ID
	leaves   []ID
}{
	{"root", 8, 0, []ID{0}, []ID{1, 5, 6}, []ID{2, 4, 5, 7}},
	{"root.a", 5, 1, []ID{1, 0}, []ID{2, 3}, []ID{2, 4}},
	{"root.a.x", 3, 2, []ID{2, 1, 0}, nil, []ID{2}},
	{"root.a.y", 5, 2, []ID{3, 1, 0}, []ID{4}, []ID{4}},
	{"root.a.y.z", 5, 3, []ID{4, 3, 1, 0}, nil, []ID{4}},
	{"root.ab", 6, 1, []ID{5, 0}, nil, []ID{5}},
	{"root.b", 8, 1, []ID{6, 0}, []ID{7}, []ID{7}},
	{"root.b.a", 8, 2, []ID{7, 6, 0}, nil, []ID{7}},
}

func TestNumbers(t *testing.T) {
	tree := mustNew(t, forest, strict)
	require.Equal(t, len(numberTests), tree.Len())
	require.Same(t, schema, tree.Schema())
	require.Equal(t, []ID{0, 1, 2, 3, 4, 5, 6, 7}, all(tree))
	for i, test := range numberTests {
		q := ID(i)
		require.Equal(t, test.path, tree.Path(q))
		require.Equal(t, q, mustLookup(t, tree, test.path))
		require.Equal(t, test.end, tree.end(q), test.path)
		require.Equal(t, test.depth, strings.Count(tree.Path(q), "."), test.path)
		require.Equal(t, test.up, slices.Collect(tree.Ancestors(q)), test.path)
		require.Equal(t, test.children, slices.Collect(tree.Children(q)), test.path)
		require.Equal(t, test.leaves, slices.Collect(tree.Leaves(q)), test.path)
		require.Equal(t, test.children == nil, tree.IsLeaf(q), test.path)
		parent, ok := tree.Parent(q)
		require.Equal(t, q != Root, ok, test.path)
		if ok {
			require.Equal(t, test.up[1], parent, test.path)
		}
	}
}

func TestCommonAncestor(t *testing.T) {
	tree := mustNew(t, forest, strict)
	for _, test := range []struct{ a, b, want ID }{
		{0, 0, 0}, {4, 4, 4}, {2, 4, 1}, {2, 3, 1}, {1, 4, 1}, {4, 3, 3}, {2, 5, 0}, {1, 5, 0}, {5, 7, 0}, {7, 6, 6}, {2, 7, 0},
	} {
		require.Equal(t, test.want, tree.CommonAncestor(test.a, test.b), "%v", test)
		require.Equal(t, test.want, tree.CommonAncestor(test.b, test.a), "%v", test)
		require.Equal(t, test.want == test.a, tree.Contains(test.a, test.b), "%v", test)
	}
}

// TestLookupUnknown has paths that no queue has.
func TestLookupUnknown(t *testing.T) {
	tree := mustNew(t, forest, strict)
	for _, path := range []string{
		"", ".", "a", "roo", "Root", "root.", ".root", "root..a", "root.a.", "root.c", "root.x", "root.a.x.y", "root.a.y.z.z", "root.root", "root a",
	} {
		_, ok := tree.Lookup(path)
		require.False(t, ok, "%q", path)
	}
}

// TestStop shows that a loop may end early.
func TestStop(t *testing.T) {
	tree := mustNew(t, forest, strict)
	for name, seq := range map[string]func(func(ID) bool){
		"Ancestors": tree.Ancestors(4), "Children": tree.Children(Root), "Leaves": tree.Leaves(Root),
	} {
		n := 0
		for range seq {
			if n++; n == 2 {
				break
			}
		}
		require.Equal(t, 2, n, name)
	}
}

// TestAgain shows that a sequence says the same when it is ranged over again.
func TestAgain(t *testing.T) {
	tree := mustNew(t, forest, strict)
	for name, seq := range map[string]iter.Seq[ID]{
		"Ancestors": tree.Ancestors(4), "Children": tree.Children(Root), "Leaves": tree.Leaves(Root),
	} {
		first := slices.Collect(seq)
		require.Greater(t, len(first), 1, name)
		require.Equal(t, first, slices.Collect(seq), name)
	}
}

// TestZeroTree shows what can be asked of a tree without queues.
func TestZeroTree(t *testing.T) {
	var tree Tree
	require.Zero(t, tree.Len())
	require.Empty(t, tree.Warnings())
	require.Empty(t, all(&tree))
	require.Empty(t, tree.String())
	_, ok := tree.Lookup("")
	require.False(t, ok)
	require.Zero(t, tree.Clone().Len())
}

// TestForeignID shows that the queue of another tree, where it can be told, is
// a panic and never the amounts of some other queue.
func TestForeignID(t *testing.T) {
	small := mustNew(t, node("root", "gpu=1", "gpu=2", node("a", "gpu=1", "")), lenient)
	for _, tree := range []*Tree{small, small.Clone()} {
		for _, q := range []ID{-1, 2, 100} {
			for name, f := range map[string]func(){
				"Usage":         func() { tree.Usage(q) },
				"Leaving":       func() { tree.Leaving(q) },
				"Effective":     func() { tree.Effective(nil, q) },
				"Guaranteed":    func() { tree.Guaranteed(q) },
				"Max":           func() { tree.Max(q) },
				"Surplus":       func() { tree.Surplus(nil, q) },
				"Headroom":      func() { tree.Headroom(limit(""), q) },
				"Governing":     func() { tree.Governing(q, 0) },
				"Add":           func() { _ = tree.Add(q, nil) },
				"Remove":        func() { _ = tree.Remove(q, nil) },
				"Mark":          func() { _ = tree.Mark(q, nil) },
				"Unmark":        func() { _ = tree.Unmark(q, nil) },
				"SetMax":        func() { _ = tree.SetMax(q, limit("")) },
				"SetGuaranteed": func() { _ = tree.SetGuaranteed(q, limit("")) },
				"Path":          func() { tree.Path(q) },
				"IsLeaf":        func() { tree.IsLeaf(q) },
				"Policies":      func() { tree.Policies(q) },
			} {
				require.Panics(t, f, "%s(%d)", name, q)
			}
		}
	}
}

// TestString has a tree with everything that a picture shows.
func TestString(t *testing.T) {
	tree := mustNew(t, node("root", "", "gpu=20",
		node("tenant", "gpu=5 disk=0", "", node("web", "", "disk=3")),
		node("b", "gpu=10", "gpu=20")), lenient)
	web, b := mustLookup(t, tree, "root.tenant.web"), mustLookup(t, tree, "root.b")
	require.NoError(t, tree.Add(web, vector("gpu=6 disk=1")))
	require.NoError(t, tree.Add(b, vector("disk=1")))
	require.NoError(t, tree.Mark(web, vector("gpu=2")))
	const want = `root     used gpu=6 disk=2 leaving gpu=2 max gpu=20
  tenant used gpu=6 disk=1 leaving gpu=2 guaranteed gpu=5 disk=0
    web  used gpu=6 disk=1 leaving gpu=2 max disk=3
  b      used disk=1 guaranteed gpu=10 max gpu=20
`
	require.Equal(t, want, tree.String())
	require.Equal(t, want, fmt.Sprint(tree))

	odd := mustNew(t, node("root", "", "", node("größe", "", ""), node("a\nb", "", "")), lenient)
	require.Equal(t, "root     used none\n  größe  used none\n  \"a\\nb\" used none\n", odd.String())

	empty := mustNew(t, node("root", "", "", node("a", "", "")), lenient)
	require.Equal(t, "root used none\n  a  used none\n", empty.String())
}
