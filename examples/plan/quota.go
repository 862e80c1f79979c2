// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// enforcement writes which quota is enforced, what comes of it, and what follows.
func (p page) enforcement(s *scenario.Step, then scenario.Then) {
	d := &s.Enforced.Decision
	e := &d.Enforcement
	p.printf("the quota of %s is enforced\n", p.queue(d.Plan.Ask.Queue))
	p.uses(s)
	if resources.IsZero(e.Target) {
		p.printf("  %v: %s\n", e.Result, p.remains(s.Enforced))
		return
	}
	p.printf("  to be freed: %s\n", p.amounts(e.Target))
	p.parts(d)
	p.printf("  %v: %s\n", s.Enforced.Result, p.remains(s.Enforced))
	if len(d.Plan.Victims) > 0 {
		p.printf("  victims: %s\n", dismissed[then])
		p.quotaVictims(s)
	}
	p.indented("", d.DescribeRefusal())
}

// uses writes what the queue uses, and the max that it is held to.
func (p page) uses(s *scenario.Step) {
	e := &s.Enforced.Decision.Enforcement
	p.printf("  uses %s, ", p.amounts(e.Usage))
	if e.Max.Defined == 0 {
		p.printf("without a max\n")
	} else {
		p.printf("with a max of %s\n", p.limit(e.Max))
	}
	if gone := s.Enforced.Unbounded; gone != 0 {
		var names []string
		for t := range gone.All() {
			names = append(names, p.run.Document.Schema.Name(t))
		}
		p.printf("  this max replaces the one before and does not name %s, which has no bound now\n", plain.Names(names))
	}
}

// remains says what stays over.
func (p page) remains(enforced *scenario.Enforced) string {
	e := &enforced.Decision.Enforcement
	over := p.amounts(e.Shortfall) + " above the max"
	switch {
	case e.Result == "met" && resources.IsZero(e.Target):
		return "nothing is over"
	case e.Result == "met":
		return "nothing stays over"
	case enforced.Result == "met-within-miss":
		return "it stays at " + over + ", no more than may be missed"
	case e.Result == "impossible":
		return "it stays at " + over + ", for nobody can be taken"
	}
	return "it stays at " + over
}

// parts writes what each queue was to free in the first round, and what the
// leaves make of it.
func (p page) parts(d *victims.Decision) {
	tree, top, list := p.run.After.Tree(), d.Plan.Ask.Queue, d.Enforcement.Parts
	t := say.NewTable(p.w, "    ", "queue", "part", "asked for", "gives", "victims")
	part := func(q queue.ID, amount resources.Vector) []string {
		indent := strings.Repeat("  ", trees.Depth(tree, q)-trees.Depth(tree, top))
		name := plain.Name(trees.Name(tree, q))
		if q == top {
			name = p.queue(q)
		}
		return []string{indent + name, p.amounts(amount)}
	}
	// The queue itself has the whole target, and if it is a leaf it was asked.
	if len(list) == 0 || list[0].Queue != d.Plan.Path {
		t.Row(part(top, d.Enforcement.Target)...)
	}
	for i := range list {
		at := &list[i]
		amount := at.Amount
		if at.Queue == d.Plan.Path {
			amount = d.Enforcement.Target
		}
		q, _ := tree.Lookup(at.Queue)
		cells := part(q, amount)
		if at.Asked != nil {
			cells = append(cells, p.amounts(at.Asked), p.amounts(at.Freed), fmt.Sprint(at.Victims))
		}
		t.Row(cells...)
	}
	t.End()
}

// quotaVictims writes a row per victim.
func (p page) quotaVictims(s *scenario.Step) {
	t := say.NewTable(p.w, "    ", "victim", "queue", "node", "size", "priority", "created", "remarks")
	for i := range s.Enforced.Victims {
		task := &s.Enforced.Victims[i]
		t.Row(plain.Name(task.Key), p.queue(task.Queue), p.node(task.Node), p.amounts(task.Size),
			fmt.Sprint(task.Priority), plain.Duration(s.Now.Sub(task.Created))+" ago", jobRemarks(task))
	}
	t.End()
	p.lines("    ", p.toll(s))
}

// dismissed are words for what follows an enforcement.
var dismissed = map[scenario.Then]string{
	scenario.ThenFinish:  "they are stopped",
	scenario.ThenLeave:   "they are told to leave",
	scenario.ThenNothing: dryRun,
}
