package victims

import (
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// hearWork is what it takes to list a candidate for a question, in elementary work,
// and fewElsewhere how many candidates that make headroom on other nodes are
// among those of a node.
const hearWork, fewElsewhere = 8, 256

// hear asks the predicate about all candidates of a node. If laws let not all of
// them go, others than these may do, and it is asked about the best set, too.
func (d hearing) hear(n NodeID) verdict {
	if said := d.hearPlain(n); said != unheard {
		return said
	}
	d.trial.left -= gatherWork * int64(len(d.c.nodes[n].tasks))
	all, complete := d.everybody(n)
	switch {
	case d.suffices(n, all):
		return heard
	case complete:
		return struck
	case d.trial.left > 0 && d.agrees(n):
		return agreed
	}
	d.heard.unsure = true
	return struck
}

// hearPlain is hear for a node if nothing special is about its tasks, no law keeps
// them from going together, and nothing is short elsewhere. Else it returns unheard.
func (d hearing) hearPlain(n NodeID) verdict {
	gauge := &d.c.digest.gauges[n]
	if !d.pruning() || d.needs.open() || d.p.Blockers != nil || d.without.Rule != 0 || d.hasSpecial(gauge) {
		return unheard
	}
	s := d.siteOf(n)
	digest := &d.c.digest.nodes[n]
	sum := d.scratch.sum
	clear(sum)
	d.scratch.taken = d.scratch.taken[:0]
	for i := range digest.lanes {
		size := digest.size(i, d.c.types)
		if resources.Positive(size)&s.mask == 0 {
			continue // they do not help
		}
		taken := int64(len(d.scratch.taken))
		if !d.listLane(n, &digest.lanes[i]) {
			return unheard
		}
		for t, v := range size {
			sum[t] += v * (int64(len(d.scratch.taken)) - taken)
		}
	}
	d.trial.left -= hearWork * int64(len(d.scratch.taken))
	// If all together give too little there is no plan, and nothing to ask about.
	if resources.Fits(s.short, sum) && d.accepts(n, d.scratch.taken, coming) {
		return heard
	}
	return struck
}

// listLane appends the tasks of a lane of a node that no rule keeps to d.scratch.taken.
// It reports false if law 2 may keep them from going together.
func (d hearing) listLane(n NodeID, l *lane) bool {
	e, digest := &d.eligible, &d.c.digest.nodes[n]
	all := d.c.row(d.c.digest.all, n)
	for j := l.first; j < l.end; j++ {
		leaf, id := &e.leaves[digest.leaves[j]], digest.ids[j]
		switch {
		// The order of rules is that of Rule.
		case e.hasApp && d.c.tasks[id].app == e.app, leaf.veto != 0, leaf.rank.Of(l.priority) > leaf.ceiling:
			continue
		case len(leaf.erodes) > 0 || !resources.Fits(all, leaf.room):
			return false
		case !e.exempt(id):
			d.scratch.taken = append(d.scratch.taken, id)
		}
	}
	return true
}

// agrees searches a node and asks the predicate about its best set. If it accepts
// that, the set is offered.
func (d hearing) agrees(n NodeID) bool {
	// The best plan so far waits aside: as a limit it would hide a costlier set that
	// is the best of this node, and the answer is about the node.
	h, lesser := &d.heard, d.worker.OnlyLesser
	h.aside, d.best = d.best, h.aside
	d.best.found, d.worker.OnlyLesser = false, false
	d.searchNode(n)
	d.worker.OnlyLesser = lesser
	switch better := !h.aside.found || d.best.found && d.compare(&d.best.cost, &h.aside.cost) < 0; {
	case !d.best.found || better && !d.accepts(n, d.best.victims, coming):
		h.aside, d.best = d.best, h.aside
		return false
	case !better:
		h.aside, d.best = d.best, h.aside // nobody needs to know
	}
	return true
}

// everybody returns the candidates of a node, as units of d.local: the cheapest
// first, as many as laws and budgets allow. It reports whether those are all.
//
// Candidates that make headroom on other nodes belong to all nodes. If they are
// many, those count that make it at the least cost.
func (d hearing) everybody(n NodeID) (all []int32, complete bool) {
	s := d.siteOf(n)
	u, complete := &d.local, true
	u.gather(d.decision, &s)
	if d.needs.open() && d.headroom.searchHeadroom() {
		complete = d.addElsewhere(n)
	}
	u.addGangs(d.decision, &s)
	d.state(&s, d.wanted(&s))
	all = d.takeAll(u)
	return all, complete && len(all) == len(u.units)
}

// addElsewhere adds candidates that make headroom on other nodes than one, and
// reports whether those are all.
func (d hearing) addElsewhere(n NodeID) (complete bool) {
	u, pool := &d.local, &d.pool
	if complete = pool.singles <= fewElsewhere; complete {
		for i := range pool.singles {
			d.addOther(n, i)
		}
		u.meetAll(pool.met)
		return true
	}
	for _, i := range pool.shared.Units {
		if g := pool.gang[i]; g >= 0 {
			u.meetOne(g)
		} else {
			d.addOther(n, int(i))
		}
	}
	return false
}

// addOther adds a unit of the pool if it is on another node.
func (d hearing) addOther(n NodeID, i int) {
	if id := d.pool.ids[i]; d.c.tasks[id].node != n {
		d.local.append(id, -1, d.pool.units[i])
	}
}

// takeAll returns all units if they keep every bound together. Else it returns
// those, the cheapest first, that still do beside the ones before them.
func (d hearing) takeAll(u *unitSet) []int32 {
	order := d.scratch.order[:0]
	for i := range u.units {
		order = append(order, int32(i))
	}
	d.scratch.order = order
	if d.keepsBounds(u, order) {
		return order
	}
	d.sortUnits(u, order)
	left := &d.scratch.left
	left.reset(d.eligible.Rooms.Bounds)
	return slices.DeleteFunc(order, func(i int32) bool { return !left.take(&u.units[i]) })
}
