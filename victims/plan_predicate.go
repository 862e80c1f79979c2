// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"slices"

	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
)

// Planners that have a predicate search as others do, and ask it about the best
// plan. Mostly it accepts, and the decision has cost one question.
//
// If it refuses, it is asked about all candidates of that node, as one victim more
// may do. Mostly it refuses those too, for something about the node keeps the ask
// out, whoever goes. So from then on it is asked about all candidates of a node
// before the node is searched, in the order of bounds: a question costs less than a
// search, and a node that is refused is out. What it accepts has a plan, by its best
// set or by one that is trimmed from all candidates.

// A predicate looks for the best plan that the caller's predicate accepts, and remembers
// what the predicate has said of nodes.
type predicate struct {
	d      *decision
	said   []answer  // by node
	early  bool      // nodes are asked about before they are searched
	order  []int32   // the nodes in the order in which that is done: of the least bounds first
	unsure bool      // a node is out of which not all sets were refused
	aside  incumbent // see acceptsBestOf
	all    []TaskID  // see candidates
	room   []int64   // what they leave of each limit
}

// An answer is what the predicate has said of a node.
type answer uint8

const (
	notAskedYet answer = iota
	acceptsAll         // it accepts all candidates
	acceptsBest        // it accepts the best set, which was offered
	ruledOut           // it refuses the node
)

func (x *predicate) reset() {
	x.said = rows.Zeros(x.said, len(x.d.c.nodes))
	x.early, x.unsure, x.order = false, false, x.order[:0]
}

// search leaves the best plan that the predicate accepts in d.best, and reports
// whether there is any.
func (x *predicate) search() bool {
	d := x.d
	x.reset()
	for d.searchNodes() {
		if x.approves() {
			x.qualify()
			return true
		}
		// The node is out, and what was shown of all nodes is to be shown of the
		// others anew.
		x.said[d.best.node()] = ruledOut
		x.early, d.best.Found = true, false
		x.sortNodes()
		d.search.Shown, d.search.Levels, d.trial.leastShown = true, true, false
	}
	x.qualify()
	return false
}

// qualify takes back what the searches have shown, if a node is out of which not all
// sets were refused.
func (x *predicate) qualify() {
	if x.unsure {
		x.d.notShown()
	}
}

// approves reports whether the predicate accepts the best plan, or another set for
// its node, which is the best plan then.
func (x *predicate) approves() bool {
	d := x.d
	n := d.best.node()
	switch x.said[n] {
	case acceptsBest:
		return true
	case acceptsAll:
		if all, _ := x.candidates(n); !x.isBest(all) && !d.accepts(n, d.best.victims, coming) {
			d.giving.widen(all)
		}
		return true
	}
	if d.accepts(n, d.best.victims, coming) {
		return true
	}
	all, complete := x.candidates(n)
	if !x.isBest(all) && x.suffices(n, all) {
		d.giving.widen(all)
		return true
	}
	x.unsure = x.unsure || !complete
	return false
}

// sortNodes lists the nodes in the order in which the predicate is asked about all of
// their candidates: those first that may have the cheapest plan.
func (x *predicate) sortNodes() {
	x.order = x.order[:0]
	if !x.d.pruning() {
		return // a search that knows no bounds takes them in node order
	}
	for _, n := range x.d.nodes {
		if x.said[n] != ruledOut {
			x.order = append(x.order, int32(n))
		}
	}
	x.order = x.d.search.Sort(x.order, x.order)
}

// admits reports whether a node is to be searched: the filter lets the ask run
// there, and the predicate has not ruled it out.
func (x *predicate) admits(n NodeID) bool {
	d := x.d
	if !d.passes(n) {
		return false
	}
	if d.p.Predicate == nil {
		return true
	}
	if x.early && x.said[n] == notAskedYet {
		x.said[n] = x.ask(n)
	}
	return x.said[n] <= acceptsAll
}

// fewElsewhere is how many candidates that make headroom on other nodes are among those of a
// node.
const fewElsewhere = 32

// ask asks the predicate about all candidates of a node. If laws let not all of
// them go, or they are too many, others than these may do, and it is asked about the
// best set, too.
func (x *predicate) ask(n NodeID) answer {
	all, complete := x.candidates(n)
	switch {
	case x.suffices(n, all):
		return acceptsAll
	case complete:
		return ruledOut
	case x.d.trial.meter.Left > 0 && x.acceptsBestOf(n):
		return acceptsBest
	}
	x.unsure = true
	return ruledOut
}

// acceptsBestOf searches a node and asks the predicate about its best set. If it accepts
// that, the set is offered.
func (x *predicate) acceptsBestOf(n NodeID) bool {
	d := x.d
	// The best plan so far waits aside: as a limit it would hide a costlier set that
	// is the best of this node, and the answer is about the node.
	lesser := d.search.Lesser
	x.aside, d.best = d.best, x.aside
	d.best.Found, d.search.Lesser = false, false
	d.search.Try(int32(n))
	d.search.Lesser = lesser
	switch better := !x.aside.Found || d.best.Found && d.compare(&d.best.cost, &x.aside.cost) < 0; {
	case !d.best.Found || better && !d.accepts(n, d.best.victims, coming):
		x.aside, d.best = d.best, x.aside
		return false
	case !better:
		x.aside, d.best = d.best, x.aside // nobody needs to know
	}
	return true
}

// candidates returns the candidates of a node: if laws and budgets do not let all of them go
// together, the cheapest as far as they do. It reports whether those are all.
//
// Candidates that make headroom on other nodes belong to all nodes. If they are
// many, those count that make it at the least cost.
func (x *predicate) candidates(n NodeID) (all []TaskID, complete bool) {
	d, g := x.d, &x.d.giving
	complete = true
	var only []TaskID
	if d.Elsewhere() && d.solvePool() {
		if complete = d.pool.tasks() <= fewElsewhere; !complete {
			only = d.pool.ids
		}
		complete = complete && !d.pool.thinned
	}
	s := d.siteOf(n)
	if s.out || d.pool.hopeless {
		return nil, true
	}
	shown, levels := d.search.Shown, d.search.Levels
	g.begin(&s)
	d.stateTasks(&g.problem, &s, d.pickLanes(n, g.problem.Wanted))
	if d.Elsewhere() {
		d.addPool(&g.problem, n, only)
	}
	d.search.Shown, d.search.Levels = shown, levels
	g.listUnits()
	if !x.takeUnits() { // mostly it does
		complete = false
		g.sortUnits()
		x.takeUnits()
	}
	return x.all, complete
}

// takeUnits takes units in turn, as far as limits let them go together, and reports whether it took all.
func (x *predicate) takeUnits() (all bool) {
	g := &x.d.giving
	x.all, x.room, all = x.all[:0], append(x.room[:0], g.problem.Room...), true
	for _, u := range g.units {
		if x.takes(g.problem.Rows[u.row].Takes) {
			x.all = append(x.all, x.d.unitTasks(u.row, u.unit)...)
		} else {
			all = false
		}
	}
	return all
}

// takes takes a unit if every limit is kept then, and reports whether it has.
func (x *predicate) takes(takes []least.Take) bool {
	keeps := true
	for _, t := range takes {
		x.room[t.Limit] -= t.Amount
		keeps = keeps && x.room[t.Limit] >= 0
	}
	if keeps {
		return true
	}
	for _, t := range takes {
		x.room[t.Limit] += t.Amount
	}
	return false
}

// isBest reports whether tasks are the victims of the best plan.
func (x *predicate) isBest(all []TaskID) bool {
	best := x.d.best.victims
	return len(all) == len(best) && !slices.ContainsFunc(all, func(id TaskID) bool { return !slices.Contains(best, id) })
}

// suffices reports whether candidates meet every need of a node and the predicate accepts
// them. It is asked only if they do.
func (x *predicate) suffices(n NodeID, all []TaskID) bool {
	return len(all) > 0 && x.d.giving.meets(all) && x.d.accepts(n, all, coming)
}
