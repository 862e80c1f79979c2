// SPDX-License-Identifier: Apache-2.0

// Package trees is what the library does with trees of package queue, and users cannot: it
// owns them, copies them into each other's memory, saves them, and shows them with fewer
// guarantees.
package trees

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// Own takes a tree over: only the returned tree can change it, and the old one shows all
// changes. Attempts to change the old one, or to own it again, wrap
// [queue.ErrReadOnly]. A clone belongs to nobody.
func Own(t *queue.Tree) (*queue.Tree, error) {
	if lent.Of(t).ReadOnly {
		return nil, queue.ErrReadOnly
	}
	own := *t
	lent.Of(t).ReadOnly = true
	return &own, nil
}

// Show makes view a read-only tree that shows t, which [Own] has returned.
func Show(t, view *queue.Tree) {
	*view = *t
	lent.Of(view).ReadOnly = true
}

// Counting returns t if types is nil. Else it returns view, made a read-only tree that
// shows t with guarantees in these types only: [queue.Tree.Guaranteed] and all that follows
// from it is as if no other type was guaranteed. So planners with different types can share
// one tree. If rows of t move, as by [CopyFrom], call it again. The error says of a type
// beyond the schema, which is ignored, that there is none.
func Counting(t, view *queue.Tree, types *resources.Mask) (counting *queue.Tree, err error) {
	if types == nil {
		return t, nil
	}
	for i := range types.All() {
		if i >= t.Schema().Len() {
			err = fmt.Errorf("%w: type %d of %d is to be scarce", queue.ErrConfig, i, t.Schema().Len())
			break
		}
	}
	Show(t, view)
	lent.Of(view).Ignored |= ^*types
	return view, err
}

// CopyFrom makes t a clone of u, in the memory of t. If another tree shows t, call [Show]
// again.
func CopyFrom(t, u *queue.Tree) {
	if t == u {
		return
	}
	mine := *lent.Of(t)
	*t = *u
	x := lent.Of(t)
	*x = mine
	x.CopyFrom(lent.Of(u))
}

// Queues stand for the queues of a tree: clones and views have the same, and no other tree has.
type Queues struct{ first *int32 }

// QueuesOf returns what stands for the queues of t.
func QueuesOf(t *queue.Tree) Queues { return Queues{&lent.Of(t).Ends[0]} }

// End returns the ID after the last queue of the subtree of q.
func End(t *queue.Tree, q queue.ID) queue.ID { return queue.ID(lent.Of(t).Ends[q]) }

// Depth returns the number of queues above q: 0 for the root.
func Depth(t *queue.Tree, q queue.ID) int { return strings.Count(t.Path(q), ".") }

// Name returns the queue's own name: the end of its path.
func Name(t *queue.Tree, q queue.ID) string {
	path := t.Path(q)
	return path[strings.LastIndexByte(path, '.')+1:]
}
