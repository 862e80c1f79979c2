// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"cmp"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
)

const (
	lowest  = math.MinInt32
	highest = math.MaxInt32
)

// A task of one leaf and an ask of another, each with its raw priority and with
// what it is worth below the lowest queue that they have in common.
var priorityTests = []struct {
	name         string
	root         queue.Config
	victim       string
	priority     int32
	ask          string
	asks         int32
	theirs, ours int64
}{
	{name: "raw priorities", root: node("root", nil, node("a", nil), node("b", nil)),
		victim: "root.a", priority: 5, ask: "root.b", asks: 4, theirs: 5, ours: 4},
	{name: "one leaf", root: node("root", set("=9"), node("a", set("=7"))),
		victim: "root.a", priority: 5, ask: "root.a", asks: 4, theirs: 5, ours: 4},

	// Offsets.
	{name: "offsets of the leaves", root: node("root", nil, node("a", set("+5")), node("b", set("-1"))),
		victim: "root.a", priority: 1, ask: "root.b", asks: 1, theirs: 6, ours: 0},
	{name: "offset of the victim's parent", root: node("root", nil, node("t", set("-5"), node("a", nil)), node("s", nil, node("b", nil))),
		victim: "root.t.a", priority: 5, ask: "root.s.b", asks: 0, theirs: 0, ours: 0},
	{name: "offset of the ask's parent", root: node("root", nil, node("t", nil, node("a", nil)), node("s", set("+4"), node("b", nil))),
		victim: "root.t.a", priority: 5, ask: "root.s.b", asks: 0, theirs: 5, ours: 4},
	{name: "offsets at two depths", // -2 - 5 + 10 against 0 + 2
		root:   node("root", nil, node("t", set("+10"), node("u", set("-5"), node("a", nil))), node("s", set("+2"), node("b", nil))),
		victim: "root.t.u.a", priority: -2, ask: "root.s.b", asks: 0, theirs: 3, ours: 2},
	{name: "offset lifts to equal", root: node("root", nil, node("p", nil, node("b", nil)), node("q", set("+1000"), node("a", nil))),
		victim: "root.q.a", priority: -1000, ask: "root.p.b", asks: 0, theirs: 0, ours: 0},

	// The common ancestor and what is above it.
	{name: "offset up on the common ancestor", root: node("root", nil, node("p", set("+10"), node("a", nil), node("b", nil))),
		victim: "root.p.a", priority: 5, ask: "root.p.b", asks: 0, theirs: 5, ours: 0},
	{name: "offset down on the common ancestor", root: node("root", nil, node("p", set("-10"), node("a", nil), node("b", nil))),
		victim: "root.p.a", priority: 0, ask: "root.p.b", asks: 5, theirs: 0, ours: 5},
	{name: "fence on the root", root: node("root", set("=-50"), node("a", nil), node("b", nil)),
		victim: "root.a", priority: 1, ask: "root.b", asks: 0, theirs: 1, ours: 0},
	{name: "fence on the grandparent", root: node("root", nil, node("g", set("=3"), node("p", nil, node("a", set("+1")), node("b", nil)))),
		victim: "root.g.p.a", priority: 1, ask: "root.g.p.b", asks: 0, theirs: 2, ours: 0},
	{name: "inside t its offset does not count", root: node("root", nil, node("t", set("-10"), node("a", nil), node("b", nil)), node("s", nil)),
		victim: "root.t.a", priority: 5, ask: "root.t.b", asks: 5, theirs: 5, ours: 5},
	{name: "across it does", root: node("root", nil, node("t", set("-10"), node("a", nil), node("b", nil)), node("s", nil)),
		victim: "root.t.a", priority: 5, ask: "root.s", asks: -5, theirs: -5, ours: -5},

	// Fences.
	{name: "behind a fence a thousand counts as 0", root: node("root", nil, node("t", set("=0"), node("a", nil)), node("s", nil, node("b", nil))),
		victim: "root.t.a", priority: 1000, ask: "root.s.b", asks: 0, theirs: 0, ours: 0},
	{name: "the ask behind a fence", root: node("root", nil, node("t", nil, node("a", nil)), node("s", set("=-1"), node("b", nil))),
		victim: "root.t.a", priority: 0, ask: "root.s.b", asks: 1000, theirs: 0, ours: -1},
	{name: "both behind fences", root: node("root", nil, node("a", set("=2")), node("b", set("=3"))),
		victim: "root.a", priority: highest, ask: "root.b", asks: lowest, theirs: 2, ours: 3},
	{name: "offset above a fence", // 7 - 5
		root:   node("root", nil, node("t", set("-5"), node("u", set("=7"), node("a", nil))), node("s", nil, node("b", nil))),
		victim: "root.t.u.a", priority: -5000, ask: "root.s.b", asks: 1, theirs: 2, ours: 1},
	{name: "a fence forgets the offsets below it", root: node("root", nil, node("t", set("=1"), node("u", set("+1000"), node("a", nil))), node("s", nil, node("b", nil))),
		victim: "root.t.u.a", priority: 0, ask: "root.s.b", asks: 1, theirs: 1, ours: 1},
	{name: "a fence forgets the fence below it", root: node("root", nil, node("t", set("=1"), node("u", set("=9"), node("a", nil))), node("b", nil)),
		victim: "root.t.u.a", priority: 0, ask: "root.b", asks: 1, theirs: 1, ours: 1},
	{name: "offsets and fences in turn", // (= 4) + 3, forgotten, = 2, then - 1
		root:   node("root", nil, node("p", set("-1"), node("q", set("=2"), node("r", set("+3"), node("a", set("=4"))))), node("b", nil)),
		victim: "root.p.q.r.a", priority: 7, ask: "root.b", asks: 0, theirs: 1, ours: 0},
	{name: "a fence of nothing", // a policy without an offset
		root:   node("root", nil, node("a", []string{"priority.policy", "fence"}), node("b", nil)),
		victim: "root.a", priority: 5, ask: "root.b", asks: 0, theirs: 0, ours: 0},

	// The ends of the range.
	{name: "extremes do not wrap", root: node("root", nil,
		node("t", set(text(highest)), node("a", set(text(highest)))), node("s", nil, node("b", set(text(lowest))))),
		victim: "root.t.a", priority: highest, ask: "root.s.b", asks: lowest,
		theirs: 3 * 2147483647, ours: -2 * 2147483648},
	{name: "fences at the ends", root: node("root", nil, node("a", set("="+text(lowest))), node("b", set("="+text(highest)))),
		victim: "root.a", priority: 0, ask: "root.b", asks: 0, theirs: -2147483648, ours: 2147483647},
}

func TestPriority(t *testing.T) {
	for _, test := range priorityTests {
		t.Run(test.name, func(t *testing.T) {
			tree := mustNew(t, test.root)
			w, x := mustLookup(t, tree, test.victim), mustLookup(t, tree, test.ask)
			task, ask := Priority{w, test.priority}, Priority{x, test.asks}
			c := tree.CommonAncestor(w, x)
			require.Equal(t, test.theirs, task.below(tree, c))
			require.Equal(t, test.ours, ask.below(tree, c))
			require.Equal(t, test.theirs-test.ours, Rank(tree, task, ask))
			want := 0
			if test.theirs < test.ours {
				want = -1
			} else if test.theirs > test.ours {
				want = +1
			}
			require.Equal(t, want, cmp.Compare(Rank(tree, task, ask), 0))
			require.Equal(t, -want, cmp.Compare(Rank(tree, ask, task), 0))
		})
	}
}

// maxDepth is the number of levels that a tree may have.
const maxDepth = 64

// deepest is a root with two branches as deep as trees may be. Each of the 63
// queues below the root has the offset of its branch.
func deepest(up, down string) queue.Config {
	branch := func(name, offset string) queue.Config {
		c := node(fmt.Sprint(name, maxDepth), set(offset))
		for level := maxDepth - 1; level > 1; level-- {
			c = node(fmt.Sprint(name, level), set(offset), c)
		}
		return c
	}
	return node("root", set(up), branch("up", up), branch("down", down))
}

// TestDeepest has 63 offsets at one end of the range against 63 at the other.
func TestDeepest(t *testing.T) {
	tree := mustNew(t, deepest(text(highest), text(lowest)))
	var leaves []queue.ID
	for w := range tree.Leaves(queue.Root) {
		leaves = append(leaves, w)
		require.Equal(t, 63, trees.Depth(tree, w))
	}
	up, down := leaves[0], leaves[1]

	// 63 offsets and the priority itself are 64 times the end of the range. Its
	// ends are 2^31 - 1 and -2^31, and 64 * 2^31 is 2^37.
	const top, bottom int64 = 1<<37 - 64, -1 << 37
	high, low := Priority{up, highest}, Priority{down, lowest}
	require.Equal(t, top, high.below(tree, queue.Root))
	require.Equal(t, bottom, low.below(tree, queue.Root))
	require.Equal(t, top-bottom, Rank(tree, high, low))
	require.Equal(t, bottom-top, Rank(tree, low, high))
	require.Equal(t, +1, cmp.Compare(Rank(tree, high, low), 0))
}

// TestCompareIsNoOrder has two tasks behind a fence that differ, and a third one
// outside to which both are equal.
func TestCompareIsNoOrder(t *testing.T) {
	tree := mustNew(t, node("root", nil, node("t", set("=0"), node("a", nil), node("b", nil)), node("c", nil)))
	a, b, c := mustLookup(t, tree, "root.t.a"), mustLookup(t, tree, "root.t.b"), mustLookup(t, tree, "root.c")
	require.Equal(t, -1, cmp.Compare(Rank(tree, Priority{a, 1}, Priority{b, 2}), 0))
	require.Equal(t, 0, cmp.Compare(Rank(tree, Priority{a, 1}, Priority{c, 0}), 0))
	require.Equal(t, 0, cmp.Compare(Rank(tree, Priority{b, 2}, Priority{c, 0}), 0))
}
