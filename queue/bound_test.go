// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/resources"
)

// bounded is the tree of the table below. It just fits.
var bounded = node("root", "gpu=6", "gpu=8",
	node("a", "gpu=4", "gpu=6", node("x", "gpu=3", "gpu=5"), node("y", "gpu=1", "")),
	node("b", "gpu=2", "gpu=8"))

// A boundTest sets one bound of bounded.
type boundTest struct {
	name  string
	queue string
	limit resources.Limit
	errs  []string // of a lenient tree, which refuses only what is wrong in the queue itself
	over  []string // of a strict tree, where that is more
}

var maxTests = []boundTest{
	{name: "raise max", queue: "root.a", limit: limit("gpu=8")},
	{name: "no max", queue: "root.a"},
	{name: "max of another type", queue: "root.a", limit: limit("disk=1")},
	{name: "lower max to the guarantee", queue: "root.b", limit: limit("gpu=2")},
	{name: "lower max below the guarantee", queue: "root.b", limit: limit("gpu=1"),
		errs: []string{`queue: root.b: guaranteed above max: gpu: guaranteed 2, max 1`}},
	{name: "lower max below a child's", queue: "root.a", limit: limit("gpu=4"),
		over: []string{`queue: root.a: over-committed: gpu: max 5 of child "x" is above the max 4`}},
	{name: "lower the root's max", queue: "root", limit: limit("gpu=6"),
		over: []string{`queue: root: over-committed: gpu: max 8 of child "b" is above the max 6`}},
	{name: "raise max above the parent's", queue: "root.a", limit: limit("gpu=9"),
		over: []string{`queue: root: over-committed: gpu: max 9 of child "a" is above the max 8`}},
	{name: "negative max", queue: "root.a", limit: limit("gpu=-1"),
		errs: []string{`queue: root.a: negative bound: max gpu -1`}},
	{name: "max of an unknown type", queue: "root.a", limit: resources.Limit{Defined: 1 << 7},
		errs: []string{`queue: root.a: not a type: max of type 7 of 2`}},
	{name: "wrong in itself, above and below", queue: "root.a", limit: limit("gpu=3 disk=-1"),
		errs: []string{
			`queue: root.a: negative bound: max disk -1`,
			`queue: root.a: guaranteed above max: gpu: guaranteed 4, max 3`,
		},
		over: []string{
			`queue: root.a: negative bound: max disk -1`,
			`queue: root.a: guaranteed above max: gpu: guaranteed 4, max 3`,
			`queue: root.a: over-committed: gpu: max 5 of child "x" is above the max 3`,
			`queue: root.a: over-committed: gpu: children are guaranteed 4 of the max 3`,
		}},
}

var guaranteedTests = []boundTest{
	{name: "lower guarantee", queue: "root.b", limit: limit("gpu=0")},
	{name: "no guarantee", queue: "root.a"},
	{name: "guarantee of another type", queue: "root.b", limit: limit("gpu=2 disk=5")},
	{name: "raise guarantee to the max", queue: "root", limit: limit("gpu=8")},
	{name: "raise guarantee above the max", queue: "root", limit: limit("gpu=9"),
		errs: []string{`queue: root: guaranteed above max: gpu: guaranteed 9, max 8`}},
	{name: "siblings together above the parent's", queue: "root.b", limit: limit("gpu=3"),
		over: []string{`queue: root: over-committed: gpu: children are guaranteed 7 of the guaranteed 6`}},
	{name: "siblings together above the parent's max, too", queue: "root.b", limit: limit("gpu=5"),
		over: []string{
			`queue: root: over-committed: gpu: children are guaranteed 9 of the guaranteed 6`,
			`queue: root: over-committed: gpu: children are guaranteed 9 of the max 8`,
		}},
	{name: "lower guarantee below the children's", queue: "root.a", limit: limit("gpu=3"),
		over: []string{`queue: root.a: over-committed: gpu: children are guaranteed 4 of the guaranteed 3`}},
	{name: "guarantees without a bound above", queue: "root.a.x", limit: limit("disk=9")},
	{name: "negative guarantee", queue: "root.a.x", limit: limit("gpu=-3 disk=-4"),
		errs: []string{
			`queue: root.a.x: negative bound: guaranteed gpu -3`,
			`queue: root.a.x: negative bound: guaranteed disk -4`,
		}},
}

func TestSetMax(t *testing.T) {
	for _, test := range maxTests {
		t.Run(test.name, func(t *testing.T) { test.run(t, (*Tree).SetMax, (*Tree).Max) })
	}
}

func TestSetGuaranteed(t *testing.T) {
	for _, test := range guaranteedTests {
		t.Run(test.name, func(t *testing.T) { test.run(t, (*Tree).SetGuaranteed, (*Tree).Guaranteed) })
	}
}

func (test boundTest) run(t *testing.T, set func(*Tree, ID, resources.Limit) error, read func(*Tree, ID) resources.Limit) {
	over := test.over
	if over == nil {
		over = test.errs
	}
	for _, mode := range []struct {
		mode bool
		errs []string
	}{{lenient, test.errs}, {strict, over}} {
		tree := mustNew(t, bounded, mode.mode)
		q := mustLookup(t, tree, test.queue)
		before, other := tree.String(), tree.Clone()
		err := set(tree, q, test.limit)
		require.Equal(t, mode.errs, texts(err))
		if err != nil {
			require.Equal(t, before, tree.String())
			continue
		}
		require.True(t, read(tree, q).Equal(test.limit), "%v", read(tree, q))
		require.NotEqual(t, before, tree.String())
		require.Equal(t, before, other.String(), "a clone changes, too")
	}
}

// TestSetCopies shows that a limit may be changed once it is set, and may be a
// view of the tree.
func TestSetCopies(t *testing.T) {
	tree := mustNew(t, bounded, lenient)
	a, b := mustLookup(t, tree, "root.a"), mustLookup(t, tree, "root.b")
	l := limit("gpu=7")
	require.NoError(t, tree.SetMax(a, l))
	l.Value[0] = 9
	require.Equal(t, limit("gpu=7"), tree.Max(a))

	require.NoError(t, tree.SetMax(a, tree.Max(b)))
	require.NoError(t, tree.SetMax(b, limit("gpu=3")))
	require.Equal(t, limit("gpu=8"), tree.Max(a))
	require.NoError(t, tree.SetGuaranteed(a, tree.Guaranteed(a)))
	require.Equal(t, limit("gpu=4"), tree.Guaranteed(a))
}

// What follows from bounds and usage, queue by queue. The tree uses
//
//	root                 gpu=13 disk=7
//	  a                  gpu=11 disk=2, of which gpu=2 leave
//	    x                gpu=4
//	    y                gpu=7 disk=2, of which gpu=2 leave
//	  b                  gpu=2 disk=5
var derivedTests = []struct {
	queue     string
	surplus   string
	headroom  string // of the bounded types alone
	governing [2]string
}{
	// gpu: 11 of 6 guaranteed and 12 at most.
	{"root", "gpu=5 disk=7", "gpu=1", [2]string{"root", ""}},
	// gpu: 9 of 20; disk: 2 of 3 at most.
	{"root.a", "gpu=0 disk=2", "gpu=1 disk=1", [2]string{"root.a", ""}},
	// gpu: 4 of 1 at most, for the max was lowered.
	{"root.a.x", "gpu=4 disk=0", "gpu=-3 disk=1", [2]string{"root.a", ""}},
	// gpu: 5 of 0, and a guarantee of 0 is one; disk: 2 of 2.
	{"root.a.y", "gpu=5 disk=0", "gpu=1 disk=1", [2]string{"root.a.y", "root.a.y"}},
	// disk: 5 of 4.
	{"root.b", "gpu=2 disk=1", "gpu=1", [2]string{"root", "root.b"}},
}

func TestDerived(t *testing.T) {
	tree := mustNew(t, node("root", "gpu=6", "gpu=12",
		node("a", "gpu=20", "disk=3", node("x", "", "gpu=1"), node("y", "gpu=0 disk=2", "")),
		node("b", "disk=4", "")), lenient)
	y := mustLookup(t, tree, "root.a.y")
	require.NoError(t, tree.Add(mustLookup(t, tree, "root.a.x"), vector("gpu=4")))
	require.NoError(t, tree.Add(y, vector("gpu=7 disk=2")))
	require.NoError(t, tree.Mark(y, vector("gpu=2")))
	require.NoError(t, tree.Add(mustLookup(t, tree, "root.b"), vector("gpu=2 disk=5")))

	for _, test := range derivedTests {
		t.Run(test.queue, func(t *testing.T) {
			q := mustLookup(t, tree, test.queue)
			require.Equal(t, vector(test.surplus), tree.Surplus(nil, q))
			require.Equal(t, limit(test.headroom), tree.Headroom(resources.Limit{}, q))
			for i, want := range test.governing {
				got := ""
				if g, ok := tree.Governing(q, i); ok {
					got = tree.Path(g)
				}
				require.Equal(t, want, got, schema.Name(i))
			}
			_, ok := tree.Governing(q, 2)
			require.False(t, ok, "a type that the schema does not have")
		})
	}
}

// TestDestinations shows that what was in a destination does not matter, and
// that its storage is used.
func TestDestinations(t *testing.T) {
	tree := mustNew(t, bounded, lenient)
	require.NoError(t, tree.Add(mustLookup(t, tree, "root.b"), vector("gpu=2 disk=5")))
	for _, n := range []int{0, 1, 2, 5} {
		junk := func() resources.Vector { return append(make(resources.Vector, 0, 5), 9, 9, 9, 9, 9)[:n] }
		dst := junk()
		require.Equal(t, vector("gpu=2 disk=5"), tree.Effective(dst, Root))
		require.Equal(t, vector("gpu=0 disk=5"), tree.Surplus(dst, Root))
		require.EqualValues(t, 5, dst[:2][1])
		require.Equal(t, limit("gpu=6"), tree.Headroom(resources.Limit{Value: dst, Defined: 1 << 9}, Root))
		require.EqualValues(t, 6, dst[:1][0])
	}
}
