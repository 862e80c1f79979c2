// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/search"
	"github.com/go-preempt/preempt/resources"
)

// Which nodes are searched, and in what order, is the matter of package search. Here the
// problem is posed to it: what nodes lack, who may give it, and what is offered.

// An incumbent is the best place for an ask that was found so far: a node and
// the tasks that must go for it to run there.
type incumbent struct {
	search.Best
	cost     Cost
	bestType int  // the type that decides the excess
	single   bool // it has one victim, which is plain
	victims  []TaskID
}

// node returns the node of the plan.
func (b *incumbent) node() NodeID { return NodeID(b.Node) }

// losesTo reports whether a plan of some levels would be better by them alone. Any
// would if there is none yet.
func (b *incumbent) losesTo(levels *cost.Levels) bool {
	return !b.Found || slices.Compare(levels[:], b.Total.Levels[:]) < 0
}

// note notes what bounds ask of the plan: its work, its excess and a type that decided.
func (b *incumbent) note(capacities []int64) {
	share, l := b.Total.Excess, &b.Total.Levels
	b.single = *l == cost.Levels{
		rulebook.LevelRank: l[rulebook.LevelRank], rulebook.LevelPriority: l[rulebook.LevelPriority], rulebook.LevelVictims: 1,
		rulebook.LevelSumRanks: l[rulebook.LevelRank], rulebook.LevelSumPriorities: l[rulebook.LevelPriority],
	}
	b.Yardstick.Note(b.Total.Work, share, capacities)
	for t, capacity := range capacities {
		if max(capacity, 1) == max(share.Of, 1) {
			b.bestType = t
		}
	}
}

// A problem is what is posed to the worker, and the memory for it.
type problem struct {
	least.Problem
	order    ranking
	one      [1]int64 // what a blocker's need is short of
	comparer func(a, b *cost.Total) int
	costs    [2]Cost // that are being compared
	budgets  budgetRows
	mix      mixture
	tops     keptTops
	front    frontier
	posed    posed
}

// choose leaves the best node and victims that the caller's predicate accepts
// in d.best, and reports whether there are any.
func (d *decision) choose() (found bool) {
	d.trial.reset()
	d.allow()
	d.best.Found = false
	d.forget()
	d.gangs.reset(d)
	d.problem.mix.reset(d)
	d.problem.tops.reset(d.c)
	d.pose()
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
	d.local.picked = noNode
}

// gives reports whether guarantees let tasks of some leaf in reach go that have
// any of what the ask wants.
func (d *decision) gives() bool {
	for _, t := range d.types {
		if d.eligible.MostRoom[t] > 0 {
			return true
		}
	}
	return false
}

// pruning reports whether digests and bounds on levels may be used. A digest knows no tasks with required nodes.
func (d *decision) pruning() bool {
	// What makes headroom differs from node to node then, and bounds do not know that.
	return d.limiting() && !(d.p.SameNode && d.needs.open())
}

// limiting reports whether the best plan so far limits what others may cost.
func (d *decision) limiting() bool {
	return !d.p.Exhaustive && d.p.Compare == nil && d.without.Rule != relaxRequiredNode
}

// Shares of the budget, of which a search over all nodes gets one part in so many:
// at first, and in the end, if the levels are shown. They were measured over the families
// of bench/ratios -draws. With 16 for the first and the last the excess was smaller by a
// third, at up to four times the time; with 64 for the last it was larger by a third.
const (
	firstShare = 64
	lastShare  = 32
	// A scan that has come through one in so many of the nodes in its share goes on with
	// as much as there is in the end: it mostly gets through, for the better the best
	// plan is, the more nodes are passed over.
	underWay = 25
	// aloneShare is one part in so many for a scan of nodes by their own tasks; it ends with
	// the first that needs others. With an eighth a load of 150,000 tasks that the root
	// is short for did not end in it.
	aloneShare = 6
	// spareShare is one part in so many of the budget that goes, beyond it, to the question
	// whether there is a plan without opted-out victims. It is not measured.
	spareShare = 2
)

// searchNodes leaves the best node and victims in d.best, and reports whether there
// are any.
//
// Node rank and node order are part of the cost, so the answer is that of looking at all
// nodes, in whatever order.
//
// With more Steps than the default it first decides as by default. Then it goes on from that
// answer with as many, twice as many, and so on: no answer is dearer than that of half of the
// Steps. All that is twice the work of the last search.
func (d *decision) searchNodes() bool {
	if !d.pruning() {
		d.searchAll()
		return d.best.Found
	}
	t, part := &d.trial, DefaultSteps(d.c)
	more := t.meter.Left - part
	if d.p.Steps <= 0 || more < 0 {
		return d.searchWithin()
	}
	brief := t.brief
	t.meter.Left, t.budget, t.brief = part, part, brief || isLarge(d.c)
	d.searchWithin()
	for t.brief = brief; more > 0 && !t.meter.Stopped && t.proof() != ProofCost; part *= 2 {
		t.budget = min(part, more)
		more -= t.budget
		t.meter.Left += t.budget
		t.proven, t.levels = true, true
		d.forget()
		d.searchRest(new(search.Scan), t.meter.Left)
	}
	t.meter.Left += more
	return d.best.Found
}

// searchWithin is searchNodes within the budget.
func (d *decision) searchWithin() bool {
	// If headroom is short in a large cluster, the levels come first of all: to search
	// node by node would take the budget before there is any good plan.
	var s search.Scan
	allowed := d.trial.meter.Left
	if d.trial.brief {
		// The least budget is for plans and their levels. What comes after them gets its
		// share by the size of the cluster.
		allowed = min(allowed, sizeOf(d.c))
	}
	if j := d.jointSearch(); j.applies() {
		if d.scanFirst(allowed) {
			return d.best.Found
		}
		d.trial.lesser = j.search()
		// With somebody opted out, law 1 takes more than a good plan.
		if d.trial.brief && (d.trial.lesser || d.best.Found && d.best.Total.Levels[rulebook.LevelOptedOut] == 0) {
			d.finish(&s, allowed/lastShare)
			d.trial.proven, d.trial.levels = false, false
			d.spare()
			return d.best.Found
		}
	}
	d.searchRest(&s, allowed)
	return d.best.Found
}

// searchRest looks at all nodes. What was shown of levels before holds still.
func (d *decision) searchRest(s *search.Scan, allowed int64) {
	shown := d.trial.lesser
	d.searchAround(s, allowed)
	if d.pool.thinned && !d.best.Found && !d.trial.meter.Stopped {
		// The best by themselves were not enough: laws over sums keep some of them.
		d.pool.whole, d.pool.searched, d.pool.hopeless = true, false, false
		d.trial.proven, d.trial.levels, *s = true, true, search.Scan{}
		d.searchAround(s, allowed)
	}
	d.trial.lesser = d.trial.lesser || shown
	d.spare()
}

// scanFirst scans the nodes before headroom is looked for elsewhere, and reports whether
// that is all: mostly so if whoever makes room makes headroom, too, as if the root lacks
// it. If not, it mostly leaves a good plan.
func (d *decision) scanFirst(allowed int64) bool {
	for _, n := range d.nodes {
		if d.usable(n) && d.fits(d.c.coming, n) {
			return false // for nodes with room all that makes headroom would be looked at
		}
	}
	var s search.Scan
	trial := d.trial
	d.trial.alone = true
	left := trial.meter.Left + trial.meter.Used
	done := d.engine.Within(allowed/aloneShare, func() bool { return d.scan(&s) })
	d.trial.meter.Left = left - d.trial.meter.Used // what is not spent is for the others
	if d.trial.alone = false; done && d.trial.proven {
		d.spare()
		return true
	}
	d.trial.proven, d.trial.levels = trial.proven, trial.levels
	return false
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

// searchAround scans the nodes, and if a part of the budget is spent takes them in the
// order of their bounds.
//
// If that takes long, as with sizes that all differ, it is first shown which levels are
// the least, for these say who is stopped. What is left of the budget goes to work, excess
// and node order.
func (d *decision) searchAround(s *search.Scan, allowed int64) {
	d.searchRoomy()
	roomy, first := d.trial.levels, int8(0) // later searches do not look at nodes with room
	if sequence := d.problem.order.Sequence; sequence != nil {
		first = sequence[0]
	}
	scan := func() bool { return d.scan(s) }
	if first == cost.ByWork {
		if !d.engine.Front(s) {
			d.trial.proven, d.trial.levels = false, false
		}
		return
	}
	done := d.engine.Within(allowed/firstShare, scan)
	if !done && d.trial.brief && s.Underway(len(d.nodes), underWay) {
		done = d.engine.Within(allowed/lastShare, scan)
	}
	if done && d.trial.proven {
		return
	}
	d.searchAlone()
	if first < cost.NumLevels && !d.trial.meter.Stopped {
		d.trial.lesser = d.showLeast(s) && roomy
	}
	if d.trial.lesser && d.trial.brief {
		d.trial.meter.Left = min(d.trial.meter.Left, allowed/lastShare)
	}
	if !d.scan(s) {
		d.trial.proven, d.trial.levels = false, false
	}
}

// scan looks at all nodes from where it was. With a predicate that has refused a plan it
// takes them in the order in which that is asked.
func (d *decision) scan(s *search.Scan) bool {
	if d.hearing.early && d.p.Predicate != nil {
		d.engine.Nodes = d.hearing.order
		return d.engine.Along(s)
	}
	return d.engine.Scan(s)
}

// showLeast looks for plans of lesser levels than the best, and reports whether it is
// shown that there are none besides what is the best then.
func (d *decision) showLeast(s *search.Scan) bool {
	if !d.trial.levels || d.p.Predicate != nil {
		s = new(search.Scan) // it has not shown the levels of what it went through
	}
	proven, levels := d.trial.proven, d.trial.levels
	shown := d.engine.Front(s)
	d.trial.proven, d.trial.levels = proven, levels
	return shown
}

// finish is what comes after a joint search: it spends a part of the budget on what is left of the cost.
func (d *decision) finish(s *search.Scan, part int64) {
	if d.trial.meter.Left = min(d.trial.meter.Left, part); !d.p.hasty {
		d.scan(s)
	}
}

// spare looks for a plan without opted-out victims if the best has some and it is not
// shown that all have. (Law 1: whoever opted out goes only if no plan does without.)
//
// The question has a share of its own, whatever the searches before have taken. With
// those who opted out left alone it is much smaller than theirs: on most nodes the others
// do not give enough.
func (d *decision) spare() {
	if !d.best.Found || d.best.Total.Levels[rulebook.LevelOptedOut] == 0 || d.trial.proof() != NoProof || d.p.Predicate != nil || d.problem.order.Sequence != nil {
		return
	}
	d.forget()
	d.trial.sparing = true
	left := d.trial.meter.Left
	d.trial.meter.Left = d.trial.budget / spareShare
	d.searchRoomy()
	d.engine.Front(new(search.Scan))
	d.trial.meter.Left = left
	d.trial.sparing = false
	d.trial.proven, d.trial.levels = false, false
	d.forget()
}

// searchRoomy looks at the nodes that have room for the ask as they are. If
// headroom alone is needed, all of them have the same plan, and the first by
// rank and node order is enough. Blockers tell them apart.
func (d *decision) searchRoomy() {
	if !d.needs.open() && d.p.Blockers == nil {
		return
	}
	first, found := NodeID(0), false
	for _, n := range d.nodes {
		if found && !d.c.comesBefore(n, first) {
			continue
		}
		if !d.usable(n) || d.nodeNeed(d.scratch.short, n) != 0 || !d.hearing.admits(n) {
			continue
		}
		if d.p.Blockers != nil {
			d.searchNode(n)
			continue
		}
		first, found = n, true
	}
	if found {
		d.searchNode(first)
	}
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
	case s.roomy() && !d.p.SameNode:
		// Headroom alone is needed, and for that the best set is the same on
		// all such nodes.
		if d.searchHeadroom() {
			d.offer(n, &d.pool.shared, &d.pool.unitSet)
		}
	case !d.needs.open():
		d.searchLocal(&s)
	default:
		d.searchJoint(&s)
	}
}

// searchLocal searches a node if no headroom is needed.
func (d *decision) searchLocal(s *site) {
	d.gatherLocal(s)
	d.local.addGangs(d, s)
	d.state(s, d.wanted(s))
	d.solve(&d.found, &d.local, d.limit())
	if d.local.thinned {
		if !d.best.Found && !d.found.Found {
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
func (d *decision) limit() *cost.Total {
	if d.best.Found && d.limiting() {
		return &d.best.Total
	}
	return nil
}

// state states the problem of a site, but for its units.
func (d *decision) state(s *site, wanted resources.Vector) {
	p := &d.problem
	p.one[0] = 1
	needs := append(p.Needs[:0], s.short)
	for i := range d.needs.short {
		needs = append(needs, d.needs.needOf(i))
	}
	for range s.blockers {
		needs = append(needs, p.one[:])
	}
	p.Problem = least.Problem{
		Needs: needs, Bounds: d.eligible.Rooms.Bounds, Budgets: p.budgets.left, Order: p.order.Order,
		Wanted: wanted, Capacity: d.c.total,
	}
}

// solve finds the cheapest of the units that solves the problem as stated and
// costs no more than the limit. If the caller ends the decision and there is a plan, nothing
// more is found.
func (d *decision) solve(dst *least.Selection, u *unitSet, limit *cost.Total) {
	switch {
	case len(u.units) == 0:
		*dst = least.Selection{Units: dst.Units[:0], Proven: true, LevelsProven: true}
		return
	case d.ended():
		*dst = least.Selection{Units: dst.Units[:0]}
		d.trial.note(dst)
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

// ended reports whether the caller ends the decision, and there is a plan.
func (d *decision) ended() bool { return d.best.Found && d.trial.meter.Stopped }

// compareTotals is the caller's order of costs, for sets on one node.
func (d *decision) compareTotals(a, b *cost.Total) int {
	costs := &d.problem.costs
	costs[0], costs[1] = Cost(rulebook.CostOf(a)), Cost(rulebook.CostOf(b))
	return d.p.Compare(&costs[0], &costs[1])
}

// offer makes a set for a node the best if it costs less.
func (d *decision) offer(n NodeID, s *least.Selection, u *unitSet) {
	if !s.Found {
		return
	}
	cost := &d.problem.costs[0]
	*cost = Cost(rulebook.CostOf(&s.Total))
	cost.NodePenalty, cost.Node = d.c.rankOf(n), d.c.place(n)
	b := &d.best
	if b.Found {
		// Of sets for one node that cost the same the later one is taken: a search of the
		// whole node comes last, and has the smaller keys.
		if c := d.compare(cost, &b.cost); c > 0 || c == 0 && n != b.node() {
			return
		}
	}
	b.Found, b.Node, b.cost, b.Total = true, int32(n), *cost, s.Total
	b.Exact = s.Proven && !d.worker.OnlyLesser && !u.thinned && !(d.needs.open() && d.pool.thinned)
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
