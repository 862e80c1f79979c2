package victims

import (
	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// prepareLeaves works out, once per decision, what every leaf's tasks have in
// common: whether a rule keeps them all, what lifts their priorities, which
// headroom they give and what law 2 says. It reports whether any leaf is left.
func (d *decision) prepareLeaves() bool {
	d.prepareRooms()
	d.view.Reset(d.tree, d.ask.Queue)
	d.leaves = zeros(d.leaves, d.tree.Len())
	left := false
	for w := range d.tree.Leaves(queue.Root) {
		leaf := &d.leaves[w]
		d.prepareLeaf(leaf, w)
		left = left || leaf.veto == 0
	}
	d.compareLeaves()
	return left
}

// prepareLeaf works out what the tasks of leaf w have in common.
func (d *decision) prepareLeaf(leaf *leafRow, w queue.ID) {
	leaf.level = d.needs.level(d.tree, w)
	if d.required() {
		// On a required node raw priorities count, and neither guarantees nor
		// fences nor disabled queues protect.
		leaf.rank = fence.Lift{Offset: -int64(d.ask.Priority)}
		leaf.room = d.rooms.Least(nil)
		return
	}
	leaf.rank = d.view.Rank(w, d.ask.Priority)
	leaf.veto = d.vetoOf(w)
	leaf.bounds = d.rooms.Chain(w)
	leaf.room = d.rooms.Least(leaf.bounds)
}

// vetoOf returns the rule that keeps all tasks of a leaf from being victims.
func (d *decision) vetoOf(w queue.ID) Rule {
	switch standing := d.view.Standing(w); {
	case standing == fence.Outside && !d.relaxed.opens(d.tree, d.ask.Queue, w):
		return RuleFence // law 7: never outside the fence
	case d.tree.Disabled(w) && !d.relaxed.enables(d.tree, w):
		return RuleDisabled
	case d.starving && d.tree.Contains(d.inside, w):
		return RuleInside // storm freedom: from outside the subtree of E
	}
	return 0
}

// prepareRooms computes what law 2 lets go.
func (d *decision) prepareRooms() {
	d.rooms.Reset(d.tree, d.ask.Queue, d.size)
	if d.relaxed.Rule != RelaxGuarantee {
		return
	}
	for q := range d.tree.All() {
		if d.relaxed.queue(RelaxGuarantee, q) {
			d.rooms.drop(q)
		}
	}
}

// compareLeaves finds, over the leaves in reach, what is least added to a raw
// priority to give a rank, whether the same is added everywhere, the lowest
// rank that a priority fence gives, and the most that one of them can give.
func (d *decision) compareLeaves() {
	d.leastLift, d.fencedRank, d.evenRanks = noLimit, noLimit, true
	d.mostRoom = d.block()
	for w := range d.tree.Leaves(queue.Root) {
		leaf := &d.leaves[w]
		if leaf.veto != 0 {
			continue
		}
		d.mostRoom = resources.Max(d.mostRoom, d.mostRoom, leaf.room)
		if leaf.rank.Fenced {
			d.fencedRank, d.evenRanks = min(d.fencedRank, leaf.rank.Offset), false
			continue
		}
		d.evenRanks = d.evenRanks && (d.leastLift == noLimit || d.leastLift == leaf.rank.Offset)
		d.leastLift = min(d.leastLift, leaf.rank.Offset)
	}
}

// gives reports whether guarantees let tasks of some leaf in reach go that have
// any of what the ask wants.
func (d *decision) gives() bool {
	for _, t := range d.types {
		if d.mostRoom[t] > 0 {
			return true
		}
	}
	return false
}
