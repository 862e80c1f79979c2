// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"testing"

	"github.com/go-preempt/preempt/queue"
)

var (
	sinkID   queue.ID
	sinkLift Lift
	sinkInt  int
	sinkBool bool
)

// TestNoAllocs shows that nothing allocates once a View has seen a tree.
func TestNoAllocs(t *testing.T) {
	tree := mustNew(t, node("root", nil,
		node("t", set("fence"), node("a", set("+1")), node("b", nil, node("x", nil))), node("s", set("=5"))))
	small := mustNew(t, node("root", nil, node("a", nil)))
	a, x := mustLookup(t, tree, "root.t.a"), mustLookup(t, tree, "root.t.b.x")
	var v View
	v.Reset(tree, a)

	for _, test := range []struct {
		name string
		f    func()
	}{
		{"Root", func() { sinkID = Root(tree, x) }},
		{"LiftTo", func() { sinkLift = liftTo(tree, x, queue.Root) }},
		{"Compare", func() { sinkInt = Compare(tree, Priority{x, 1}, Priority{a, 2}) }},
		{"View.Reset", func() { v.Reset(tree, x) }},
		{"View.Reset/of a smaller tree", func() { v.Reset(small, 1); v.Reset(tree, x) }},
		{"View.Inside", func() { sinkBool = v.Inside(a) }},
		{"View.Rank", func() { sinkLift = v.Rank(a, 7) }},
		{"Reach", func() {
			for q := range Reach(tree, x) {
				sinkID += q
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, test.f); n != 0 {
				t.Errorf("%v allocations, want 0", n)
			}
		})
	}
}
