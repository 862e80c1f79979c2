package queue

import (
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// A tree keeps its amounts in blocks of one amount per queue and type, row by
// row, so that a walk up the tree touches a few cache lines and a copy of
// everything is a copy of memory.

// row returns the amounts of q in a block.
func (t *Tree) row(block []int64, q ID) resources.Vector {
	n := t.schema.Len()
	i := int(q) * n
	return block[i : i+n : i+n]
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
