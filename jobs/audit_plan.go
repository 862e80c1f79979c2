// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// This file audits what a plan says of its job, where it puts the members, and what
// lets the job preempt; and then each victim by itself.

// wellFormed reports what keeps the plan from being one.
func (x *audit) wellFormed() {
	q := x.job.Queue
	// Everything else is asked of the leaf, so without one nothing can be.
	if q < 0 || int(q) >= x.tree.Len() || !x.tree.IsLeaf(q) {
		x.report(victims.Violation{Law: finding.LawLeaf})
		return
	}
	// All that is wrong with names, amounts and nodes is said at once. The
	// minimum makes sense only after that.
	before := len(x.out)
	x.named()
	x.sized()
	for i := range x.plan.Placements {
		if at := &x.plan.Placements[i]; !x.isNode(at.Node) {
			x.report(victims.Violation{Law: finding.LawNode, Member: x.memberKey(at.Member)})
		}
	}
	if len(x.out) == before {
		x.minimum()
	}
	if len(x.out) > before {
		return
	}
	// The books are opened only for a plan that is one: from here on every
	// member and node is known.
	for _, at := range x.plan.Placements {
		x.enter(at)
	}
	x.starving = false
	for t, all := range x.asked { // E, the lowest queue that governs a type of the members
		if q, ok := x.tree.Governing(x.job.Queue, t); all > 0 && ok && (!x.starving || q > x.inside) {
			x.inside, x.starving = q, true
		}
	}
	x.within = x.a.OwnLeaf
	switch x.tree.Policies(x.job.Queue).WithinQueue { // DESIGN.md, The own leaf: the option is for queues that do not say
	case queue.Never:
		x.within = victims.OwnNever
	case queue.Met:
		x.within = victims.OwnMet
	case queue.Branch:
		x.within = victims.OwnBranch
	}
	if x.a.sharing {
		x.within = victims.OwnNever
	}
	x.fence = queue.Root
	for q := range x.tree.Up(x.job.Queue) { // law 7: the nearest fence, the leaf included
		if x.tree.Policies(q).Preemption == queue.Fence {
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

// named reports names that are none, or not different.
func (x *audit) named() {
	if x.job.Name == "" {
		x.report(victims.Violation{Law: finding.LawKey})
	}
	x.keys = x.keys[:0]
	for i := range x.job.Members {
		x.keys = append(x.keys, x.job.Members[i].Key)
	}
	// Equal keys are neighbours then.
	slices.Sort(x.keys)
	for i, key := range x.keys {
		if key == "" || i > 0 && x.keys[i-1] == key {
			x.report(victims.Violation{Law: finding.LawKey, Member: key})
		}
	}
}

// sized reports amounts with which usage would leave its range.
func (x *audit) sized() {
	// With all members, usage must stay in range: no law that follows checks
	// its sums.
	total := append(x.more[:0], x.tree.Usage(queue.Root)...)
	x.more = total
	for i := range x.job.Members {
		m := &x.job.Members[i]
		if s, _ := x.standing(m.Key); s != unplacedMember {
			continue // what the cluster says of it counts
		}
		for t, v := range m.Size {
			most := int64(0)
			if t < x.types {
				most = math.MaxInt64 - total[t]
			}
			switch {
			case v < 0 || v > most:
				x.report(victims.Violation{Law: finding.LawSize, Member: m.Key, Type: x.tree.Schema().Name(t), Have: v, Want: most})
			case t < x.types:
				total[t] += v
			}
		}
	}
	clear(x.more)
}

// minimum reports placements that are not of the members whose turn it
// is: the first without a place make up the minimum, in their order; others
// come further.
func (x *audit) minimum() {
	missing := x.job.MinMembers
	if missing == 0 {
		missing = len(x.job.Members)
	}
	for i := range x.job.Members {
		s, _ := x.standing(x.job.Members[i].Key)
		if x.done[i] = s != unplacedMember; s == placedMember {
			missing--
		}
	}
	// Exemptions are asked for the first member without a place, as DESIGN.md
	// has it (Exemptions).
	if first := slices.Index(x.done, false); first >= 0 {
		x.ask = x.job.ask(first)
	}
	next, given := 0, 0
	for _, at := range x.plan.Placements {
		// A member has one place. One that is leaving can get none before it
		// has gone.
		taken := at.Member < 0 || at.Member >= len(x.done) || x.done[at.Member]
		if !taken && !at.Further {
			for next < at.Member && x.done[next] {
				next++
			}
			taken = next != at.Member
			given++
		}
		if taken {
			x.report(victims.Violation{Law: finding.LawPlaced, Member: x.memberKey(at.Member)})
			return
		}
		x.done[at.Member] = true
	}
	// Neither fewer, which would be of no use, nor more at the cost of victims.
	if missing = max(missing, 0); given != missing {
		x.report(victims.Violation{Law: finding.LawMinimum, Have: int64(given), Want: int64(missing)})
	}
}

// hosts reports the nodes that may not be given to the members there.
func (x *audit) hosts() {
	for _, at := range x.plan.Placements {
		n, key := x.c.NodeView(at.Node), x.job.Members[at.Member].Key
		if n.Unschedulable {
			x.ofMember(finding.LawSchedulable, key, at.Node)
		}
		// A node may be reserved for one member of a job, or for all.
		if n.ReservedFor != "" && n.ReservedFor != key && n.ReservedFor != x.job.Name {
			x.ofMember(finding.LawReserved, key, at.Node)
		}
	}
}

// filter reports the members that the caller's filter does not let run on their
// nodes. Without a filter everybody may run everywhere.
func (x *audit) filter() {
	for _, at := range x.plan.Placements {
		if m := &x.job.Members[at.Member]; x.a.Filter != nil && !x.a.Filter(m.Class, at.Node) {
			x.ofMember(finding.LawFilter, m.Key, at.Node)
		}
	}
}

// domain reports the members that do not share a domain with the first one, of
// the depth that the job requires. Members that have places already come before
// those of the plan.
func (x *audit) domain() {
	depth := x.job.Domain
	if depth <= 0 {
		return
	}
	// The first member that is in a domain names it for all others. Members
	// that run are bound to theirs already.
	var common []string
	check := func(key string, node victims.NodeID) {
		list := x.c.NodeView(node).Domains
		if len(list) >= depth && common == nil {
			common = list[:depth]
		}
		if len(list) < depth || !slices.Equal(list[:depth], common) {
			x.ofMember(finding.LawDomain, key, node)
		}
	}
	for i := range x.job.Members {
		key := x.job.Members[i].Key
		if s, id := x.standing(key); s == placedMember {
			check(key, x.c.NodeOf(id))
		}
	}
	for _, at := range x.plan.Placements {
		check(x.job.Members[at.Member].Key, at.Node)
	}
}

func (x *audit) byPriority() bool { return x.a.ByPriority }

// priority reports the members that run at another raw priority than their job has: then
// two jobs could take each other's members for ever. What runs is the caller's to say.
func (x *audit) priority() {
	if x.a.trusts {
		return
	}
	for i := range x.job.Members {
		key := x.job.Members[i].Key
		s, id := x.standing(key)
		if s != placedMember || x.c.TaskView(id).State == victims.Granted {
			continue
		}
		if have := x.c.TaskView(id).Priority; have != x.job.Priority {
			x.report(victims.Violation{Law: finding.LawMember, Member: key, Have: int64(have), Want: int64(x.job.Priority)})
		}
	}
}

// precondition reports what forbids the job to have victims now.
func (x *audit) precondition() {
	if x.job.MayNot {
		x.report(victims.Violation{Law: finding.LawMayPreempt})
	}
	if x.byPriority() {
		return
	}
	pending, delay := x.now.Sub(x.job.PendingSince), *x.tree.Policies(x.job.Queue).PreemptionDelay
	if pending < delay {
		x.report(victims.Violation{Law: finding.LawDelay, Have: int64(pending), Want: int64(delay)})
	}
	since := x.now.Sub(x.job.LastAttempt)
	if x.a.Interval > 0 && !x.job.LastAttempt.IsZero() && since < x.a.Interval {
		x.report(victims.Violation{Law: finding.LawInterval, Have: int64(since), Want: int64(x.a.Interval)})
	}
	// With the option, tasks of the own leaf may go whatever its guarantee says, and make
	// headroom below a max that is passed. So law 4 is asked about the others only.
	if x.within == victims.OwnNever {
		x.underMaxima()
	}
	if x.within == victims.OwnNever || x.takesFromOthers() {
		x.under()
	}
}

// underMaxima reports the queues of the path that are over their max already in a type
// that the job wants.
func (x *audit) underMaxima() {
	for q := range x.tree.Up(x.job.Queue) {
		most := x.tree.Max(q)
		for t := range most.Defined.All() {
			m, _ := most.Bound(t)
			if e := x.usage(q, t); x.asked[t] > 0 && e > m {
				x.ofQueue(finding.LawMax, q, t, e, m)
			}
		}
	}
}

// takesFromOthers reports whether some victim is of another leaf.
func (x *audit) takesFromOthers() bool {
	return slices.ContainsFunc(x.plan.Victims, func(v victims.Victim) bool {
		id, ok := x.c.Lookup(v.Key)
		return ok && !x.owns(x.c.TaskView(id).Queue)
	})
}

// owns reports whether tasks of a leaf are those that the option of the own leaf is about:
// of the job's leaf, or of its branch, which is all below E.
func (x *audit) owns(leaf queue.ID) bool {
	return leaf == x.job.Queue || x.within == victims.OwnBranch && !x.byPriority() && x.starving && x.tree.Contains(x.inside, leaf)
}

// under reports why law 4 does not let the job have victims of other leaves: no type is
// governed, or a governing queue is not under its guarantee once all members but the
// largest have come.
func (x *audit) under() {
	if !x.starving {
		x.report(victims.Violation{Law: finding.LawTrigger})
		return
	}
	for t, all := range x.asked {
		q, ok := x.tree.Governing(x.job.Queue, t)
		if all <= 0 || !ok {
			continue
		}
		largest := int64(0)
		for _, at := range x.plan.Placements {
			switch {
			case at.Further:
			case x.a.inOrder: // the last one that asks
				largest = x.job.Members[at.Member].Size.At(t)
			default:
				largest = max(largest, x.job.Members[at.Member].Size.At(t))
			}
		}
		g, _ := x.tree.Guaranteed(q).Bound(t)
		if have := capped(x.usage(q, t), all-largest); have >= g {
			x.ofQueue(finding.LawTrigger, q, t, have, g)
		}
	}
}

// judgeAll audits the victims one by one and counts what they free.
func (x *audit) judgeAll() {
	for i := range x.plan.Victims {
		v := &x.plan.Victims[i]
		id, ok := x.c.Lookup(v.Key)
		// Row and key must agree: rows are used again, and a plan may be old.
		if !ok || id != v.Task {
			x.report(victims.Violation{Law: finding.LawKnown, Victim: v.Key, Task: v.Task})
			continue
		}
		for int(id) >= len(x.listed) {
			x.listed = append(x.listed, false)
		}
		// Counted twice, a victim would free twice what it has.
		if x.listed[id] {
			x.report(victims.Violation{Law: finding.LawOnce, Victim: v.Key, Task: id})
			continue
		}
		x.listed[id] = true
		t := x.c.TaskView(id)
		x.judge(id, &t)
		if t.State == victims.Running { // what is leaving anyway is no room made by the plan
			x.victims = append(x.victims, id)
			x.count(x.victims[len(x.victims)-1:], +1)
		}
	}
}

// judge reports the laws that keep t, of row id, from being a victim, whatever the other
// victims are.
func (x *audit) judge(id victims.TaskID, t *victims.Task) {
	w := t.Queue
	ours := t.Job == x.job.Name || t.Application == x.job.Application && t.Application != ""
	own := x.owns(w)
	// In its own leaf it may take strictly lower tasks: by priority always, by guarantee
	// with the option. DESIGN.md, Jobs: laws.
	inReach := w != x.fence && x.tree.Contains(x.fence, w)
	if w == x.job.Queue {
		inReach = x.byPriority() || x.within != victims.OwnNever
	}
	inside := !x.byPriority() && !own && x.starving && x.tree.Contains(x.inside, w)
	// Offsets and fences above the common ancestor would be the same for both.
	c := x.tree.CommonAncestor(w, x.job.Queue)
	have := finding.Climb{Tree: x.tree, Leaf: w, Below: c}.Lift(int64(t.Priority))
	most := finding.Climb{Tree: x.tree, Leaf: x.job.Queue, Below: c}.Lift(int64(x.job.Priority))
	if x.byPriority() || x.a.StrictPriority || own {
		most--
	}
	for _, rule := range [...]struct {
		broken bool
		law    string
	}{
		{t.State != victims.Running, finding.LawLeaving}, {t.RequiredNode, finding.LawRequiredTask}, {ours, finding.LawApplication},
		{!inReach, finding.LawFence}, {x.tree.Policies(w).Preemption == queue.Disabled, finding.LawDisabled}, {inside, finding.LawStorm}, {t.NonPreemptible, finding.LawNonPreemptible},
	} {
		if rule.broken {
			x.report(victims.Violation{Law: rule.law, Victim: t.Key, Task: id})
		}
	}
	if have > most {
		x.report(victims.Violation{Law: finding.LawPriority, Victim: t.Key, Task: id, Have: have, Want: most})
	}
	if x.exempt(id) {
		x.report(victims.Violation{Law: finding.LawExempt, Victim: t.Key, Task: id})
	}
}
