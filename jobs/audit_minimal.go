package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/victims"
)

// This file audits whether fewer victims would do.

// minimal yields each victim that can be given back, and each job that falls as
// a whole of which all can, or as many members as are its minimum: without
// them there is room still for the minimum of members, and the predicate
// accepts their places. Laws cannot stand in the way, for no law is broken by
// taking less.
func (x *audit) minimal(yield func(Violation) bool) {
	// Whether something can be spared makes no sense before there is enough.
	// That has its own laws.
	if !x.enough(x.nodes) {
		return
	}
	for i := range x.units {
		u := &x.units[i]
		// One by one, or as many of a whole job as it needs to run on.
		if !x.spare(u.tasks) && (u.job == "" || x.spareable(u) < u.minimum) {
			continue
		}
		v := Violation{Law: LawMinimal, Job: u.job}
		if u.job == "" {
			// A victim is named by itself, and a job as a whole by its name.
			v.Task, v.Victim = u.tasks[0], x.c.TaskView(u.tasks[0]).Key
		}
		if !yield(v) {
			return
		}
	}
}

// spare reports whether some victims can be given back together.
func (x *audit) spare(tasks []victims.TaskID) bool {
	x.homes = x.homes[:0]
	for _, id := range tasks {
		if n := x.c.NodeOf(id); x.isNode(n) {
			x.homes = append(x.homes, n) // there, and there alone, is less room
		}
	}
	x.giveBack(tasks, -1)
	spare := x.enough(x.homes) && x.acceptsWithout(tasks)
	x.giveBack(tasks, +1)
	return spare
}

// spareable returns how many members of a job that falls as a whole can be given
// back, one after another.
func (x *audit) spareable(u *auditUnit) int {
	x.rest = x.rest[:0]
	for i := range u.tasks {
		if x.spare(u.tasks[i : i+1]) {
			// It stays back while the others are tried: all of them must be
			// spared at once.
			x.rest = append(x.rest, u.tasks[i])
			x.giveBack(u.tasks[i:i+1], -1)
		}
	}
	n := len(x.rest)
	x.giveBack(x.rest, +1)
	x.rest = x.rest[:0]
	return n
}

// enough reports whether there is room for the minimum of members, on some nodes
// and in queues and quotas.
func (x *audit) enough(nodes []victims.NodeID) bool {
	enough := true
	fail := func(Violation) bool {
		enough = false
		return false
	}
	// The load is that of the minimum. Room for members beyond it is no reason
	// to stop anybody.
	x.room(x.load, nodes, fail)
	if enough {
		x.headroom(x.asked, fail)
	}
	if enough {
		x.quota(x.asked, fail)
	}
	return enough
}

// acceptsWithout asks the predicate about the minimum of members with all
// victims but some, and those that are given back already.
func (x *audit) acceptsWithout(tasks []victims.TaskID) bool {
	if x.a.Predicate == nil {
		return true
	}
	// A list of its own, for the predicate may compare it with that of another
	// call.
	var gone []victims.TaskID
	for _, id := range x.victims {
		if !slices.Contains(tasks, id) && !slices.Contains(x.rest, id) {
			gone = append(gone, id)
		}
	}
	for i := range x.plan.Placements {
		if !x.plan.Placements[i].Further && !x.accepts(i, gone) {
			return false
		}
	}
	return true
}
