// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A Preemptor is what wants room, an ask or a job, to the rules about a single victim.
type Preemptor struct {
	Ask         *Ask // for exemptions; its queue, priority and application count
	Arriving    resources.Vector
	Strict      bool // lower effective priority only, not equal
	OnNode      bool // it can run on one node only: raw priorities count, and queues protect nobody
	OwnLeaf     bool // tasks of its own leaf may go if their raw priority is lower
	OnlyOwnLeaf bool // and no others
	Own         OwnLeaf
	Starving    queue.ID // E: its own subtree gives nothing. It counts if HasStarving is set
	HasStarving bool
}

// Eligible says who may be a victim of an ask or a job: the first rule in the order of
// [Rule] that keeps a task, law 1 (a matter of cost) and law 2 (of sums, see [Rooms])
// apart. The zero Eligible is ready for Reset.
type Eligible struct {
	Exempt func(Exemption) (until time.Time, exempt bool)
	Rooms  Rooms // law 2

	c       *Cluster
	who     Preemptor
	now     time.Time
	ns      int64     // now, in nanoseconds since 1970
	horizon time.Time // exemptions that end until then count as ended
	app     int32
	hasApp  bool // the application has tasks in the cluster
	view    fence.View
	leaves  []leafRow
	without Relaxation // a rule that does not hold; Explain sets it

	// Over the leaves in reach: the most that one of them can give; the least
	// that is added to a raw priority to give a rank, and whether the same is
	// added everywhere; the lowest rank that a priority fence gives; the
	// highest rank that a victim may have.
	mostRoom              resources.Vector
	leastLift, fencedRank int64
	evenRanks             bool
	ceiling               int64
}

// leafRow is what the tasks of a leaf have in common, so that a task costs a
// lookup.
type leafRow struct {
	rank    fence.Lift // of a task of the leaf; see fence.View.Rank
	ceiling int64      // the highest rank that may go
	veto    Rule       // the rule that keeps all its tasks, or 0
	level   int32      // see shortage
	bounds  []int32    // what law 2 binds its tasks by, from the leaf upwards
	erodes  []int32    // see Rooms.Erodes
	// room is what all of its bounds leave, per type; MaxInt64 if none does.
	room resources.Vector
}

// Reset states who wants room, and reports whether any leaf is in reach. The cost is
// linear in queues·types.
func (e *Eligible) Reset(c *Cluster, who *Preemptor, now time.Time) (reach bool) {
	e.c, e.who, e.now, e.horizon = c, *who, now, now
	e.ns, _ = nanos(now)
	e.app, e.hasApp = c.apps.lookup(who.Ask.Application)
	e.Rooms.Own = who.Own
	e.resetRooms()
	e.leaves = rows.Zeros(e.leaves, c.tree.Len())
	if !who.OnNode {
		e.view.Reset(c.tree, who.Ask.Queue)
	}
	for w := range c.tree.Leaves(queue.Root) {
		e.resetLeaf(&e.leaves[w], w)
		reach = reach || e.leaves[w].veto == 0
	}
	e.compareLeaves()
	return reach
}

// resetRooms computes what law 2 lets go.
func (e *Eligible) resetRooms() {
	tree := e.c.tree
	if e.who.OnNode {
		e.Rooms.clear(tree, e.who.Ask.Queue) // queues protect nobody
		return
	}
	e.Rooms.Reset(tree, e.who.Ask.Queue, e.who.Arriving)
	if e.without.Rule == relaxGuarantee {
		e.Rooms.drop(e.without.Queue)
	}
}

// resetLeaf works out what the tasks of leaf w have in common.
func (e *Eligible) resetLeaf(leaf *leafRow, w queue.ID) {
	own := w == e.who.Ask.Queue
	if e.who.Strict || own && !e.who.OnNode {
		leaf.ceiling = -1 // in one's own leaf never an equal
	}
	if e.who.OnNode {
		leaf.rank = fence.Lift{Offset: -int64(e.who.Ask.Priority)}
		leaf.room = e.Rooms.unbound
		return
	}
	leaf.rank = e.view.Rank(w, e.who.Ask.Priority)
	leaf.veto = e.vetoOf(w)
	leaf.bounds, leaf.erodes = e.Rooms.Chain(w), e.Rooms.Erodes(w)
	leaf.room = e.Rooms.Least(w)
}

// vetoOf returns the rule that keeps all tasks of a leaf from being victims.
func (e *Eligible) vetoOf(w queue.ID) Rule {
	tree, own := e.c.tree, w == e.who.Ask.Queue
	outside := e.who.OnlyOwnLeaf || e.view.Standing(w) == fence.Outside && !e.without.opens(tree, e.who.Ask.Queue, w)
	if own {
		outside = !e.who.OwnLeaf
	}
	switch {
	case outside:
		return RuleFence // law 7: never outside the fence
	case tree.Disabled(w) && !e.without.enables(tree, w):
		return RuleDisabled
	case e.who.HasStarving && !own && tree.Contains(e.who.Starving, w):
		return RuleInside // storm freedom: from outside the subtree of E
	}
	return 0
}

// compareLeaves finds out what the leaves in reach have in common.
func (e *Eligible) compareLeaves() {
	e.leastLift, e.fencedRank, e.evenRanks, e.ceiling = noLimit, noLimit, true, -1
	e.mostRoom = e.Rooms.block()
	for w := range e.c.tree.Leaves(queue.Root) {
		leaf := &e.leaves[w]
		if leaf.veto != 0 {
			continue
		}
		e.ceiling = max(e.ceiling, leaf.ceiling)
		e.mostRoom = resources.Max(e.mostRoom, e.mostRoom, leaf.room)
		if leaf.rank.Fenced {
			e.fencedRank, e.evenRanks = min(e.fencedRank, leaf.rank.Offset), false
			continue
		}
		e.evenRanks = e.evenRanks && (e.leastLift == noLimit || e.leastLift == leaf.rank.Offset)
		e.leastLift = min(e.leastLift, leaf.rank.Offset)
	}
	if e.without.Rule == relaxPriority {
		e.ceiling = noLimit
	}
}

// leastRoom sets dst to what every leaf in reach has room for, and returns it. Most sets
// of victims are so small that it tells of all leaves at once.
func (e *Eligible) leastRoom(dst resources.Vector) resources.Vector {
	dst = resources.Copy(dst, e.Rooms.unbound)
	for w := range e.c.tree.Leaves(queue.Root) {
		// What a leaf may give that gives nothing does not matter.
		if leaf := &e.leaves[w]; leaf.veto == 0 {
			dst = resources.Min(dst, dst, leaf.room)
		}
	}
	return dst
}

// relax lets a rule about a single task not hold, after Reset.
func (e *Eligible) relax(r Relaxation) {
	e.without = r
	e.compareLeaves()
}

// leastRank returns the least rank of tasks of which the lowest priority is given.
func (e *Eligible) leastRank(lowest int32) int64 {
	if e.leastLift == noLimit {
		return e.fencedRank
	}
	return min(e.fencedRank, e.leastLift+int64(lowest))
}

// Veto is [Eligible.Rule] without exemptions: it does not ask the caller.
func (e *Eligible) Veto(id TaskID) Rule {
	r := &e.c.tasks[id]
	switch {
	case r.state.leaving():
		return RuleLeaving
	case r.flags.has(flagRequiredNode) && !e.without.task(relaxRequiredNode, id):
		return RuleRequiredNode
	case e.hasApp && r.app == e.app && !e.without.task(relaxApplication, id):
		return RuleApplication // law 3: never the same application
	}
	leaf := &e.leaves[r.leaf]
	switch {
	case leaf.veto != 0:
		return leaf.veto
	case leaf.rank.Of(r.priority) > leaf.ceiling && !e.without.task(relaxPriority, id):
		return RulePriority // law 6: lower or equal effective priority only
	}
	return 0
}

// Rule returns the first rule that keeps a task from being a victim whatever it frees,
// exemptions included; else 0.
func (e *Eligible) Rule(id TaskID) Rule {
	if rule := e.Veto(id); rule != 0 {
		return rule
	}
	if e.exempt(id) {
		return RuleExempt
	}
	return 0
}

// EndExemptions takes exemptions that end until an instant as ended, until the next
// Reset.
func (e *Eligible) EndExemptions(until time.Time) { e.horizon = until }

// Exemption asks Exempt, which must be set.
func (e *Eligible) Exemption(id TaskID) (until time.Time, ok bool) {
	until, ok = e.Exempt(Exemption{Cluster: e.c, Task: id, Ask: e.who.Ask, Now: e.now})
	return until, ok && (until.IsZero() || until.After(e.now))
}

// exempt reports whether the caller exempts a task, taking exemptions that end
// at the horizon or before as ended.
func (e *Eligible) exempt(id TaskID) bool {
	if e.Exempt == nil || e.without.task(relaxExemption, id) {
		return false
	}
	until, ok := e.Exemption(id)
	return ok && (until.IsZero() || until.After(e.horizon))
}

// Protected returns the rule that keeps a task from going alone though it may
// go by [Eligible.Rule]: a hard budget with nothing left, or law 2. It returns
// 0 if there is none. Whether several may go together is for the search to
// say.
func (e *Eligible) protected(id TaskID) Rule {
	for _, b := range e.c.budgetsOf(id) {
		if budget := &e.c.budgets[b]; budget.hard && budget.left <= 0 && !e.without.budget(budget.name) {
			return RuleBudget
		}
	}
	if !resources.Fits(e.c.size(id), e.leaves[e.c.tasks[id].leaf].room) {
		return RuleGuarantee
	}
	return 0
}

// Rank returns the effective priority of a task minus that of the preemptor,
// both lifted to below their common ancestor.
func (e *Eligible) rankOf(id TaskID) int64 {
	r := &e.c.tasks[id]
	return e.leaves[r.leaf].rank.Of(r.priority)
}

// Levels returns what stopping a task costs, but for excess and work.
func (e *Eligible) Levels(id TaskID) cover.Levels {
	r, rank := &e.c.tasks[id], e.rankOf(id)
	l := cover.Levels{
		LevelRank: rank, LevelPriority: int64(r.priority),
		LevelVictims: 1, LevelSumRanks: rank, LevelSumPriorities: int64(r.priority),
	}
	if r.flags.has(flagOptedOut) {
		l[LevelOptedOut] = 1 // law 1: opted out only if no plan does without
	}
	if r.flags.has(flagOriginator) {
		l[LevelOriginators] = 1
	}
	if own := e.c.costOf(id); own > 0 {
		l[LevelOwn], l[LevelOwnLow] = cover.WideOf(own).Split()
	}
	return l
}

// Lost returns the work that stopping a task loses, in nanoseconds.
func (e *Eligible) Lost(id TaskID) uint64 { return e.c.lost(id, e.ns) }

// Bounds returns the rows of Rooms.Bounds that bind a task, and those that it erodes.
func (e *Eligible) Bounds(id TaskID) (bounds, erodes []int32) {
	leaf := &e.leaves[e.c.tasks[id].leaf]
	return leaf.bounds, leaf.erodes
}

// Whether an ask may trigger preemption at all is asked of package trigger, which jobs ask
// as well. reasonOf are its obstacles as reasons.
var reasonOf = [...]Reason{
	trigger.MayNot:         MayNotPreempt,
	trigger.Early:          TooEarly,
	trigger.Soon:           TooSoon,
	trigger.OverMax:        OverMax,
	trigger.NotGuaranteed:  NotGuaranteed,
	trigger.OverGuarantee:  OverGuarantee,
	trigger.HeadroomInside: HeadroomInside,
}

// precondition refuses an ask that must not trigger preemption, the cheapest
// reason first, and reports whether it did. For a required node neither delay
// nor guarantees count. (DESIGN.md, Preconditions.)
func (d *decision) precondition(dst *Decision) bool {
	if d.required() && len(d.nodes) == 0 {
		d.refuse(dst, UnknownNode)
		return true
	}
	a := d.asks().Ask()
	if !d.required() {
		d.trigger()
	}
	if a.Obstacle == 0 {
		return false
	}
	d.refuse(dst, reasonOf[a.Obstacle])
	dst.Refusal.Queue, dst.Refusal.Type, dst.Refusal.RetryAt = a.Queue, a.Type, a.RetryAt
	return true
}

// asks returns what the ask has to say at the gate.
func (d *decision) asks() *trigger.Case {
	c := &d.scratch.gate
	c.Tree, c.Leaf, c.Arriving, c.OnNode = d.tree, d.ask.Queue, d.size, d.required()
	c.MayNot, c.PendingSince, c.LastAttempt = d.ask.MayNot, d.ask.PendingSince, d.ask.LastAttempt
	c.Interval, c.Now, c.Waived = d.p.Interval, d.now, nil
	if d.without.Rule != "" {
		c.Waived = d.without.waives
	}
	return c
}

// trigger notes E, and reports whether law 4 lets the ask preempt.
func (d *decision) trigger() (lawful bool) {
	x, a := d.asks().Law4()
	d.starving, d.hasE = x.Needy, x.Governed
	return a.Obstacle == 0
}
