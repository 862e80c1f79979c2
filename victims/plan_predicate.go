package victims

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
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

// A hearing looks for the best plan that the caller's predicate accepts.
type hearing struct{ *decision }

// hearings are what the predicate has said of nodes.
type hearings struct {
	question Placing
	said     []verdict   // by node
	early    bool        // nodes are asked about before they are searched
	order    []NodeID    // in which that is done: of the least bounds first
	unsure   bool        // a node is out of which not all sets were refused
	plans    []incumbent // the best of nodes that were searched before that
	aside    incumbent   // see agrees

	together resources.Vector // what the tasks that are asked about free; see hearPlain
	line     []inLine         // the nodes that are to be asked about, before they are in order
	least    resources.Vector // what every leaf has room for; see leastRoom
	ample    bool             // so have all of them for what the tasks free that are asked about
}

// A verdict is what the predicate has said of a node.
type verdict uint8

const (
	unheard verdict = iota
	heard           // it accepts all candidates
	agreed          // it accepts the best set, which was offered
	struck          // it refuses the node
)

func (h *hearings) reset(nodes int) {
	h.said = rows.Zeros(h.said, nodes)
	h.early, h.unsure, h.order, h.plans = false, false, h.order[:0], h.plans[:0]
}

// search leaves the best plan that the predicate accepts in d.best, and reports
// whether there is any.
func (d hearing) search() bool {
	h := &d.heard
	h.reset(len(d.c.nodes))
	for d.searchNodes() {
		if d.approves() {
			d.qualify()
			return true
		}
		// The node is out, and what was shown of all nodes is to be shown of the
		// others anew.
		h.said[d.best.node] = struck
		h.early = true
		// How many more victims than the plan that was refused nodes take is of no
		// interest. Only with own costs would that plan be a limit.
		d.best.found = len(d.c.costs) == 0
		d.lineUp()
		d.best.found = false
		d.trial.proven, d.trial.levels, d.trial.lesser = true, true, false
	}
	d.qualify()
	return false
}

// qualify takes back what the searches have shown, if a node is out of which not all
// sets were refused.
func (d hearing) qualify() {
	if d.heard.unsure {
		d.trial.proven, d.trial.levels, d.trial.lesser = false, false, false
	}
}

// approves reports whether the predicate accepts the best plan, or another set for
// its node, which is the best plan then.
func (d hearing) approves() bool {
	n := d.best.node
	switch d.heard.said[n] {
	case agreed:
		return true
	case heard:
		all, _ := d.everybody(n)
		if !d.isBest(all) && !d.accepts(n, d.best.victims, coming) {
			d.widen(n, all)
		}
		return true
	}
	if d.accepts(n, d.best.victims, coming) {
		return true
	}
	all, complete := d.everybody(n)
	if !d.isBest(all) && d.suffices(n, all) {
		d.widen(n, all)
		return true
	}
	d.heard.unsure = d.heard.unsure || !complete
	return false
}

// admits reports whether a node is to be searched: the filter lets the ask run
// there, and the predicate has not ruled it out.
func (d hearing) admits(n NodeID) bool {
	if !d.passes(n) {
		return false
	}
	if d.p.Predicate == nil {
		return true
	}
	h := &d.heard
	if h.early && h.said[n] == unheard {
		h.said[n] = d.hear(n)
	}
	return h.said[n] <= heard && !d.recalls(n)
}

// keep keeps a plan that another node has beaten, for a node is not searched a second
// time if the predicate refuses the better one.
func (h *hearings) keep(best *incumbent) {
	h.plans = rows.Next(h.plans)
	plan := &h.plans[len(h.plans)-1]
	victims := append(plan.victims[:0], best.victims...)
	*plan = *best
	plan.victims, plan.yardstick = victims, yardstick{}
}

// recalls offers the plan of a node that was searched before, and reports whether
// there is one.
func (d hearing) recalls(n NodeID) bool {
	for i := range d.heard.plans {
		plan, b := &d.heard.plans[i], &d.best
		if plan.node != n {
			continue
		}
		if !b.found || d.compare(&plan.cost, &b.cost) < 0 {
			b.found, b.node, b.cost, b.total, b.exact = true, n, plan.cost, plan.total, true
			b.note(d.c.total)
			b.victims = append(b.victims[:0], plan.victims...)
		}
		return true
	}
	return false
}
