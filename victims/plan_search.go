package victims

import (
	"slices"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// An incumbent is the best place for an ask that was found so far: a node and
// the tasks that must go for it to run there.
type incumbent struct {
	found   bool
	exact   bool // no plan for the node is cheaper
	node    NodeID
	cost    Cost
	total   cover.Total // the cost as a search knows it
	single  bool        // it has one victim, which is plain
	victims []TaskID

	yardstick
	bestType int // the type that decides the excess
}

// losesTo reports whether a plan of some levels would be better by them alone. Any
// would if there is none yet.
func (b *incumbent) losesTo(levels *cover.Levels) bool {
	return !b.found || slices.Compare(levels[:], b.total.Levels[:]) < 0
}

// A problem is what is posed to the worker, and the memory for it.
type problem struct {
	cover.Problem
	order    ranking
	one      [1]int64 // what a blocker's need is short of
	comparer func(a, b *cover.Total) int
	costs    [2]Cost // that are being compared
	budgets  budgetRows
	mix      mixture
	lessons  lessons
	likeness likeness
	tops     keptTops
	set      foundSet
	units    unitBounds
	price    uint64 // of a share of what is lacking, in nanoseconds of work; see rivals.losesMore
	front    frontier
	losses   losses
}

// choose leaves the best node and victims that the caller's predicate accepts
// in d.best, and reports whether there are any.
func (d *decision) choose() (found bool) {
	d.trial.reset()
	d.allow()
	d.best.found = false
	d.forget()
	d.gangs.reset(d)
	d.problem.units.reset(d)
	if d.p.Blockers == nil && !d.p.Exhaustive && !d.gives() {
		return false // law 5: no leaf in reach is over its guarantee in what is short
	}
	if d.p.Predicate != nil {
		found = d.hearing.search()
	} else {
		found = d.searchNodes()
	}
	if d.trial.meter.Stopped {
		d.trial.proven, d.trial.levels, d.trial.lesser = false, false, false
	}
	return found
}

// forget forgets what was found out about candidates: others are, or tasks have come and
// gone.
func (d *decision) forget() {
	d.pool.searched, d.pool.hopeless, d.pool.whole = false, false, false
	d.local.picked = -1
	d.problem.likeness.forget()
}

// searchNodes leaves the best node and victims in d.best, and reports whether there
// are any.
func (d *decision) searchNodes() bool {
	switch {
	case !d.pruning():
		d.searchAll()
	case d.problem.order.Sequence != nil:
		d.inSequence.search()
	default:
		d.bounds.searchBounded()
		d.bounds.spare()
	}
	return d.best.found
}

// searchAll searches every node.
func (d *decision) searchAll() {
	for _, n := range d.nodes {
		if d.exhausted() {
			d.trial.proven, d.trial.levels = false, false
			break
		}
		if d.usable(n) && d.hearing.admits(n) {
			d.searchNode(n)
		}
	}
}

// gives reports whether guarantees let tasks of some leaf in reach go that have
// any of what the ask wants.
func (d *decision) gives() bool {
	for _, t := range d.types {
		if d.eligible.mostRoom[t] > 0 {
			return true
		}
	}
	return false
}

// pruning reports whether digests and bounds on levels may be used. A digest knows no tasks with required nodes.
func (d *decision) pruning() bool {
	return !d.p.Exhaustive && d.p.Compare == nil && d.without.Rule != RelaxRequiredNode
}

// searchNode compares the best set for one node with the best so far.
func (d *decision) searchNode(n NodeID) {
	if !d.affords(len(d.c.nodes[n].tasks)) {
		return
	}
	s := d.siteOf(n)
	switch {
	case s.out:
		// A grant blocks it.
	case s.roomy() && !d.needs.open():
		// There is room, and the predicate has refused it in place.
	case s.roomy():
		// Headroom alone is needed, and for that the best set is the same on
		// all such nodes.
		if d.headroom.searchHeadroom() {
			d.offer(n, &d.pool.shared, &d.pool.unitSet)
		}
	case !d.needs.open():
		d.searchLocal(&s)
	default:
		d.headroom.searchJoint(&s)
	}
}

// searchLocal searches a node if no headroom is needed.
func (d *decision) searchLocal(s *site) {
	d.gatherLocal(s)
	d.local.addGangs(d, s)
	d.state(s, d.wanted(s))
	d.solve(&d.found, &d.local, d.limit())
	if d.local.thinned {
		if !d.best.found && !d.found.Found {
			d.pool.whole = true // the others are needed, too
			d.searchLocal(s)
			return
		}
		d.trial.proven, d.trial.levels = false, false
	}
	d.offer(s.node, &d.found, &d.local)
}

// wanted returns what is freed to some purpose: per type the larger of the
// node's and the headroom's need.
func (d *decision) wanted(s *site) resources.Vector {
	d.scratch.wanted = resources.Max(d.scratch.wanted, s.short, d.needs.most)
	return d.scratch.wanted
}

// limit returns what a set may cost to matter beside the best so far.
func (d *decision) limit() *cover.Total {
	if d.best.found && d.pruning() {
		return &d.best.total
	}
	return nil
}

// state states the problem of a site, but for its units.
func (d *decision) state(s *site, wanted resources.Vector) {
	p := &d.problem
	p.one[0] = 1
	needs := append(p.Needs[:0], cover.Need{Short: s.short})
	for i := range d.needs.short {
		needs = append(needs, d.needs.needOf(i))
	}
	for range s.blockers {
		needs = append(needs, cover.Need{Short: p.one[:]})
	}
	p.Problem = cover.Problem{
		Needs: needs, Bounds: d.eligible.Rooms.Bounds, Budgets: p.budgets.left, Order: p.order.Order,
		Wanted: wanted, Capacity: d.c.total,
	}
}

// solve finds the cheapest of the units that solves the problem as stated and
// costs no more than the limit.
func (d *decision) solve(dst *cover.Selection, u *unitSet, limit *cover.Total) {
	if len(u.units) == 0 {
		*dst = cover.Selection{Units: dst.Units[:0], Proven: true, LevelsProven: true}
		return
	}
	p := &d.problem.Problem
	p.Units = u.units
	p.Bounds = d.eligible.Rooms.Bounds // gathering may have added some
	if !u.bound {
		p.Bounds = nil
	}
	p.Limit = limit
	d.worker.Least(dst, p, d.trial.pace())
	d.trial.note(dst)
}

// compareTotals is the caller's order of costs, for sets on one node.
func (d *decision) compareTotals(a, b *cover.Total) int {
	costs := &d.problem.costs
	costs[0], costs[1] = CostOf(a), CostOf(b)
	return d.p.Compare(&costs[0], &costs[1])
}

// offer makes a set for a node the best if it costs less.
func (d *decision) offer(n NodeID, s *cover.Selection, u *unitSet) {
	if !s.Found {
		return
	}
	cost := &d.problem.costs[0]
	*cost = CostOf(&s.Total)
	cost.NodeRank, cost.Node = d.c.rankOf(n), d.c.place(n)
	b := &d.best
	if b.found {
		// Of sets for one node that cost the same the later is of more candidates,
		// and so has the smaller keys.
		if c := d.compare(cost, &b.cost); c > 0 || c == 0 && n != b.node {
			return
		}
	}
	if b.found && b.exact && n != b.node && d.p.Predicate != nil && !d.heard.early {
		d.heard.keep(b)
	}
	b.found, b.node, b.cost, b.total = true, n, *cost, s.Total
	b.exact = s.Proven && !d.worker.OnlyLesser && !u.thinned && !(d.needs.open() && d.pool.thinned)
	b.note(d.c.total)
	b.victims = b.victims[:0]
	for _, i := range s.Units {
		b.victims = u.tasks(b.victims, d, i)
	}
}

func (d *decision) compare(a, b *Cost) int {
	switch {
	case d.p.Compare != nil:
		return d.p.Compare(a, b)
	case d.problem.order.Sequence != nil:
		return compareInSequence(d.problem.order.Sequence, a, b)
	}
	return a.Compare(b)
}
