package victims

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// hearWork is what it takes to list a candidate for a question, in elementary work,
// and fewElsewhere how many candidates that make headroom on other nodes are
// among those of a node.
const hearWork, fewElsewhere = 8, 32

// hear asks the predicate about all candidates of a node. If laws let not all of
// them go, or they are too many, others than these may do, and it is asked about the
// best set, too.
func (d hearing) hear(n NodeID) verdict {
	accepted, ok := d.hearPlain(n)
	complete := !d.needs.open()
	if !ok {
		var all []int32
		all, complete = d.everybody(n)
		accepted = d.suffices(n, all)
	}
	switch {
	case accepted:
		return heard
	case complete:
		return struck
	case d.trial.meter.Left > 0 && d.agrees(n):
		return agreed
	}
	d.heard.unsure = true
	return struck
}

// hearPlain is hear for a node if nothing special is about its tasks and no law keeps
// them from going together, with those that make headroom on other nodes. It
// reports whether the predicate accepts, and false if it was not asked.
func (d hearing) hearPlain(n NodeID) (accepted, ok bool) {
	gauge := &d.c.digest.gauges[n]
	if !d.pruning() || d.p.Blockers != nil || d.without.Rule != 0 || d.hasSpecial(gauge) || !d.listElsewhere(n) {
		return false, false
	}
	s := d.siteOf(n)
	digest := &d.c.digest.nodes[n]
	d.heard.together = resources.Add(d.heard.together, d.heard.together, d.c.row(d.c.digest.all, n))
	// One comparison for all tasks of the node, and one for each only if that is too rough.
	d.heard.ample = resources.Fits(d.heard.together, d.heard.least)
	sum := d.scratch.sum
	clear(sum)
	for i := range digest.lanes {
		size := digest.size(i, d.c.types)
		taken := int64(len(d.scratch.taken))
		if !d.listLane(&s, i) {
			return false, false
		}
		for t, v := range size {
			sum[t] += v * (int64(len(d.scratch.taken)) - taken)
		}
	}
	d.trial.pay(hearWork * int64(len(d.scratch.taken)))
	// If all together give too little there is no plan, and nothing to ask about.
	return resources.Fits(s.short, sum) && d.accepts(n, d.scratch.taken, coming), true
}

// listElsewhere sets d.scratch.taken to the tasks that make headroom at the least cost,
// but for those on a node, and what they free to d.heard.together. It reports false
// if there are so few that all of them count, or whole gangs.
func (d hearing) listElsewhere(n NodeID) bool {
	d.heard.together = rows.Zeros(d.heard.together, d.c.types)
	if !d.needs.open() {
		d.scratch.taken = d.scratch.taken[:0]
		return true
	}
	if d.required() || !d.headroom.searchHeadroom() || d.pool.singles <= fewElsewhere {
		return false
	}
	d.scratch.taken = d.scratch.taken[:0] // a pool is gathered there
	for _, i := range d.pool.shared.Units {
		id := d.pool.ids[i]
		if d.pool.gang[i] >= 0 || d.special(id) {
			return false
		}
		if d.c.tasks[id].node != n {
			d.scratch.taken = append(d.scratch.taken, id)
			d.heard.together = resources.Add(d.heard.together, d.heard.together, d.c.size(id))
		}
	}
	return true
}

// listLane appends the tasks of a lane that help, and that no rule keeps, to
// d.scratch.taken. It reports false if law 2 may keep them from going with all the
// others.
func (d hearing) listLane(s *site, lane int) bool {
	e, digest := &d.eligible, &d.c.digest.nodes[s.node]
	l, has := &digest.lanes[lane], resources.Positive(digest.size(lane, d.c.types))
	for j := l.first; j < l.end; j++ {
		leaf, id := &e.leaves[digest.leaves[j]], digest.ids[j]
		switch {
		// The order of rules is that of Rule.
		case e.hasApp && d.c.tasks[id].app == e.app, leaf.veto != 0, leaf.rank.Of(l.priority) > leaf.ceiling:
			continue
		case has&(s.mask|d.needs.masks[leaf.level]) == 0:
			continue // it helps neither the node nor headroom
		case len(leaf.erodes) > 0 || !d.heard.ample && !resources.Fits(d.heard.together, leaf.room):
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
	if pool.singles <= fewElsewhere {
		for i := range pool.singles {
			d.addOther(n, i)
		}
		u.meetAll(pool.met)
		return !pool.partial
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
