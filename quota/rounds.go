package quota

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// rounds share the target out among the queues, and ask the leaves for it.
type rounds struct {
	*roster
	walker *walker
	finder *finder

	releasable []int64          // see release
	parts      []int64          // of the first round
	asked      []int64          // the most that was asked of a queue in all rounds
	goal       []int64          // what a queue should have freed after the present round
	share      []int64          // what it is asked for in the present round
	dry        []resources.Mask // the types of which a queue could not give what it was asked for

	divider            resources.Divider
	weights, quotients []int64
	vector             resources.Vector // see open
}

// start makes the rows of all queues.
func (r *rounds) start() {
	for _, block := range []*[]int64{&r.releasable, &r.parts, &r.asked, &r.goal, &r.share} {
		*block = r.block(*block)
	}
	r.dry = rows.Zeros(r.dry, r.len())
	r.vector = rows.Zeros(r.vector, r.types)
	for p := r.tree.End(r.q) - 1; p >= r.q; p-- {
		r.release(p)
	}
}

// run divides the target, and asks q for as much of it as q can release and law 2
// lets go in the queues above.
func (r *rounds) run() {
	r.divide()
	most := r.row(r.releasable, r.q)
	for _, t := range r.list {
		r.vector[t] = min(r.target[t], most[t], r.above[t])
	}
	r.setGoal(r.q, r.vector)
	r.give(r.q)
}

// setGoal asks p for amounts more than it has freed.
func (r *rounds) setGoal(p queue.ID, amounts resources.Vector) {
	goal, freed, asked := r.row(r.goal, p), r.row(r.freed, p), r.row(r.asked, p)
	for _, t := range r.list {
		goal[t] = freed[t] + amounts[t]
		asked[t] = max(asked[t], goal[t])
	}
}

// give frees as much below p as its goal says, if it can: in rounds. In each of
// them what is still open is spread over the children. What a leaf could not
// give, counting what was really freed, overshoot included, is offered to its
// siblings in another round. A child that has not given what it was asked for is
// not asked again. (DESIGN.md, Quota: parent.)
//
// A round in which all children give what they were asked for is the last, and
// in any other one a child becomes dry in a type. So there are at most
// children times types of them and one more; usually there is one.
func (r *rounds) give(p queue.ID) {
	if r.tree.IsLeaf(p) {
		r.offer(p)
		r.release(p)
		return
	}
	for r.spread(r.share, p, r.open(p)) {
		for c := p + 1; c < r.tree.End(p); c = r.tree.End(c) {
			r.ask(c, r.row(r.share, c))
		}
	}
	if r.e.Overshoot == Exact && r.isShort(p, r.row(r.goal, p)) {
		r.offerWhole(p)
	}
	r.release(p)
}

// ask lets p free amounts more, and notes the types of which it cannot.
func (r *rounds) ask(p queue.ID, amounts resources.Vector) {
	if !r.isAny(amounts) {
		return
	}
	r.setGoal(p, amounts)
	r.give(p)
	goal, freed := r.row(r.goal, p), r.row(r.freed, p)
	for _, t := range r.list {
		if freed[t] < goal[t] {
			r.dry[p-r.q] = r.dry[p-r.q].With(t)
		}
	}
}

// open returns what p still has to free, in memory that the next call reuses.
func (r *rounds) open(p queue.ID) resources.Vector {
	goal, freed := r.row(r.goal, p), r.row(r.freed, p)
	for _, t := range r.list {
		r.vector[t] = max(goal[t]-freed[t], 0)
	}
	return r.vector
}

// offer lets leaf w free as much as its goal says, if it can: by a walk in
// order, and if that ends short by a search. What it freed before is kept, or
// replaced by what frees as much of the goal. It reports whether more of the
// goal is freed than was.
func (r *rounds) offer(w queue.ID) (more bool) {
	goal := r.row(r.goal, w)
	more = r.walker.walk(w, goal)
	return r.isShort(w, goal) && r.finder.search(w, goal) || more
}

// offerWhole offers everything that is open below p to one leaf after another,
// in tree order. A task that is too large for the part of its leaf may fit the
// whole. It reports whether that freed more of it.
func (r *rounds) offerWhole(p queue.ID) (more bool) {
	for w := range r.tree.Leaves(p) {
		if r.at(w).out {
			continue
		}
		open := r.open(p)
		if !r.isAny(open) {
			break
		}
		goal, freed, asked := r.row(r.goal, w), r.row(r.freed, w), r.row(r.asked, w)
		for _, t := range r.list {
			goal[t] = freed[t] + open[t]
		}
		// What is short with OneTask has been searched for; only Exact lets a
		// larger goal change that.
		if exact := r.e.Overshoot == Exact; exact && !r.offer(w) || !exact && !r.walker.walk(w, goal) {
			continue
		}
		more = true
		for _, t := range r.list {
			asked[t] = max(asked[t], min(goal[t], freed[t]))
		}
		for a := w; ; a, _ = r.tree.Parent(a) {
			if r.release(a); a == p {
				break
			}
		}
	}
	return more
}

// fill offers what is still open of the target to every leaf once more, and
// reports whether any had more to give.
func (r *rounds) fill() bool {
	copy(r.row(r.goal, r.q), r.target)
	return r.offerWhole(r.q)
}

// noteAsked notes of each leaf that it was asked for what it gives.
func (r *rounds) noteAsked() {
	for w := range r.tree.Leaves(r.q) {
		asked, freed := r.row(r.asked, w), r.row(r.freed, w)
		for _, t := range r.list {
			asked[t] = max(asked[t], min(freed[t], r.target[t]))
		}
	}
}

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
