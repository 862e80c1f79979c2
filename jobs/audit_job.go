package jobs

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
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

func (x *audit) byPriority() bool { return x.a.Trigger == ByPriority }

// priority yields the members that run at another raw priority than their job has: then
// two jobs could take each other's members for ever. What runs is the caller's to say.
func (x *audit) priority(yield func(Violation) bool) {
	if x.a.trusts {
		return
	}
	for i := range x.job.Members {
		key := x.job.Members[i].Key
		id, ok := x.c.Lookup(key)
		if !ok || x.standing(key) != placedMember {
			continue
		}
		if have := x.c.TaskView(id).Priority; have != x.job.Priority &&
			!yield(Violation{Law: LawMember, Member: key, Have: int64(have), Want: int64(x.job.Priority)}) {
			return
		}
	}
}

// precondition yields what forbids the job to have victims now.
func (x *audit) precondition(yield func(Violation) bool) {
	if x.job.MayNot && !yield(Violation{Law: LawMayPreempt}) || x.byPriority() {
		return
	}
	pending, delay := x.now.Sub(x.job.PendingSince), x.tree.PreemptionDelay(x.job.Queue)
	if pending < delay && !yield(Violation{Law: LawDelay, Have: int64(pending), Want: int64(delay)}) {
		return
	}
	since := x.now.Sub(x.job.LastAttempt)
	if x.a.Interval > 0 && !x.job.LastAttempt.IsZero() && since < x.a.Interval &&
		!yield(Violation{Law: LawInterval, Have: int64(since), Want: int64(x.a.Interval)}) {
		return
	}
	if x.a.OwnLeaf == victims.OwnNever && !x.underMaxima(yield) {
		return
	}
	// With the option, tasks of the own leaf may go whatever its guarantee says. So law 4
	// is asked about the others only.
	if x.a.OwnLeaf == victims.OwnNever || x.takesFromOthers() {
		x.under(yield)
	}
}

// underMaxima yields the queues of the path that are over their max already in a type
// that the job wants. With the option of the own leaf its tasks make headroom there.
func (x *audit) underMaxima(yield func(Violation) bool) bool {
	for q := range x.tree.Up(x.job.Queue) {
		most := x.tree.Max(q)
		for t := range most.Defined.All() {
			m, _ := most.Bound(t)
			if e := x.usage(q, t); x.asked[t] > 0 && e > m && !yield(ofQueue(LawMax, q, t, e, m)) {
				return false
			}
		}
	}
	return true
}

// takesFromOthers reports whether some victim is of another leaf.
func (x *audit) takesFromOthers() bool {
	for i := range x.plan.Victims {
		if id, ok := x.c.Lookup(x.plan.Victims[i].Key); ok && x.c.TaskView(id).Queue != x.job.Queue {
			return true
		}
	}
	return false
}

// under yields why law 4 does not let the job have victims of other leaves: no type is
// governed, or a governing queue is not under its guarantee once all members but the
// largest have come. It notes E, the lowest governing queue.
func (x *audit) under(yield func(Violation) bool) {
	if !x.starving {
		yield(Violation{Law: LawTrigger})
		return
	}
	for t, all := range x.asked {
		q, ok := x.tree.Governing(x.job.Queue, t)
		if all <= 0 || !ok {
			continue
		}
		largest := int64(0)
		for _, at := range x.plan.Placements {
			if !at.Further {
				largest = max(largest, x.job.Members[at.Member].Size.At(t))
			}
		}
		g, _ := x.tree.Guaranteed(q).Bound(t)
		if have := capped(x.usage(q, t), all-largest); have >= g && !yield(ofQueue(LawTrigger, q, t, have, g)) {
			return
		}
	}
}

// findNeedy notes E, the lowest queue that governs a type of the members that are placed.
func (x *auditCase) findNeedy() {
	x.starving = false
	for t, all := range x.asked {
		if q, ok := x.tree.Governing(x.job.Queue, t); all > 0 && ok && (!x.starving || q > x.inside) {
			x.inside, x.starving = q, true
		}
	}
}

// This file audits what the caller and the cluster say of nodes and services:
// the filter, domains, and hard budgets.

// domain yields the members that do not share a domain with the first one, of
// the depth that the job requires. Members that have places already come before
// those of the plan.
func (x *audit) domain(yield func(Violation) bool) {
	depth := x.job.Domain
	if depth <= 0 {
		return
	}
	// The first member that is in a domain names it for all others. Members
	// that run are bound to theirs already.
	var common []string
	apart := func(key string, node victims.NodeID) bool {
		list := x.c.NodeView(node).Domains
		if len(list) >= depth && common == nil {
			common = list[:depth]
		}
		if len(list) >= depth && slices.Equal(list[:depth], common) {
			return false
		}
		return !yield(Violation{Law: LawDomain, Member: key, Node: x.c.NodeName(node)})
	}
	for i := range x.job.Members {
		key := x.job.Members[i].Key
		if x.standing(key) != placedMember {
			continue
		}
		id, ok := x.c.Lookup(key)
		if !ok {
			id, _ = x.c.LookupGrant(key)
		}
		if apart(key, x.c.NodeOf(id)) {
			return
		}
	}
	for _, at := range x.plan.Placements {
		if apart(x.job.Members[at.Member].Key, at.Node) {
			return
		}
	}
}

// budget yields the hard budgets that lose more tasks than they have left. A
// soft budget is part of the cost, and no law.
func (x *audit) budget(yield func(Violation) bool) {
	for name, b := range x.c.Budgets() {
		// A soft budget may be overrun, at a cost. DESIGN.md, Budgets.
		if !b.Hard {
			continue
		}
		drawn := int64(0)
		for _, id := range x.victims {
			// By name, through the exported view: the planner's rows of budgets
			// are under audit too.
			if slices.Contains(x.c.TaskView(id).Budgets, name) {
				drawn++
			}
		}
		// Below 0 counts as 0: others may have overdrawn it.
		if left := max(b.Left, 0); drawn > left && !yield(Violation{Law: LawBudget, Budget: name, Have: drawn, Want: left}) {
			return
		}
	}
}

// filter yields the members that the caller's filter does not let run on their
// nodes.
func (x *audit) filter(yield func(Violation) bool) {
	// Without a filter everybody may run everywhere.
	if x.a.Filter == nil {
		return
	}
	for _, at := range x.plan.Placements {
		m := &x.job.Members[at.Member]
		if !x.a.Filter(x.job, m.Class, at.Node) &&
			!yield(Violation{Law: LawFilter, Member: m.Key, Node: x.c.NodeName(at.Node)}) {
			return
		}
	}
}
