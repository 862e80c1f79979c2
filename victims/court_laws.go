// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"slices"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// The laws, a method each, which reports what breaks its law. What things are is said in
// court.go.

// holds reports whether a law holds. Plans that are near are judged by the same methods as
// the plan itself.
func (x *court) holds(law func(*court)) bool {
	trial, broken := x.trial, x.broken
	x.trial, x.broken = true, false
	law(x)
	broken, x.broken = x.broken, broken
	x.trial = trial
	return !broken
}

// run holds all laws against the charge but those of its form.
func (x *court) run() {
	if x.moving() {
		x.judgeMovers()
		return
	}
	x.places()
	if x.Of == "job" {
		x.standings()
	}
	switch {
	case x.Of == "quota":
		x.stated()
	case len(x.Victims) > 0:
		x.trigger()
	}
	for i := range x.Victims {
		x.judgeOne(x.Victims[i].Task, x.Victims[i].Key)
	}
	x.guarantee()
	x.together()
	for at := range x.nodes {
		x.room(x.full, at)
	}
	x.headroom(x.more)
	x.admission(finding.LawQuota, x.more)
	x.blocked()
	for i := range x.Wants {
		if !x.accepted(i, x.victims) {
			x.fault(x.ofWant(finding.LawPredicate, &x.Wants[i]))
		}
	}
	x.minimal()
	if x.Of == "quota" {
		x.target()
		x.parts()
	}
	if levels(x.Levels).keepsLaw1() && x.single() && !x.broken {
		x.optedOut()
	}
}

// places is whether wants may run on their nodes at all. A granted ask was asked most of
// that when the grant was given.
func (x *court) places() {
	on, held := x.held()
	for i := range x.Wants {
		w := &x.Wants[i]
		n := &x.c.nodes[w.Node]
		// Marks and reservations keep new work away. A required node takes the ask all the
		// same, and a grant is older than the mark may be.
		anew := !held && !x.required()
		if anew && n.unschedulable {
			x.fault(x.ofWant(finding.LawSchedulable, w))
		}
		// A node may be reserved for one member of a job, or for all.
		if anew && n.reservedFor != "" && n.reservedFor != w.Key && !(x.Of == "job" && n.reservedFor == x.Ask.Job) {
			x.fault(x.ofWant(finding.LawReserved, w))
		}
		if x.required() && n.name != x.Ask.RequiredNode {
			x.fault(x.ofWant(finding.LawRequiredNode, w))
		}
		if !held && x.Filter != nil && !x.Filter(x.pose(i)) {
			x.fault(x.ofWant(finding.LawFilter, w))
		}
		if held && (on != w.Node || len(x.Victims) > 0) {
			x.fault(Violation{Law: finding.LawInFlight, node: x.c.nodes[on].name})
		}
	}
}

// trigger is what forbids to have victims, now or at all.
func (x *court) trigger() {
	x.precondition()
	if !x.required() && !x.ByPriority && !(x.second && x.own && !x.others) {
		x.entitled()
	}
	x.admission(finding.LawFormula, x.asked)
}

// precondition is what forbids to have victims now.
func (x *court) precondition() {
	if x.Ask.MayNotPreempt {
		x.fault(Violation{Law: finding.LawMayPreempt})
	}
	if x.ByPriority {
		return
	}
	// An ask that requires its node has waited long enough: nothing else can ever serve it.
	pending, delay := x.Now.Sub(x.Ask.PendingSince), *x.tree.Policies(x.Ask.Queue).PreemptionDelay
	if !x.required() && pending < delay {
		x.fault(Violation{Law: finding.LawDelay, Have: int64(pending), Want: int64(delay)})
	}
	since := x.Now.Sub(x.Ask.LastAttempt)
	if x.RetryInterval > 0 && !x.Ask.LastAttempt.IsZero() && since < x.RetryInterval {
		x.fault(Violation{Law: finding.LawInterval, Have: int64(since), Want: int64(x.RetryInterval)})
	}
	if x.second {
		return // the tasks of the own leaf make headroom at every queue of the path
	}
	x.maxima(x.Ask.Queue, x.wants, func(q queue.ID, i int, most int64) {
		if e := x.usage(q, i); e > most {
			x.fault(x.ofQueue(finding.LawMax, q, i, e, most))
		}
	})
}

// entitled is law 4 for victims of other leaves: no governing queue is at or over its
// guarantee before the last want, the largest of each type, comes. Only the nearest
// definition of each type counts.
func (x *court) entitled() {
	// No type that is asked for is governed: nobody was promised anything.
	if !x.starving {
		x.fault(Violation{Law: finding.LawTrigger})
	}
	for i := range x.wants.All() {
		q, ok := x.tree.Governing(x.Ask.Queue, i)
		// An ungoverned type neither helps nor hinders.
		if !ok {
			continue
		}
		g, _ := x.tree.Guaranteed(q).Bound(i)
		if e := x.usage(q, i) + x.asked[i] - x.last[i]; e >= g {
			x.fault(x.ofQueue(finding.LawTrigger, q, i, e, g))
		}
	}
}

// judgeOne judges a victim or a mover, and reports whether that is a task which was not judged
// before.
func (x *court) judgeOne(id TaskID, key string) bool {
	switch {
	case !x.known(id, key):
		x.fault(Violation{Law: finding.LawKnown, Victim: key})
	case x.marks[id] == markJudged:
		x.fault(Violation{Law: finding.LawOnce, Victim: key})
	default:
		x.marks[id] = markJudged
		x.judge(id)
		return true
	}
	return false
}

// judge is what keeps a task from being a victim, or a mover, whatever the others are.
func (x *court) judge(id TaskID) {
	r := &x.c.tasks[id]
	fault := func(broken bool, v Violation) { x.faultBy(broken, r.key, v) }
	plain := func(law string) Violation { return Violation{Law: law} }
	w, helped, brought := r.leaf, x.helped(id), x.brought(r) // by its job, so that it need not help itself
	fault(r.state != Running, plain(finding.LawLeaving))
	fault(r.flags.has(flagRequiredNode), plain(finding.LawRequiredTask))
	later := x.untilLater(id)
	fault(later != "", plain(later))
	if x.Of == "quota" {
		fault(!x.tree.Contains(x.Ask.Queue, w), plain(finding.LawInside))
		fault(x.busy(w), plain(finding.LawEnforced))
		fault(helped == 0 && !brought, plain(finding.LawHelpful))
		return
	}
	own := x.second && x.owns(w) && !x.moving()
	free := !x.required() && !(own && w == x.Ask.Queue) // if not, no queue protects the task
	// Laws 4 and 5 and storm freedom hold.
	guarded := !x.moving() && !x.ByPriority

	// No application is nobody's: two tasks without one are strangers.
	app := x.c.apps.name(r.app)
	kin := app != "" && app == x.Ask.Application && !(x.TakeOwnApplication && x.required() && !x.moving())
	fault(kin || x.Of == "job" && r.job != 0 && x.c.jobs.name(r.job) == x.Ask.Job, plain(finding.LawApplication))
	fault(x.Of == "job" && r.flags.has(flagNonPreemptible), plain(finding.LawNonPreemptible))
	if x.moving() { // a queue that is over its max would not let it start again
		x.maxima(w, resources.Positive(x.c.size(id)), func(q queue.ID, i int, most int64) {
			e := x.usage(q, i)
			fault(e > most, x.ofQueue(finding.LawMax, q, i, e, most))
		})
	}
	// Law 5. Blockers and members of a job that goes as a whole are bound by law 2 alone.
	if q, i, poor := x.poor(w, helped); guarded && free && poor && !brought && !x.blocks(id) {
		g, _ := x.tree.Guaranteed(q).Bound(i)
		fault(true, x.ofQueue(finding.LawSurplus, q, i, x.usage(q, i), g))
	}
	// With both numbers, for what law 6 compares can be seen nowhere else.
	have, most := x.priorities(r, own)
	fault(have > most, Violation{Law: finding.LawPriority, Have: have, Want: most})
	// Jobs by priority take lower tasks of their own leaf as well, and movers may be of it.
	inFence := w != x.fence && x.tree.Contains(x.fence, w)
	if w == x.Ask.Queue {
		inFence = x.ByPriority || x.moving()
	}
	fault(free && !inFence, Violation{Law: finding.LawFence, Queue: x.tree.Path(w)})
	fault(!x.required() && x.tree.Policies(w).Preemption == queue.Disabled, Violation{Law: finding.LawDisabled, Queue: x.tree.Path(w)})
	fault(guarded && free && !own && x.starving && x.tree.Contains(x.inside, w), Violation{Law: finding.LawStorm, Queue: x.tree.Path(x.inside)})
	if guarded {
		fault(!x.nearby(r) && !brought, plain(finding.LawNearby))
		fault(helped == 0 && !brought && !x.blocks(id), plain(finding.LawHelpful))
	}
}

// together are the laws about all who go, whoever they are.
func (x *court) together() {
	x.budget()
	x.caps()
	x.gang()
}

// gang is that no job is left with too few members. One that goes as a whole is not left at
// all; a quota takes it from one leaf only.
func (x *court) gang() {
	for i := range x.gangs {
		g := &x.gangs[i]
		switch {
		case g.taken <= g.surplus || g.whole() && (x.Of != "quota" || g.together):
		case x.Of == "quota":
			x.fault(Violation{Law: finding.LawGang, Victim: x.c.tasks[g.first].key})
		default:
			x.fault(Violation{
				Law: finding.LawGang, job: x.c.jobs.name(g.job), Have: int64(g.running - g.taken), Want: int64(g.running - g.surplus),
			})
		}
	}
}

// budget is that no hard budget is overrun. A soft budget is part of the cost, and no law.
// See DESIGN.md, Budgets.
func (x *court) budget() {
	if len(x.drawn) == 0 { // a cluster without budgets is the common case
		return
	}
	for name, b := range x.c.Budgets() {
		row, _ := x.c.findBudget(name)
		// What is below zero already counts as zero, so that a budget overdrawn by others
		// does not condemn a plan that takes nothing of it.
		left := max(0, b.Left)
		if drawn := x.drawn[row]; b.Hard && drawn > left {
			x.fault(Violation{Law: finding.LawBudget, Budget: name, Have: drawn, Want: left})
		}
	}
}

// caps are that no plan has more of something than options say. They say nothing of quotas.
func (x *court) caps() {
	most := x.Options.most()
	if x.Of == "quota" || most == (rulebook.Caps{}) {
		return
	}
	ids := x.withoutGiven()
	counts := [rulebook.NumCaps]int{rulebook.CapVictims: len(ids)}
	for c, has := range counts {
		if most[c] > 0 && has > most[c] {
			x.fault(Violation{Law: rulebook.Cap(c).Entry().Word, Have: int64(has), Want: int64(most[c])})
		}
	}
}

// guarantee is law 2 over all queues. For an ask that requires its node no guarantee
// protects. DESIGN.md, Required nodes.
func (x *court) guarantee() {
	if !x.required() {
		for q := range queue.ID(x.tree.Len()) {
			x.keeps(q)
		}
	}
}

// keeps is law 2 at one queue. A type without a guarantee is promised to nobody.
func (x *court) keeps(q queue.ID) {
	guaranteed := x.tree.Guaranteed(q)
	for i := range guaranteed.Defined.All() {
		if have, want := x.promise(q, i, guaranteed.Value[i]); have < want {
			x.fault(x.ofQueue(finding.LawGuarantee, q, i, have, want))
		}
	}
}

// room is that a node has room for all wants there once the victims are gone. It is asked
// over sums, and never victim by victim: one may give cpu and another memory.
func (x *court) room(load []int64, at int) {
	for i, want := range rows.At(load, at, x.types) {
		if have := x.free[at*x.types+i] + x.freed[at*x.types+i]; want > 0 && have < want {
			x.fault(Violation{Law: finding.LawRoom, node: x.c.nodes[x.nodes[at]].name, Type: x.tree.Schema().Name(i), Have: have, Want: want})
		}
	}
}

// headroom is that each queue on the path, from the leaf upwards, has room for what is asked
// for. Amounts are what a queue would have for it, so that both laws of room read alike.
func (x *court) headroom(more resources.Vector) {
	x.maxima(x.Ask.Queue, resources.Positive(more), func(q queue.ID, i int, most int64) {
		if have := most - x.left(q, i); have < more[i] {
			x.fault(x.ofQueue(finding.LawHeadroom, q, i, have, more[i]))
		}
	})
}

// admission is that the caller's function lets more in at every queue of the path: before the
// plan (finding.LawFormula) it refuses nothing, for nobody earns the right to preempt by
// victims, and after it nothing is lacking.
func (x *court) admission(law string, more resources.Vector) {
	if x.Admit == nil {
		return
	}
	early, usage := law == finding.LawFormula, (*court).left
	if early {
		usage = (*court).usage
	}
	for q := range x.tree.Ancestors(x.Ask.Queue) {
		lacks, refused := x.ask(q, more, usage)
		if !refused && (early || resources.Positive(lacks) == 0) {
			continue
		}
		for i := range x.asking.Breaches {
			b := &x.asking.Breaches[i]
			x.fault(x.ofQueue(law, q, b.Type, b.have(), b.Bound))
		}
		if len(x.asking.Breaches) == 0 {
			x.fault(Violation{Law: law, Queue: x.tree.Path(q)})
		}
	}
}

// blocked is that no blocker will still be there when the ask starts. A task that is leaving
// is waited for, but by an ask that holds a grant and would start now. A grant never leaves,
// if it is not taken off with the ask's.
func (x *court) blocked() {
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
			x.fault(Violation{Law: finding.LawBlocker, node: x.c.nodes[r.node].name, other: r.key})
		}
	}
}

// A plan is compared with others that are near: with fewer victims, with one more for a
// target, or with another one in the place of an opted-out victim (law 1). Members of a job
// that goes as a whole are no single victims, and are not exchanged.

// mostTries is how many members are given back on trial for one job. Jobs of up to a dozen
// members are looked at whole.
const mostTries = 1 << 12

// minimal is that no victim can be given back, alone or with others of its job: that without
// it there is room still, as much of the target is freed, nobody blocks the ask, and the
// predicate accepts the others. Room for further wants is no reason to stop anybody. No law
// about queues or budgets stands in the way, for less is taken of them.
func (x *court) minimal() {
	for at := range x.nodes {
		x.touched = append(x.touched, at)
	}
	enough := x.enough()
	if x.touched = x.touched[:0]; !enough {
		return // a plan without room says nothing of what it could spare; room has its own law
	}
	for _, id := range x.victims {
		// One member of a job that goes as a whole, or is left with too few, cannot come back
		// alone, and who blocks has to go whatever the amounts.
		if g := x.gangAt(id); g != nil && g.taken > g.surplus || x.blocks(id) {
			continue
		}
		x.give(id)
		// The predicate last: it is the caller's, and may be slow.
		if x.enough() && x.accepts(x.withoutGiven()) {
			x.fault(Violation{Law: finding.LawMinimal, Victim: x.c.tasks[id].key})
		}
		x.take(id)
	}
	for i := range x.gangs {
		switch g := &x.gangs[i]; {
		case g.taken <= g.surplus || !x.spares(g):
		case x.Of == "quota":
			x.fault(Violation{Law: finding.LawMinimal, Victim: x.c.tasks[g.first].key})
		default:
			x.fault(Violation{Law: finding.LawMinimal, job: x.c.jobs.name(g.job)})
		}
	}
}

// enough reports whether there is room on the nodes that were touched and in all queues, and
// as much of the target is freed.
func (x *court) enough() bool {
	for i, least := range x.need {
		if x.gone(x.Ask.Queue, i) < least {
			return false
		}
	}
	return x.holds((*court).rooms)
}

func (x *court) rooms() {
	for _, at := range x.touched {
		if at >= 0 {
			x.room(x.load, at)
		}
	}
	x.headroom(x.asked)
	x.admission(finding.LawQuota, x.asked)
}

// accepts asks the caller's predicate about all wants that others stop for.
func (x *court) accepts(gone []TaskID) bool {
	for i := range x.Wants {
		if !x.Wants[i].Further && !x.accepted(i, gone) {
			return false
		}
	}
	return true
}

// spares reports whether less of a job that goes as a whole would do: no more members than
// may go one by one, each of which helps by itself.
func (x *court) spares(g *courtGang) bool {
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
	// All ways to choose are tried, one after another, for none is better than another by
	// its looks: amounts differ by type.
	x.tries = mostTries
	spared := kept <= keep && x.enough() && x.dropSome(x.spare, max(0, len(x.spare)-(keep-kept)))
	for _, id := range x.victims {
		if x.marks[id] == markGiven {
			x.take(id)
		}
	}
	return spared
}

// dropSome reports whether n of a list of victims can be given back at once. It leaves them
// as they were.
func (x *court) dropSome(list []TaskID, n int) bool {
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

// optedOut is that no other task, which did not opt out, would do in the place of a victim
// that did: then another plan needs fewer of them.
func (x *court) optedOut() {
	// What counts as near is a plan of the same kind. One that keeps to other leaves is
	// compared with those: the decision comes to the own leaf only if there is no ordinary
	// plan.
	second := x.second
	x.second = second && (x.ByPriority || !x.ordinary())
	for _, id := range x.victims {
		r := &x.c.tasks[id]
		g := x.gangAt(id)
		if !r.flags.has(flagOptedOut) || g != nil && g.whole() || x.blocks(id) {
			continue
		}
		// The exchange is tried in the books: one goes out, each of the others comes in, and
		// all laws are asked again.
		x.give(id)
		x.member(r, -1)
		other, ok := x.first(func(r *taskRow) bool { return !r.flags.has(flagOptedOut) }, x.wouldDo)
		x.member(r, +1)
		x.take(id)
		if ok {
			x.fault(Violation{Law: finding.LawOptedOut, Victim: r.key, other: other})
		}
	}
	x.second = second
}

// ordinary reports whether a plan is lawful without the option of the own leaf, which stands
// in for law 4.
func (x *court) ordinary() bool {
	x.second = false
	return !x.own && x.holds((*court).entitled) && x.holds((*court).precondition) && x.holds((*court).guarantee)
}

// first returns the first by key of the tasks that run and are no victims for which both
// functions say so.
func (x *court) first(may func(*taskRow) bool, would func(TaskID) bool) (key string, ok bool) {
	// A candidate may bring a gang with it, which is forgotten again.
	gangs := len(x.gangs)
	for id := range x.c.Tasks() {
		r := &x.c.tasks[id]
		// Who comes after one that was found need not be tried.
		if r.state != Running || !may(r) || x.marks[id] != 0 || ok && r.key > key {
			continue
		}
		if would(id) {
			key, ok = r.key, true
		}
		x.gangs = x.gangs[:gangs]
	}
	return key, ok
}

// wouldDo reports whether the plan is lawful with one more task.
func (x *court) wouldDo(id TaskID) bool {
	r := &x.c.tasks[id]
	if r.flags.has(flagNonPreemptible) {
		return false // asks may take it, and need not: those that are decided together do not
	}
	x.victims = append(x.victims, id)
	x.count(id, +1)
	x.member(r, +1)
	defer func() {
		x.victims = x.victims[:len(x.victims)-1]
		x.count(id, -1)
		x.member(r, -1)
	}()
	switch own := x.second && x.owns(r.leaf); {
	case x.ByPriority: // there is one stage
	case own && !x.own:
		return false // there is a plan without the own leaf
	case !own && !x.required() && !x.others && !x.holds((*court).entitled):
		return false
	}
	if !x.enough() || !x.holds((*court).together) {
		return false
	}
	lawful := x.holds(func(x *court) {
		// It must be a lawful victim by itself, too.
		x.judge(id)
		// Law 2 is asked of the queues that lose by the exchange.
		for q := range x.tree.Ancestors(r.leaf) {
			if !x.required() {
				x.keeps(q)
			}
		}
	})
	return lawful && x.accepts(x.withoutGiven())
}

// target is that no more is freed of a target than an exact quota allows and, if usage stays
// over, that nobody else could go.
func (x *court) target() {
	over := false
	for i, most := range x.goal {
		have := x.gone(x.Ask.Queue, i)
		over = over || have < most
		if x.NeverOvershoot && most > 0 && have > most {
			x.fault(Violation{Law: finding.LawExact, Type: x.tree.Schema().Name(i), Have: have, Want: most})
		}
	}
	if !over {
		return
	}
	inReach := func(r *taskRow) bool {
		return x.tree.Contains(x.Ask.Queue, r.leaf) && !x.busy(r.leaf) && !r.flags.has(flagRequiredNode)
	}
	if key, ok := x.first(inReach, x.couldGo); ok {
		x.fault(Violation{Law: finding.LawSpared, Victim: key})
	}
}

// couldGo reports whether a task could go as well for what is short of the target, alone or
// with what is left of its gang.
func (x *court) couldGo(id TaskID) bool {
	if x.untilLater(id) != "" {
		return false
	}
	unit := append(x.spare[:0], id)
	if g := x.gangAt(id); g != nil && g.taken >= g.surplus {
		if unit = unit[:0]; !g.together {
			return false
		}
		for _, m := range x.c.membersOf(x.c.tasks[id].job) {
			if x.c.tasks[m].state == Running && x.marks[m] == 0 {
				unit = append(unit, m)
			}
		}
	}
	x.spare = unit
	useful, fits := false, true
	for i, most := range x.goal {
		short, size := max(most-x.gone(x.Ask.Queue, i), 0), int64(0)
		for _, m := range unit {
			size += x.c.size(m)[i]
		}
		useful = useful || size > 0 && short > 0
		fits = fits && !(x.NeverOvershoot && most > 0 && size > short)
	}
	if !useful || !fits {
		return false
	}
	for _, m := range unit {
		x.count(m, +1)
	}
	could := x.holds((*court).budget) && x.holds(func(x *court) {
		for q := range x.tree.Ancestors(x.c.tasks[id].leaf) {
			x.keeps(q)
		}
	})
	for _, m := range unit {
		x.count(m, -1)
	}
	return could
}
