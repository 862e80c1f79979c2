package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/victims"
)

// This file audits what the caller and the cluster say of nodes and services:
// the filter, domains, and hard budgets.

// domain yields the members that do not share a domain with the first one, of
// the depth that the job requires. Members that have places already come before
// those of the plan.
func (x *audit) domain(yield func(Violation) bool) {
	depth := x.job.Domain
	if depth <= 0 {
		return
	}
	// The first member that is in a domain names it for all others. Members
	// that run are bound to theirs already.
	var common []string
	apart := func(key string, node victims.NodeID) bool {
		list := x.c.NodeView(node).Domains
		if len(list) >= depth && common == nil {
			common = list[:depth]
		}
		if len(list) >= depth && slices.Equal(list[:depth], common) {
			return false
		}
		return !yield(Violation{Law: LawDomain, Member: key, Node: x.c.NodeName(node)})
	}
	for i := range x.job.Members {
		key := x.job.Members[i].Key
		if x.standing(key) != placedMember {
			continue
		}
		id, ok := x.c.Lookup(key)
		if !ok {
			id, _ = x.c.LookupGrant(key)
		}
		if apart(key, x.c.NodeOf(id)) {
			return
		}
	}
	for _, at := range x.plan.Placements {
		if apart(x.job.Members[at.Member].Key, at.Node) {
			return
		}
	}
}

// budget yields the hard budgets that lose more tasks than they have left. A
// soft budget is part of the cost, and no law.
func (x *audit) budget(yield func(Violation) bool) {
	for name, b := range x.c.Budgets() {
		// A soft budget may be overrun, at a cost. DESIGN.md, Budgets.
		if !b.Hard {
			continue
		}
		drawn := int64(0)
		for _, id := range x.victims {
			// By name, through the exported view: the planner's rows of budgets
			// are under audit too.
			if slices.Contains(x.c.TaskView(id).Budgets, name) {
				drawn++
			}
		}
		// Below 0 counts as 0: others may have overdrawn it.
		if left := max(b.Left, 0); drawn > left && !yield(Violation{Law: LawBudget, Budget: name, Have: drawn, Want: left}) {
			return
		}
	}
}

// filter yields the members that the caller's filter does not let run on their
// nodes.
func (x *audit) filter(yield func(Violation) bool) {
	// Without a filter everybody may run everywhere.
	if x.a.Filter == nil {
		return
	}
	for _, at := range x.plan.Placements {
		m := &x.job.Members[at.Member]
		if !x.a.Filter(x.job, m.Class, at.Node) &&
			!yield(Violation{Law: LawFilter, Member: m.Key, Node: x.c.NodeName(at.Node)}) {
			return
		}
	}
}
