// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"iter"

	"github.com/go-preempt/preempt/queue"
)

// Root returns the fence root of leaf. The cost is the depth.
func Root(t *queue.Tree, leaf queue.ID) queue.ID {
	for q := leaf; ; {
		if t.Policies(q).Preemption == queue.Fence {
			return q
		}
		parent, ok := t.Parent(q)
		if !ok {
			return q
		}
		q = parent
	}
}

// Reach yields, in tree order, the leaves whose tasks an ask of leaf may take: those below
// its fence root, except leaf itself and disabled ones.
func Reach(t *queue.Tree, leaf queue.ID) iter.Seq[queue.ID] {
	return func(yield func(queue.ID) bool) {
		for w := range t.Leaves(Root(t, leaf)) {
			if w != leaf && t.Policies(w).Preemption != queue.Disabled && !yield(w) {
				return
			}
		}
	}
}

// A Priority is where a task is, and its raw priority there.
type Priority struct {
	Leaf queue.ID
	Raw  int32
}

// Rank returns by how much the effective priority of a task is above that of an ask. By law
// 6 the ask takes tasks of rank 0 or less; with StrictPriority, of less than 0. To
// order tasks of several leaves, sort by their ranks against one ask: ranks of tasks against each other do
// not order them. The cost is the depth.
func Rank(t *queue.Tree, task, ask Priority) int64 {
	c := t.CommonAncestor(task.Leaf, ask.Leaf)
	return task.below(t, c) - ask.below(t, c)
}

// below returns the effective priority below a queue of the path; the raw priority if that
// is the leaf.
func (p Priority) below(t *queue.Tree, ancestor queue.ID) int64 {
	effective := int64(p.Raw)
	for q := range t.Ancestors(p.Leaf) {
		if q == ancestor {
			break
		}
		policies := t.Policies(q)
		if policies.PriorityFence == "fence" {
			effective = 0
		}
		effective += int64(*policies.PriorityOffset)
	}
	return effective
}
