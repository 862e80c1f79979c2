// SPDX-License-Identifier: Apache-2.0

// Package eligible tells which single tasks may be victims of an ask or a job, and what law 2
// lets go of them together. It is the one home of laws 2, 3, 6 and 7 and of storm freedom for
// planners, which ask it; auditors do not.
package eligible

import (
	"math/bits"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Taker is what wants room: an ask or a job.
type Taker struct {
	Tree        *queue.Tree
	Leaf        queue.ID
	Priority    int32
	Arriving    resources.Vector
	Strict      bool // lower effective priority only, not equal
	OnNode      bool // it can run on one node only: raw priorities count, and queues protect nobody
	OwnLeaf     bool // tasks of its own leaf, or branch, may go if they rank lower
	OnlyOwnLeaf bool // and no others
	Own         queue.WithinQueue
	Starving    queue.ID // E: its own subtree gives nothing. It counts if HasStarving is set
	HasStarving bool
	Lacking     []queue.ID // that lack headroom, from the leaf upwards

	// Explanations let one rule not hold. Waived says of a rule that keeps all tasks of a
	// leaf that it does not count there; nil: all count. Law 2 leaves out the queue
	// Unbound if IsUnbound is set.
	Waived    func(rule rulebook.Rule, leaf queue.ID) bool
	Unbound   queue.ID
	IsUnbound bool
}

// Traits are what the rules ask of a task.
type Traits struct {
	Leaf            queue.ID
	Priority        int32
	Leaving         bool
	RequiredNode    bool
	SameApplication bool // as the taker
	AnyPriority     bool // law 6 does not hold; for explanations
}

// Rules say who may be a victim: the first rule in the order of [rulebook.Rule] that keeps a
// task. Law 1 (a matter of cost), law 2 (of sums, see [Rooms]) and what ends by itself (see [Timed])
// are apart. The zero Rules are ready for Reset.
type Rules struct {
	Rooms  Rooms  // law 2
	Leaves []Leaf // by queue
	// Unnamed has the levels that do not count; the caller sets it. See [rulebook.Unnamed].
	Unnamed uint16

	// Over the leaves in reach: the most that one of them can give; whether the same is
	// added to all raw priorities to give ranks; the highest rank that a victim may have.
	MostRoom  resources.Vector
	EvenRanks bool
	Ceiling   int64

	// Likewise the least that is added, and the lowest rank that a priority fence gives.
	leastLift, fencedRank int64
	taker                 Taker
	root                  queue.ID // the fence root of the taker, if queues protect anybody
}

// A Leaf is what the tasks of a leaf have in common, so that a task costs a lookup.
type Leaf struct {
	Rank    Lift          // of its tasks
	Ceiling int64         // the highest rank that may go
	Veto    rulebook.Rule // the rule that keeps all its tasks, or 0
	Level   int32         // the first of Taker.Lacking that is above it, or their number
	Bounds  []int32       // what law 2 binds its tasks by, from the leaf upwards
	// Room is what all of its bounds leave, per type; NoLimit if none does.
	Room resources.Vector
}

// Reset states who wants room, and reports whether any leaf is in reach. The cost is
// linear in queues·types.
func (r *Rules) Reset(taker *Taker) (reach bool) {
	r.taker = *taker
	r.Rooms.Own = taker.Own
	r.resetRooms()
	r.Leaves = rows.Zeros(r.Leaves, taker.Tree.Len())
	if !taker.OnNode {
		r.root = fence.Root(taker.Tree, taker.Leaf)
		r.findRanks()
	}
	for w := range taker.Tree.Leaves(queue.Root) {
		r.resetLeaf(&r.Leaves[w], w)
		for int(r.Leaves[w].Level) < len(taker.Lacking) && !taker.Tree.Contains(taker.Lacking[r.Leaves[w].Level], w) {
			r.Leaves[w].Level++
		}
		reach = reach || r.Leaves[w].Veto == 0
	}
	r.compareLeaves()
	return reach
}

// resetRooms computes what law 2 lets go.
func (r *Rules) resetRooms() {
	x := &r.taker
	if x.OnNode {
		r.Rooms.Clear(x.Tree) // queues protect nobody
		return
	}
	r.Rooms.Reset(x.Tree, x.Leaf, x.Arriving)
	if x.IsUnbound {
		r.Rooms.drop(x.Unbound)
	}
}

// resetLeaf works out what the tasks of leaf w have in common.
func (r *Rules) resetLeaf(leaf *Leaf, w queue.ID) {
	x := &r.taker
	if x.Strict || !x.OnNode && (w == x.Leaf || x.inBranch(w)) {
		leaf.Ceiling = -1 // in one's own leaf or branch never an equal
	}
	if x.OnNode {
		leaf.Rank = Lift{Offset: -int64(x.Priority)}
		leaf.Room = r.Rooms.unbound
		return
	}
	leaf.Veto = r.vetoOf(w)
	leaf.Bounds, leaf.Room = r.Rooms.Of(w)
}

// findRanks works out how tasks rank for the taker, for queues of any kind: below the common ancestor
// of both, see package fence.
func (r *Rules) findRanks() {
	t, taker := r.taker.Tree, Lift{}
	for q := range t.Ancestors(r.taker.Leaf) {
		r.Leaves[q].Rank = Lift{Offset: -taker.Of(r.taker.Priority)}
		taker = lift(t, q).after(taker)
	}
	// The way up from any other queue goes through its parent, which comes first in tree order.
	for q := range queue.ID(t.Len()) {
		if !t.Contains(q, r.taker.Leaf) {
			parent, _ := t.Parent(q)
			r.Leaves[q].Rank = r.Leaves[parent].Rank.after(lift(t, q))
		}
	}
}

// A Lift takes a priority from a leaf up to a queue above it. The zero Lift changes
// nothing. It cannot overflow.
type Lift struct {
	// Fenced: every priority becomes Offset. Otherwise Offset is added.
	Fenced bool
	Offset int64
}

// Of returns the effective priority of a task of the given raw priority.
func (l Lift) Of(priority int32) int64 {
	if l.Fenced {
		return l.Offset
	}
	return int64(priority) + l.Offset
}

// lift returns what a queue alone does to a priority that comes from below.
func lift(t *queue.Tree, q queue.ID) Lift {
	p := t.Policies(q)
	return Lift{Fenced: p.PriorityFence == "fence", Offset: int64(*p.PriorityOffset)}
}

// after returns the lift that does first and then l.
func (l Lift) after(first Lift) Lift {
	if l.Fenced {
		return l
	}
	return Lift{Fenced: first.Fenced, Offset: first.Offset + l.Offset}
}

// vetoOf returns the rule that keeps all tasks of a leaf from being victims.
func (r *Rules) vetoOf(w queue.ID) rulebook.Rule {
	x := &r.taker
	own, branch := w == x.Leaf, x.inBranch(w)
	outside := x.OnlyOwnLeaf && !branch || !x.Tree.Contains(r.root, w) && !r.waived(rulebook.RuleFence, w)
	if own {
		outside = !x.OwnLeaf
	}
	switch {
	case outside:
		return rulebook.RuleFence // law 7: never outside the fence
	case x.Tree.Policies(w).Preemption == queue.Disabled && !r.waived(rulebook.RuleDisabled, w):
		return rulebook.RuleDisabled
	case x.HasStarving && !own && !branch && x.Tree.Contains(x.Starving, w):
		return rulebook.RuleInside // storm freedom: from outside the subtree of E
	}
	return 0
}

// inBranch reports whether a leaf other than the taker's own is in its branch, and its tasks
// may go like those of its own.
func (x *Taker) inBranch(w queue.ID) bool {
	return x.OwnLeaf && x.Own == queue.Branch && x.HasStarving && w != x.Leaf && x.Tree.Contains(x.Starving, w)
}

// Owns reports whether tasks of a leaf count as the taker's own.
func (r *Rules) Owns(w queue.ID) bool { return w == r.taker.Leaf || r.taker.inBranch(w) }

func (r *Rules) waived(rule rulebook.Rule, w queue.ID) bool {
	return r.taker.Waived != nil && r.taker.Waived(rule, w)
}

// compareLeaves finds out what the leaves in reach have in common.
func (r *Rules) compareLeaves() {
	r.leastLift, r.fencedRank, r.EvenRanks, r.Ceiling = NoLimit, NoLimit, true, -1
	r.MostRoom = r.Rooms.block()
	for w := range r.taker.Tree.Leaves(queue.Root) {
		leaf := &r.Leaves[w]
		if leaf.Veto != 0 {
			continue
		}
		r.Ceiling = max(r.Ceiling, leaf.Ceiling)
		r.MostRoom = resources.Max(r.MostRoom, r.MostRoom, leaf.Room)
		if leaf.Rank.Fenced {
			r.fencedRank, r.EvenRanks = min(r.fencedRank, leaf.Rank.Offset), false
			continue
		}
		r.EvenRanks = r.EvenRanks && (r.leastLift == NoLimit || r.leastLift == leaf.Rank.Offset)
		r.leastLift = min(r.leastLift, leaf.Rank.Offset)
	}
}

// OwnLeaf reports whether tasks of the taker's own leaf, or branch, may go.
func (r *Rules) OwnLeaf() bool { return r.taker.OwnLeaf }

// TooLarge reports whether guarantees let no task of a size, or of a larger one, go.
func (r *Rules) TooLarge(size resources.Vector) bool { return !resources.Fits(size, r.MostRoom) }

// LeastRank returns the least rank of tasks of which the lowest priority is given.
func (r *Rules) LeastRank(lowest int32) int64 {
	if r.leastLift == NoLimit {
		return r.fencedRank
	}
	return min(r.fencedRank, r.leastLift+int64(lowest))
}

// Rank returns the effective priority of a task minus that of the taker, both lifted to
// below their common ancestor.
func (r *Rules) Rank(leaf queue.ID, priority int32) int64 { return r.Leaves[leaf].Rank.Of(priority) }

// Veto returns the first rule that keeps a task from being a victim whatever it frees, and does not end by
// itself; else 0.
func (r *Rules) Veto(t *Traits) rulebook.Rule {
	switch {
	case t.Leaving:
		return rulebook.RuleLeaving
	case t.RequiredNode:
		return rulebook.RuleRequiredNode
	case t.SameApplication:
		return rulebook.RuleApplication // law 3: never the same application
	}
	leaf := &r.Leaves[t.Leaf]
	switch {
	case leaf.Veto != 0:
		return leaf.Veto
	case leaf.Rank.Of(t.Priority) > leaf.Ceiling && !t.AnyPriority:
		return rulebook.RulePriority // law 6: lower or equal effective priority only
	}
	return 0
}

// A Loss is what makes stopping a task cost more.
type Loss struct {
	Rank       int64
	Priority   int32
	OptedOut   bool
	Originator bool
	Cost       int64
	// Preemptions is how often it was preempted before.
	Preemptions int64
}

// LevelsOf returns what stopping a task costs with the levels that count, but for work and excess.
func (r *Rules) LevelsOf(x *Loss) cost.Levels {
	l := x.Levels()
	for off := r.Unnamed; off != 0; off &= off - 1 {
		l[bits.TrailingZeros16(off)] = 0
	}
	return l
}

// Levels returns what stopping a task costs in all levels, but for work and excess.
func (x *Loss) Levels() cost.Levels {
	l := cost.Levels{
		rulebook.LevelRank: x.Rank, rulebook.LevelPriority: int64(x.Priority),
		rulebook.LevelVictims: 1, rulebook.LevelSumRanks: x.Rank, rulebook.LevelSumPriorities: int64(x.Priority),
	}
	if x.OptedOut {
		l[rulebook.LevelOptedOut] = 1 // law 1: opted out only if no plan does without
	}
	if x.Originator {
		l[rulebook.LevelOriginators] = 1
	}
	l[rulebook.LevelPreemptions] = x.Preemptions
	if x.Cost > 0 {
		l[rulebook.LevelOwn], l[rulebook.LevelOwnLow] = x.Cost>>32, x.Cost&(1<<32-1)
	}
	return l
}
