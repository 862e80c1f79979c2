// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/resources"
)

// An ID is the preorder number of a queue in its [Tree].
type ID int32

// Root is the ID of the root of every tree.
const Root ID = 0

// MaxDepth is the number of levels that a tree may have, with the root's.
const MaxDepth = 64

// A Tree is a hierarchy of queues.
type Tree struct {
	schema   *resources.Schema
	strict   bool
	owned    bool // it can be changed through another Tree only; see Own
	warnings []error

	// One row per queue, in preorder.
	names    []string
	paths    []string // the names from the root to the queue, joined
	ends     []ID     // the subtree of q is [q, ends[q])
	parents  []ID     // parents[Root] is Root
	depths   []int32
	policies []resolved

	// Blocks of one amount per queue and type, row by row.
	usage      []int64
	preempting []int64
	guaranteed bounds
	max        bounds

	ignored resources.Mask // the types whose guarantees do not count; see Counting
}

// Schema returns the resource types of the tree.
func (t *Tree) Schema() *resources.Schema { return t.schema }

// Warnings returns the problems that [New] accepted, in tree order.
func (t *Tree) Warnings() []error { return slices.Clone(t.warnings) }

// Len returns the number of queues.
func (t *Tree) Len() int { return len(t.names) }

// Name returns the queue's own name.
func (t *Tree) Name(q ID) string { return t.names[t.known(q)] }

// Path returns the names from the root to q joined with dots: "root.a.b".
func (t *Tree) Path(q ID) string { return t.paths[t.known(q)] }

// Lookup returns the queue with a path, as of [Tree.Path]. The cost is linear in the
// siblings along it.
func (t *Tree) Lookup(path string) (ID, bool) {
	name, rest, more := strings.Cut(path, ".")
	if t.Len() == 0 || name != t.names[Root] {
		return 0, false
	}
	q := Root
next:
	for more {
		name, rest, more = strings.Cut(rest, ".")
		for c := range t.Children(q) {
			if t.names[c] == name {
				q = c
				continue next
			}
		}
		return 0, false
	}
	return q, true
}

// Parent returns the queue above q. The root has none.
func (t *Tree) Parent(q ID) (parent ID, ok bool) { return t.parents[q], q != Root }

// Depth returns the number of queues above q: 0 for the root.
func (t *Tree) Depth(q ID) int { return int(t.depths[q]) }

// End returns the ID after the last queue of the subtree of q.
func (t *Tree) End(q ID) ID { return t.ends[q] }

// IsLeaf reports whether q has no children.
func (t *Tree) IsLeaf(q ID) bool { return t.ends[q] == q+1 }

// Contains reports whether q is a or below it.
func (t *Tree) Contains(a, q ID) bool { return a <= q && q < t.ends[a] }

// CommonAncestor returns the lowest queue that contains both a and b.
func (t *Tree) CommonAncestor(a, b ID) ID {
	for !t.Contains(a, b) {
		a = t.parents[a]
	}
	return a
}

// All yields every queue in tree order.
func (t *Tree) All() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for q := Root; int(q) < len(t.names); q++ {
			if !yield(q) {
				return
			}
		}
	}
}

// Up yields q, its parent, and so on to the root.
func (t *Tree) Up(q ID) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for at := q; yield(at) && at != Root; {
			at = t.parents[at]
		}
	}
}

// Children yields the children of q in tree order.
func (t *Tree) Children(q ID) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for c := q + 1; c < t.ends[q]; c = t.ends[c] {
			if !yield(c) {
				return
			}
		}
	}
}

// Leaves yields the leaves of the subtree of q in tree order.
func (t *Tree) Leaves(q ID) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for w := q; w < t.ends[q]; w++ {
			if t.IsLeaf(w) && !yield(w) {
				return
			}
		}
	}
}

// Clone returns an independent copy. The cost is a copy of four amounts per queue and
// type.
func (t *Tree) Clone() *Tree {
	c := *t
	c.owned = false
	c.usage = copyOf(t.usage)
	c.preempting = copyOf(t.preempting)
	c.guaranteed = t.guaranteed.clone()
	c.max = t.max.clone()
	return &c
}

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
			b.defined[q] |= 1 << i
		}
	}
}

func (b *bounds) clone() bounds {
	return bounds{values: copyOf(b.values), defined: slices.Clone(b.defined)}
}

// String draws the tree, a line per queue:
//
//	root used cpu=12 leaving cpu=2
//	  a  used cpu=8 leaving cpu=2 guaranteed cpu=5
//	  b  used cpu=4 guaranteed cpu=10 max cpu=20
func (t *Tree) String() string {
	name := func(q ID) string { return strings.Repeat("  ", t.Depth(q)) + plain.Name(t.Name(q)) }
	width := 0
	for q := range t.All() {
		width = max(width, utf8.RuneCountInString(name(q)))
	}
	var b strings.Builder
	for q := range t.All() {
		fmt.Fprintf(&b, "%-*s used %s", width, name(q), t.schema.Format(t.Usage(q)))
		if p := t.Preempting(q); !resources.IsZero(p) {
			fmt.Fprintf(&b, " leaving %s", t.schema.Format(p))
		}
		if g := t.Guaranteed(q); g.Defined != 0 {
			fmt.Fprintf(&b, " guaranteed %s", t.schema.FormatLimit(g))
		}
		if m := t.Max(q); m.Defined != 0 {
			fmt.Fprintf(&b, " max %s", t.schema.FormatLimit(m))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
