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
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
)

// enforcement writes which quota is enforced, what comes of it, and what follows.
func (p page) enforcement(s *scenario.Step, then scenario.Then) {
	o := &s.Enforced.Outcome
	p.printf("the quota of %s is enforced\n", p.queue(o.Queue))
	p.uses(s)
	if resources.IsZero(o.Target) {
		p.printf("  %v: %s\n", o.Result, p.remains(o))
		return
	}
	p.printf("  to be freed: %s\n", p.amounts(o.Target))
	p.parts(o)
	p.printf("  %v: %s\n", o.Result, p.remains(o))
	if len(o.Victims) > 0 {
		p.printf("  victims: %s\n", dismissed[then])
		p.quotaVictims(s)
	}
	p.indented("", o.DescribeRest(p.run.After))
}

// uses writes what the queue uses, and the max that it is held to.
func (p page) uses(s *scenario.Step) {
	o := &s.Enforced.Outcome
	p.printf("  uses %s, ", p.amounts(o.Usage))
	if o.Max.Defined == 0 {
		p.printf("without a max\n")
	} else {
		p.printf("with a max of %s\n", p.limit(o.Max))
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
func (p page) remains(o *quota.Outcome) string {
	over := p.amounts(o.Shortfall) + " above the max"
	switch {
	case o.Result == "met" && resources.IsZero(o.Target):
		return "nothing is over"
	case o.Result == "met":
		return "nothing stays over"
	case o.Result == "met-within-miss":
		return "it stays at " + over + ", no more than may be missed"
	case o.Result == "impossible":
		return "it stays at " + over + ", for nobody can be taken"
	}
	return "it stays at " + over
}

// parts writes what each queue was to free in the first round, and what the
// leaves make of it.
func (p page) parts(o *quota.Outcome) {
	tree := p.run.After.Tree()
	t := say.NewTable(p.w, "    ", "queue", "part", "asked for", "gives", "victims")
	part := func(q queue.ID, amount resources.Vector) []string {
		indent := strings.Repeat("  ", trees.Depth(tree, q)-trees.Depth(tree, o.Queue))
		name := plain.Name(trees.Name(tree, q))
		if q == o.Queue {
			name = p.queue(q)
		}
		return []string{indent + name, p.amounts(amount)}
	}
	leaves := make(map[queue.ID]*quota.Leaf)
	for i := range o.Leaves {
		leaves[o.Leaves[i].Queue] = &o.Leaves[i]
	}
	parts := make(map[queue.ID]resources.Vector)
	for _, p := range o.Parts {
		parts[p.Queue] = p.Amount
	}
	parts[o.Queue] = o.Target
	for q := o.Queue; q < trees.End(tree, o.Queue); q++ {
		amount, first := parts[q]
		leaf, asked := leaves[q]
		if !first && !asked {
			continue
		}
		cells := part(q, amount)
		if asked {
			cells = append(cells, p.amounts(leaf.Asked), p.amounts(leaf.Freed), fmt.Sprint(leaf.Victims))
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
