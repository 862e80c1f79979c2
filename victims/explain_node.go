// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
)

// What can come of a node: the words of NodeFinding.Verdict, where each is explained.
const (
	verdictChosen        = "chosen"
	verdictNotNeeded     = "not-needed"
	verdictNoRoom        = "no-room"
	verdictCostlier      = "costlier"
	verdictWithheld      = "withheld"
	verdictRefused       = "predicate"
	verdictLacks         = "lacks"
	verdictHeadroom      = "headroom"
	verdictNoLegalSet    = "no-legal-set"
	verdictUnproven      = "unproven"
	verdictFiltered      = "filter"
	verdictBlocked       = "blocked"
	verdictUnschedulable = "unschedulable"
	verdictReserved      = "reserved"
	verdictNotRequired   = "not-required"
	verdictHeld          = "held"
)

// A NodeFinding says what came of a node.
type NodeFinding struct {
	Node string
	// Verdict is a stable word; DESIGN.md, Explanations and audits, lists them.
	Verdict string
	// Short is what the node lacks once what is leaving has gone, or now for a granted place; Lacks, without
	// all its candidates.
	Short, Lacks resources.Vector
	// Cost is that of its cheapest plan, if it has one; of a costlier one perhaps a lower bound. Of more than 64 nodes
	// only the closest 16 are searched.
	Cost Cost

	row      NodeID
	reserved string // for whom
	byBound  bool   // every plan for the node costs more than the decided one; Cost is a lower bound
}

// findNodes says of each node what came of it. It searches those that matter, each
// as if it were the only one.
func (d *decision) findNodes(e *Explanation) {
	e.Nodes = slices.Grow(e.Nodes, len(d.c.order))
	e.amounts = slices.Grow(e.amounts, 2*len(d.c.order)*d.c.types)
	for _, n := range d.c.order {
		e.Nodes = append(e.Nodes, NodeFinding{Node: d.c.nodes[n].name, row: n, reserved: d.c.nodes[n].reservedFor})
	}
	d.boundNodes(e) // while the plan is the best
	out := &e.Decision
	decided := out.Outcome == Fits || out.Outcome == Waits || out.Outcome == Refused && out.Refusal.Reason == InFlight
	d.trial.reset()
	d.trial.meter.Used = 0
	d.allow()
	d.best.Found = false
	d.pose()
	headroom := decided || !d.needs.open() || d.nearby() || d.solvePool()
	trial := d.trial
	for i := range e.Nodes {
		f := &e.Nodes[i]
		look := d.findLacks(e, f)
		look.headroom = headroom
		if f.byBound {
			continue
		}
		// Each node is looked at as the only one, but the budget is that of all.
		meter := d.trial.meter
		d.trial, d.best.Found, d.search.Shown, d.search.Levels = trial, false, true, true
		d.trial.meter = meter
		if !decided && headroom && d.usable(f.row) && d.passes(f.row) {
			if d.search.Try(int32(f.row)); d.pool.broken {
				d.anew()
				d.search.Try(int32(f.row))
			}
		}
		d.conclude(e, f, look)
	}
}

// conclude sets the verdict of a node on which a search has just been made.
func (d *decision) conclude(e *Explanation, f *NodeFinding, look nodeLook) {
	switch f.Verdict = d.verdict(e, f, look); f.Verdict {
	case verdictChosen:
		f.Cost = e.Decision.Plan.Cost
	case verdictCostlier, verdictWithheld, verdictRefused:
		if d.best.Found {
			f.Cost = d.best.cost
			d.eligible.tell(&f.Cost, d.best.victims)
		}
	}
}

// Beside fewExact nodes all are searched. Of more of them nearest are, though a
// bound tells that they are costlier.
const fewExact, nearest = 64, 16

// A nearNode is a row of the findings with a bound on what a plan costs.
type nearNode struct {
	row    int
	levels cost.Levels
}

// boundNodes marks the nodes of which a bound tells that every plan costs more than
// the one decided, but for the nearest.
func (d *decision) boundNodes(e *Explanation) {
	if e.Decision.Outcome != Preempts || !d.best.Found || !d.pruning() || d.order.Sequence != nil || len(e.Nodes) <= fewExact {
		return
	}
	near := d.scratch.near[:0]
	for i := range e.Nodes {
		f := &e.Nodes[i]
		if f.row == d.best.node() {
			continue
		}
		// The whole bound first, as if there were no plan to compare it with.
		d.best.Found = false
		bound, ok := d.search.Bound(int32(f.row))
		d.best.Found = true
		if !ok || d.best.losesTo(&bound.Levels) {
			continue
		}
		if bound.Levels == d.best.Total.Levels && bound.Work.Compare(d.best.Total.Work) <= 0 {
			if _, ok := d.search.Bound(int32(f.row)); ok {
				continue
			}
		}
		f.byBound, f.Verdict = true, verdictCostlier
		f.Cost = Cost(rulebook.CostOf(&bound))
		f.Cost.NodePenalty, f.Cost.Node = d.c.rankOf(f.row), d.c.place(f.row)
		if len(near) == nearest && slices.Compare(near[nearest-1].levels[:], bound.Levels[:]) <= 0 {
			continue // mostly
		}
		at, _ := slices.BinarySearchFunc(near, bound.Levels, func(x nearNode, levels cost.Levels) int {
			return cmp.Or(slices.Compare(x.levels[:], levels[:]), -1) // those before it stay before it
		})
		near = slices.Insert(near[:min(len(near), nearest-1)], at, nearNode{i, bound.Levels})
	}
	// What is near is worth a search, for that is what a person looks at.
	for _, x := range near {
		f := &e.Nodes[x.row]
		*f = NodeFinding{Node: f.Node, row: f.row, reserved: f.reserved}
	}
	d.scratch.near = near
}

// A nodeLook is what is known of a node before its verdict.
type nodeLook struct {
	named    bool // running tasks block it
	blocked  bool // one that may not go does, or a grant
	headroom bool // some lawful set makes headroom
}

// findLacks says what a node lacks.
func (d *decision) findLacks(e *Explanation, f *NodeFinding) (look nodeLook) {
	at := d.siteOf(f.row)
	f.Short = e.copyOf(at.short)
	f.Lacks = e.copyOf(at.short)
	look.named, look.blocked = len(at.blockers) > 0, d.shut(&at)
	if d.usable(f.row) && d.passes(f.row) {
		f.Lacks = d.lacksAt(f.Lacks, &at)
	} else {
		for _, id := range d.c.nodes[f.row].tasks {
			if d.mayGo(id, &at) {
				f.Lacks = resources.Sub(f.Lacks, f.Lacks, d.c.size(id))
			}
		}
	}
	f.Lacks = resources.Max(f.Lacks, f.Lacks, nil)
	if grant, held := d.c.LookupGrant(d.ask.Key); held && d.c.tasks[grant].node == f.row {
		for t, v := range d.ask.Size {
			f.Short[t] = max(v-d.c.size(grant).At(t)-d.free(f.row, t, present), 0)
		}
	}
	return look
}

// verdict says what came of a node on which a search has just been made.
func (d *decision) verdict(e *Explanation, f *NodeFinding, look nodeLook) string {
	switch out := &e.Decision; {
	case out.Outcome != Refused && out.Plan.Places[0].Node == f.row:
		return verdictChosen
	case !d.usable(f.row):
		return d.unusable(f.row)
	case !d.passes(f.row):
		return verdictFiltered
	case out.Outcome == Fits:
		return d.passedOver(f.row, out.Plan.Places[0].Node, present)
	case out.Outcome == Waits:
		return d.passedOver(f.row, out.Plan.Places[0].Node, coming)
	case out.Outcome == Refused && out.Refusal.Reason == InFlight:
		if grant, _ := d.c.LookupGrant(d.ask.Key); d.c.tasks[grant].node == f.row {
			return verdictHeld
		}
		return verdictNotNeeded
	case !d.needs.open() && resources.IsZero(f.Short) && !look.named && d.p.Predicate != nil:
		return verdictRefused // there is room, so it was asked about
	case !resources.IsZero(f.Lacks):
		return verdictLacks
	case !look.headroom:
		return verdictHeadroom
	case d.best.Found:
		return d.outdone(&e.Decision)
	case !d.search.Shown:
		return verdictUnproven
	case look.blocked:
		return verdictBlocked
	}
	return verdictNoLegalSet
}

// unusable says why the ask cannot run on a node at all.
func (d *decision) unusable(n NodeID) string {
	switch {
	case d.required():
		return verdictNotRequired
	case d.c.nodes[n].unschedulable:
		return verdictUnschedulable
	}
	return verdictReserved
}

// passedOver says why an ask has found room at a moment on the chosen node
// rather than on n.
func (d *decision) passedOver(n, chosen NodeID, m moment) string {
	_, held := d.c.LookupGrant(d.ask.Key)
	switch {
	case held || d.c.place(n) > d.c.place(chosen):
		return verdictNotNeeded
	case d.hasRoom(n, m, nil) && !d.unblocked(n, m):
		return verdictBlocked
	case d.hasRoom(n, m, nil):
		return verdictRefused
	}
	return verdictNoRoom
}

// outdone says why the plan in d.best is not what was decided. The predicate
// answers as it has answered before, for it depends on its arguments only.
func (d *decision) outdone(out *Decision) string {
	plan := &out.Plan
	if out.Outcome == Preempts {
		c := d.compare(&d.best.cost, &plan.Cost)
		if c > 0 || c == 0 && d.c.place(d.best.node()) > d.c.place(plan.Places[0].Node) {
			return verdictCostlier
		}
	}
	switch {
	case !d.accepts(d.best.node(), d.best.victims, coming):
		return verdictRefused
	case out.Outcome == Refused && !rulebook.ReasonOf(out.Refusal.Reason).Searched:
		return verdictWithheld
	}
	return verdictUnproven
}

// nodeText says what came of a node.
func (e *Explanation) nodeText(f *NodeFinding) string {
	text := f.Verdict
	if more := e.moreOfNode(f); more != "" {
		text += ": " + more
	}
	return text
}

// costText writes the cost of a plan for a node. A bound is no plan, so it says that
// it is one.
func (f *NodeFinding) costText() string {
	if f.byBound {
		return "at least " + f.Cost.String()
	}
	return f.Cost.String()
}

// moreOfNode says more of a node than its verdict does.
func (e *Explanation) moreOfNode(f *NodeFinding) string {
	short := "has room for it"
	if !resources.IsZero(f.Short) {
		short = "short of " + quantities(e.Decision.units(), f.Short)
	}
	switch f.Verdict {
	case verdictChosen, verdictCostlier, verdictWithheld, verdictRefused:
		// The cost is what the choice among these nodes was made by.
		if f.Cost.Victims > 0 {
			return f.costText()
		}
		if f.Verdict == verdictRefused {
			return short
		}
	case verdictNoRoom:
		// It fits once what is leaving has gone, and the ask does not wait.
		if resources.IsZero(f.Short) {
			return "until what is leaving has gone"
		}
		return short
	case verdictLacks:
		// Candidates that give nothing of what is short change no amount, and
		// two equal amounts in one line would look like a mistake.
		if resources.Equal(f.Short, f.Lacks) {
			return short + ", and no candidate gives any of it"
		}
		return fmt.Sprintf("%s, and still of %s with all its candidates gone", short, quantities(e.Decision.units(), f.Lacks))
	case verdictHeadroom:
		return "no legal set of victims makes room under the max"
	case verdictNoLegalSet:
		return short + ", and no legal set of its candidates gives it"
	case verdictUnproven:
		return "the search ended before it came here"
	case verdictFiltered:
		return "the ask may not run there"
	case verdictBlocked:
		return "somebody is in the way there who must stay"
	case verdictUnschedulable:
		return short
	case verdictReserved:
		return fmt.Sprintf("for %s, %s", plain.Name(f.reserved), short)
	// The grant is there already. What it is short of now is what it waits for.
	case verdictHeld:
		if !resources.IsZero(f.Short) {
			return "its place is " + short + " as yet"
		}
	}
	return ""
}
