// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/internal/judge/ratio"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/toleration"
	"github.com/go-preempt/preempt/victims"
)

// packages measures what is decided beside asks.
func (r *report) packages() {
	section := r.section("quotas, jobs, shares and toleration")
	section.add(r.quotas(10).atMost(10))
	section.add(r.quotas(4))
	for _, nodes := range []int{min(50, r.big), min(500, r.big), r.big} {
		for _, order := range []quota.Order{quota.Fewest, quota.FewestOfAll} {
			section.add(r.fewest(nodes, order))
		}
	}
	for _, members := range []int{8, 64} {
		section.add(r.job(members).atMost(10))
	}
	section.add(r.entitled(r.big, min(8, r.members)).atMost(10))
	if r.million > 0 {
		section.add(r.entitled(r.million/10, r.members).atMost(1000))
	}
	section.add(r.racks(0).atMost(10))
	section.add(r.racks(2).atMost(10))
	section.add(r.shares().atMost(1))
	section.add(r.unequal(min(256, r.big)).atMost(200))
	section.add(r.unequal(min(1024, r.big)).atMost(1000))
	for _, row := range r.exemptions() {
		section.add(row)
	}
}

// quotas enforces a max of the root that is one part below what is used.
func (r *report) quotas(parts int64) Row {
	w := workload.W{Nodes: r.big, Tasks: 20, Tree: workload.Tree4x1000}
	c := w.Build()
	used := c.Tree().Usage(queue.Root)
	most := resources.Limit{Value: ratio.OfVector(used, parts-1, parts), Defined: 1}
	e := quota.Enforcer{Cluster: c}
	must(c.SetMax(queue.Root, most))
	var d victims.Decision
	nanos := r.clock.least(func() { must(e.Enforce(&d, queue.Root, workload.Now)) })
	return Row{
		Name:   fmt.Sprintf("a max lowered by 1/%d enforced over %d tasks in 1000 leaves", parts, c.TaskLen()),
		Figure: nanos / 1e6, Unit: "ms",
		Remark: fmt.Sprintf("%v, %s", d.Enforcement.Result, counted(len(d.Plan.Victims))),
	}
}

// fewest enforces a max of the root that is a tenth below what is used by an order of fewest
// victims, and tells how many the default order takes.
func (r *report) fewest(nodes int, order quota.Order) Row {
	c := workload.W{Nodes: nodes, Tasks: 20, Tree: workload.Tree4x100}.Build()
	must(c.SetMax(queue.Root, resources.Limit{Value: ratio.OfVector(c.Tree().Usage(queue.Root), 9, 10), Defined: 1}))
	var walk, d victims.Decision
	must((&quota.Enforcer{Cluster: c}).Enforce(&walk, queue.Root, workload.Now))
	e := quota.Enforcer{Cluster: c, Order: order}
	nanos := r.clock.least(func() { must(e.Enforce(&d, queue.Root, workload.Now)) })
	return Row{
		Name:   fmt.Sprintf("a max lowered by 1/10 enforced over %d tasks in 100 leaves, %s", c.TaskLen(), order),
		Figure: nanos / 1e6, Unit: "ms",
		Remark: fmt.Sprintf("%s, youngest first %d", counted(len(d.Plan.Victims)), len(walk.Plan.Victims)),
	}
}

// job places a job of equal members of one unit.
func (r *report) job(members int) Row {
	w := workload.W{Nodes: r.small, Tasks: 10, Tree: workload.Tree4x100}
	c := w.Build()
	ask := w.Ask(c, 1)
	row := r.place(c, members, func(int) resources.Vector { return ask.Size })
	row.Name = fmt.Sprintf("a job of %d members placed on %d nodes of 10 tasks", members, r.small)
	return row
}

// entitled places a job of equal members of 4 units by guarantee on nodes of 30 tasks.
func (r *report) entitled(nodes, members int) Row {
	w := workload.W{Nodes: nodes, Tasks: r.tasks, Tree: workload.Tree4x100}
	c := w.Build()
	s := w.Subject(c, 4)
	p := jobs.Planner{Options: s.Planner.Options, Cluster: c}
	job := victims.Ask{Key: "job", Application: s.Ask.Application, Queue: s.Ask.Queue, PendingSince: s.Ask.PendingSince}
	for i := range members {
		job.Members = append(job.Members, victims.Member{Key: fmt.Sprint("job-", i), Size: s.Ask.Size})
	}
	var d victims.Decision
	nanos := r.clock.least(func() { must(p.Decide(&d, &job, workload.Now)) })
	return Row{
		Name:   fmt.Sprintf("a job of %d members of 4 units each, by guarantee, on %d nodes of %d tasks", members, nodes, r.tasks),
		Figure: nanos / 1e6, Unit: "ms",
		Remark: fmt.Sprintf("%v, %s, proof: %v", d.Outcome, counted(len(d.Plan.Victims)), d.Plan.Proof),
	}
}

// unequal places a job of members that all differ, of half a unit to two.
func (r *report) unequal(members int) Row {
	w := workload.W{Nodes: r.big, Tasks: 10, Tree: workload.Tree4x100}
	c := w.Build()
	ask := w.Ask(c, 1)
	row := r.place(c, members, func(i int) resources.Vector {
		return ratio.OfVector(ask.Size, int64(members+3*i), int64(2*members))
	})
	row.Name = fmt.Sprintf("a job of %d members of as many sizes placed on %d nodes of 10 tasks", members, r.big)
	return row
}

// place places a job of leaf 0 that is more important than all others.
func (r *report) place(c *victims.Cluster, members int, size func(i int) resources.Vector) Row {
	job := victims.Ask{Key: "job", Application: "job", Queue: workload.Leaf0(c.Tree()), Priority: 100}
	for i := range members {
		job.Members = append(job.Members, victims.Member{Key: fmt.Sprint("job-", i), Size: size(i)})
	}
	p := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: c}
	var d victims.Decision
	nanos := r.clock.least(func() { must(p.Decide(&d, &job, workload.Now)) })
	return Row{
		Figure: nanos / 1e6, Unit: "ms",
		Remark: fmt.Sprintf("%v, %s, proof: %v", d.Outcome, counted(len(d.Plan.Victims)), d.Plan.Proof),
	}
}

// exemptions measures the check of a policy, and what it adds to a decision.
func (r *report) exemptions() []Row {
	const calls = 1000
	policy := toleration.Policy{MinimumPreemptablePriority: 10, Seconds: 60}
	check := r.clock.least(func() {
		for range calls {
			if _, exempt := policy.Until(workload.Now, 20); exempt {
				panic("ratios: a wrong answer")
			}
		}
	})
	w := workload.W{Nodes: r.small, Tasks: r.tasks, Tree: workload.Tree4x100}
	s := w.Subject(w.Build(), 4)
	s.Planner.Exempt = func(e *victims.Question) (time.Time, bool) {
		return policy.Until(e.Cluster.Scheduled(e.Task), e.Ask.Priority)
	}
	decide := r.clock.least(s.Decide)
	return []Row{
		Row{Name: "a toleration policy checked", Figure: check / calls, Unit: "ns"}.atMost(20),
		Row{
			Name: "allocations of a decision with an exemption function", Figure: allocations(s.Decide),
			Remark: duration(decide) + " for " + nameOf(w, 4),
		}.atMost(0),
	}
}
