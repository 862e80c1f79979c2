package victims

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/queue"
)

// This file audits one victim at a time: whatever does not depend on the
// amounts of the other victims.

// judge yields the laws that keep a task from being a victim.
func (x *audit) judge(id TaskID, yield func(Violation) bool) {
	r := &x.c.tasks[id]
	of := func(l Law) Violation { return Violation{Law: l, Task: id, Victim: r.key} }
	fault := func(broken bool, v Violation) bool { return !broken || yield(v) }
	atQueue := func(l Law, q queue.ID) Violation {
		v := of(l)
		v.Queue, v.HasQueue = q, true
		return v
	}
	own := x.second && r.leaf == x.ask.Queue
	free := !x.required() && !own // if not, no queue protects the task
	brought := x.brought(r)       // by its job, so that it need not help itself

	// No application is nobody's: two tasks without one are strangers.
	app := x.c.apps.name(r.app)
	if !fault(app != "" && app == x.ask.Application, of(LawApplication)) {
		return
	}
	helped := x.helped(id)
	// Law 5. Blockers and members of a job that goes as a whole are bound by law
	// 2 alone.
	if q, i, poor := x.poor(r.leaf, helped); free && poor && !brought && !x.blocks(id) {
		g, _ := x.tree.Guaranteed(q).Bound(i)
		v := atQueue(LawSurplus, q)
		v.Type, v.HasType, v.Have, v.Want = i, true, x.usage(q, i), g
		if !yield(v) {
			return
		}
	}
	// With both numbers, for what law 6 compares can be seen nowhere else.
	if have, most := x.priorities(r, own); have > most {
		v := of(LawPriority)
		v.Have, v.Want = have, most
		if !yield(v) {
			return
		}
	}
	// The order is that of the laws, and what follows them.
	w := r.leaf
	inFence := w != x.ask.Queue && w != x.fence && x.tree.Contains(x.fence, w)
	_ = fault(free && !inFence, atQueue(LawFence, w)) &&
		fault(free && x.starving && x.tree.Contains(x.inside, w), atQueue(LawStorm, x.inside)) &&
		fault(r.state != Running, of(LawLeaving)) &&
		fault(r.flags.has(flagRequiredNode), of(LawRequiredTask)) &&
		fault(!x.required() && x.tree.Disabled(w), atQueue(LawDisabled, w)) &&
		fault(x.exempt(id), of(LawExempt)) &&
		fault(x.required() && r.node != x.plan.Node && !brought, of(LawNearby)) &&
		fault(helped == 0 && !brought && !x.blocks(id), of(LawHelpful))
}

// This file audits what a plan says of its ask, and whether the ask may
// preempt at all.

// wellFormed yields what keeps the plan from being one.
func (x *audit) wellFormed(yield func(Violation) bool) {
	// Without a key no grant could be found again, and a task's key would make
	// it its own victim.
	if _, taken := x.c.Lookup(x.ask.Key); (taken || x.ask.Key == "") && !yield(Violation{Law: LawKey}) {
		return
	}
	q := x.ask.Queue
	switch {
	// An ID of no queue has no name to report.
	case q < 0 || int(q) >= x.tree.Len():
		if !yield(Violation{Law: LawLeaf}) {
			return
		}
	case !x.tree.IsLeaf(q):
		if !yield(Violation{Law: LawLeaf, Queue: q, HasQueue: true}) {
			return
		}
	}
	for i, v := range x.ask.Size {
		// With the ask, usage must stay in range; a type that the schema does not
		// have has no room.
		most := int64(0)
		if i < len(x.size) {
			most = math.MaxInt64 - x.present(queue.Root, i)
		}
		if (v < 0 || v > most) && !yield(Violation{Law: LawSize, Type: i, HasType: true, Have: v, Want: most}) {
			return
		}
	}
	// By going through them: a row number says nothing, for rows are used
	// again.
	for id := range x.c.Nodes() {
		if id == x.plan.Node {
			return
		}
	}
	yield(Violation{Law: LawNode})
}

// precondition yields what forbids the ask to have victims now.
func (x *audit) precondition(yield func(Violation) bool) {
	if x.ask.MayNot && !yield(Violation{Law: LawMayPreempt}) {
		return
	}
	// An ask that requires its node has waited long enough: nothing else can
	// ever serve it.
	pending, delay := x.now.Sub(x.ask.PendingSince), x.tree.PreemptionDelay(x.ask.Queue)
	if !x.required() && pending < delay &&
		!yield(Violation{Law: LawDelay, Have: int64(pending), Want: int64(delay)}) {
		return
	}
	since := x.now.Sub(x.ask.LastAttempt)
	if x.a.Interval > 0 && !x.ask.LastAttempt.IsZero() && since < x.a.Interval &&
		!yield(Violation{Law: LawInterval, Have: int64(since), Want: int64(x.a.Interval)}) {
		return
	}
	if x.second {
		return // the tasks of the own leaf make headroom at every queue of the path
	}
	for q := range x.tree.Up(x.ask.Queue) {
		most := x.tree.Max(q)
		for i := range (most.Defined & x.wants).All() {
			m, _ := most.Bound(i)
			if e := x.usage(q, i); e > m && !yield(ofQueue(LawMax, q, i, e, m)) {
				return
			}
		}
	}
}

// trigger yields what forbids the ask to have victims at all.
func (x *audit) trigger(yield func(Violation) bool) {
	if !x.required() && !(x.second && x.takes.own && !x.takes.others) {
		x.under(yield)
	}
}

// under yields why law 4 does not let the ask have victims of other leaves: a
// governing queue at or over its guarantee, or no governing queue at all. Only
// the nearest definition of each type counts.
func (x *audit) under(yield func(Violation) bool) {
	// No type of the ask is governed: nobody was promised anything.
	if !x.starving {
		yield(Violation{Law: LawTrigger})
		return
	}
	for i := range x.wants.All() {
		q, ok := x.tree.Governing(x.ask.Queue, i)
		// An ungoverned type neither helps nor hinders.
		if !ok {
			continue
		}
		g, _ := x.tree.Guaranteed(q).Bound(i)
		if e := x.usage(q, i); e >= g && !yield(ofQueue(LawTrigger, q, i, e, g)) {
			return
		}
	}
}

// entitled reports whether law 4 lets the ask have victims of other leaves.
func (x *audit) entitled() bool {
	for range x.under {
		return false
	}
	return true
}

// This file audits what a plan says of its node: whether the ask may run there
// at all, who blocks it, and what the caller's functions say.

// place yields why the ask may not run on the node. A granted ask was asked
// most of that when the grant was given.
func (x *audit) place(yield func(Violation) bool) {
	// Marks and reservations keep new work away. A required node takes the ask
	// all the same, and a grant is older than the mark may be.
	n := &x.c.nodes[x.plan.Node]
	fault := func(broken bool, l Law) bool { return !broken || yield(x.ofNode(l)) }
	at, held := x.held()
	required := x.required()
	anew := !held && !required
	if fault(anew && n.unschedulable, LawSchedulable) &&
		fault(anew && n.reservedFor != "" && n.reservedFor != x.ask.Key, LawReserved) &&
		fault(required && n.name != x.ask.RequiredNode, LawRequiredNode) &&
		fault(!held && x.a.Filter != nil && !x.a.Filter(x.ask, x.plan.Node), LawFilter) &&
		held && (at != x.plan.Node || len(x.plan.Victims) > 0) {
		yield(Violation{Law: LawInFlight, Node: x.c.nodes[at].name})
	}
}

// blocked yields the blockers that will still be there when the ask starts. A
// task that is leaving is waited for, but by an ask that holds a grant and
// would start now. A grant never leaves, if it is not taken off with the ask's.
func (x *audit) blocked(yield func(Violation) bool) {
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
		if stays && !yield(Violation{Law: LawBlocker, Node: x.c.nodes[x.plan.Node].name, Other: r.key}) {
			return
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
	x.placing = Placing{Ask: x.ask, Node: x.plan.Node, Victims: victims, Moment: Coming}
	if len(x.plan.Victims) == 0 && x.fitsNow() {
		x.placing.Moment = Present
	}
	return x.a.Predicate(&x.placing)
}

// fitsNow reports whether there is room for the ask without waiting for anybody.
func (x *audit) fitsNow() bool {
	if _, held := x.held(); held {
		return true // if not, other laws say so
	}
	for i := range x.wants.All() {
		// Present amounts: what is leaving has not left.
		if x.c.row(x.c.present, x.plan.Node)[i] < x.size[i] {
			return false
		}
	}
	for q := range x.tree.Up(x.ask.Queue) {
		most := x.tree.Max(q)
		for i := range (most.Defined & x.wants).All() {
			if m, _ := most.Bound(i); m-x.present(q, i) < x.size[i] {
				return false
			}
		}
	}
	return len(x.blockers) == 0
}

// This file audits the victims as a set: whether there is room, and what is left
// of queues, jobs and budgets.

// room yields each type of the ask for which the node, or a queue on its path,
// from the leaf upwards, has no room once the victims are gone.
func (x *audit) room(yield func(Violation) bool) {
	for i := range x.wants.All() {
		// Over sums, and never victim by victim: one may give cpu and another
		// memory.
		have := x.free[i] + x.freed[i]
		if have >= x.size[i] {
			continue
		}
		v := x.ofNode(LawRoom)
		v.Type, v.HasType, v.Have, v.Want = i, true, have, x.size[i]
		if !yield(v) {
			return
		}
	}
	for q := range x.tree.Up(x.ask.Queue) {
		most := x.tree.Max(q)
		for i := range (most.Defined & x.wants).All() {
			m, _ := most.Bound(i)
			// Amounts are what a queue would have for the ask, so that both
			// laws of room read alike.
			if have := m - x.left(q, i); have < x.size[i] && !yield(ofQueue(LawHeadroom, q, i, have, x.size[i])) {
				return
			}
		}
	}
}

// enough reports whether there is room on the node and in all queues.
func (x *audit) enough() bool {
	for range x.room {
		return false
	}
	return true
}

// guarantee yields each queue and type that law 2 protects and the plan takes
// too much of.
func (x *audit) guarantee(yield func(Violation) bool) {
	// For an ask that requires its node no guarantee protects. DESIGN.md,
	// Required nodes.
	if x.required() {
		return
	}
	for q := range x.tree.All() {
		if !x.keeps(q, yield) {
			return
		}
	}
}

// keeps yields the types in which q breaks law 2. It returns false if yield
// did.
func (x *audit) keeps(q queue.ID, yield func(Violation) bool) bool {
	guaranteed := x.tree.Guaranteed(q)
	for i := range guaranteed.Defined.All() {
		// A type without a guarantee is promised to nobody.
		g, _ := guaranteed.Bound(i)
		have, want := x.promise(q, i, g)
		if have < want && !yield(ofQueue(LawGuarantee, q, i, have, want)) {
			return false
		}
	}
	return true
}

// gang yields the jobs that are left with too few members.
func (x *audit) gang(yield func(Violation) bool) {
	for i := range x.gangs {
		g := &x.gangs[i]
		// A job that goes as a whole is not left with too few: it is not left
		// at all.
		if g.broken() && !yield(Violation{
			Law: LawGang, Job: x.c.jobs.name(g.job),
			Have: int64(g.running - g.taken), Want: int64(g.running - g.surplus),
		}) {
			return
		}
	}
}

// unbroken reports whether no job is left with too few members.
func (x *audit) unbroken() bool {
	for range x.gang {
		return false
	}
	return true
}

// budget yields the hard budgets that the victims overrun. A soft budget is
// part of the cost, and no law. See DESIGN.md, Budgets.
func (x *audit) budget(yield func(Violation) bool) {
	// A cluster without budgets is the common case.
	if len(x.drawn) == 0 {
		return
	}
	for name, b := range x.c.Budgets() {
		row, _ := x.c.findBudget(name)
		// What is below zero already counts as zero, so that a budget overdrawn
		// by others does not condemn a plan that takes nothing of it.
		left := max(0, b.Left)
		if drawn := x.drawn[row]; b.Hard && drawn > left &&
			!yield(Violation{Law: LawBudget, Budget: name, Have: drawn, Want: left}) {
			return
		}
	}
}

// affordable reports whether no hard budget is overrun.
func (x *audit) affordable() bool {
	for range x.budget {
		return false
	}
	return true
}

// This file counts gangs: a job's members above its minimum may go one by one,
// or else the whole job goes, on all its nodes. See DESIGN.md, Whole gangs.

// An auditGang is a running job that has victims.
type auditGang struct {
	job     int32 // its number in the cluster
	running int   // members that run, victims included
	taken   int   // victims
	minimum int   // so many members are needed
	surplus int   // how many may go one by one
	useful  bool  // some victim helps or blocks, on the node if the ask requires one
}

// whole reports whether the job goes as a whole, as a unit.
func (g *auditGang) whole() bool { return g.taken == g.running && g.taken > g.surplus }

// broken reports whether too few members are left to run on.
func (g *auditGang) broken() bool { return g.taken < g.running && g.taken > g.surplus }

// listGangs finds the jobs of the victims, in the order of the victims.
func (x *auditCase) listGangs() {
	if x.a.Minimum == nil {
		return
	}
	for _, id := range x.victims {
		if job := x.c.tasks[id].job; job != 0 {
			// Few jobs have victims in a plan, so that a list is searched
			// faster than a map.
			g := x.gangOf(job)
			if g == nil {
				x.gangs = append(x.gangs, x.newGang(job))
				g = &x.gangs[len(x.gangs)-1]
			}
			g.taken++
			// One member that helps is reason enough to stop the job, if
			// stopping it as a whole is the only way.
			g.useful = g.useful || x.blocks(id) || x.helped(id) != 0 &&
				(!x.required() || x.c.tasks[id].node == x.plan.Node)
		}
	}
}

// newGang counts the members of a job. What is leaving neither counts nor
// protects, and a grant does not run.
func (x *auditCase) newGang(job int32) auditGang {
	g := auditGang{job: job}
	for _, id := range x.c.membersOf(job) {
		if x.c.tasks[id].state == Running {
			g.running++
		}
	}
	// What the caller's function says below 0 means that nobody is needed.
	g.minimum = max(0, x.a.Minimum(x.c.jobs.name(job)))
	g.surplus = max(0, g.running-g.minimum)
	return g
}

// gangOf returns the gang of a job that has victims, or nil.
func (x *auditCase) gangOf(job int32) *auditGang {
	i := slices.IndexFunc(x.gangs, func(g auditGang) bool { return g.job == job })
	if i < 0 {
		return nil
	}
	return &x.gangs[i]
}

// gangAt returns the gang of a victim, or nil.
func (x *auditCase) gangAt(id TaskID) *auditGang {
	if job := x.c.tasks[id].job; job != 0 {
		return x.gangOf(job)
	}
	return nil
}

// brought reports whether a task goes with its whole job, because of another
// member or of itself. Then it need not help.
func (x *auditCase) brought(r *taskRow) bool {
	if r.job == 0 {
		return false
	}
	g := x.gangOf(r.job)
	return g != nil && g.whole() && g.useful
}

// member counts a victim of a gang, or takes it back.
func (x *auditCase) member(r *taskRow, n int) {
	if r.job == 0 || x.a.Minimum == nil {
		return
	}
	g := x.gangOf(r.job)
	if g == nil {
		x.gangs = append(x.gangs, x.newGang(r.job))
		g = &x.gangs[len(x.gangs)-1]
	}
	g.taken += n
}

// give gives a victim back on trial, and take takes it again.
func (x *auditCase) give(id TaskID) {
	x.marks[id] = markGiven
	x.count(id, -1)
}

func (x *auditCase) take(id TaskID) {
	x.marks[id] = markJudged
	x.count(id, +1)
}

// withoutGiven returns the victims that are not given back.
func (x *auditCase) withoutGiven() []TaskID {
	x.rest = x.rest[:0]
	for _, id := range x.victims {
		if x.mark(id) != markGiven {
			x.rest = append(x.rest, id)
		}
	}
	return x.rest
}
