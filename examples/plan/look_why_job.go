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
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// jobFindings says what everything was to the decision about a job.
func (d *drawing) jobFindings(p *scenario.Placed) findings {
	f := newFindings()
	for q := range queue.ID(d.cluster.Tree().Len()) {
		f.queues[q] = d.queueForJob(p, q)
	}
	for id := range d.cluster.Nodes() {
		f.nodes[id] = d.nodeForJob(p, id)
		for row := range d.cluster.TasksOn(id) {
			t := d.cluster.TaskView(row)
			f.tasks[t.Key] = d.taskForJob(p, &t)
		}
	}
	return f
}

// queueForJob says what a queue is to the job.
func (d *drawing) queueForJob(p *scenario.Placed, q queue.ID) string {
	for i := range p.Decision.Refusal.Breaches {
		if b := &p.Decision.Refusal.Breaches[i]; b.Queue == d.cluster.Tree().Path(q) {
			return b.Text(d.cluster.Schema())
		}
	}
	stay := 0
	for i := range p.Kept {
		if v := &p.Kept[i]; v.Law == finding.LawGuarantee && v.Queue == d.cluster.Tree().Path(q) {
			stay++
		}
	}
	guarantee := ""
	if stay > 0 {
		guarantee = "; its guarantee keeps " + say.Counted(stay, "task")
	}
	law4 := ""
	for _, g := range p.Law4 {
		if g.Queue == q && g.Met() {
			law4 += "; it has its guaranteed " + d.cluster.Schema().Name(g.Type) + ", or would before the last member"
		}
	}
	if len(p.Law4) > 0 && q == p.Needy {
		law4 += "; the needy queue, outside of which others have to give"
	}
	return d.roleOf(q, "asking") + law4 + guarantee
}

// roleOf says whether a queue is the one that a request is about, or above it, and
// what goes from it.
func (d *drawing) roleOf(q queue.ID, what string) string {
	tree := d.cluster.Tree()
	role := ""
	switch {
	case q == d.asker:
		role = "the " + what + " queue; "
	case tree.Contains(q, d.asker):
		role = "above the " + what + " queue; "
	}
	count := 0
	var sum resources.Vector
	for i := range d.victims {
		if v := &d.victims[i]; tree.Contains(q, v.Queue) {
			count++
			sum = resources.Add(sum, sum, v.Size)
		}
	}
	if count == 0 {
		return role + "nobody is stopped here"
	}
	return fmt.Sprintf("%s%s stopped here, %s", role, say.Counted(count, "task"), d.amounts(sum))
}

// nodeForJob says what a node is to the job.
func (d *drawing) nodeForJob(p *scenario.Placed, id victims.NodeID) string {
	job, node := &p.Decision.Plan.Ask, d.cluster.NodeView(id)
	var keys []string
	for _, a := range d.comesTo(id) {
		keys = append(keys, a.key)
	}
	depth := job.DomainDepth
	switch inside := depth > 0 && len(node.Domains) >= depth; {
	case len(keys) > 0 && inside:
		return fmt.Sprintf("chosen for %s, in domain %s", plain.Names(keys), plain.Names(node.Domains[:depth]))
	case len(keys) > 0:
		return "chosen for " + plain.Names(keys)
	case node.Unschedulable:
		return "takes no new tasks"
	case node.ReservedFor != "":
		return "is reserved for " + plain.Name(node.ReservedFor)
	case depth > 0 && !inside:
		return fmt.Sprintf("is in no domain of depth %d", depth)
	case inside && slices.Equal(node.Domains[:depth], p.Decision.Refusal.Domain):
		return "in the domain that came closest, " + plain.Names(p.Decision.Refusal.Domain)
	case inside && d.elsewhere(p, node.Domains[:depth]):
		return "in another domain, " + plain.Names(node.Domains[:depth])
	case p.Decision.Outcome == victims.Refused:
		return "not enough of it can be made free"
	}
	return "not chosen"
}

// elsewhere reports whether the members of a plan share another domain than this.
func (d *drawing) elsewhere(p *scenario.Placed, domain []string) bool {
	all := p.Decision.Plan.Places
	return p.Decision.Outcome != victims.Refused && len(all) > 0 &&
		!slices.Equal(d.cluster.NodeView(all[0].Node).Domains[:len(domain)], domain)
}

// taskForJob says what a task, or a grant, is to the job.
func (d *drawing) taskForJob(p *scenario.Placed, t *victims.Task) string {
	plan := &p.Decision.Plan
	if i := slices.IndexFunc(plan.Victims, func(v victims.Victim) bool { return v.Key == t.Key }); i >= 0 {
		return victimOfJob(&plan.Victims[i])
	}
	if i := slices.IndexFunc(p.Kept, func(v victims.Violation) bool { return v.Victim == t.Key }); i >= 0 {
		return d.keptFromJob(&p.Kept[i])
	}
	if _, granted := d.cluster.LookupGrant(t.Key); granted {
		return "a place that is held: nobody takes it"
	}
	switch p.Decision.Outcome {
	case victims.Fits, victims.Waits:
		return "nobody has to be stopped"
	case victims.Preempts:
		return "could go, and the plan does without it"
	}
	return "no law keeps it by itself, but that does not make room for all members"
}

// victimOfJob says why a victim goes.
func victimOfJob(v *victims.Victim) string {
	text := "victim"
	if v.ForNode || v.ForHeadroom || v.ForQuota {
		text += ": makes room " + v.Purpose()
	}
	switch {
	case v.Whole:
		text += "; it goes with all of job " + plain.Name(v.Job)
	case v.Job != "":
		text += "; job " + plain.Name(v.Job) + " has more members than it needs"
	}
	return text
}

// keptFromJob says which law keeps a task.
func (d *drawing) keptFromJob(v *victims.Violation) string {
	amount := func(n int64) string {
		t, _ := d.cluster.Schema().Index(v.Type)
		return vectors.Text(d.cluster.Schema(), t, n)
	}
	switch v.Law {
	case finding.LawPriority:
		return fmt.Sprintf("its effective priority is %d, and only up to %d may be taken (law 6)", v.Have, v.Want)
	case finding.LawGuarantee:
		return fmt.Sprintf("%s needs it for its guarantee: %s would have %s left, of %s (law 2)", plain.Name(v.Queue),
			plain.Line(v.Type), amount(v.Have), amount(v.Want))
	case finding.LawBudget:
		return fmt.Sprintf("budget %s has %d left", plain.Name(v.Budget), v.Want)
	}
	if text := rulebook.RuleOfLaw(v.Law).Picture; text != "" {
		return text
	}
	return "it may not go: " + plain.Line(v.String())
}
