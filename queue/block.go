package queue

import (
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// A tree keeps its amounts in blocks of one amount per queue and type, row by
// row, so that a walk up the tree touches a few cache lines and a copy of
// everything is a copy of memory.

// row returns the amounts of q in a block.
func (t *Tree) row(block []int64, q ID) resources.Vector {
	n := t.schema.Len()
	i := int(t.known(q)) * n
	return block[i : i+n : i+n]
}

// known returns q. It panics if the tree has no such queue: q is then an ID of
// another tree, or the tree is the zero Tree. Methods that are inlined into the
// inner loops of planners leave the check to the runtime.
func (t *Tree) known(q ID) ID {
	if uint(q) >= uint(len(t.names)) {
		panic(unknownID{q, len(t.names)})
	}
	return q
}

// unknownID is what the package panics with for a queue that a tree does not
// have. Made into text late, it leaves the check small enough to be inlined.
type unknownID struct {
	q      ID
	queues int
}

func (e unknownID) Error() string {
	return fmt.Sprintf("queue: no queue %d in a tree of %d queues: an ID of another tree?", e.q, e.queues)
}

// copyOf returns a copy of a block. Its capacity is its length, so that there
// is no row beyond the last.
func copyOf(block []int64) []int64 { return slices.Clip(slices.Clone(block)) }

// bounds are the limits of all queues: a block and a mask per queue.
type bounds struct {
	values  []int64 // 0 where there is no bound
	defined []resources.Mask
}

func (t *Tree) limit(b *bounds, q ID) resources.Limit {
	return resources.Limit{Defined: b.defined[q], Value: t.row(b.values, q)}
}

// append adds the limit of the next queue.
func (b *bounds) append(s *resources.Schema, l resources.Limit) {
	b.defined = append(b.defined, 0)
	b.values = append(b.values, make([]int64, s.Len())...)
	b.set(s, ID(len(b.defined)-1), l)
}

// set replaces the limit of q; l may be a view of it. Types of l that the
// schema does not have are dropped.
func (b *bounds) set(s *resources.Schema, q ID, l resources.Limit) {
	b.defined[q] = 0
	for i := range s.Len() {
		v, ok := l.Bound(i)
		b.values[int(q)*s.Len()+i] = v
		if ok {
			b.defined[q] = b.defined[q].With(i)
		}
	}
}

func (b *bounds) clone() bounds {
	return bounds{values: copyOf(b.values), defined: slices.Clone(b.defined)}
}
