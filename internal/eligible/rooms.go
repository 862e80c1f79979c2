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
	rowOf   []int32 // by queue: its row of Bounds, or -1
	chains  []int32 // the bounds of each leaf that was asked for
	amounts []int64
	unbound resources.Vector // MaxInt64 of each type
}

// Reset computes the rooms for a plan that brings amounts into a leaf. Law 2: no queue
// ends below its guarantee, or lower than it was. So victims below a queue may sum to
// its surplus, and on the path of the leaf to as much more as arrives. Own changes that
// on the path. The cost is linear in queues·types.
func (r *Rooms) Reset(tree *queue.Tree, leaf queue.ID, arriving resources.Vector) {
	r.Clear(tree)
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
func (r *Rooms) Clear(tree *queue.Tree) {
	r.tree, r.Bounds, r.chains, r.amounts = tree, r.Bounds[:0], r.chains[:0], r.amounts[:0]
	r.rowOf = slices.Grow(r.rowOf[:0], tree.Len())[:tree.Len()]
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
func (r *Rooms) drop(q queue.ID) { r.rowOf[q] = -1 }

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

// First returns the first queue, and there the first type, of which keeps says that the guarantee keeps somebody.
func (r *Rooms) First(keeps func(row int32, q queue.ID, t int) bool) (q queue.ID, t int, found bool) {
	for q := range queue.ID(len(r.rowOf)) {
		row, ok := r.Row(q)
		if !ok {
			continue
		}
		for t := range r.Bounds[row].Room.Defined.All() {
			if keeps(row, q, t) {
				return q, t, true
			}
		}
	}
	return 0, 0, false
}

// Of lists the bounds of a leaf, the innermost first, and returns what all of them leave per type;
// MaxInt64 where none binds.
func (r *Rooms) Of(leaf queue.ID) (bounds []int32, room resources.Vector) {
	from, room := len(r.chains), r.unbound
	for q := range r.tree.Ancestors(leaf) {
		row, ok := r.Row(q)
		if !ok {
			continue
		}
		if len(r.chains) == from {
			room = r.block()
			copy(room, r.unbound)
		}
		r.chains = append(r.chains, row)
		bound := &r.Bounds[row].Room
		for t := range bound.Defined.All() {
			room[t] = min(room[t], bound.Value[t])
		}
	}
	return r.chains[from:len(r.chains):len(r.chains)], room
}

// block returns a row of zeros, one amount per type.
func (r *Rooms) block() resources.Vector {
	from := len(r.amounts)
	r.amounts = rows.More(r.amounts, r.tree.Schema().Len())
	return r.amounts[from:len(r.amounts):len(r.amounts)]
}
