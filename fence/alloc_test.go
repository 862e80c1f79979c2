// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"testing"

	"github.com/go-preempt/preempt/queue"
)

var (
	sinkID  queue.ID
	sinkInt int
)

// TestNoAllocs shows that nothing allocates.
func TestNoAllocs(t *testing.T) {
	tree := mustNew(t, node("root", nil,
		node("t", set("fence"), node("a", set("+1")), node("b", nil, node("x", nil))), node("s", set("=5"))))
	a, x := mustLookup(t, tree, "root.t.a"), mustLookup(t, tree, "root.t.b.x")

	for _, test := range []struct {
		name string
		f    func()
	}{
		{"Root", func() { sinkID = Root(tree, x) }},
		{"Rank", func() { sinkInt = int(Rank(tree, Priority{x, 1}, Priority{a, 2})) }},
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
