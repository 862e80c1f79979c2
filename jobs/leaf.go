package jobs

import (
	"math"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
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
	d.prepareRooms()
	d.view.Reset(d.tree, d.job.Queue)
	d.leaves = zeros(d.leaves, d.tree.Len())
	d.chains = d.chains[:0]
	left := false
	for w := range d.tree.Leaves(queue.Root) {
		leaf := &d.leaves[w]
		leaf.rank = d.view.Rank(w, d.job.Priority)
		leaf.veto = d.vetoOf(w)
		leaf.level = d.needs.level(d.tree, w)
		leaf.bounds = d.chain(w)
		leaf.room = d.roomOf(leaf.bounds)
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

// prepareRooms makes a bound of every queue with a guarantee.
//
// Law 2: no queue ends below its guarantee. Usage after the plan must be at
// least min(g, usage before), so the victims below the queue may sum to its
// surplus, and on the job's path to as much more as the members bring.
func (d *decision) prepareRooms() {
	d.rooms = d.rooms[:0]
	d.boundOf = zeros(d.boundOf, d.tree.Len())
	for q := range d.tree.All() {
		d.boundOf[q] = -1
		g := d.tree.Guaranteed(q)
		if g.Defined == 0 {
			continue
		}
		room := resources.Limit{Value: d.block(1), Defined: g.Defined}
		for t := range g.Defined.All() {
			room.Value[t] = max(d.usageAt(q, t, coming)-g.Value[t], 0)
			if d.tree.Contains(q, d.job.Queue) {
				room.Value[t] += d.rem[t]
			}
		}
		d.boundOf[q] = int32(len(d.rooms))
		d.rooms = append(d.rooms, victims.Bound{Room: room})
	}
}

// chain lists the bounds of a leaf, the innermost first.
func (d *decision) chain(leaf queue.ID) []int32 {
	from := len(d.chains)
	for q := range d.tree.Up(leaf) {
		if b := d.boundOf[q]; b >= 0 {
			d.chains = append(d.chains, b)
		}
	}
	return d.chains[from:len(d.chains):len(d.chains)]
}

// roomOf returns the least room of some bounds per type.
func (d *decision) roomOf(bounds []int32) resources.Vector {
	room := d.block(1)
	for t := range room {
		room[t] = math.MaxInt64
	}
	for _, b := range bounds {
		limit := &d.rooms[b].Room
		for t := range limit.Defined.All() {
			room[t] = min(room[t], limit.Value[t])
		}
	}
	return room
}
