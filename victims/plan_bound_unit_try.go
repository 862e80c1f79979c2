package victims

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// refuted reports whether no set of units of a node has lesser levels than the best
// plan. If it finds such a set, that is noted, and if it cannot tell, that there are no
// steps left.
//
// The order is that of the cost. Of most nodes lanes tell, if some lesson holds or there
// are few lanes. To make units takes longer than that, and to seek weights longer still.
func (d unitBounder) refuted(b *nodeBound) bool {
	short := d.scratch.short
	d.nodeNeed(short, b.node)
	d.problem.units.found, d.problem.units.steps = false, 0
	lessons := d.problem.lessons.rows[:d.problem.lessons.n]
	var one cover.Levels
	if !d.aim() {
		return false
	}
	// Lanes are read sooner than units are made.
	if d.problem.units.jobsFirst() && d.single(b.node, &one) {
		for k := range lessons {
			if !d.count(b, &one, &lessons[k]) {
				return true
			}
		}
		in, most := laneSet{b.node, d.digestOf(b.node).lanes}, d.problem.units.most(&one)
		if !d.count(b, &one, &d.problem.mix) || most < mixMost && !d.tasksGive(in, lackOfAll{short, most}, mostLaneSteps) {
			return true
		}
	}
	if d.trial.meter.Left <= 0 || !d.build(b.node) {
		return false
	}
	if d.lessonsTell(short) || !d.arrange(&d.problem.mix, short) || !d.anyLess(short, fewSteps) {
		return true
	}
	if d.problem.units.found {
		return false
	}
	// What is learnt here often tells of the nodes that come after it. And a search goes
	// by the last draft, which tells more than even weights.
	return d.learn(short) || !d.anyLess(short, someSteps)
}

// lessonsTell reports whether some lesson shows that no set of the units that were made
// has lesser levels than the best plan.
func (d unitBounder) lessonsTell(short resources.Vector) bool {
	for k := range d.problem.lessons.n {
		if !d.arrange(&d.problem.lessons.rows[k], short) {
			return true
		}
	}
	return false
}

// improve looks for sets of units of a node with lesser levels than the best plan. Each that
// is lawful becomes the best plan. It goes on until there are none, and reports whether it
// has come so far. It is for a node of which refuted has just found such a set.
//
// A search over all units of a node takes long: gangs are hardly ever alike in all that
// counts for it. Whether a set is lawful is soon told.
func (d unitBounder) improve(n NodeID) (done bool) {
	for x := &d.problem.units; d.trial.meter.Left > 0 && !d.trial.meter.Stopped; {
		switch {
		case !x.found && x.steps >= 0:
			return false // they are too many, or too much
		case !x.found:
			// A few steps were not enough. The units are still those of the node, in the
			// order of that search.
			d.nodeNeed(d.scratch.short, n)
			if !d.anyLess(d.scratch.short, int(min(manySteps, d.trial.meter.Left/d.stepWork()))) {
				return true
			}
			if !x.found {
				return false
			}
		case !d.trySet(n):
			return false // laws over sums keep it, or a blocker is not in it
		case d.refuted(&nodeBound{node: n}):
			return true
		}
	}
	return false
}

// trySet searches among the units of a set only, and reports whether it helped: the best
// plan is one of lesser levels, or it is known that a gang cannot go.
func (d unitBounder) trySet(n NodeID) (helped bool) {
	x, s, best := &d.problem.units, d.siteOf(n), d.best.total.Levels
	d.local.reset()
	for _, i := range x.set {
		id := x.ids[i]
		g := d.gangs.of(id)
		switch {
		case x.units[i][LevelJobs] == 0:
			if d.candidate(id, &s) {
				d.local.add(d.decision, &s, id)
			}
		case d.gangs.rows[g].rule != 0:
			// Laws over all that a gang frees, and the caller's exemptions, are not asked
			// before: of most gangs nobody needs to know. Without it there may be another set.
			x.crews[d.gangs.glance(d.c.tasks[id].job).levels-1].out, helped = true, true
		default:
			d.local.addWhole(d.decision, &s, g)
		}
	}
	if helped {
		return true
	}
	// The search takes care of law 2 over all of them, of budgets, and that nobody goes
	// without need.
	d.state(&s, d.wanted(&s))
	d.solve(&d.found, &d.local, d.limit())
	d.offer(n, &d.found, &d.local)
	return d.best.total.Levels != best
}

// learn looks for weights that show that no set of units of a node has lesser levels
// than the best plan, as [bounder.learn] does. If they are found, they are a lesson for
// all nodes, and no worse for one without gangs.
func (d unitBounder) learn(short resources.Vector) (learned bool) {
	x := &d.problem.units
	// If sizes are few, what no weights can tell is often that sets come in whole numbers.
	if x.sought.vain() {
		return false
	}
	draft := &d.problem.lessons.draft
	draft.reset(d.decision)
	for rounds := lessonRounds; ; rounds-- {
		if !d.arrange(draft, short) {
			d.problem.lessons.keep()
			x.sought.note(true)
			return true
		}
		if rounds == 0 {
			x.sought.note(false)
			return false // the units are in the order of the draft
		}
		// The largest units that a set of interest has room for give too much of some
		// types, and too little of others.
		most := x.mostOf(&x.least[0])
		given := rows.Zeros(d.scratch.sum, d.c.types)
		for i := range x.order[:min(most, len(x.order))] {
			draft.cut = x.order[i].share
			for t, v := range x.amountsOf(x.order[i].unit, d.c.types) {
				given[t] += min(v, short[t])
			}
		}
		d.scratch.sum = given
		draft.turn(given)
	}
}

// mostOf returns how many units of some levels at least a set of interest has at most.
func (x *unitBounds) mostOf(least *cover.Levels) (most int) {
	for {
		if low := x.with(&cover.Levels{}, least, int64(most+1)); !x.isLess(&low) || most == len(x.order) {
			return most
		}
		most++
	}
}
