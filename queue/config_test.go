// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/resources"
)

var newTests = []struct {
	name string
	root Config
	errs []string // of a lenient tree
	// over is what a strict tree reports in place of errs, where that is more.
	// Where errs is empty a lenient tree has it as warnings.
	over []string
}{
	{name: "a queue alone", root: node("root", "", "")},
	{name: "bounds that just fit", root: node("root", "gpu=4", "gpu=4",
		node("a", "gpu=3", "gpu=4"), node("b", "gpu=1", "gpu=1"))},
	{name: "bounds of 0", root: node("root", "gpu=0", "gpu=0", node("a", "gpu=0", "gpu=0"))},
	{name: "the same name on several levels", root: node("a", "", "", node("a", "", "", node("a", "", "")))},

	// Names.
	{name: "no name", root: node("", "", ""),
		errs: []string{`queue: "": bad name: empty`}},
	{name: "child without name", root: node("root", "", "", node("", "", "")),
		errs: []string{`queue: root.: bad name: empty`}},
	{name: "dot in a name", root: node("root", "", "", node("a.b", "", "")),
		errs: []string{`queue: root.a.b: bad name: "a.b" contains a dot`}},
	{name: "control characters", root: node("root", "gpu=-1", "", node("a\nb", "gpu=-2", "")),
		errs: []string{`queue: root: negative bound: guaranteed gpu -1`, `queue: "root.a\nb": negative bound: guaranteed gpu -2`}},
	{name: "name given twice", root: node("root", "", "", node("a", "", ""), node("b", "", ""), node("a", "", "")),
		errs: []string{`queue: root: bad name: more than one child named "a"`}},
	{name: "name given three times", root: node("root", "", "", node("a", "", ""), node("a", "", ""), node("a", "", "")),
		errs: []string{`queue: root: bad name: more than one child named "a"`}},

	// Bounds of one queue.
	{name: "negative bounds", root: node("root", "gpu=-1", "disk=-2"),
		errs: []string{
			`queue: root: negative bound: guaranteed gpu -1`,
			`queue: root: negative bound: max disk -2`,
		}},
	{name: "guaranteed above max", root: node("root", "", "", node("a", "gpu=2 disk=1", "gpu=1 disk=1")),
		errs: []string{`queue: root.a: guaranteed above max: gpu: guaranteed 2, max 1`}},
	{name: "guaranteed above a max of 0", root: node("root", "gpu=1", "gpu=0"),
		errs: []string{`queue: root: guaranteed above max: gpu: guaranteed 1, max 0`}},
	{name: "guaranteed without max, max without guaranteed", root: node("root", "gpu=2", "disk=1")},
	{name: "type that is not in the schema", root: Config{Name: "root",
		Guaranteed: resources.Limit{Defined: 1 << 2}, Max: resources.Limit{Defined: 1 << 63}},
		errs: []string{
			`queue: root: not a type: guaranteed of type 2 of 2`,
			`queue: root: not a type: max of type 63 of 2`,
		}},

	// Bounds of a queue and its children.
	{name: "max above the parent's", root: node("root", "", "gpu=4", node("a", "", "gpu=5"), node("b", "", "gpu=4"), node("c", "", "gpu=6")),
		over: []string{
			`queue: root: over-committed: gpu: max 5 of child "a" is above the max 4`,
			`queue: root: over-committed: gpu: max 6 of child "c" is above the max 4`,
		}},
	{name: "max above the grandparent's alone", root: node("root", "", "gpu=4", node("a", "", "", node("b", "", "gpu=5")))},
	{name: "guarantees above the parent's", root: node("root", "gpu=4", "", node("a", "gpu=2", ""), node("b", "gpu=3", "")),
		over: []string{`queue: root: over-committed: gpu: children are guaranteed 5 of the guaranteed 4`}},
	{name: "guarantees above the parent's max", root: node("root", "", "gpu=4", node("a", "gpu=2", ""), node("b", "gpu=3", "")),
		over: []string{`queue: root: over-committed: gpu: children are guaranteed 5 of the max 4`}},
	{name: "guarantees of a type that the parent does not guarantee", root: node("root", "disk=4", "", node("a", "gpu=9", ""))},
	{name: "guarantees above int64", root: node("root", "gpu=9223372036854775807", "",
		node("a", "gpu=9223372036854775807", ""), node("b", "gpu=1", "")),
		over: []string{`queue: root: over-committed: gpu: children are guaranteed more than 9223372036854775807 of the guaranteed 9223372036854775807`}},

	{name: "everything at once, in tree order",
		root: with(node("root", "gpu=5 disk=9", "gpu=7",
			node("a", "gpu=3", "gpu=8", node("", "gpu=-9", "")),
			with(node("b", "gpu=5 disk=3", "gpu=4", node("x", "disk=4", ""), node("x.y", "", "gpu=-1")), "priority.offset", "high"),
			node("a", "disk=7", "")), "preemption.policy", "fence"),
		errs: []string{
			`queue: root: bad name: more than one child named "a"`,
			`queue: root.a.: bad name: empty`,
			`queue: root.a.: negative bound: guaranteed gpu -9`,
			`queue: root.b: guaranteed above max: gpu: guaranteed 5, max 4`,
			`queue: root.b.x.y: bad name: "x.y" contains a dot`,
			`queue: root.b.x.y: negative bound: max gpu -1`,
		},
		over: []string{
			`queue: root: over-committed: gpu: max 8 of child "a" is above the max 7`,
			`queue: root: over-committed: gpu: children are guaranteed 8 of the guaranteed 5`,
			`queue: root: over-committed: gpu: children are guaranteed 8 of the max 7`,
			`queue: root: over-committed: disk: children are guaranteed 10 of the guaranteed 9`,
			`queue: root: bad name: more than one child named "a"`,
			`queue: root.a.: bad name: empty`,
			`queue: root.a.: negative bound: guaranteed gpu -9`,
			`queue: root.b: bad property: priority.offset "high": want a 32-bit integer`,
			`queue: root.b: guaranteed above max: gpu: guaranteed 5, max 4`,
			`queue: root.b: over-committed: disk: children are guaranteed 4 of the guaranteed 3`,
			`queue: root.b.x.y: bad name: "x.y" contains a dot`,
			`queue: root.b.x.y: negative bound: max gpu -1`,
		}},
}

func TestNew(t *testing.T) {
	for _, test := range newTests {
		t.Run(test.name, func(t *testing.T) {
			tree, err := NewLenient(schema, test.root)
			require.Equal(t, test.errs, texts(err))
			require.Equal(t, err != nil, tree == nil)
			if err == nil {
				require.Equal(t, test.over, texts(tree.Warnings()...))
			}

			want := test.errs
			if test.over != nil {
				want = test.over
			}
			tree, err = New(schema, test.root)
			require.Equal(t, want, texts(err))
			require.Equal(t, err != nil, tree == nil)
			if err == nil {
				require.Empty(t, tree.Warnings())
			}
		})
	}
}

// TestKinds has every kind of problem, for errors.Is.
func TestKinds(t *testing.T) {
	for _, test := range []struct {
		root Config
		kind error
	}{
		{node("", "", ""), errName},
		{chain(65), errDepth},
		{Config{Name: "root", Max: resources.Limit{Defined: 1 << 2}}, lent.ErrType},
		{node("root", "", "gpu=-1"), lent.ErrNegative},
		{node("root", "gpu=1", "gpu=0"), lent.ErrAboveMax},
		{node("root", "gpu=1", "", node("a", "gpu=2", "")), lent.ErrOverCommitted},
	} {
		t.Run(test.kind.Error(), func(t *testing.T) {
			_, err := New(schema, test.root)
			require.ErrorIs(t, err, test.kind)
			var p *lent.Problem
			require.ErrorAs(t, err, &p)
			require.Equal(t, test.root.Name, strings.Split(p.Queue, ".")[0])
		})
	}
}

// chain returns a configuration of so many levels.
func chain(levels int) Config {
	c := node(fmt.Sprintf("q%d", levels), "", "")
	for l := levels - 1; l > 0; l-- {
		c = node(fmt.Sprintf("q%d", l), "", "", c)
	}
	return c
}

func TestDepth(t *testing.T) {
	tree := mustNew(t, chain(64), strict)
	require.Equal(t, 64, tree.Len())
	require.Equal(t, 63, strings.Count(tree.Path(63), "."))
	require.True(t, strings.HasSuffix(tree.Path(63), ".q63.q64"), tree.Path(63))

	for _, levels := range []int{65, 66, 100} { // only the first level too many is reported
		_, err := NewLenient(schema, chain(levels))
		require.ErrorIs(t, err, errDepth)
		list := texts(err)
		require.Len(t, list, 1)
		require.True(t, strings.HasSuffix(list[0], ".q64.q65: too deep: more than 64 levels"), list[0])
	}
}

// TestCount has a builder whose numbers end early: the largest tree that there
// may be takes too much memory for a test.
func TestCount(t *testing.T) {
	root := node("root", "", "", node("a", "", "", node("x", "", "")), node("b", "", "", node("y", "", "")), node("c", "", ""))
	b := builder{tree: &Tree{schema: schema}, most: 6}
	tree, err := b.build(&root)
	require.NoError(t, err)
	require.Equal(t, 6, tree.Len())

	b = builder{tree: &Tree{schema: schema}, most: 3}
	_, err = b.build(&root)
	require.ErrorIs(t, err, errCount)
	require.Equal(t, []string{`queue: root.b: too many queues: more than 3`}, texts(err))
}

// TestNewCopies shows that a configuration may be changed once the tree is made.
func TestNewCopies(t *testing.T) {
	root := with(node("root", "gpu=1", "gpu=2", node("a", "gpu=1", "")), propertyPriorityOffset, "5")
	tree := mustNew(t, root, lenient)
	before := tree.String()
	root.Guaranteed.Value[0], root.Max.Value[0] = 7, 8
	root.Children[0] = node("b", "gpu=9", "")
	root.Properties[propertyPriorityOffset] = "6"
	require.Equal(t, before, tree.String())
	require.EqualValues(t, 5, *tree.Policies(Root).PriorityOffset)
}

// TestWarningsCopies shows that the warnings are the caller's.
func TestWarningsCopies(t *testing.T) {
	tree := mustNew(t, with(node("root", "", ""), propertyPriorityOffset, "high"), lenient)
	tree.Warnings()[0] = nil
	require.Equal(t, []string{`queue: root: bad property: priority.offset "high": want a 32-bit integer`}, texts(tree.Warnings()...))
}

// TestErrConfig shows that errors are of one of two kinds, and which.
func TestErrConfig(t *testing.T) {
	_, err := New(schema, with(node("root", "gpu=1", "gpu=0", node("a.b", "", "")), "fair.weight", "0"))
	require.ErrorIs(t, err, ErrConfig)
	require.NotErrorIs(t, err, ErrReadOnly)
	for _, problem := range err.(interface{ Unwrap() []error }).Unwrap() {
		require.ErrorIs(t, problem, ErrConfig)
	}
	tree := mustNew(t, node("root", "", ""), lenient)
	require.ErrorIs(t, tree.Add(Root, vector("gpu=-1")), ErrConfig)
	require.ErrorIs(t, tree.SetMax(Root, limit("gpu=-1")), ErrConfig)
	config := node("root", "", "")
	require.ErrorIs(t, config.Add("root.x", Config{}), ErrConfig)
	tree.in().ReadOnly = true
	require.ErrorIs(t, tree.Add(Root, nil), ErrReadOnly)
	require.NotErrorIs(t, tree.Add(Root, nil), ErrConfig)
	require.NoError(t, tree.Clone().Add(Root, nil))
}
