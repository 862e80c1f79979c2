// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// quotaFindings says what everything was to the enforcement of a quota.
func (d *drawing) quotaFindings(e *scenario.Enforced) findings {
	f := newFindings()
	for q := range queue.ID(d.cluster.Tree().Len()) {
		f.queues[q] = d.queueForQuota(&e.Decision, q)
	}
	for id := range d.cluster.Nodes() {
		stopped := 0
		for row := range d.cluster.TasksOn(id) {
			t := d.cluster.TaskView(row)
			f.tasks[t.Key] = d.taskForQuota(e, &t)
			if d.goes[t.Key] {
				stopped++
			}
		}
		f.nodes[id] = "nobody is stopped here; a quota asks for room on no node"
		if stopped > 0 {
			f.nodes[id] = say.Counted(stopped, "task") + " stopped here; a quota asks for room on no node"
		}
	}
	return f
}

// queueForQuota says what a queue is to the enforcement.
func (d *drawing) queueForQuota(of *victims.Decision, q queue.ID) string {
	tree, top, e := d.cluster.Tree(), of.Plan.Ask.Queue, &of.Enforcement
	switch {
	case q == top && resources.IsZero(e.Target):
		return "the enforced queue: nothing is over"
	case q == top:
		return fmt.Sprintf("the enforced queue: %s has to go, and %s goes", d.amounts(e.Target), d.amounts(e.Freed))
	case tree.Contains(q, top):
		return d.roleOf(q, "enforced")
	case !tree.Contains(top, q):
		return "outside the enforced queue: nobody is stopped here"
	}
	text := "nothing is asked for"
	if i := slices.IndexFunc(e.Parts, func(p victims.Part) bool { return p.Queue == tree.Path(q) }); i >= 0 {
		p := &e.Parts[i]
		if p.Amount != nil {
			text = "its part is " + d.amounts(p.Amount)
		}
		if p.Asked != nil {
			text += fmt.Sprintf("; asked for %s at most, it gives %s: %s", d.amounts(p.Asked), d.amounts(p.Freed), say.Counted(p.Victims, "victim"))
		}
	}
	for i := range e.Obstacles {
		if s := &e.Obstacles[i]; s.Rule == "guarantee" && s.Queue == tree.Path(q) {
			text += "; its guarantee keeps more from going"
		}
	}
	return text
}

// taskForQuota says what a task, or a grant, is to the enforcement.
func (d *drawing) taskForQuota(e *scenario.Enforced, t *victims.Task) string {
	if d.goes[t.Key] {
		if slices.ContainsFunc(e.Decision.Plan.Victims, func(v victims.Victim) bool { return v.Whole && v.Job == t.Job }) {
			return "victim; it goes with all of job " + plain.Name(t.Job)
		}
		return "victim: part of what " + d.queue(t.Queue) + " gives"
	}
	if i := slices.IndexFunc(e.Kept, func(v victims.Violation) bool { return v.Victim == t.Key }); i >= 0 {
		return d.keptFromQuota(&e.Kept[i])
	}
	if _, granted := d.cluster.LookupGrant(t.Key); granted {
		return "a place that is held: nobody takes it"
	}
	if resources.IsZero(e.Decision.Enforcement.Target) {
		return "nobody has to be stopped"
	}
	return "could go, and others of its queue come first"
}

// keptFromQuota says which law keeps a task.
func (d *drawing) keptFromQuota(v *victims.Violation) string {
	switch v.Law {
	case finding.LawGuarantee:
		return plain.Name(v.Queue) + " needs it for its guarantee (law 2)"
	case finding.LawBudget:
		return "budget " + plain.Name(v.Budget) + " has none left"
	case finding.LawInside:
		return "it is outside the enforced queue"
	}
	if text := rulebook.RuleOfLaw(v.Law).Picture; text != "" {
		return text
	}
	return "it may not go: " + plain.Line(v.String())
}
