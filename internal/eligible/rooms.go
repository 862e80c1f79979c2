// SPDX-License-Identifier: Apache-2.0

package eligible

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/units"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// NoLimit is more than any amount or rank.
const NoLimit = math.MaxInt64

// WithinQueue returns what counts for asks and gangs of a leaf: what the nearest queue says, else
// the option, else never.
func WithinQueue(tree *queue.Tree, leaf queue.ID, option queue.WithinQueue) queue.WithinQueue {
	return cmp.Or(tree.Policies(leaf).WithinQueue, option, queue.Never)
}

// Rooms are what law 2 lets go: a bound for every queue with a guarantee. What methods
// return lives until the next Reset.
type Rooms struct {
	// Own is read by Reset.
	Own queue.WithinQueue
	// Bounds are in tree order. Others may be appended.
	Bounds []units.Bound

	tree    *queue.Tree
	leaf    queue.ID // that the amounts arrive in
	rowOf   []int32  // by queue: its row of Bounds, or -1
	chains  []int32  // the bounds of each leaf that was asked for
	amounts []int64
	// least has, per queue and type, what all bounds from the queue upwards leave;
	// MaxInt64 if none does. It is made when it is first asked for.
	least    []int64
	narrowed bool
	unbound  resources.Vector // MaxInt64 of each type
}

// Reset computes the rooms for a plan that brings amounts into a leaf. Law 2: no queue
// ends below its guarantee, or lower than it was. So victims below a queue may sum to
// its surplus, and on the path of the leaf to as much more as arrives. Own changes that
// on the path. The cost is linear in queues·types.
func (r *Rooms) Reset(tree *queue.Tree, leaf queue.ID, arriving resources.Vector) {
	r.Clear(tree, leaf)
	for q := range queue.ID(tree.Len()) {
		g := tree.Guaranteed(q)
		if g.Defined == 0 {
			continue
		}
		b := units.Bound{Room: resources.Limit{Value: tree.Surplus(r.block(), q), Defined: g.Defined}}
		if tree.Contains(q, leaf) {
			r.arrive(&b, q, arriving)
		}
		r.rowOf[q] = int32(len(r.Bounds))
		r.Bounds = append(r.Bounds, b)
	}
}

// Clear sets the rooms to those of a tree that guarantees nothing.
func (r *Rooms) Clear(tree *queue.Tree, leaf queue.ID) {
	r.tree, r.leaf, r.Bounds, r.chains, r.amounts = tree, leaf, r.Bounds[:0], r.chains[:0], r.amounts[:0]
	r.rowOf, r.narrowed = slices.Grow(r.rowOf[:0], tree.Len())[:tree.Len()], false
	for q := range r.rowOf {
		r.rowOf[q] = -1
	}
	r.unbound = r.block()
	for t := range r.unbound {
		r.unbound[t] = NoLimit
	}
}

// arrive adds what arrives to the room of a queue of the path.
func (r *Rooms) arrive(b *units.Bound, q queue.ID, arriving resources.Vector) {
	used, leaving, g := r.tree.Usage(q), r.tree.Leaving(q), r.tree.Guaranteed(q)
	takes := r.Own == queue.Met || r.Own == queue.Branch
	for t := range g.Defined.All() {
		if takes && arriving.At(t) > 0 && used[t]-leaving[t] < g.Value[t] {
			b.Room.Defined &^= 1 << t
			continue
		}
		b.Room.Value[t] += arriving.At(t)
	}
}

// drop makes a queue guarantee nothing, for leaves that are asked for later.
func (r *Rooms) drop(q queue.ID) { r.rowOf[q], r.narrowed = -1, false }

// Add adds a bound that counts tasks, and returns its row.
func (r *Rooms) Add(room int64) int32 {
	r.amounts = append(r.amounts, room)
	n := len(r.amounts)
	b := units.Bound{}
	b.Room.Value, b.Room.Defined = r.amounts[n-1:n:n], 1
	r.Bounds = append(r.Bounds, b)
	return int32(len(r.Bounds) - 1)
}

// Row returns the row of a queue in Bounds, and whether it has one.
func (r *Rooms) Row(q queue.ID) (row int32, ok bool) {
	row = r.rowOf[q]
	return row, row >= 0
}

// Chain lists the bounds of a leaf, the innermost first.
func (r *Rooms) Chain(leaf queue.ID) []int32 {
	from := len(r.chains)
	for q := range r.tree.Ancestors(leaf) {
		if b := r.rowOf[q]; b >= 0 {
			r.chains = append(r.chains, b)
		}
	}
	return r.chains[from:len(r.chains):len(r.chains)]
}

// Least returns, as a view, what all bounds of a leaf leave per type; MaxInt64 where
// none binds.
func (r *Rooms) Least(leaf queue.ID) resources.Vector {
	if !r.narrowed {
		r.narrow()
	}
	return rows.At(r.least, int(leaf), r.tree.Schema().Len())
}

// narrow computes the least rooms of all queues. A queue comes after the one
// above it, so each takes one look at its own bound.
func (r *Rooms) narrow() {
	types := r.tree.Schema().Len()
	r.least, r.narrowed = slices.Grow(r.least[:0], len(r.rowOf)*types)[:len(r.rowOf)*types], true
	for q := range queue.ID(r.tree.Len()) {
		least := rows.At(r.least, int(q), types)
		if above, ok := r.tree.Parent(q); ok {
			copy(least, rows.At(r.least, int(above), types))
		} else {
			copy(least, r.unbound)
		}
		if r.rowOf[q] < 0 {
			continue
		}
		bound := &r.Bounds[r.rowOf[q]]
		for t := range bound.Room.Defined.All() {
			least[t] = min(least[t], bound.Room.Value[t])
		}
	}
}

// block returns a row of zeros, one amount per type.
func (r *Rooms) block() resources.Vector {
	from := len(r.amounts)
	r.amounts = rows.More(r.amounts, r.tree.Schema().Len())
	return r.amounts[from:len(r.amounts):len(r.amounts)]
}
