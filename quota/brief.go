package quota

import (
	"time"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// brief is what one enforcement is asked to do. It does not change once it
// stands. All that works on the enforcement can read it.
//
// Blocks have a row of amounts for each queue of the subtree of q, in tree
// order. Amounts of different tasks never sum to more than the cluster's usage,
// which fits int64.
type brief struct {
	e    *Enforcer
	c    *victims.Cluster
	tree *queue.Tree
	q    queue.ID
	now  time.Time

	types  int
	usage  resources.Vector // effective usage of q
	target resources.Vector // Preemptable of it
	list   []int            // the types of the target, ascending
	wanted resources.Mask   // the same as a set
}

// set states what has to go, and which types that are.
func (b *brief) set(e *Enforcer, quota Quota) {
	b.e, b.c, b.tree, b.q = e, e.Cluster, e.Cluster.Tree(), quota.Queue
	b.types = b.tree.Schema().Len()
	b.usage = b.tree.Effective(b.usage, b.q)
	b.target = Preemptable(b.target, quota.Max, b.usage)
	b.wanted = resources.Positive(b.target)
	b.list = b.list[:0]
	for t := range b.wanted.All() {
		b.list = append(b.list, t)
	}
}

// len returns the number of queues that are enforced: q and those below it.
func (b *brief) len() int { return int(b.tree.End(b.q) - b.q) }

// block returns a block of zeros, in the memory of an old one.
func (b *brief) block(old []int64) []int64 { return rows.Zeros(old, b.len()*b.types) }

// row returns the amounts of a queue in a block.
func (b *brief) row(block []int64, p queue.ID) resources.Vector {
	return rows.At(block, int(p-b.q), b.types)
}

// isAny reports whether amounts of the target's types are not all zero.
func (b *brief) isAny(amounts resources.Vector) bool {
	for _, t := range b.list {
		if amounts[t] > 0 {
			return true
		}
	}
	return false
}

// within reports whether a size is at most what there is, in the types of the
// target.
func (b *brief) within(size, most resources.Vector) bool {
	for _, t := range b.list {
		if size[t] > most[t] {
			return false
		}
	}
	return true
}

// serves reports whether a task of this size can serve a goal.
func (b *brief) serves(goal, size resources.Vector) bool {
	for _, t := range b.list {
		if goal[t] > 0 && size[t] > 0 {
			return true
		}
	}
	return false
}

// limitExactly lowers room to a goal in the types of the target, if no more may
// be freed than that.
func (b *brief) limitExactly(room, goal resources.Vector) {
	if b.e.Overshoot != Exact {
		return
	}
	for _, t := range b.list {
		room[t] = min(room[t], goal[t])
	}
}
