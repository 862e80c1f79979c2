// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/queue"
)

// wellFormed is what a plan must be to be judged at all.
func (x *audit) wellFormed() {
	// Without a key no grant could be found again, and a task's key would make
	// it its own victim.
	if _, taken := x.c.Lookup(x.ask.Key); taken || x.ask.Key == "" {
		x.fault(Violation{Law: finding.LawKey})
	}
	switch q := x.ask.Queue; {
	// An ID of no queue has no name to report.
	case q < 0 || int(q) >= x.tree.Len():
		x.fault(Violation{Law: finding.LawLeaf})
	case !x.tree.IsLeaf(q):
		x.fault(Violation{Law: finding.LawLeaf, Queue: x.tree.Path(q)})
	}
	for i, v := range x.ask.Size {
		// With the ask, usage must stay in range; a type that the schema does not
		// have has no room.
		most := int64(0)
		if i < len(x.size) {
			most = math.MaxInt64 - x.present(queue.Root, i)
		}
		if v < 0 || v > most {
			x.fault(Violation{Law: finding.LawSize, Type: x.c.Schema().Name(i), Have: v, Want: most})
		}
	}
	// By going through them: a row number says nothing, for rows are used
	// again.
	for id := range x.c.Nodes() {
		if id == x.plan.Node {
			return
		}
	}
	x.fault(Violation{Law: finding.LawNode})
}

// precondition is what forbids the ask to have victims now.
func (x *audit) precondition() {
	if x.ask.MayNot {
		x.fault(Violation{Law: finding.LawMayPreempt})
	}
	// An ask that requires its node has waited long enough: nothing else can
	// ever serve it.
	pending, delay := x.now.Sub(x.ask.PendingSince), *x.tree.Policies(x.ask.Queue).PreemptionDelay
	if !x.required() && pending < delay {
		x.fault(Violation{Law: finding.LawDelay, Have: int64(pending), Want: int64(delay)})
	}
	since := x.now.Sub(x.ask.LastAttempt)
	if x.a.Interval > 0 && !x.ask.LastAttempt.IsZero() && since < x.a.Interval {
		x.fault(Violation{Law: finding.LawInterval, Have: int64(since), Want: int64(x.a.Interval)})
	}
	if x.second {
		return // the tasks of the own leaf make headroom at every queue of the path
	}
	x.maxima(x.ask.Queue, x.wants, func(q queue.ID, i int, most int64) {
		if e := x.usage(q, i); e > most {
			x.fault(x.ofQueue(finding.LawMax, q, i, e, most))
		}
	})
}

// trigger is what forbids the ask to have victims at all.
func (x *audit) trigger() {
	if !x.required() && !(x.second && x.own && !x.others) {
		x.entitled()
	}
}

// entitled is law 4 for victims of other leaves: no governing queue is at or over its
// guarantee. Only the nearest definition of each type counts.
func (x *audit) entitled() {
	// No type of the ask is governed: nobody was promised anything.
	if !x.starving {
		x.fault(Violation{Law: finding.LawTrigger})
	}
	for i := range x.wants.All() {
		q, ok := x.tree.Governing(x.ask.Queue, i)
		// An ungoverned type neither helps nor hinders.
		if !ok {
			continue
		}
		g, _ := x.tree.Guaranteed(q).Bound(i)
		if e := x.usage(q, i); e >= g {
			x.fault(x.ofQueue(finding.LawTrigger, q, i, e, g))
		}
	}
}

// place is whether the ask may run on the node at all. A granted ask was asked
// most of that when the grant was given.
func (x *audit) place() {
	n := &x.c.nodes[x.plan.Node]
	at, held := x.held()
	required := x.required()
	// Marks and reservations keep new work away. A required node takes the ask
	// all the same, and a grant is older than the mark may be.
	anew := !held && !required
	if anew && n.unschedulable {
		x.fault(x.ofNode(finding.LawSchedulable))
	}
	if anew && n.reservedFor != "" && n.reservedFor != x.ask.Key {
		x.fault(x.ofNode(finding.LawReserved))
	}
	if required && n.name != x.ask.RequiredNode {
		x.fault(x.ofNode(finding.LawRequiredNode))
	}
	if !held && x.a.Filter != nil && !x.a.Filter(x.ask.Class, x.plan.Node) {
		x.fault(x.ofNode(finding.LawFilter))
	}
	if held && (at != x.plan.Node || len(x.plan.Victims) > 0) {
		x.fault(Violation{Law: finding.LawInFlight, Node: x.c.nodes[at].name})
	}
}

// judge is what keeps a task from being a victim, whatever the other victims are.
func (x *audit) judge(id TaskID) {
	r := &x.c.tasks[id]
	of := Violation{Task: id, Victim: r.key}
	fault := func(broken bool, l string) {
		if broken {
			v := of
			v.Law = l
			x.fault(v)
		}
	}
	atQueue := func(broken bool, l string, q queue.ID) {
		if broken {
			v := of
			v.Law, v.Queue = l, x.tree.Path(q)
			x.fault(v)
		}
	}
	own := x.second && x.owns(r.leaf)
	free := !x.required() && !(own && r.leaf == x.ask.Queue) // if not, no queue protects the task
	brought := x.brought(r)                                  // by its job, so that it need not help itself

	// No application is nobody's: two tasks without one are strangers.
	app := x.c.apps.name(r.app)
	fault(app != "" && app == x.ask.Application && !(x.a.OwnApplication && x.required()), finding.LawApplication)
	helped := x.helped(id)
	// Law 5. Blockers and members of a job that goes as a whole are bound by law
	// 2 alone.
	if q, i, poor := x.poor(r.leaf, helped); free && poor && !brought && !x.blocks(id) {
		g, _ := x.tree.Guaranteed(q).Bound(i)
		v := x.ofQueue(finding.LawSurplus, q, i, x.usage(q, i), g)
		v.Task, v.Victim = id, r.key
		x.fault(v)
	}
	// With both numbers, for what law 6 compares can be seen nowhere else.
	if have, most := x.priorities(r, own); have > most {
		x.fault(Violation{Law: finding.LawPriority, Task: id, Victim: r.key, Have: have, Want: most})
	}
	// The order is that of the laws, and what follows them.
	w := r.leaf
	inFence := w != x.ask.Queue && w != x.fence && x.tree.Contains(x.fence, w)
	atQueue(free && !inFence, finding.LawFence, w)
	atQueue(free && !own && x.starving && x.tree.Contains(x.inside, w), finding.LawStorm, x.inside)
	fault(r.state != Running, finding.LawLeaving)
	fault(r.flags.has(flagRequiredNode), finding.LawRequiredTask)
	atQueue(!x.required() && x.tree.Policies(w).Preemption == queue.Disabled, finding.LawDisabled, w)
	fault(x.exempt(id), finding.LawExempt)
	fault(!x.nearby(r) && !brought, finding.LawNearby)
	fault(helped == 0 && !brought && !x.blocks(id), finding.LawHelpful)
}

// gang is that no job is left with too few members. One that goes as a whole is not
// left at all.
func (x *audit) gang() {
	for i := range x.gangs {
		if g := &x.gangs[i]; g.broken() {
			x.fault(Violation{
				Law: finding.LawGang, Job: x.c.jobs.name(g.job),
				Have: int64(g.running - g.taken), Want: int64(g.running - g.surplus),
			})
		}
	}
}

// budget is that the victims overrun no hard budget. A soft budget is part of the
// cost, and no law. See DESIGN.md, Budgets.
func (x *audit) budget() {
	// A cluster without budgets is the common case.
	if len(x.drawn) == 0 {
		return
	}
	for name, b := range x.c.Budgets() {
		row, _ := x.c.findBudget(name)
		// What is below zero already counts as zero, so that a budget overdrawn
		// by others does not condemn a plan that takes nothing of it.
		left := max(0, b.Left)
		if drawn := x.drawn[row]; b.Hard && drawn > left {
			x.fault(Violation{Law: finding.LawBudget, Budget: name, Have: drawn, Want: left})
		}
	}
}

// guarantee is law 2 over all queues. For an ask that requires its node no guarantee
// protects. DESIGN.md, Required nodes.
func (x *audit) guarantee() {
	if !x.required() {
		for q := range x.tree.All() {
			x.keeps(q)
		}
	}
}

// keeps is law 2 at one queue. A type without a guarantee is promised to nobody.
func (x *audit) keeps(q queue.ID) {
	guaranteed := x.tree.Guaranteed(q)
	for i := range guaranteed.Defined.All() {
		if have, want := x.promise(q, i, guaranteed.Value[i]); have < want {
			x.fault(x.ofQueue(finding.LawGuarantee, q, i, have, want))
		}
	}
}

// room is that the node, and each queue on the path of the ask, from the leaf upwards,
// has room for it once the victims are gone. It is asked over sums, and never victim by
// victim: one may give cpu and another memory.
func (x *audit) room() {
	for i := range x.wants.All() {
		if have := x.free[i] + x.freed[i]; have < x.size[i] {
			v := x.ofNode(finding.LawRoom)
			v.Type, v.Have, v.Want = x.c.Schema().Name(i), have, x.size[i]
			x.fault(v)
		}
	}
	x.maxima(x.ask.Queue, x.wants, func(q queue.ID, i int, most int64) {
		// Amounts are what a queue would have for the ask, so that both laws of
		// room read alike.
		if have := most - x.left(q, i); have < x.size[i] {
			x.fault(x.ofQueue(finding.LawHeadroom, q, i, have, x.size[i]))
		}
	})
}

// blocked is that no blocker will still be there when the ask starts. A
// task that is leaving is waited for, but by an ask that holds a grant and
// would start now. A grant never leaves, if it is not taken off with the ask's.
func (x *audit) blocked() {
	_, held := x.held()
	for _, id := range x.blockers {
		r := &x.c.tasks[id]
		stays := held
		switch r.state {
		case Granted:
			stays = !slices.Contains(x.grants, id)
		case Running:
			stays = held || !slices.Contains(x.victims, id)
		}
		if stays {
			v := x.ofNode(finding.LawBlocker)
			v.Other = r.key
			x.fault(v)
		}
	}
}

// accepts asks the caller's predicate about the plan with these victims.
func (x *audit) accepts(victims []TaskID) bool {
	if x.a.Predicate == nil {
		return true
	}
	// The predicate sees what the planner's sees: the moment at which the ask
	// would start.
	x.placing = Placing{
		Ask: x.ask, Node: x.plan.Node, Victims: victims, Coming: len(x.plan.Victims) > 0 || !x.fitsNow(),
	}
	return x.a.Predicate(&x.placing)
}

// fitsNow reports whether there is room for the ask without waiting for anybody.
func (x *audit) fitsNow() bool {
	if _, held := x.held(); held {
		return true // if not, other laws say so
	}
	fits := len(x.blockers) == 0
	for i := range x.wants.All() {
		// Present amounts: what is leaving has not left.
		fits = fits && x.c.row(x.c.present, x.plan.Node)[i] >= x.size[i]
	}
	x.maxima(x.ask.Queue, x.wants, func(q queue.ID, i int, most int64) {
		fits = fits && most-x.present(q, i) >= x.size[i]
	})
	return fits
}

// A plan is compared with others that are near: with fewer victims, or with
// another one in the place of an opted-out victim (law 1). Members of a job that
// goes as a whole are no single victims, and are not exchanged.

// mostTries is how many members are given back on trial for one job. Jobs of up
// to a dozen members are looked at whole.
const mostTries = 1 << 12

// minimal is that no victim can be given back, alone or with others of its job: that
// without it there is room still, nobody blocks the ask, and the
// predicate accepts the others. No law about queues or budgets stands in the
// way, for less is taken of them.
func (x *audit) minimal() {
	// A plan without room says nothing of what it could spare; room has its own
	// law.
	if !x.enough() {
		return
	}
	for _, id := range x.victims {
		// One member of a whole job cannot come back alone, and who blocks has
		// to go whatever the amounts.
		if g := x.gangAt(id); g != nil && g.whole() || x.blocks(id) {
			continue
		}
		x.give(id)
		// The predicate last: it is the caller's, and may be slow.
		if x.enough() && x.accepts(x.withoutGiven()) {
			x.fault(Violation{Law: finding.LawMinimal, Task: id, Victim: x.c.tasks[id].key})
		}
		x.take(id)
	}
	for i := range x.gangs {
		if g := &x.gangs[i]; g.whole() && x.spares(g) {
			x.fault(Violation{Law: finding.LawMinimal, Job: x.c.jobs.name(g.job)})
		}
	}
}

// enough reports whether there is room on the node and in all queues.
func (x *audit) enough() bool { return x.holds((*audit).room) }

// spares reports whether less of a job that goes as a whole would do: no more
// members than may go one by one, each of which helps by itself.
func (x *audit) spares(g *auditGang) bool {
	x.spare = x.spare[:0] // those that may stay victims
	kept, keep := 0, g.surplus
	for _, id := range x.victims {
		r := &x.c.tasks[id]
		switch {
		// Another's: it stays as it is.
		case r.job != g.job:
		// It goes in any case, and is one of those that may.
		case x.blocks(id):
			kept++
		// It may stay a victim by itself, if the number allows.
		case x.helped(id) != 0 && x.nearby(r):
			x.spare = append(x.spare, id)
		default:
			x.give(id)
		}
	}
	// All ways to choose are tried, one after another, for none is better than
	// another by its looks: amounts differ by type.
	x.tries = mostTries
	spared := kept <= keep && x.enough() && x.dropSome(x.spare, max(0, len(x.spare)-(keep-kept)))
	for _, id := range x.victims {
		if x.marks[id] == markGiven {
			x.take(id)
		}
	}
	return spared
}

// dropSome reports whether n of a list of victims can be given back at once. It
// leaves them as they were.
func (x *audit) dropSome(list []TaskID, n int) bool {
	// Room was asked for at every step.
	if n == 0 {
		return x.accepts(x.withoutGiven())
	}
	for i := 0; i <= len(list)-n && x.tries > 0; i++ {
		x.tries--
		x.give(list[i])
		given := x.enough() && x.dropSome(list[i+1:], n-1)
		x.take(list[i])
		if given {
			return true
		}
	}
	return false
}

// optedOut is that no other task, which did not opt out, would do in the place of a
// victim that did: then another plan needs fewer of them.
func (x *audit) optedOut() {
	if !levels(x.a.Levels).keepsLaw1() {
		return // the caller has made less of it
	}
	// What counts as near is a plan of the same kind. One that keeps to other
	// leaves is compared with those: the decision comes to the own leaf only if
	// there is no ordinary plan.
	second := x.second
	x.second = second && !x.ordinary()
	for _, id := range x.victims {
		r := &x.c.tasks[id]
		g := x.gangAt(id)
		if !r.flags.has(flagOptedOut) || g != nil && g.whole() || x.blocks(id) {
			continue
		}
		// The exchange is tried in the books: one goes out, each of the others
		// comes in, and all laws are asked again.
		x.give(id)
		x.member(r, -1)
		other, ok := x.instead()
		x.member(r, +1)
		x.take(id)
		if ok {
			x.fault(Violation{Law: finding.LawOptedOut, Task: id, Victim: r.key, Other: other})
		}
	}
	x.second = second
}

// ordinary reports whether a plan is lawful without the option of the own leaf,
// which stands in for law 4.
func (x *audit) ordinary() bool {
	x.second = false
	return !x.own && x.holds((*audit).entitled) && x.holds((*audit).precondition) && x.holds((*audit).guarantee)
}

// instead returns the first by key of the opted-in tasks that would do in the
// place of the victim that is given back.
func (x *audit) instead() (key string, ok bool) {
	// A candidate may bring a gang with it, which is forgotten again.
	gangs := len(x.gangs)
	for id := range x.c.Tasks() {
		r := &x.c.tasks[id]
		// Who comes after one that was found need not be tried.
		if r.state != Running || r.flags.has(flagOptedOut) || x.marks[id] != 0 || ok && r.key > key {
			continue
		}
		x.count(id, +1)
		x.member(r, +1)
		if x.wouldDo(id, r) {
			key, ok = r.key, true
		}
		x.member(r, -1)
		x.count(id, -1)
		x.gangs = x.gangs[:gangs]
	}
	return key, ok
}

// wouldDo reports whether the plan is lawful with one more task, which is
// counted.
func (x *audit) wouldDo(id TaskID, r *taskRow) bool {
	switch own := x.second && x.owns(r.leaf); {
	case own && !x.own:
		return false // there is a plan without the own leaf
	case !own && !x.required() && !x.others && !x.holds((*audit).entitled):
		return false
	case !x.enough() || !x.holds((*audit).budget) || !x.holds((*audit).gang):
		return false
	}
	lawful := x.holds(func(x *audit) {
		// It must be a lawful victim by itself, too.
		x.judge(id)
		// Law 2 is asked of the queues that lose by the exchange.
		for q := range x.tree.Up(r.leaf) {
			if !x.required() {
				x.keeps(q)
			}
		}
	})
	x.rest = append(x.withoutGiven(), id)
	return lawful && x.accepts(x.rest)
}
