package jobs

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/queue"
)

// This file audits what a plan says of its job and where it puts the members.

// wellFormed yields what keeps the plan from being one.
func (x *audit) wellFormed(yield func(Violation) bool) {
	q := x.job.Queue
	// Everything else is asked of the leaf, so without one nothing can be.
	if q < 0 || int(q) >= x.tree.Len() || !x.tree.IsLeaf(q) {
		yield(Violation{Law: LawLeaf})
		return
	}
	// All that is wrong with names, amounts and nodes is said at once. The
	// minimum makes sense only after that.
	found := false
	complain := func(v Violation) { found = true; yield(v) }
	x.named(complain)
	x.sized(complain)
	for i := range x.plan.Placements {
		if at := &x.plan.Placements[i]; !x.isNode(at.Node) {
			complain(Violation{Law: LawNode, Member: x.memberKey(at.Member)})
		}
	}
	if found {
		return
	}
	x.minimum(complain)
	if found {
		return
	}
	// The books are opened only for a plan that is one: from here on every
	// member and node is known.
	for _, at := range x.plan.Placements {
		x.enter(at)
	}
	x.findNeedy()
	x.fence = queue.Root
	for q := range x.tree.Up(x.job.Queue) { // law 7: the nearest fence, the leaf included
		if x.tree.PreemptionPolicy(q) == queue.PreemptionFence {
			x.fence = q
			break
		}
	}
}

// memberKey returns the key of a member, or "" if there is no such one.
func (x *audit) memberKey(i int) string {
	if i < 0 || i >= len(x.job.Members) {
		return ""
	}
	return x.job.Members[i].Key
}

// named complains about names that are none, or not different.
func (x *audit) named(complain func(Violation)) {
	if x.job.Name == "" {
		complain(Violation{Law: LawKey})
	}
	x.keys = x.keys[:0]
	for i := range x.job.Members {
		x.keys = append(x.keys, x.job.Members[i].Key)
	}
	// Equal keys are neighbours then.
	slices.Sort(x.keys)
	for i, key := range x.keys {
		if key == "" || i > 0 && x.keys[i-1] == key {
			complain(Violation{Law: LawKey, Member: key})
		}
	}
}

// sized complains about amounts with which usage would leave its range.
func (x *audit) sized(complain func(Violation)) {
	// With all members, usage must stay in range: no law that follows checks
	// its sums.
	total := append(x.more[:0], x.tree.Usage(queue.Root)...)
	x.more = total
	for i := range x.job.Members {
		m := &x.job.Members[i]
		if x.standing(m.Key) != unplacedMember {
			continue // what the cluster says of it counts
		}
		for t, v := range m.Size {
			most := int64(0)
			if t < x.types {
				most = math.MaxInt64 - total[t]
			}
			switch {
			case v < 0 || v > most:
				complain(Violation{Law: LawSize, Member: m.Key, Type: t, HasType: true, Have: v, Want: most})
			case t < x.types:
				total[t] += v
			}
		}
	}
	clear(x.more)
}

// hosts yields the nodes that may not be given to the members there.
func (x *audit) hosts(yield func(Violation) bool) {
	for _, at := range x.plan.Placements {
		n := x.c.NodeView(at.Node)
		key := x.job.Members[at.Member].Key
		// Both marks are asked of each member, since a node may be reserved for
		// one of them.
		if n.Unschedulable && !yield(Violation{Law: LawSchedulable, Member: key, Node: n.Name}) {
			return
		}
		mine := n.ReservedFor == "" || n.ReservedFor == key || n.ReservedFor == x.job.Name
		if !mine && !yield(Violation{Law: LawReserved, Member: key, Node: n.Name}) {
			return
		}
	}
}

// formulas yields the formulas that forbid the job to have victims: on coming amounts,
// for a non-preemptible job N + rem <= min, for a preemptible one that it is admitted.
func (x *audit) formulas(yield func(Violation) bool) {
	for i := range x.sums {
		if !x.keepsFormulas(LawFormula, &x.sums[i], x.asked, yield) {
			return
		}
	}
}

// minimum complains about placements that are not of the members whose turn it
// is: the first without a place make up the minimum, in their order; others
// come further.
func (x *audit) minimum(complain func(Violation)) {
	missing := x.job.MinMembers
	if missing == 0 {
		missing = len(x.job.Members)
	}
	next := 0
	for i := range x.job.Members {
		switch x.standing(x.job.Members[i].Key) {
		case placedMember:
			missing--
			x.done[i] = true
		case leavingMember:
			x.done[i] = true
		}
	}
	// Exemptions are asked for the first member without a place, as DESIGN.md
	// has it (Exemptions).
	if first := slices.Index(x.done, false); first >= 0 {
		x.ask = x.job.ask(first)
	}
	given := 0
	for _, at := range x.plan.Placements {
		// A member has one place. One that is leaving can get none before it
		// has gone.
		if at.Member < 0 || at.Member >= len(x.done) || x.done[at.Member] {
			complain(Violation{Law: LawPlaced, Member: x.memberKey(at.Member)})
			return
		}
		if !at.Further {
			for next < at.Member && x.done[next] {
				next++
			}
			if next != at.Member {
				complain(Violation{Law: LawPlaced, Member: x.job.Members[at.Member].Key})
				return
			}
			given++
		}
		x.done[at.Member] = true
	}
	// Neither fewer, which would be of no use, nor more at the cost of victims.
	if given != max(missing, 0) {
		complain(Violation{Law: LawMinimum, Have: int64(given), Want: int64(max(missing, 0))})
	}
}
