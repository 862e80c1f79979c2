package fence

import (
	"iter"

	"github.com/go-preempt/preempt/queue"
)

// Root returns the fence root of leaf: the nearest queue from leaf upwards
// whose preemption policy is fence, else the root of the tree. Victims
// of leaf's asks live strictly below it, by law 7. The cost is linear in the depth.
func Root(t *queue.Tree, leaf queue.ID) queue.ID {
	for q := leaf; ; {
		if t.PreemptionPolicy(q) == queue.PreemptionFence {
			return q
		}
		parent, ok := t.Parent(q)
		if !ok {
			return q
		}
		q = parent
	}
}

// Reach yields, in tree order, the leaves whose tasks an ask of leaf may take:
// those below the fence root of leaf, except leaf itself and disabled ones.
// Use it to walk over the leaves once; a [View] answers for each of them at once.
// Nothing is allocated if the result is ranged over directly.
func Reach(t *queue.Tree, leaf queue.ID) iter.Seq[queue.ID] {
	return func(yield func(queue.ID) bool) {
		root := Root(t, leaf)
		for w := root + 1; w < t.End(root); w++ {
			if t.IsLeaf(w) && w != leaf && !t.Disabled(w) && !yield(w) {
				return
			}
		}
	}
}

// Path yields the queues from leaf up to its fence root, both included. Use it to
// ask what an ask of leaf can change at all: outside these queues and their
// subtrees it takes nothing.
func Path(t *queue.Tree, leaf queue.ID) iter.Seq[queue.ID] {
	return func(yield func(queue.ID) bool) {
		root := Root(t, leaf)
		for q := range t.Up(leaf) {
			if !yield(q) || q == root {
				return
			}
		}
	}
}
