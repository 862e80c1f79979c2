package victims

import (
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A setTaker takes the victims on a node that a [setBounder] has found, in place of a
// search.
type setTaker struct{ bounder }

// begin looks for the cheapest set of the first node, while there is no plan to compare
// it with. If many sets are to be looked at, a search finds a plan sooner.
func (d setTaker) begin(b *nodeBound, short resources.Vector) {
	if !d.alikeInLanes(b.node) || len(d.digestOf(b.node).lanes) > mostAlike {
		return
	}
	if lanes := d.refineLevels(b, short); lanes != nil {
		sets := setBounder{d: d.bounder}
		sets.beaten(b, lanes, short)
	}
}

// takes offers the cheapest set that was found on the node of a bound, and reports
// whether that is the node's best. A bound takes for granted that laws keep nobody. So
// if they keep nobody of that set, nothing is left to search. It declines if anything
// else than excess and work may tell sets apart.
func (d setTaker) takes(b *nodeBound) bool {
	set := &d.problem.set
	if !set.found || set.tied || set.node != b.node || d.worker.OnlyLesser || !d.alikeInLanes(b.node) {
		return false
	}
	// A blocker goes whatever the amounts, and bounds know nothing of that.
	s := d.siteOf(b.node)
	if s.out || len(s.blockers) > 0 {
		return false
	}
	// Searches ask the caller as they begin, and one that is to end finds what there is
	// at once.
	if d.trial.meter.Ask(); d.trial.meter.Stopped {
		return false
	}
	u, digest, found := &d.local, d.digestOf(b.node), &d.found
	u.reset()
	*found = cover.Selection{Found: true, Units: found.Units[:0], Proven: true, LevelsProven: true}
	freed := d.scratch.sum
	clear(freed)
	for i, takes := range set.takes {
		first := digest.lanes[i].first
		for _, id := range digest.ids[first : first+takes] {
			if !d.candidate(id, &s) {
				return false
			}
			d.join(found, id)
			freed = resources.Add(freed, freed, d.c.size(id))
			u.add(d.decision, &s, id)
		}
	}
	found.Total.Excess = cover.Excess(freed, d.wanted(&s), d.c.total)
	// If its levels are not those of the bound, another set may have less of them.
	if found.Total.Levels != b.levels || !d.letGo(u, freed) {
		return false
	}
	found.Spent = gatherWork * int64(len(u.units))
	d.trial.pay(found.Spent)
	d.trial.note(found)
	d.offer(b.node, found, u)
	return true
}

// alikeInLanes reports whether tasks of a lane differ in work and key only, and the
// first to go are the first of the lane.
func (d setTaker) alikeInLanes(n NodeID) bool {
	if !d.eligible.evenRanks || !d.uniform(n) || len(d.c.costs) > 0 || d.hasSpecial(&d.c.digest.gauges[n]) {
		return false
	}
	g, row := d.digestAt(n)
	// Those without work to lose are in no order of keys.
	return d.since(g.latest[int(row)*numLatest]) > 0
}

// join adds a task to the total of a set, as its next unit.
func (d setTaker) join(set *cover.Selection, id TaskID) {
	levels, total := d.eligible.Levels(id), &set.Total
	total.Levels = d.problem.order.Join(&total.Levels, total.Units, &levels)
	total.Work = total.Work.AddNanos(d.eligible.Lost(id), 1)
	set.Units = append(set.Units, int32(total.Units))
	total.Units++
}

// letGo reports whether it is certain that guarantees let units go together: what they
// free is no more than each by itself might.
func (d setTaker) letGo(u *unitSet, freed resources.Vector) bool {
	// Each bound of a leaf leaves at least what its room says.
	for _, id := range u.ids {
		leaf := &d.eligible.leaves[d.c.tasks[id].leaf]
		if len(leaf.erodes) > 0 || !resources.Fits(freed, leaf.room) {
			return false
		}
	}
	return true
}
