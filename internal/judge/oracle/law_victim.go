// SPDX-License-Identifier: Apache-2.0

package oracle

import "github.com/go-preempt/preempt/internal/judge/world"

// victim checks what can be told of one victim by itself.
func (d *docket) victim(v *world.Task) {
	if v.State.Leaving() || v.RequiredNode {
		d.report(Candidate, "%s is leaving, or bound to its node", v)
	}
	if v.Application == d.ask.Application && !(d.o.TakeOwnApplication && d.ask.RequiredNode != "") {
		d.report(Law3, "%s is of the application of the ask", v)
	}
	d.priority(v)
	if rule := d.early(v); rule != "" {
		d.report(Exempt, "%s: %s", v, rule)
	}
	if d.ask.RequiredNode != "" {
		return // guarantees, fences and disabled queues protect nobody
	}
	d.place(v)
	if d.disabled(v.Queue) {
		d.report(Disabled, "%s", v)
	}
}

// priority checks law 6. The tasks of the own leaf, if they may go at all, are
// strictly lower.
func (d *docket) priority(v *world.Task) {
	strictly := d.o.StrictPriority || d.own && d.owns(v.Queue)
	if rank := d.rank(v); rank > 0 || strictly && rank == 0 {
		d.report(Law6, "%s has rank %d", v, rank)
	}
}

// place checks where a victim may be from.
func (d *docket) place(v *world.Task) {
	own := d.own && d.owns(v.Queue)
	switch {
	case d.own && v.Queue == d.ask.Queue:
		return
	case d.own && !own && !d.entitled():
		d.report(Law4, "%s is from elsewhere", v)
	}
	if !d.inReach(v.Queue) {
		d.report(Law7, "%s is not below %s", v, d.fenceRoot(d.ask.Queue))
	}
	if !own && d.insideStarving(v.Queue) {
		d.report(Storm, "%s is inside the starving queue", v)
	}
}

// insideStarving reports whether a queue is in the subtree of E.
func (j *judge) insideStarving(queue string) bool {
	e, ok := j.starving()
	return ok && world.Inside(queue, e)
}

// trigger checks law 4: each type of the ask that has a governing queue must be
// under there before the plan, and at least one type must be governed. Whoever
// takes of its own leaf only need not be entitled to anything.
func (d *docket) trigger() {
	if d.own {
		return
	}
	if _, ok := d.starving(); !ok {
		d.report(Law4, "no type is governed")
	}
	for _, where := range d.where("over-guarantee") {
		d.report(Law4, "%s is not under its guarantee", where)
	}
}

// entitled reports whether law 4 lets the ask take from other leaves.
func (j *judge) entitled() bool {
	if j.all != nil {
		return j.all.entitled()
	}
	_, governed := j.starving()
	return governed && len(j.where("over-guarantee")) == 0
}

// gives checks law 5 of one victim: in a type that is short its leaf, and each
// queue above it and below the common ancestor, is over its guarantee before
// the plan; without a guarantee all usage is over. Blockers, members of a job
// that goes as a whole, and tasks of the own leaf are bound by law 2 alone.
func (d *docket) gives(v *world.Task) {
	if d.blocks(v, d.node) || d.stops(v.Job, d.victims) || v.Queue == d.ask.Queue {
		return
	}
	c := commonAncestor(v.Queue, d.ask.Queue)
	short := d.needed(d.node)
	for _, t := range d.wants {
		if short[t] == 0 || v.Size[t] == 0 {
			continue
		}
		over := true
		for _, q := range world.Up(v.Queue) {
			if q == c {
				break
			}
			over = over && d.coming[q][t] > d.queues[q].Guaranteed[t] // 0 where there is none
		}
		if over {
			return
		}
	}
	d.report(Law5, "%s gives what its queues do not have over", v)
}
