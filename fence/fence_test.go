// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
)

// Who reaches whom, leaf by leaf: the fence root, and the reach by last names.
var reachTests = []struct {
	name  string
	root  queue.Config
	reach map[string]string // leaf: fence root: reach
}{
	{
		name: "no fence",
		root: node("root", nil, node("a", nil, node("x", nil), node("y", nil)), node("b", nil)),
		reach: map[string]string{
			"root.a.x": "root: root.a.y root.b",
			"root.a.y": "root: root.a.x root.b",
			"root.b":   "root: root.a.x root.a.y",
		},
	},
	{
		name: "a fence on the asking leaf leaves no one",
		root: node("root", nil, node("a", set("fence")), node("b", nil)),
		reach: map[string]string{
			"root.a": "root.a:",
			"root.b": "root: root.a", // it does not stop looking in
		},
	},
	{
		name: "nested fences",
		root: node("root", nil,
			node("t", set("fence"),
				node("u", set("fence"), node("a", nil), node("b", nil)),
				node("c", nil), node("e", nil)),
			node("s", nil)),
		reach: map[string]string{
			"root.t.u.a": "root.t.u: root.t.u.b",
			"root.t.u.b": "root.t.u: root.t.u.a",
			"root.t.c":   "root.t: root.t.u.a root.t.u.b root.t.e",
			"root.t.e":   "root.t: root.t.u.a root.t.u.b root.t.c",
			"root.s":     "root: root.t.u.a root.t.u.b root.t.c root.t.e",
		},
	},
	{
		name:  "a fence on the root has no effect",
		root:  node("root", set("fence"), node("a", nil), node("b", nil)),
		reach: map[string]string{"root.a": "root: root.b", "root.b": "root: root.a"},
	},
	{
		name: "disabled inside a fence",
		root: node("root", nil,
			node("t", set("fence"),
				node("d", set("disabled"), node("d1", nil), node("d2", set("fence"))),
				node("b", nil)),
			node("s", nil)),
		reach: map[string]string{
			"root.t.d.d1": "root.t: root.t.d.d2 root.t.b", // it may ask all the same
			"root.t.d.d2": "root.t.d.d2:",
			"root.t.b":    "root.t: root.t.d.d2",
			"root.s":      "root: root.t.d.d2 root.t.b",
		},
	},
	{
		name: "disabled until a queue says otherwise",
		root: node("root", nil,
			node("d", set("disabled"), node("a", nil), node("m", set("default"), node("b", nil))),
			node("c", set("disabled")), node("e", nil)),
		reach: map[string]string{
			"root.d.a":   "root: root.d.m.b root.e",
			"root.d.m.b": "root: root.e",
			"root.c":     "root: root.d.m.b root.e",
			"root.e":     "root: root.d.m.b",
		},
	},
	{
		name:  "disabled on the root has no effect",
		root:  node("root", set("disabled"), node("a", nil), node("b", nil)),
		reach: map[string]string{"root.a": "root: root.b", "root.b": "root: root.a"},
	},
	{
		name:  "one queue",
		root:  node("root", nil),
		reach: map[string]string{"root": "root:"},
	},
	{
		name:  "names that begin alike",
		root:  node("root", nil, node("a", set("fence"), node("x", nil), node("y", nil)), node("ab", nil), node("aba", nil)),
		reach: map[string]string{"root.a.x": "root.a: root.a.y", "root.a.y": "root.a: root.a.x", "root.ab": "root: root.a.x root.a.y root.aba", "root.aba": "root: root.a.x root.a.y root.ab"},
	},
}

func TestReach(t *testing.T) {
	for _, test := range reachTests {
		t.Run(test.name, func(t *testing.T) {
			tree := mustNew(t, test.root)
			got := make(map[string]string)
			for leaf := range tree.Leaves(queue.Root) {
				words := []string{tree.Path(Root(tree, leaf)) + ":"}
				for w := range Reach(tree, leaf) {
					words = append(words, tree.Path(w))
				}
				got[tree.Path(leaf)] = strings.Join(words, " ")
			}
			require.Equal(t, test.reach, got)
		})
	}
}

// TestStop shows that a loop may end early.
func TestStop(t *testing.T) {
	tree := mustNew(t, node("root", nil, node("a", nil, node("x", nil)), node("b", nil), node("c", nil)))
	x := mustLookup(t, tree, "root.a.x")
	n := 0
	for range Reach(tree, x) {
		if n++; n == 1 {
			break
		}
	}
	require.Equal(t, 1, n)
}
