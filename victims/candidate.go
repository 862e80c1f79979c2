package victims

import (
	"time"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// veto returns the rule that keeps a task from being a victim wherever it
// helps, or 0. It does not ask whether the task is exempt.
func (d *decision) veto(id TaskID) Rule {
	r := &d.c.tasks[id]
	switch {
	case r.state.leaving():
		return RuleLeaving
	case r.flags.has(flagRequiredNode) && !d.relaxed.task(RelaxRequiredNode, id):
		return RuleRequiredNode
	case d.hasApp && r.app == d.app && !d.relaxed.task(RelaxApplication, id):
		return RuleApplication // law 3: never the same application
	}
	leaf := &d.leaves[r.leaf]
	switch {
	case leaf.veto != 0:
		return leaf.veto
	case leaf.rank.Of(r.priority) > d.ceiling() && !d.relaxed.task(RelaxPriority, id):
		return RulePriority // law 6: lower or equal effective priority only
	}
	return 0
}

// exempt reports whether the caller exempts a task, taking exemptions that end
// at d.horizon or before as ended.
func (d *decision) exempt(id TaskID) bool {
	if d.p.Exempt == nil || d.relaxed.task(RelaxExemption, id) {
		return false
	}
	until, ok := d.exemption(id)
	return ok && (until.IsZero() || until.After(d.horizon))
}

func (d *decision) exemption(id TaskID) (until time.Time, ok bool) {
	until, ok = d.p.Exempt(Exemption{Cluster: d.c, Task: id, Ask: d.ask, Now: d.now})
	return until, ok && (until.IsZero() || until.After(d.now))
}

// helps reports whether a task reduces an open need: that of its node, which
// is short of the types in node, or headroom.
func (d *decision) helps(id TaskID, node resources.Mask) bool {
	r := &d.c.tasks[id]
	types := node | d.needs.masks[d.leaves[r.leaf].level]
	if d.required() && !d.usable(r.node) {
		return false
	}
	size := d.c.size(id)
	for t := range types.All() {
		if size[t] > 0 {
			return true
		}
	}
	return false
}

// guarded reports whether stopping the task would by itself take a queue below
// its guarantee. Law 2 over sums is the search's business.
func (d *decision) guarded(id TaskID) bool {
	return !resources.Fits(d.c.size(id), d.leaves[d.c.tasks[id].leaf].room)
}

// candidate reports whether no rule keeps a task from being a victim, on a
// node that is short of the types in node. The caller is asked last.
func (d *decision) candidate(id TaskID, node resources.Mask) bool {
	return d.c.tasks[id].state != Granted && d.veto(id) == 0 && d.helps(id, node) && !d.guarded(id) && !d.exempt(id)
}

// ruleFor returns the first rule that keeps a task from being a victim on a
// node that is short of the types in node, or 0 for a candidate.
func (d *decision) ruleFor(id TaskID, node resources.Mask) Rule {
	if rule := d.veto(id); rule != 0 {
		return rule
	}
	switch {
	case d.exempt(id):
		return RuleExempt
	case !d.helps(id, node):
		return RuleNotHelping
	case d.guarded(id):
		return RuleGuarantee
	}
	return 0
}

// nodeNeed sets dst to what a node lacks for the ask once what is leaving has
// gone, in the types that the ask wants, and returns the types.
func (d *decision) nodeNeed(dst resources.Vector, n NodeID) resources.Mask {
	var short resources.Mask
	clear(dst)
	free := d.c.row(d.c.coming, n)
	for _, t := range d.types {
		if lack := d.size[t] - free[t]; lack > 0 {
			dst[t] = lack
			short = short.With(t)
		}
	}
	return short
}

// shortOf returns the types that a node is short of, and none for a node that
// the ask cannot use. It leaves the amounts in d.nodeShort.
func (d *decision) shortOf(n NodeID) resources.Mask {
	if !d.c.nodes[n].live || !d.usable(n) {
		clear(d.nodeShort)
		return 0
	}
	return d.nodeNeed(d.nodeShort, n)
}

// unit returns a task as a unit of the search; on is 1 where it is on the node
// in question.
func (d *decision) unit(id TaskID, on int) cover.Unit {
	r := &d.c.tasks[id]
	leaf := &d.leaves[r.leaf]
	rank := leaf.rank.Of(r.priority)
	u := cover.Unit{
		Key:    r.key,
		Size:   d.c.size(id),
		Work:   d.lost(id),
		Needs:  d.needs.rows[on][leaf.level],
		Bounds: leaf.bounds,
		Levels: cover.Levels{LevelRank: rank, LevelPriority: int64(r.priority), LevelVictims: 1, LevelSumRanks: rank},
	}
	if r.flags.has(flagOptedOut) {
		u.Levels[LevelOptedOut] = 1 // law 1: opted out only where no plan does without
	}
	if r.flags.has(flagOriginator) {
		u.Levels[LevelOriginators] = 1
	}
	return u
}
