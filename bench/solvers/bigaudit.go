// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// slow is how long a decision about a job may take until it is told.
const slow = 5 * time.Second

// A bigCount counts what was decided.
type bigCount struct {
	asks, plans, unlawful, unapplied int
	jobPlans, jobUnlawful            int
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// drawBig draws a large load.
func (p *program) drawBig(r *rand.Rand) workload.Hard {
	total := p.tasks[0] + r.IntN(max(1, p.tasks[1]-p.tasks[0]))
	per := pick(r, 5, 10, 30, 100, 300)
	return workload.Hard{
		Nodes: max(2, total/per), Tasks: per,
		Types: pick(r, 1, 2, 4, 8), Shapes: pick(r, 0, 0, 2, 5, 12, 30), Levels: pick(r, 0, 0, 1, 2, 3),
		OptOuts: pick(r, 0, 0, 10, 60), Priorities: pick(r, 0, 0, 3, 20), Gangs: pick(r, 0, 0, 0, 3, 8),
		Budgets: pick(r, 0, 0, 0, 5), OwnCosts: r.IntN(4) == 0, Labels: pick(r, 0, 0, 0, 4), OwnLeaf: r.IntN(6) == 0,
		Seed: r.Uint64(),
	}
}

// bigAudit decides on large random clusters until its time is over, applies the plans and
// prints what the auditor finds.
func (p *program) bigAudit() error {
	var n bigCount
	for i, end := uint64(p.from), time.Now().Add(p.time); time.Now().Before(end); i++ {
		r := rand.New(rand.NewPCG(i, 5))
		h := p.drawBig(r)
		c := h.Build()
		for _, k := range []int64{1, 3, 8, 20} {
			if err := p.bigAsk(&n, h, c, k); err != nil {
				return fmt.Errorf("%#v k=%d: %w", h, k, err)
			}
		}
		if p.jobs {
			if err := p.bigJob(&n, h, c, r); err != nil {
				return fmt.Errorf("%#v: %w", h, err)
			}
		}
	}
	p.print("%d asks, %d plans: %d unlawful, %d not applied; %d jobs' plans: %d unlawful\n", n.asks, n.plans, n.unlawful, n.unapplied, n.jobPlans, n.jobUnlawful)
	return nil
}

// bigAsk decides one ask and leaves the cluster as it was.
func (p *program) bigAsk(n *bigCount, h workload.Hard, c *victims.Cluster, k int64) error {
	s := h.Subject(c, k)
	s.Planner.Steps = p.steps
	s.Decide()
	n.asks++
	if s.Decision.Outcome != victims.Preempts {
		return nil
	}
	n.plans++
	plan := &s.Decision.Plan
	if v := auditorOf(&s.Planner).Audit(nil, &s.Decision, workload.Now); len(v) > 0 {
		n.unlawful++
		p.print("UNLAWFUL %#v k=%d proof %v victims %d: %.200s\n", h, k, plan.Proof, len(plan.Victims), fmt.Sprint(v))
	}
	if err := c.Apply(&s.Decision); err != nil {
		n.unapplied++
		p.print("NOT APPLIED %#v k=%d: %v\n", h, k, err)
		return nil
	}
	return c.Undo()
}

// bigJob decides one job.
func (p *program) bigJob(n *bigCount, h workload.Hard, c *victims.Cluster, r *rand.Rand) error {
	s := h.Subject(c, pick(r, int64(1), 3, 8))
	job := like(&s.Ask, pick(r, 2, 5, 16, 40))
	planner := jobs.Planner{Cluster: c, Options: s.Planner.Options}
	planner.Steps = p.steps
	d, took, err := decide(&planner, &job)
	if err != nil {
		return err
	}
	if took > slow {
		p.print("SLOW %#v members=%d %v\n", h, len(job.Members), took)
	}
	if d.Outcome != victims.Preempts {
		return nil
	}
	n.jobPlans++
	if v := auditorOf(&planner).Audit(nil, &d, workload.Now); len(v) > 0 {
		n.jobUnlawful++
		p.print("UNLAWFUL JOB %#v members=%d proof %v: %.200s\n", h, len(job.Members), d.Plan.Proof, fmt.Sprint(v))
	}
	return nil
}
