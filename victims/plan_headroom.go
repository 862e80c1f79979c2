package victims

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// If headroom is short as well as a node, one set has to make both. What makes
// headroom may be on any node, and is one problem that all nodes share.

// A headroomSearch searches nodes if queues lack headroom.
type headroomSearch struct{ *decision }

// searchJoint looks for a set that makes room on a node and headroom at once.
// Such a set contains one that makes room on the node, so the cheapest of
// those is a bound, and the answer if it makes headroom as well.
//
// If the ask requires the node, its victims are all there, and so are members of
// every job that goes as a whole: no other node adds any.
func (d headroomSearch) searchJoint(s *site) {
	d.gatherLocal(s)
	if d.required() {
		d.local.addGangs(d.decision, s)
		d.state(s, d.wanted(s))
		d.solve(&d.found, &d.local, d.limit())
		d.offer(s.node, &d.found, &d.local)
		return
	}
	if d.pruning() {
		n := len(d.local.units)
		d.local.addGangs(d.decision, s)
		d.state(s, d.wanted(s))
		for i := range d.needs.short {
			d.problem.Needs[1+i].Short = nil
		}
		d.solve(&d.found, &d.local, d.limit())
		switch {
		case !d.found.Found && d.found.Proven:
			return
		case d.found.Found && d.makesHeadroom(&d.found, &d.local):
			d.offer(s.node, &d.found, &d.local)
			if d.found.Proven {
				return
			}
		}
		if !d.pool.searched && d.sufficesHere(s) {
			return
		}
		d.local.cut(n)
	}
	if d.trial.alone {
		d.trial.proven, d.trial.levels = false, false
		d.trial.meter.Left = min(d.trial.meter.Left, 0) // the scan has nothing to show
		return
	}
	if !d.searchHeadroom() || !d.affords(len(d.local.units)+len(d.pool.units)) {
		return
	}
	d.local.join(d.decision, s)
	d.local.addGangs(d.decision, s)
	d.state(s, d.wanted(s))
	d.solve(&d.found, &d.local, d.limit())
	d.offer(s.node, &d.found, &d.local)
}

// searchAlone looks for any plan of which all victims are on the node, if there is none
// yet. Searches with all others that make headroom take much longer.
func (d headroomSearch) searchAlone() {
	if !d.needs.open() || d.p.Predicate != nil {
		return
	}
	proven, levels := d.trial.proven, d.trial.levels
	for _, n := range d.nodes {
		if d.best.Found || d.exhausted() {
			break
		}
		// Of most nodes sums tell.
		all := d.c.row(d.c.digest.all, n)
		if !d.usable(n) || d.nodeNeed(d.scratch.short, n) == 0 || !resources.Fits(d.scratch.short, all) || !resources.Fits(d.needs.most, all) || !d.passes(n) {
			continue
		}
		if !d.affords(len(d.c.nodes[n].tasks)) {
			break
		}
		s := d.siteOf(n)
		if s.out {
			continue
		}
		d.gatherLocal(&s)
		d.local.addGangs(d.decision, &s)
		d.state(&s, d.wanted(&s))
		d.solve(&d.found, &d.local, nil)
		d.offer(n, &d.found, &d.local)
		d.best.Exact = false // others may be cheaper
	}
	d.trial.proven, d.trial.levels = proven, levels
}

// sufficesHere makes headroom with tasks of the node alone, if that can be. It
// reports whether no others need be looked at: with them no plan for the node
// has lesser levels, or those are shown and what is left of the cost is not worth
// a look at all that may make headroom.
func (d headroomSearch) sufficesHere(s *site) bool {
	least, shown := d.found.Total.Levels, d.found.Found && d.found.Proven
	for i := range d.needs.short {
		d.problem.Needs[1+i] = d.needs.needOf(i)
	}
	proven, levels := d.trial.proven, d.trial.levels
	d.solve(&d.found, &d.local, d.limit())
	d.trial.proven, d.trial.levels = proven, levels
	d.offer(s.node, &d.found, &d.local)
	d.best.Exact = d.best.Exact && d.best.node() != s.node // others may be cheaper
	switch {
	case d.worker.OnlyLesser:
		return shown && d.best.Found && d.problem.order.CompareLevels(&least, &d.best.Total.Levels) >= 0
	case d.trial.brief && d.best.Found:
		d.trial.proven, d.trial.levels = false, false
		return true
	}
	return false
}

// cut takes the units from a place on out again.
func (u *unitSet) cut(n int) { u.units, u.ids, u.gang = u.units[:n], u.ids[:n], u.gang[:n] }

// searchHeadroom solves what all nodes share: the cheapest set that makes
// headroom. It reports false if there is none, and then no node has a plan.
func (d headroomSearch) searchHeadroom() bool {
	p := &d.pool
	if p.searched {
		return !p.hopeless
	}
	p.searched = true
	if d.searchPool(); p.thinned && !p.shared.Found && d.affords(p.all) {
		p.whole = true // the others are needed, too
		d.searchPool()
	}
	p.hopeless = !p.shared.Found && p.shared.Proven
	return !p.hopeless
}

// searchPool gathers what makes headroom and searches it.
func (d headroomSearch) searchPool() {
	p := &d.pool
	p.gather(d.decision)
	s := d.elsewhere()
	p.singles = len(p.units)
	p.addGangs(d.decision, &s)
	d.state(&s, d.wanted(&s))
	lesser := d.worker.OnlyLesser
	d.worker.OnlyLesser = false
	if p.shared = (cover.Selection{Units: p.shared.Units[:0]}); d.affords(len(p.units)) {
		d.solve(&p.shared, &p.unitSet, nil)
	}
	d.worker.OnlyLesser = lesser
	if p.thinned {
		d.trial.proven, d.trial.levels = false, false
	}
}

// makesHeadroom reports whether a set meets every headroom need.
func (d headroomSearch) makesHeadroom(s *cover.Selection, u *unitSet) bool {
	for i, short := range d.needs.short {
		if !d.meets(u, s.Units, int32(1+i), short) {
			return false
		}
	}
	return true
}

// meets reports whether the units that count for a row of needs sum to short.
func (d headroomSearch) meets(u *unitSet, units []int32, row int32, short resources.Vector) bool {
	sum := d.scratch.sum
	clear(sum)
	for _, i := range units {
		for part := range u.units[i].All {
			if slices.Contains(part.Needs, row) {
				sum = resources.Add(sum, sum, part.Size)
			}
		}
	}
	d.scratch.sum = sum
	return resources.Fits(short, sum)
}

// poolSums are what bounds need of the candidates that make headroom, members
// of gangs included.
type poolSums struct {
	fewest   []int64 // for each need, a number of victims below which none meets it
	rank     int64   // the least
	priority int64   // the least
	newest   int64   // when the last of them was scheduled, as Cluster.newest has it
	least    resources.Vector
	largest  resources.Vector // scratch
}

// sumUp sums the candidates up that make headroom.
func (s *poolSums) sumUp(d *decision, ids []TaskID) {
	s.rank, s.priority, s.newest = math.MaxInt64, math.MaxInt64, math.MinInt64
	for i, id := range ids {
		s.rank = min(s.rank, d.eligible.Rank(id))
		s.priority = min(s.priority, int64(d.c.tasks[id].priority))
		s.newest = max(s.newest, d.c.newest(id))
		if size := d.c.size(id); i == 0 {
			s.least = append(s.least[:0], size...)
		} else {
			s.least = resources.Min(s.least, s.least, size)
		}
	}
	s.fewest = s.fewest[:0]
	for i, short := range d.needs.short {
		fewest := int64(0)
		if !d.needs.ruled[i] {
			fewest = s.fewestFor(d, ids, lackOf{int32(i), short})
		}
		s.fewest = append(s.fewest, fewest)
	}
}

// lackOf is what the headroom of a level lacks.
type lackOf struct {
	level int32
	short resources.Vector
}

// fewestFor returns a number of tasks below which none meet a headroom need.
func (s *poolSums) fewestFor(d *decision, ids []TaskID, need lackOf) (fewest int64) {
	s.largest = rows.Zeros(s.largest, d.c.types)
	most, whole := int64(0), int64(0) // of all types together
	for _, id := range ids {
		if d.eligible.leaves[d.c.tasks[id].leaf].level > need.level {
			continue
		}
		size := d.c.size(id)
		s.largest = resources.Max(s.largest, s.largest, size)
		most = max(most, mixOf(size, need.short))
	}
	for t, lack := range need.short {
		if lack > 0 && s.largest[t] > 0 {
			fewest = max(fewest, (lack-1)/s.largest[t]+1)
			whole += mixOne
		}
	}
	if most > 0 && whole > 0 {
		fewest = max(fewest, (whole-1)/most+1)
	}
	return fewest
}
