package quota

import (
	"slices"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// joint looks for a better set among all candidates below q where the rounds
// ended short: parts, order and trims may have led to one that no further task
// fits, though others together would free more. First it asks for all that can
// be hoped for, which is the whole target if that can be; where no set has it,
// for as much as can be of one type after another, and no less of the others.
// The cheapest set that has it, as of a leaf, takes the place of the victims.
// So what is freed of the target never falls. It reports whether it grew.
//
// The cost is that of looking at all tasks below q where sums show that there
// is no more, and of the searches where they do not.
//
// In the end no legal set frees more of one type and as much of the others,
// unless a search was cut short.
func (x *enforcement) joint() (more bool) {
	n, hope := x.hope()
	if !hope {
		return false // all that could be had is taken
	}
	if _, _, ok := x.allowance(n); !ok {
		x.unproven = true
		return false
	}
	x.poseJoint()
	need, most := x.needs[0].Short, x.row(x.most, x.q)
	copy(need, most)
	if more = x.replace(0, int32(len(x.tasks))); !more {
		for _, t := range x.list {
			more = x.raise(t) || more
		}
	}
	if more {
		x.noteAsked()
	}
	return more
}

// hope works out what of each type of the target could be freed below each
// queue, if the other types and the sums of sizes did not matter. It returns
// how many tasks could be among the victims, and whether there is hope to free
// more of q than is freed.
func (x *enforcement) hope() (n int, hope bool) {
	x.most = zeros(x.most, len(x.rows)*x.types)
	for p := x.tree.End(x.q) - 1; p >= x.q; p-- {
		if x.at(p).out {
			continue
		}
		most := x.row(x.most, p)
		if x.tree.IsLeaf(p) {
			n += x.sumLegal(most, p)
		}
		for c := p + 1; c < x.tree.End(p); c = x.tree.End(c) {
			for _, t := range x.list {
				most[t] += x.row(x.most, c)[t]
			}
		}
		room, freed := x.row(x.room, p), x.row(x.freed, p)
		for _, t := range x.list {
			most[t] = min(most[t], room[t]+freed[t])
		}
	}
	x.leaveAll(x.q)
	most, freed := x.row(x.most, x.q), x.row(x.freed, x.q)
	for _, t := range x.list {
		most[t] = min(most[t], x.left[t], x.target[t])
		hope = hope || most[t] > freed[t]
	}
	return n, hope
}

// sumLegal adds to sum the sizes of those tasks of leaf w that could go if
// nobody else did, and returns their number.
func (x *enforcement) sumLegal(sum resources.Vector, w queue.ID) (n int) {
	x.gather(w)
	x.leaveAll(w)
	row := x.at(w)
	for i := row.first; i < row.end; i++ {
		size := x.size(i)
		if !resources.Fits(size, x.left) {
			continue
		}
		n++
		for _, t := range x.list {
			sum[t] += size[t]
		}
	}
	return n
}

// leaveAll sets left to what the tasks below p could sum to if there were no
// victims; see leave. Exact: in the types of the target, no more than that.
func (x *enforcement) leaveAll(p queue.ID) {
	x.left = resources.Add(x.left, x.above, x.row(x.freed, x.q))
	for ; ; p, _ = x.tree.Parent(p) {
		x.scratch = resources.Add(x.scratch, x.row(x.room, p), x.row(x.freed, p))
		x.left = resources.Min(x.left, x.left, x.scratch)
		if p == x.q {
			break
		}
	}
	if x.e.Overshoot == Exact {
		for _, t := range x.list {
			x.left[t] = min(x.left[t], x.target[t])
		}
	}
}

// poseJoint makes a problem of all tasks below q, but for what they should
// free. What they may free is a bound for each queue with a guarantee (law 2),
// and with Exact another one for all.
func (x *enforcement) poseJoint() {
	p := &x.problem
	p.Order = costOrder
	p.Capacity, p.Wanted = x.c.Capacity(), x.target
	p.Units, x.rowsOf, x.chains = p.Units[:0], x.rowsOf[:0], x.chains[:0]
	x.needs[0].Short = zeros(x.needs[0].Short, x.types)
	p.Needs = x.needs[:]

	x.rooms.Reset(x.tree, x.q, nil)
	exact := int32(len(x.rooms.Bounds))
	if x.e.Overshoot == Exact {
		x.rooms.Bounds = append(x.rooms.Bounds, cover.Bound{Room: resources.Limit{Value: x.target, Defined: x.wanted}})
	}
	p.Bounds = x.rooms.Bounds
	for w := range x.tree.Leaves(x.q) {
		if x.at(w).out {
			continue
		}
		from := len(x.chains)
		x.chains = append(x.chains, x.rooms.Chain(w)...)
		if x.e.Overshoot == Exact {
			x.chains = append(x.chains, exact)
		}
		x.addUnits(w, slices.Clip(x.chains[from:]))
	}
}

// addUnits adds the tasks of leaf w that could go, all bound by a chain.
func (x *enforcement) addUnits(w queue.ID, chain []int32) {
	x.leaveAll(w)
	row := x.at(w)
	for i := row.first; i < row.end; i++ {
		if !resources.Fits(x.size(i), x.left) {
			continue
		}
		u := x.unit(i)
		u.Bounds = chain
		x.problem.Units = append(x.problem.Units, u)
		x.rowsOf = append(x.rowsOf, i)
	}
}

// raise frees as much more of type t as it can, and of the others no less than
// is freed before. It reports whether it is more. As a rule there is none, so
// that the first search is for one more; those that follow halve what can still
// be hoped for. The last set found is the cheapest that frees the most.
func (x *enforcement) raise(t int) (more bool) {
	need, freed := x.needs[0].Short, x.row(x.freed, x.q)
	for _, u := range x.list {
		need[u] = min(freed[u], x.target[u])
	}
	for most := x.row(x.most, x.q)[t]; freed[t] < most; {
		need[t] = freed[t] + 1
		if more {
			need[t] += (most - freed[t] - 1) / 2
		}
		if x.replace(0, int32(len(x.tasks))) {
			more = true
		} else if most = need[t] - 1; !more {
			break
		}
	}
	return more
}

// noteAsked notes of each leaf that it was asked for what it gives.
func (x *enforcement) noteAsked() {
	for w := range x.tree.Leaves(x.q) {
		asked, freed := x.row(x.asked, w), x.row(x.freed, w)
		for _, t := range x.list {
			asked[t] = max(asked[t], min(freed[t], x.target[t]))
		}
	}
}
