package victims

import (
	"math"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// choice is a node and the tasks that must go for an ask to run there.
type choice struct {
	found   bool
	node    NodeID
	cost    Cost
	victims []TaskID
}

// decide answers an ask.
//
// One with a required node, such as that of a daemon set, is decided alike,
// with these differences: that node only is usable, whether it is schedulable
// or reserved or not ([decision.usable]), no delay and no guarantee is asked
// for ([decision.precondition]), raw priorities are compared and neither
// guarantees nor fences nor disabled queues protect, for the ask can run
// nowhere else ([decision.prepareLeaves]), and victims for headroom too must
// be on the node ([decision.helps]).
func (d *decision) decide(dst *Decision) {
	if d.place(dst) || d.precondition(dst) {
		return
	}
	d.c.settle()
	d.prepareNeeds()
	if !d.prepareLeaves() {
		d.refuse(dst, NothingInReach) // law 7
		return
	}
	d.horizon = d.now
	if d.choose() {
		d.planned(dst)
	} else {
		d.unplanned(dst)
	}
}

// choose leaves the best node and victims that the caller's predicate accepts
// in d.best, and reports whether there are any. (Steps 3 to 6.)
func (d *decision) choose() bool {
	d.refused = zeros(d.refused, len(d.c.nodes))
	d.steps, d.proven = 0, true
	for {
		d.search()
		switch {
		case !d.best.found:
			return false
		case d.accepts(d.best.node, d.best.victims):
			return true
		}
		// The cheapest set will not do: perhaps a larger one on the same node
		// does, else the next best node.
		d.refused[d.best.node] = true
		if d.widen(d.best.node) {
			return true
		}
	}
}

// search leaves the cheapest node and victims in d.best, of the nodes that the
// predicate has not refused.
func (d *decision) search() {
	d.best.found = false
	d.pooled, d.hopeless = false, false
	if !d.gives() && !d.p.Exhaustive {
		return // law 5: no leaf in reach is over its guarantee in what is short
	}
	if d.pruning() {
		d.searchBounded()
		return
	}
	for _, n := range d.nodes {
		if d.usable(n) && !d.refused[n] {
			d.searchNode(n)
		}
	}
}

// pruning reports whether digests and bounds on the default order of costs may
// be used. A digest knows no tasks with required nodes.
func (d *decision) pruning() bool {
	return !d.p.Exhaustive && d.p.Compare == nil && d.relaxed.Rule != RelaxRequiredNode
}

// searchNode compares the best set for one node with the best so far.
func (d *decision) searchNode(n NodeID) {
	short := d.nodeNeed(d.nodeShort, n)
	switch {
	case short == 0 && !d.needs.open():
		// There is room, and the predicate has refused it in place.
	case short == 0:
		// Headroom alone is needed, and for that the best set is the same on
		// all such nodes.
		if d.searchHeadroom() {
			d.offer(n, &d.shared, d.pool.ids)
		}
	case !d.needs.open():
		d.want()
		d.gatherLocal(n, short)
		d.solve(&d.found, &d.local)
		d.offer(n, &d.found, d.local.ids)
	default:
		d.searchJoint(n, short)
	}
}

// gatherLocal gathers the candidates on a node as units.
func (d *decision) gatherLocal(n NodeID, short resources.Mask) {
	if d.pruning() {
		d.local.gatherLanes(d, n, short)
		return
	}
	d.local.gather(d, n, short)
}

// want sets what is freed to some purpose: per type the larger of the node's
// and the headroom's need.
func (d *decision) want() {
	d.wanted = resources.Max(d.wanted, d.nodeShort, d.needs.most)
}

// solve finds the cheapest of the units that meets all needs and costs no more
// than the best set so far.
func (d *decision) solve(dst *cover.Selection, u *unitSet) {
	d.setNeeds()
	d.run(dst, u, d.limit())
}

// solveLocal is solve for the need of the node alone.
func (d *decision) solveLocal(dst *cover.Selection, u *unitSet) {
	d.setNeeds()
	for i := range d.needs.short {
		d.problem.Needs[1+i].Short = nil
	}
	d.run(dst, u, d.limit())
}

// limit returns what a set may cost to matter beside the best so far.
func (d *decision) limit() *cover.Total {
	if d.best.found && d.pruning() {
		return &d.bestTotal
	}
	return nil
}

// run solves the problem that is stated for some units, within a limit.
func (d *decision) run(dst *cover.Selection, u *unitSet, limit *cover.Total) {
	if len(u.units) == 0 {
		*dst = cover.Selection{Units: dst.Units[:0], Proven: true}
		return
	}
	d.problem.Units = u.units
	if !u.bound {
		d.problem.Bounds = nil
	}
	d.worker.Within(dst, &d.problem, d.budget(), limit)
	d.steps += dst.Steps
	d.proven = d.proven && dst.Proven
}

// setNeeds states the problem but for its units.
func (d *decision) setNeeds() {
	needs := append(d.problem.Needs[:0], cover.Need{Short: d.nodeShort})
	for _, short := range d.needs.short {
		needs = append(needs, cover.Need{Short: short})
	}
	d.problem = cover.Problem{
		Needs: needs, Bounds: d.rooms.Bounds, Order: PlanOrder(),
		Wanted: d.wanted, Capacity: d.c.total,
	}
	if d.p.Compare != nil {
		if d.comparerOf != d {
			d.comparerOf, d.comparer = d, d.compareTotals // bound once, not for every node
		}
		d.problem.Order.Compare = d.comparer
	}
}

// compareTotals is the caller's order of costs, for sets on one node.
func (d *decision) compareTotals(a, b *cover.Total) int {
	d.costs[0], d.costs[1] = CostOf(a), CostOf(b)
	return d.p.Compare(&d.costs[0], &d.costs[1])
}

// budget returns the steps that the next search may take.
func (d *decision) budget() int {
	steps := d.p.Steps
	if steps <= 0 {
		steps = DefaultSteps
	}
	steps = min(steps, math.MaxInt/64)
	return min(steps, 64*steps-d.steps)
}

// offer makes a set for a node the best where it costs less.
func (d *decision) offer(n NodeID, s *cover.Selection, ids []TaskID) {
	if !s.Found {
		return
	}
	cost := &d.costs[0]
	*cost = CostOf(&s.Total)
	cost.Node = d.c.place(n)
	if d.best.found && d.compare(cost, &d.best.cost) >= 0 {
		return
	}
	d.best.found, d.best.node, d.best.cost, d.bestTotal = true, n, *cost, s.Total
	d.noteExcess()
	d.best.victims = d.best.victims[:0]
	for _, i := range s.Units {
		d.best.victims = append(d.best.victims, ids[i])
	}
}

func (d *decision) compare(a, b *Cost) int {
	if d.p.Compare != nil {
		return d.p.Compare(a, b)
	}
	return a.Compare(b)
}
