package quota

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// release works out what p can release of each type of the target: its surplus,
// and for an inner queue no more than its children can release. Queues that are
// being enforced already release nothing. (DESIGN.md, Quota: parent.)
func (r *rounds) release(p queue.ID) {
	row, room := r.row(r.releasable, p), r.row(r.room, p)
	for _, t := range r.list {
		row[t] = 0
		if r.at(p).out {
			continue
		}
		if row[t] = room[t]; r.tree.IsLeaf(p) {
			continue
		}
		var sum int64
		for c := p + 1; c < r.tree.End(p); c = r.tree.End(c) {
			sum += r.row(r.releasable, c)[t]
		}
		row[t] = min(row[t], sum)
	}
}

// spread divides amounts among the children of p, type by type, as far as they
// can release them, and writes the parts to their rows of dst: in proportion to
// that, by largest remainder, so that none exceeds what it can. Children that are
// dry in a type take no part in it. It reports whether there is any part.
func (r *rounds) spread(dst []int64, p queue.ID, amounts resources.Vector) (any bool) {
	for _, t := range r.list {
		r.weights = r.weights[:0]
		total := int64(0)
		for c := p + 1; c < r.tree.End(p); c = r.tree.End(c) {
			w := r.row(r.releasable, c)[t]
			if r.dry[c-r.q].Has(t) {
				w = 0
			}
			r.weights = append(r.weights, w)
			total += w
		}
		r.quotients = r.divider.Divide(r.quotients, min(amounts[t], total), r.weights)
		i := 0
		for c := p + 1; c < r.tree.End(p); c = r.tree.End(c) {
			r.row(dst, c)[t] = r.quotients[i]
			any = any || r.quotients[i] > 0
			i++
		}
	}
	return any
}

// divide works out the parts of the first round, down to the leaves. They sum to
// the smaller of target and what q can release. What the queues above q let go
// limits what is asked for, and not them.
func (r *rounds) divide() {
	whole, most := r.row(r.parts, r.q), r.row(r.releasable, r.q)
	for _, t := range r.list {
		whole[t] = min(r.target[t], most[t])
	}
	for p := r.q; p < r.tree.End(r.q); p++ {
		if !r.tree.IsLeaf(p) {
			r.spread(r.parts, p, r.row(r.parts, p))
		}
	}
}
