package victims

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// Rooms are what law 2 lets go: a bound for every queue that is guaranteed
// anything. They are the bounds of a [Problem] whose units are tasks below the
// queues, exported for callers that pose problems of their own.
//
// The zero Rooms is empty. Memory is reused, and what methods return lives
// until the next Reset.
type Rooms struct {
	// Bounds are in tree order. Others may be appended.
	Bounds []cover.Bound

	tree    *queue.Tree
	rowOf   []int32 // by queue: its row of Bounds, or -1
	chains  []int32 // the bounds of each leaf that was asked for
	amounts []int64
}

// Reset computes the rooms for a plan that lets some amounts into a leaf of the
// tree.
//
// Law 2: no queue ends below its guarantee. Usage after the plan must be at
// least min(g, usage before), so the victims below the queue may sum to its
// surplus, and on the path of the leaf to as much more as arrives. Amounts are
// effective usage: what is leaving has left.
//
// The cost is linear in queues times types.
func (r *Rooms) Reset(tree *queue.Tree, leaf queue.ID, arriving resources.Vector) {
	r.tree, r.Bounds, r.chains, r.amounts = tree, r.Bounds[:0], r.chains[:0], r.amounts[:0]
	r.rowOf = zeros(r.rowOf, tree.Len())
	for q := range tree.All() {
		r.rowOf[q] = -1
		g := tree.Guaranteed(q)
		if g.Defined == 0 {
			continue
		}
		used, leaving := tree.Usage(q), tree.Preempting(q)
		room := resources.Limit{Value: r.block(), Defined: g.Defined}
		for t := range g.Defined.All() {
			room.Value[t] = max(used[t]-leaving[t]-g.Value[t], 0)
			if tree.Contains(q, leaf) {
				room.Value[t] += arriving.At(t)
			}
		}
		r.rowOf[q] = int32(len(r.Bounds))
		r.Bounds = append(r.Bounds, cover.Bound{Room: room})
	}
}

// drop makes a queue guarantee nothing, for leaves that are asked for later.
func (r *Rooms) drop(q queue.ID) { r.rowOf[q] = -1 }

// Row returns the row of a queue in Bounds, and whether it has one.
func (r *Rooms) Row(q queue.ID) (row int32, ok bool) {
	row = r.rowOf[q]
	return row, row >= 0
}

// Chain lists the bounds of a leaf, the innermost first, as a [Unit] wants them.
func (r *Rooms) Chain(leaf queue.ID) []int32 {
	from := len(r.chains)
	for q := range r.tree.Up(leaf) {
		if b := r.rowOf[q]; b >= 0 {
			r.chains = append(r.chains, b)
		}
	}
	return r.chains[from:len(r.chains):len(r.chains)]
}

// Least returns the least room of some bounds per type, and MaxInt64 for types
// that none of them bounds: no single task that is larger can go.
func (r *Rooms) Least(bounds []int32) resources.Vector {
	least := r.block()
	for t := range least {
		least[t] = math.MaxInt64
	}
	for _, b := range bounds {
		room := &r.Bounds[b].Room
		for t := range room.Defined.All() {
			least[t] = min(least[t], room.Value[t])
		}
	}
	return least
}

// block returns a row of zeros, one amount per type.
func (r *Rooms) block() resources.Vector {
	from := len(r.amounts)
	for range r.tree.Schema().Len() {
		r.amounts = append(r.amounts, 0)
	}
	return r.amounts[from:len(r.amounts):len(r.amounts)]
}

const noLimit = math.MaxInt64

// zeros returns a slice of n zeros in the memory of s.
func zeros[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
