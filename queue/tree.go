package queue

import (
	"iter"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/resources"
)

// An ID is the preorder number of a queue in its [Tree].
type ID int32

// Root is the ID of the root of every tree.
const Root ID = 0

// MaxDepth is the number of levels that a tree may have, the root's included.
const MaxDepth = 64

// A Tree is a hierarchy of queues with their bounds and their usage.
// [New] makes one; the zero Tree has no queues.
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
	policies []policies

	// Blocks of one amount per queue and type, row by row.
	usage      []int64
	preempting []int64
	guaranteed bounds
	max        bounds
}

// Schema returns the resource types of the tree.
func (t *Tree) Schema() *resources.Schema { return t.schema }

// Warnings returns the problems that [New] found and accepted, in tree order:
// bad property values, fences that have no effect or forbid too much, and in a
// lenient tree over-committed bounds. Each is a [*Problem].
func (t *Tree) Warnings() []error { return slices.Clone(t.warnings) }

// Len returns the number of queues.
func (t *Tree) Len() int { return len(t.names) }

// Name returns the queue's own name, without those above it.
func (t *Tree) Name(q ID) string { return t.names[t.known(q)] }

// Path returns the names from the root to q joined with dots: "root.a.b".
func (t *Tree) Path(q ID) string { return t.paths[t.known(q)] }

// Lookup returns the queue with the given path, as [Tree.Path] writes it.
// The cost is linear in the number of siblings along the path.
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

// End returns the ID after the last queue of the subtree of q, which is the
// interval [q, End(q)).
func (t *Tree) End(q ID) ID { return t.ends[q] }

// IsLeaf reports whether q has no children, so that it may hold tasks.
func (t *Tree) IsLeaf(q ID) bool { return t.ends[q] == q+1 }

// Contains reports whether q is in the subtree of a; every queue contains itself.
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

// Leaves yields the leaves in the subtree of q in tree order. If q is a leaf, it
// yields q alone.
func (t *Tree) Leaves(q ID) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for w := q; w < t.ends[q]; w++ {
			if t.IsLeaf(w) && !yield(w) {
				return
			}
		}
	}
}

// Clone returns an independent copy of the tree with its bounds and usage. Use it
// to try something. Names, numbering and properties never change, and both trees
// share them. The cost is a copy of four blocks of one amount per queue and type.
func (t *Tree) Clone() *Tree {
	c := *t
	c.owned = false
	c.usage = copyOf(t.usage)
	c.preempting = copyOf(t.preempting)
	c.guaranteed = t.guaranteed.clone()
	c.max = t.max.clone()
	return &c
}
