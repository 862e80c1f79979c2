// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/resources"
)

// An ID is the preorder number of a queue in its [Tree].
type ID int32

// Root is the ID of the root of every tree.
const Root ID = 0

// maxDepth is the number of levels that a tree may have, with the root's.
const maxDepth = 64

// A Tree is a hierarchy of queues with their usage. The zero Tree has none.
type Tree struct {
	box // what is lent to those who own trees: amounts, bounds, ends of subtrees

	// These do not change once the tree is made, and clones share them. One row per queue, in
	// preorder.
	schema   *resources.Schema
	paths    []string // the names from the root to the queue, joined
	byPath   map[string]ID
	parents  []ID // parents[Root] is Root
	policies []Policies
	said     [][len(sayings)]bool // by the queue itself
}

type box = lent.Box

// in returns what is lent.
func (t *Tree) in() *lent.Tree { return lent.In(&t.box) }

// Schema returns the resource types of the tree.
func (t *Tree) Schema() *resources.Schema { return t.schema }

// Warnings returns what is accepted and hardly meant, in tree order.
func (t *Tree) Warnings() []error {
	var all []error
	for _, w := range t.in().Warnings {
		all = append(all, w)
	}
	return all
}

// Len returns the number of queues.
func (t *Tree) Len() int { return len(t.paths) }

// Path returns the names from the root to q: "root.a.b". It does not allocate.
func (t *Tree) Path(q ID) string { return t.paths[t.known(q)] }

// Lookup returns the queue with a path: "root.a.b". Without ok it returns Root.
func (t *Tree) Lookup(path string) (ID, bool) {
	q, ok := t.byPath[path]
	return q, ok
}

// Parent returns the queue above q. The root has none.
func (t *Tree) Parent(q ID) (parent ID, ok bool) { return t.parents[q], q != Root }

// end returns the ID after the last queue of the subtree of q.
func (t *Tree) end(q ID) ID { return ID(t.in().Ends[q]) }

// IsLeaf reports whether q has no children.
func (t *Tree) IsLeaf(q ID) bool { return t.end(q) == q+1 }

// Contains reports whether q is a or below it.
func (t *Tree) Contains(a, q ID) bool { return a <= q && q < t.end(a) }

// CommonAncestor returns the lowest queue that contains both a and b.
func (t *Tree) CommonAncestor(a, b ID) ID {
	for !t.Contains(a, b) {
		a = t.parents[a]
	}
	return a
}

// Ancestors yields q, its parent, and so on to the root.
func (t *Tree) Ancestors(q ID) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for at := q; yield(at) && at != Root; {
			at = t.parents[at]
		}
	}
}

// Children yields the children of q in tree order.
func (t *Tree) Children(q ID) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for c := q + 1; c < t.end(q); c = t.end(c) {
			if !yield(c) {
				return
			}
		}
	}
}

// Leaves yields the leaves at or below q in tree order.
func (t *Tree) Leaves(q ID) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for w := q; w < t.end(q); w++ {
			if t.IsLeaf(w) && !yield(w) {
				return
			}
		}
	}
}

// Clone returns an independent copy, which may be changed. The cost is queues·types.
func (t *Tree) Clone() *Tree {
	c := *t
	*c.in() = lent.Tree{}
	c.in().CopyFrom(t.in())
	return &c
}

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
	if uint(q) >= uint(len(t.paths)) {
		panic(unknownID{q, len(t.paths)})
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

// name returns the queue's own name.
func (t *Tree) name(q ID) string {
	path := t.Path(q)
	return path[strings.LastIndexByte(path, '.')+1:]
}

// String draws the tree, a line per queue:
//
//	root used cpu=12 leaving cpu=2
//	  a  used cpu=8 leaving cpu=2 guaranteed cpu=5
func (t *Tree) String() string {
	name := func(q ID) string {
		return strings.Repeat("  ", strings.Count(t.Path(q), ".")) + plain.Name(t.name(q))
	}
	width := 0
	for q := range ID(t.Len()) {
		width = max(width, utf8.RuneCountInString(name(q)))
	}
	var b strings.Builder
	for q := range ID(t.Len()) {
		fmt.Fprintf(&b, "%-*s used %s", width, name(q), t.schema.Format(t.Usage(q)))
		if p := t.Leaving(q); !resources.IsZero(p) {
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
