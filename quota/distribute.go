package quota

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// spread divides amounts among the children of p, type by type, as far as they
// can release them, and writes the parts to their rows of dst: in proportion to
// that, by largest remainder, so that none exceeds what it can. Children that are
// dry in a type take no part in it. It reports whether there is any part.
func (x *enforcement) spread(dst []int64, p queue.ID, amounts resources.Vector) (any bool) {
	for _, t := range x.list {
		x.weights = x.weights[:0]
		total := int64(0)
		for c := p + 1; c < x.tree.End(p); c = x.tree.End(c) {
			w := x.row(x.releasable, c)[t]
			if x.at(c).dry.Has(t) {
				w = 0
			}
			x.weights = append(x.weights, w)
			total += w
		}
		x.quotients = x.divider.Divide(x.quotients, min(max(amounts[t], 0), total), x.weights)
		i := 0
		for c := p + 1; c < x.tree.End(p); c = x.tree.End(c) {
			x.row(dst, c)[t] = x.quotients[i]
			any = any || x.quotients[i] > 0
			i++
		}
	}
	return any
}

// goalOfAll returns what is to be freed in all: the target, limited by what q
// can release and by the surplus of every queue above it that guarantees any.
func (x *enforcement) goalOfAll() resources.Vector {
	goal := x.vector
	clear(goal)
	for _, t := range x.list {
		goal[t] = min(x.target[t], x.row(x.releasable, x.q)[t], x.above[t])
	}
	return goal
}

// divide works out the parts of the first round, down to the leaves. They sum
// "exactly to min(target, total releasable)"; what the queues above q let go
// limits what is asked for, and not them.
func (x *enforcement) divide() {
	whole, most := x.row(x.parts, x.q), x.row(x.releasable, x.q)
	for _, t := range x.list {
		whole[t] = min(x.target[t], most[t])
	}
	for p := x.q; p < x.tree.End(x.q); p++ {
		if !x.tree.IsLeaf(p) {
			x.spread(x.parts, p, x.row(x.parts, p))
		}
	}
}

// setGoal asks p for amounts more than it has freed.
func (x *enforcement) setGoal(p queue.ID, amounts resources.Vector) {
	goal, freed, asked := x.row(x.goal, p), x.row(x.freed, p), x.row(x.asked, p)
	for _, t := range x.list {
		goal[t] = freed[t] + amounts[t]
		asked[t] = max(asked[t], goal[t])
	}
}

// give frees as much below p as its goal says, if it can: in rounds, in each of
// which what is still open is spread over the children. "What a leaf could not
// give (counting what was really freed, overshoot included) is offered to its
// siblings in another round." A child that has not given what it was asked for
// is not asked again.
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
	for x.spread(x.share, p, x.open(p)) {
		for c := p + 1; c < x.tree.End(p); c = x.tree.End(c) {
			x.ask(c, x.row(x.share, c))
		}
	}
	if x.e.Overshoot == Exact && x.isShort(p, x.row(x.goal, p)) {
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
	goal, freed := x.row(x.goal, p), x.row(x.freed, p)
	for _, t := range x.list {
		if freed[t] < goal[t] {
			x.at(p).dry = x.at(p).dry.With(t)
		}
	}
}

// open returns what p still has to free, in memory that the next call reuses.
func (x *enforcement) open(p queue.ID) resources.Vector {
	goal, freed := x.row(x.goal, p), x.row(x.freed, p)
	for _, t := range x.list {
		x.vector[t] = max(goal[t]-freed[t], 0)
	}
	return x.vector
}

// isAny reports whether amounts of the target's types are not all zero.
func (x *enforcement) isAny(amounts resources.Vector) bool {
	for _, t := range x.list {
		if amounts[t] > 0 {
			return true
		}
	}
	return false
}

// offerWhole offers everything that is open below p to one leaf after another,
// in tree order. A task that is too large for the part of its leaf may fit the
// whole. It reports whether that freed more of it.
func (x *enforcement) offerWhole(p queue.ID) (more bool) {
	for w := range x.tree.Leaves(p) {
		if x.at(w).out {
			continue
		}
		open := x.open(p)
		if !x.isAny(open) {
			break
		}
		goal, freed, asked := x.row(x.goal, w), x.row(x.freed, w), x.row(x.asked, w)
		for _, t := range x.list {
			goal[t] = freed[t] + open[t]
		}
		// What is short with OneTask has been searched for; only Exact lets a
		// larger goal change that.
		if exact := x.e.Overshoot == Exact; exact && !x.offer(w) || !exact && !x.offerInOrder(w) {
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
