package victims

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/go-preempt/preempt/resources"
)

// planned sets dst to the best plan.
func (d *decision) planned(dst *Decision) {
	dst.Outcome = Preempts
	p := &dst.Plan
	p.Node, p.Cost, p.Proven, p.Steps = d.best.node, d.best.cost, d.proven, d.steps
	short := d.nodeNeed(d.nodeShort, d.best.node)
	for _, id := range d.best.victims {
		r := &d.c.tasks[id]
		size := resources.Positive(d.c.size(id))
		p.Victims = append(p.Victims, Victim{
			Task: id, Key: r.key, Rank: d.leaves[r.leaf].rank.Of(r.priority),
			ForNode:     r.node == d.best.node && short&size != 0,
			ForHeadroom: d.needs.masks[d.leaves[r.leaf].level]&size != 0,
		})
	}
	slices.SortFunc(p.Victims, func(a, b Victim) int { return strings.Compare(a.Key, b.Key) })
}

// unplanned sets dst to the refusal of an ask for which no legal set of victims
// was found. (Step 7.)
func (d *decision) unplanned(dst *Decision) {
	reason := NoVictims
	if d.refusals > 0 {
		reason = PredicateRefused
	}
	d.refuse(dst, reason)
	dst.Refusal.Proven, dst.Refusal.Steps = d.proven, d.steps
	if d.relaxed.Rule != 0 {
		return // a trial of Explain: nobody reads on
	}
	d.lackHeadroom()
	if d.pruning() && d.p.Exempt == nil {
		d.surveyLanes(&dst.Refusal)
	} else {
		d.countRules(&dst.Refusal)
		d.findClosest(&dst.Refusal)
	}
	dst.Refusal.RetryAt = d.retryAt()
}

// countRules counts every task at the first rule that keeps it from being a
// victim.
func (d *decision) countRules(r *Refusal) {
	for n := range d.c.nodes {
		short := d.shortOf(NodeID(n))
		for _, id := range d.c.nodes[n].tasks {
			if d.c.tasks[id].state == Granted {
				continue
			}
			if rule := d.ruleFor(id, short); rule != 0 {
				r.Counts[rule]++
			} else {
				r.Candidates++
			}
		}
	}
}

// findClosest finds the usable node on which the least is lacking once all its
// candidates have gone, and what: by dominant share, then in node order. What
// the headroom lacks with all its candidates gone is lacking everywhere.
func (d *decision) findClosest(r *Refusal) {
	for _, n := range d.nodes {
		if !d.usable(n) {
			continue
		}
		short := d.nodeNeed(d.nodeShort, n)
		for _, id := range d.c.nodes[n].tasks {
			if d.candidate(id, short) {
				d.nodeShort = resources.Sub(d.nodeShort, d.nodeShort, d.c.size(id))
			}
		}
		d.closer(r, n)
	}
}

// closer takes note of a node that lacks d.nodeShort with all its candidates
// gone, where that is less than the closest one does. What the headroom lacks
// is in d.wanted.
func (d *decision) closer(r *Refusal, n NodeID) {
	if r.HasClosest {
		for t, lack := range d.nodeShort {
			if max(lack, d.wanted[t]) >= d.asMuch[t] && d.asMuch[t] < noLimit {
				return
			}
		}
	}
	d.nodeShort = resources.Max(d.nodeShort, d.nodeShort, d.wanted)
	share := resources.DominantShare(d.nodeShort, d.c.total)
	if !r.HasClosest || share.Compare(d.lacking) < 0 {
		r.Closest, r.HasClosest, d.lacking = n, true, share
		r.Lacks = append(r.Lacks[:0], d.nodeShort...)
		d.noteShare(share)
	}
}

// lackHeadroom leaves in d.wanted the largest amount per type that a queue on
// the path lacks once all that could make headroom has gone.
func (d *decision) lackHeadroom() {
	d.wanted = zeros(d.wanted, d.c.types)
	for i, q := range d.needs.queues {
		copy(d.sum, d.needs.short[i])
		for w := range d.tree.Leaves(q) {
			for _, id := range d.c.leaves[w] {
				if d.candidate(id, 0) {
					d.sum = resources.Sub(d.sum, d.sum, d.c.size(id))
				}
			}
		}
		d.wanted = resources.Max(d.wanted, d.wanted, d.sum)
	}
}

// retryAt returns the first instant at which, all else equal, the decision is
// a plan because exemptions have ended; zero where there is none.
func (d *decision) retryAt() time.Time {
	if d.p.Exempt == nil {
		return time.Time{}
	}
	d.ends = d.ends[:0]
	for id := range d.c.Tasks() {
		if d.c.tasks[id].state != Granted && d.veto(id) == 0 {
			if until, ok := d.exemption(id); ok && !until.IsZero() {
				d.ends = append(d.ends, until)
			}
		}
	}
	slices.SortFunc(d.ends, time.Time.Compare)
	d.ends = slices.CompactFunc(d.ends, time.Time.Equal)
	plans := func(i int) bool {
		d.horizon = d.ends[i]
		return d.choose()
	}
	first := 0
	if d.p.Predicate == nil {
		// More candidates never make a plan impossible: halving finds the end.
		first = sort.Search(len(d.ends), plans)
	} else {
		for first < len(d.ends) && !plans(first) {
			first++
		}
	}
	if first == len(d.ends) {
		return time.Time{}
	}
	return d.ends[first]
}
