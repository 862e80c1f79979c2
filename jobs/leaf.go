package jobs

import (
	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// leafRow is what a decision knows of a leaf, so that a task costs a lookup.
type leafRow struct {
	rank   fence.Lift // of a task of the leaf; see fence.View.Rank
	veto   Rule       // the rule that keeps all its tasks, or 0
	level  int32      // see needs
	bounds []int32    // law 2: what binds its tasks, from the leaf upwards
	// room is what all of its bounds leave, per type; MaxInt64 where none does.
	room resources.Vector
}

// prepareLeaves works out what every leaf's tasks have in common, and reports
// whether any leaf is in reach.
func (d *decision) prepareLeaves() bool {
	d.rooms.Reset(d.tree, d.job.Queue, d.rem) // law 2
	d.view.Reset(d.tree, d.job.Queue)
	d.leaves = zeros(d.leaves, d.tree.Len())
	left := false
	for w := range d.tree.Leaves(queue.Root) {
		leaf := &d.leaves[w]
		leaf.rank = d.view.Rank(w, d.job.Priority)
		leaf.veto = d.vetoOf(w)
		leaf.level = d.needs.level(d.tree, w)
		leaf.bounds = d.rooms.Chain(w)
		leaf.room = d.rooms.Least(leaf.bounds)
		left = left || leaf.veto == 0
	}
	return left
}

// vetoOf returns the rule that keeps all tasks of a leaf from being victims.
// The job's own leaf is within its reach; there raw priorities compare.
func (d *decision) vetoOf(w queue.ID) Rule {
	switch {
	case w != d.job.Queue && d.view.Standing(w) == fence.Outside:
		return RuleFence // law 7: never outside the fence
	case d.tree.Disabled(w):
		return RuleDisabled
	}
	return 0
}
