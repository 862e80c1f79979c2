// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"math/big"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// rules are what keeps tasks, in the order in which they are counted.
var rules = slices.Concat(
	[]string{"leaving", "required-node", "same-application", "fence", "disabled", "inside", "priority"}, timerRules(),
	[]string{"not-helping", "budget", "guarantee"},
)

// rule returns the first rule that keeps a task from being a victim, or "".
//
// A member of a job may go if it goes alone, or with all of the job. If it may
// not go alone because of the minimum, it counts at the first rule that keeps a
// member.
func (j *judge) rule(t *world.Task) string {
	alone := j.ruleOf(t, []*world.Task{t})
	if t.State.Leaving() || !j.bound(t) || alone == "" && j.surplus(t.Job) > 0 {
		return alone
	}
	all := staff(j.w, t.Job)
	first := len(rules)
	for _, m := range all {
		if i := slices.Index(rules, j.ruleOf(m, all)); i >= 0 && i < first {
			first = i
		}
	}
	switch {
	case first == len(rules):
		return ""
	case j.surplus(t.Job) > 0:
		return alone
	}
	return rules[first]
}

// ruleOf returns the first rule that keeps a task from going together with some
// others, or "".
func (j *judge) ruleOf(t *world.Task, all []*world.Task) string {
	if rule := j.keeps(t); rule != "" {
		return rule
	}
	switch {
	case !slices.ContainsFunc(all, j.helps):
		return "not-helping"
	case !j.holds("", all, (*docket).budgets):
		return "budget"
	case j.ask.RequiredNode == "" && !j.holds("", all, (*docket).guarantees):
		return "guarantee"
	}
	return ""
}

// keeps returns the first rule that is about a task itself.
func (j *judge) keeps(t *world.Task) string {
	required := j.ask.RequiredNode != ""
	own := j.own && j.owns(t.Queue)
	atHome := j.own && t.Queue == j.ask.Queue
	switch {
	case t.State.Leaving():
		return "leaving"
	case t.RequiredNode:
		return "required-node"
	case t.Application == j.ask.Application && !(required && j.o.TakeOwnApplication):
		return "same-application"
	case !required && !atHome && (!j.inReach(t.Queue) || j.own && !own && !j.entitled()):
		return "fence"
	case !required && j.disabled(t.Queue):
		return "disabled"
	case !required && !own && j.insideStarving(t.Queue):
		return "inside"
	case j.rank(t) > 0 || (j.o.StrictPriority || own) && j.rank(t) == 0:
		return "priority"
	}
	return j.early(t)
}

// helps reports whether a task reduces some open need: of its node, where the
// ask may be placed there, or of headroom; or it blocks the node.
func (j *judge) helps(t *world.Task) bool {
	if j.ask.RequiredNode != "" && t.Node != j.ask.RequiredNode {
		return false
	}
	usable := false
	for _, n := range j.w.Nodes {
		if n.Name == t.Node && j.usable(&n) {
			usable = true
			if shares(t.Size, j.nodeNeed(n.Name)) || j.blocks(t, n.Name) {
				return true
			}
		}
	}
	return (usable || !j.o.VictimsOnNode) && j.givesHeadroom(t)
}

// givesHeadroom reports whether a task has some of what a queue above it and
// the asking leaf lacks in headroom.
func (j *judge) givesHeadroom(t *world.Task) bool {
	for _, q := range j.path {
		if world.Inside(t.Queue, q) && shares(t.Size, j.headroomNeed(q)) {
			return true
		}
	}
	return false
}

// shares reports whether the size has some of a type that is needed.
func shares(size, need world.Amounts) bool {
	for t, short := range need {
		if short > 0 && size[t] > 0 {
			return true
		}
	}
	return false
}

// closest returns the node on which, with all its candidates gone, the least is
// lacking, by dominant share and then in node order, and what that is: per type
// the larger of what lacks on the node and what lacks in headroom, for which
// the candidates of all nodes are gone. A node that somebody blocks who cannot
// go is out.
func (j *judge) closest() (node string, lacks world.Amounts) {
	var gone []*world.Task
	for i := range j.w.Tasks {
		if j.rule(&j.w.Tasks[i]) == "" {
			gone = append(gone, &j.w.Tasks[i])
		}
	}
	var least *big.Rat
	for _, n := range j.w.Nodes {
		if !j.usable(&n) || j.hopeless(n.Name) {
			continue
		}
		gone := without(gone, func(t *world.Task) bool { return !j.goesFor(t, n.Name) })
		lacking := make(world.Amounts)
		lack := func(t string, short int64) {
			if short > lacking[t] {
				lacking[t] = short
			}
		}
		for t, short := range j.nodeNeed(n.Name) {
			lack(t, short-freedOn(gone, n.Name, t))
		}
		for _, q := range j.path {
			for t, short := range j.headroomNeed(q) {
				lack(t, short-freedBelow(gone, q, t))
			}
		}
		if share := j.dominantShare(lacking); least == nil || share.Cmp(least) < 0 {
			least, node, lacks = share, n.Name, lacking
		}
	}
	return node, lacks
}
