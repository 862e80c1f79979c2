// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// rounds is the memory of those who share the target out among the queues, and ask
// the leaves for it.
type rounds struct {
	releasable []int64          // see release
	parts      []int64          // of the first round
	asked      []int64          // the most that was asked of a queue in all rounds
	goal       []int64          // what a queue should have freed after the present round
	share      []int64          // what it is asked for in the present round
	dry        []resources.Mask // the types of which a queue could not give what it was asked for

	divider            vectors.Divider
	weights, quotients []int64
	vector             resources.Vector // see stillOpen
}

// share divides the target, and asks q for as much of it as q can release and law 2
// lets go in the queues above.
func (x *enforcement) share() {
	r := &x.rounds
	for _, block := range []*[]int64{&r.releasable, &r.parts, &r.asked, &r.goal, &r.share} {
		*block = x.block(*block)
	}
	r.dry = rows.Zeros(r.dry, x.len())
	for p := trees.End(x.tree, x.q) - 1; p >= x.q; p-- {
		x.release(p)
	}
	x.divide()
	r.vector = resources.Min(r.vector, x.row(r.parts, x.q), x.above)
	x.setGoal(x.q, r.vector)
	x.give(x.q)
}

// setGoal asks p for amounts more than it has freed.
func (x *enforcement) setGoal(p queue.ID, amounts resources.Vector) {
	goal, freed, asked := x.row(x.rounds.goal, p), x.row(x.freed, p), x.row(x.rounds.asked, p)
	for _, t := range x.list {
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
func (x *enforcement) give(p queue.ID) {
	if x.tree.IsLeaf(p) {
		x.offer(p)
		x.release(p)
		return
	}
	for x.spread(x.rounds.share, p, x.stillOpen(p)) {
		for c := range x.tree.Children(p) {
			x.ask(c, x.row(x.rounds.share, c))
		}
		if x.isShort(p, x.row(x.rounds.goal, p)) && !x.goesOn() {
			break // what is open is offered to each leaf no more
		}
	}
	if x.e.NeverOvershoot && x.isShort(p, x.row(x.rounds.goal, p)) && x.goesOn() {
		x.offerWhole(p)
	}
	x.release(p)
}

// ask lets p free amounts more, and notes the types of which it cannot.
func (x *enforcement) ask(p queue.ID, amounts resources.Vector) {
	if !x.isAny(amounts) {
		return
	}
	x.setGoal(p, amounts)
	x.give(p)
	goal, freed := x.row(x.rounds.goal, p), x.row(x.freed, p)
	for _, t := range x.list {
		if freed[t] < goal[t] {
			x.rounds.dry[p-x.q] |= 1 << t
		}
	}
}

// stillOpen returns what p still has to free, in memory that the next call reuses.
func (x *enforcement) stillOpen(p queue.ID) resources.Vector {
	x.rounds.vector = x.beyond(x.rounds.vector, x.row(x.rounds.goal, p), x.row(x.freed, p))
	return x.rounds.vector
}

// offer lets leaf w free as much as its goal says, if it can: by a walk in
// order, and if that ends short by a search. What it freed before is kept, or
// replaced by what frees as much of the goal. It reports whether more of the
// goal is freed than was.
func (x *enforcement) offer(w queue.ID) (more bool) {
	goal := x.row(x.rounds.goal, w)
	more = x.takeInOrder(w, goal)
	return x.isShort(w, goal) && x.search(w, goal, false) || more
}

// offerWhole offers everything that is open below p to one leaf after another,
// in tree order. A task that is too large for the part of its leaf may fit the
// whole. It reports whether that freed more of it.
func (x *enforcement) offerWhole(p queue.ID) (more bool) {
	for w := range x.tree.Leaves(p) {
		if x.at(w).out {
			continue
		}
		open := x.stillOpen(p)
		if !x.isAny(open) {
			break
		}
		goal, freed, asked := x.row(x.rounds.goal, w), x.row(x.freed, w), x.row(x.rounds.asked, w)
		for _, t := range x.list {
			goal[t] = freed[t] + open[t]
		}
		// What is short otherwise has been searched for; only NeverOvershoot lets a
		// larger goal change that.
		if exact := x.e.NeverOvershoot; exact && !x.offer(w) || !exact && !x.takeInOrder(w, goal) {
			continue
		}
		more = true
		for _, t := range x.list {
			asked[t] = max(asked[t], min(goal[t], freed[t]))
		}
		for a := w; ; a, _ = x.tree.Parent(a) {
			if x.release(a); a == p {
				break
			}
		}
	}
	return more
}

// fill offers what is still open of the target to every leaf once more, and
// reports whether any had more to give.
func (x *enforcement) fill() bool {
	copy(x.row(x.rounds.goal, x.q), x.target)
	return x.offerWhole(x.q)
}

// noteAsked notes of each leaf that it was asked for what it gives.
func (x *enforcement) noteAsked() {
	for w := range x.tree.Leaves(x.q) {
		asked, freed := x.row(x.rounds.asked, w), x.row(x.freed, w)
		for _, t := range x.list {
			asked[t] = max(asked[t], min(freed[t], x.target[t]))
		}
	}
}

// release works out what p can release of each type of the target: its surplus,
// and for an inner queue no more than its children can release. Queues that are
// being enforced already release nothing. (DESIGN.md, Quota: parent.)
func (x *enforcement) release(p queue.ID) {
	row, room := x.row(x.rounds.releasable, p), x.row(x.room, p)
	for _, t := range x.list {
		row[t] = 0
		if x.at(p).out {
			continue
		}
		if row[t] = room[t]; x.tree.IsLeaf(p) {
			continue
		}
		var sum int64
		for c := range x.tree.Children(p) {
			sum += x.row(x.rounds.releasable, c)[t]
		}
		row[t] = min(row[t], sum)
	}
}

// spread divides amounts among the children of p, type by type, as far as they
// can release them, and writes the parts to their rows of dst: in proportion to
// that, by largest remainder, so that none exceeds what it can. Children that are
// dry in a type take no part in it. It reports whether there is any part.
func (x *enforcement) spread(dst []int64, p queue.ID, amounts resources.Vector) (any bool) {
	r := &x.rounds
	for _, t := range x.list {
		r.weights = r.weights[:0]
		x.meter.Pay(1)
		total := int64(0)
		for c := range x.tree.Children(p) {
			w := x.row(r.releasable, c)[t]
			if r.dry[c-x.q].Has(t) {
				w = 0
			}
			r.weights = append(r.weights, w)
			x.meter.Pay(1)
			total += w
		}
		r.quotients = r.divider.Divide(r.quotients, min(amounts[t], total), r.weights)
		i := 0
		for c := range x.tree.Children(p) {
			x.row(dst, c)[t] = r.quotients[i]
			any = any || r.quotients[i] > 0
			i++
		}
	}
	return any
}

// divide works out the parts of the first round, down to the leaves. They sum to
// the smaller of target and what q can release. What the queues above q let go
// limits what is asked for, and not them.
func (x *enforcement) divide() {
	r := &x.rounds
	resources.Min(x.row(r.parts, x.q), x.target, x.row(r.releasable, x.q))
	for p := x.q; p < trees.End(x.tree, x.q); p++ {
		if !x.tree.IsLeaf(p) {
			x.spread(r.parts, p, x.row(r.parts, p))
		}
	}
}

// Parts sets dst to what each of some queues gives of a target, or of all that is spare if that is less, and returns
// it: in proportion to what each has to spare, type by type, in whole units by largest remainder, ties to the first.
// Negative amounts count as 0. It reuses the vectors of dst. The cost is sorting the queues per type.
func Parts(dst []resources.Vector, target resources.Vector, spare []resources.Vector) []resources.Vector {
	var divider vectors.Divider
	dst = slices.Grow(dst[:0], len(spare))[:len(spare)]
	weights, parts := make([]int64, len(spare)), make([]int64, len(spare))
	for i := range dst {
		dst[i] = rows.Zeros(dst[i], len(target))
	}
	for t, amount := range target {
		total := int64(0)
		for i, v := range spare {
			weights[i] = max(v.At(t), 0)
			total = sat.Add(total, weights[i])
		}
		parts = divider.Divide(parts, min(amount, total), weights)
		for i, part := range parts {
			dst[i][t] = part
		}
	}
	return dst
}
