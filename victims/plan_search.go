// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
)

// Which nodes are searched, and in what order, is the matter of package least. Here are the shares
// of the budget that its searches get.

// An incumbent is the best place for an ask that was found so far: a node and
// the tasks that must go for it to run there.
type incumbent struct {
	least.Best
	cost     Cost
	bestType int // the type that decides the excess
	victims  []TaskID
	rungs    []rung // what decides
}

// node returns the node of the plan.
func (b *incumbent) node() NodeID { return NodeID(b.Node) }

// losesTo reports whether a plan of some levels would be better by them alone. Any
// would if there is none yet.
func (b *incumbent) losesTo(levels *cost.Levels) bool {
	return !b.Found || slices.Compare(levels[:], b.Total.Levels[:]) < 0
}

// note notes what bounds ask of the plan: what it has of all that decides, its excess, and a type that
// decided.
func (b *incumbent) note(sequence []int8, capacities []int64) {
	b.Note(capacities)
	b.rungs = b.rungs[:0]
	for _, what := range sequence {
		r := rung{what: rulebook.Level(what)}
		if what < cost.NumLevels {
			r.most = b.Total.Levels[what]
		}
		switch r.what {
		case rulebook.LevelRank, rulebook.LevelPriority, rulebook.LevelVictims, rulebook.LevelSumRanks,
			rulebook.LevelSumPriorities, rulebook.LevelWork, rulebook.LevelExcess:
		default:
			if r.most == 0 {
				continue // and none may be enough
			}
		}
		b.rungs = append(b.rungs, r)
	}
	for t, capacity := range capacities {
		if max(capacity, 1) == max(b.Total.Excess.Of, 1) {
			b.bestType = t
		}
	}
}

// choose leaves the best node and victims that the caller's predicate accepts
// in d.best, and reports whether there are any.
func (d *decision) choose() (found bool) {
	d.trial.reset()
	d.allow()
	d.best.Found = false
	d.gangs.reset(d)
	d.pose()
	if d.p.Blockers == nil && !d.p.exhaustive && !d.gives() {
		return false // law 5: no leaf in reach is over its guarantee in what is short
	}
	if d.p.Predicate != nil {
		found = d.predicate.search()
	} else {
		found = d.searchNodes()
	}
	if d.trial.meter.Stopped {
		d.notShown()
	}
	return found
}

// notShown takes back what the searches have shown.
func (d *decision) notShown() {
	d.search.Unproven()
	d.trial.leastShown = false
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

// pruning reports whether digests and bounds on levels may be used. A digest knows no tasks with
// required nodes.
func (d *decision) pruning() bool {
	// What makes headroom differs from node to node then, and bounds do not know that.
	return d.limiting() && !(d.p.VictimsOnNode && d.needs.open())
}

// limiting reports whether the best plan so far limits what others may cost.
func (d *decision) limiting() bool {
	return !d.p.exhaustive && d.p.Compare == nil && !d.relaxesRequired()
}

// Shares of the budget, of which a search over all nodes gets one part in so many:
// at first, and in the end, if the levels are shown.
const (
	firstShare = 64
	lastShare  = 32
	// A scan that has come through one in so many of the nodes in its share goes on with
	// as much as there is in the end: it mostly gets through, for the better the best
	// plan is, the more nodes are passed over.
	underWay = 25
	// improveShare is one part in so many that goes, beyond it, to plans near the best one, for
	// improveSteps at most. On hard loads they lose less work in one answer of ten.
	improveShare, improveSteps = 8, 4096
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
	t, part := &d.trial, defaultSteps(d.c)
	more := t.meter.Left - part
	if !d.pruning() || d.p.Steps <= 0 || more < 0 {
		d.searchWithin()
		return d.best.Found
	}
	brief := t.brief
	t.meter.Left, t.budget, t.brief = part, part, brief || isLarge(d.c)
	d.searchWithin()
	for t.brief = brief; more > 0 && !t.meter.Stopped && d.proof() != ProofCost; part *= 2 {
		t.budget = min(part, more)
		more -= t.budget
		t.meter.Left += t.budget
		d.anew()
		d.searchWithin()
	}
	t.meter.Left += more
	return d.best.Found
}

// searchWithin is searchNodes within the budget. What was shown of levels before holds still.
func (d *decision) searchWithin() {
	shown := d.trial.leastShown
	d.searchAround()
	if d.again() && !d.trial.meter.Stopped {
		d.pool.whole = d.pool.whole || !d.best.Found && d.pool.thinned
		d.anew()
		d.searchAround()
	}
	d.trial.leastShown = d.trial.leastShown || shown
	if d.best.Found && !d.trial.meter.Stopped {
		d.improve()
	}
}

// improve looks for cheaper plans near the best one, if it is not proven, within a share of its own.
func (d *decision) improve() {
	if d.proof() != NoProof || d.p.Predicate != nil || d.order.Sequence != nil || !d.pruning() {
		return
	}
	m, left := &d.trial.meter, d.trial.meter.Left
	m.Left = d.trial.budget / improveShare
	if p := d.search.Exact(d.best.Node); p != nil && d.countTaken(p) {
		d.search.Improve(p, d.scratch.counts, improveSteps)
	}
	m.Left = left
}

// countTaken counts the victims of the best plan by rows of a problem, and reports whether these
// have all of them.
func (d *decision) countTaken(p *least.Problem) bool {
	s := &d.scratch
	s.sorted = append(s.sorted[:0], d.best.victims...)
	slices.Sort(s.sorted)
	s.counts = rows.Zeros(s.counts, len(p.Rows))
	for _, whole := range [...]bool{true, false} { // of a gang that goes whole no member counts
		for i := range p.Rows {
			for k := int32(0); whole == (len(d.problem.units[i].gangs) > 0) && int64(k) < p.Rows[i].Count; k++ {
				if d.takeOut(d.unitTasks(int32(i), k)) {
					s.counts[i]++
				}
			}
		}
	}
	return len(s.sorted) == 0
}

// takeOut takes tasks out of the sorted ones, if all of them are there.
func (d *decision) takeOut(ids []TaskID) bool {
	s := &d.scratch
	for _, id := range ids {
		if _, ok := slices.BinarySearch(s.sorted, id); !ok {
			return false
		}
	}
	for _, id := range ids {
		at, _ := slices.BinarySearch(s.sorted, id)
		s.sorted = slices.Delete(s.sorted, at, at+1)
	}
	return true
}

// again reports whether a search has to begin anew: law 2 keeps some of those that make headroom from
// going together, or the best of them by themselves were not enough.
func (d *decision) again() bool {
	return d.pool.broken || d.pool.thinned && !d.best.Found
}

// anew begins a search anew, with what is known of the pool's rows.
func (d *decision) anew() {
	d.pool.forget()
	d.search.Shown, d.search.Levels = true, true
}

// searchAround scans the nodes, and if a part of the budget is spent takes them in the
// order of their bounds.
//
// If that takes long, as with sizes that all differ, it is first shown which levels are
// the least, for these say who is stopped. What is left of the budget goes to work, excess
// and node order.
func (d *decision) searchAround() {
	s, first := &d.search, int8(0)
	if sequence := d.order.Sequence; sequence != nil {
		first = sequence[0]
	}
	allowed := d.trial.meter.Left
	if d.trial.brief {
		// The least budget is for plans and their levels. What comes after them gets its
		// share by the size of the cluster.
		allowed = min(allowed, sizeOf(d.c))
	}
	d.searchRoomy()
	var scan least.Scan
	if first == cost.ByWork && !s.Blind {
		if !s.Front(&scan) {
			s.Unproven()
		}
		return
	}
	roomy, look := s.Levels, func() bool { return d.scan(&scan) }
	if !s.Blind {
		done := s.Within(allowed/firstShare, look)
		if !done && d.trial.brief && scan.Underway(len(d.nodes), underWay) {
			done = s.Within(allowed/lastShare, look)
		}
		if done && s.Shown {
			return
		}
		if first < cost.NumLevels && !d.trial.meter.Stopped {
			d.trial.leastShown = d.showLeast(&scan) && roomy
		}
		if d.again() {
			return // what is left is for that
		}
		if d.trial.brief && d.trial.leastShown {
			d.trial.meter.Left = min(d.trial.meter.Left, allowed/lastShare)
		}
	}
	if !look() {
		s.Unproven()
	}
}

// scan looks at all nodes from where it was. With a predicate that has refused a plan it
// takes them in the order in which that is asked.
func (d *decision) scan(s *least.Scan) bool {
	if d.predicate.early && len(d.predicate.order) > 0 {
		d.search.Nodes = d.predicate.order
		return d.search.Along(s)
	}
	return d.search.Scan(s)
}

// showLeast looks for plans of lesser levels than the best, and reports whether it is
// shown that there are none besides what is the best then.
func (d *decision) showLeast(scan *least.Scan) bool {
	s := &d.search
	if !s.Levels || d.p.Predicate != nil {
		scan = new(least.Scan) // it has not shown the levels of what it went through
	}
	shown, levels := s.Shown, s.Levels
	s.Shown, s.Levels = true, true
	done := s.Front(scan) && s.Levels
	s.Shown, s.Levels = shown, levels
	return done && !d.pool.thinned
}

// searchRoomy looks at the nodes that have room for the ask as they are. If
// headroom alone is needed, all of them have the same plan, and the first by
// rank and node order is enough. Blockers, and victims that must be near, tell them apart.
// Bounds of nodes say nothing of these nodes, so no other look finds them.
func (d *decision) searchRoomy() {
	if !d.needs.open() && d.p.Blockers == nil || d.search.Blind {
		return
	}
	first, found := NodeID(0), false
	for _, n := range d.nodes {
		if found && !d.c.comesBefore(n, first) {
			continue
		}
		if !d.usable(n) || d.nodeNeed(d.scratch.short, n) != 0 || !d.predicate.admits(n) {
			continue
		}
		if d.p.Blockers != nil || d.nearby() {
			d.search.Try(int32(n))
			continue
		}
		first, found = n, true
	}
	if found && d.solvePool() {
		d.search.Try(int32(first))
	}
}

// compareTotals is the caller's order of costs, for sets on one node.
func (d *decision) compareTotals(a, b *cost.Total) int {
	costs := &d.costs
	costs[0], costs[1] = Cost(rulebook.CostOf(a)), Cost(rulebook.CostOf(b))
	return d.p.Compare(&costs[0], &costs[1])
}

// Offer offers a set for a node, as [least.Host] wants it.
func (d *decision) Offer(p *least.Problem, a *least.Answer) {
	d.scratch.taken = d.tasksOf(d.scratch.taken[:0], a)
	d.offer(p, a, d.scratch.taken)
}

// offer makes a set for a node the best if it costs less. Nothing is offered that was not held
// to all limits, however it was found: of the pool rows say nothing of law 2 at first.
func (d *decision) offer(p *least.Problem, a *least.Answer, ids []TaskID) {
	n := NodeID(p.Node)
	if !d.keepsLimits(ids) {
		d.pool.forget()
		d.pool.strict, d.pool.broken = true, true
		return
	}
	price := &d.costs[0]
	*price = Cost(rulebook.CostOf(&a.Total))
	price.NodePenalty, price.Node = d.c.rankOf(n), d.c.place(n)
	b := &d.best
	if b.Found {
		// Of sets for one node that cost the same the later one is taken: a search of the
		// whole node comes last, and has the smaller keys.
		if c := d.compare(price, &b.cost); c > 0 || c == 0 && n != b.node() {
			return
		}
	}
	b.Found, b.Node, b.cost, b.Total, b.victims = true, int32(n), *price, a.Total, append(b.victims[:0], ids...)
	b.Exact = a.Proven && !d.search.Lesser && !d.pool.thinned && len(d.c.digest.nodes[n].lanes) <= mostLanes
	b.note(d.search.Sequence, d.c.total)
}

// keepsLimits reports whether tasks may go together: by law 2, by hard budgets, and of each gang
// all or no more than it can spare. The rooms of law 2 are made by [eligible.Rooms.Reset].
func (d *decision) keepsLimits(ids []TaskID) bool {
	d.gangs.meetAll(ids) // which takes of the same memory
	x, m := &d.problem, &d.problem.check
	m.reset()
	for _, id := range ids {
		d.takesOf(m, id, 0)
		d.countsOf(m, id, 0)
	}
	members := rows.Zeros(d.scratch.members, len(d.gangs.rows)) // that go, by gang
	d.scratch.members = members
	for _, id := range ids {
		if g := d.gangs.of(id); g >= 0 {
			members[g]++
		}
	}
	for g, n := range members {
		if gang := &d.gangs.rows[g]; n > gang.surplus && (n != int64(len(gang.members)) || gang.rule != 0) {
			return false
		}
	}
	return !slices.ContainsFunc(m.takes, func(t least.Take) bool { return t.Amount > x.limits.room[t.Limit] })
}

func (d *decision) compare(a, b *Cost) int {
	switch {
	case d.p.Compare != nil:
		return d.p.Compare(a, b)
	case d.order.Sequence != nil:
		return compareInSequence(d.order.Sequence, a, b)
	}
	return a.Compare(b)
}
