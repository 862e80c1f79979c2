// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/bench/solvers/draws"
	"github.com/go-preempt/preempt/bench/solvers/rules"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// decide decides a job, cold, and says how long it took.
func decide(p *jobs.Planner, job *victims.Ask) (dec victims.Decision, took time.Duration, err error) {
	start := cpu()
	err = p.Decide(&dec, job, workload.Now)
	return dec, cpu() - start, err
}

// auditorOf is the library's auditor with the rules of a planner.
func auditorOf(p *jobs.Planner) *victims.Auditor {
	return &victims.Auditor{Cluster: p.Cluster, Options: p.Options}
}

// planJobs decides jobs only, and prints levels, hours lost and time.
func (p *program) planJobs() error {
	return p.eachJob(func(family string, d *draws.Job) error {
		dec, took, err := decide(&d.Planner, &d.Job)
		if err != nil || dec.Outcome == victims.Fits || dec.Outcome == victims.Waits {
			return err
		}
		if r := &dec.Refusal; dec.Outcome == victims.Refused {
			p.print("%s|%s|refused|%v|%v|%.2f|%d\n", family, d.Name, r.Reason, r.Proven, milliseconds(took), dec.Plan.Steps)
			return nil
		}
		j, err := rules.OfJob(&d.Planner, &d.Job, workload.Now)
		if err != nil {
			return err
		}
		if j.Facts.Refused != "" {
			p.print("%s|%s|DEFECT plan but %s\n", family, d.Name, j.Facts.Refused)
			return nil
		}
		plan, wrong := j.Read(&dec.Plan)
		if wrong != "" {
			p.print("%s|%s|DEFECT %s\n", family, d.Name, wrong)
			return nil
		}
		excess, _ := plan.Cost.Excess.Float64()
		p.print("%s|%s|plan|%v|%v|%.2f|%d|%.2f|%.5f\n", family, d.Name, dec.Plan.Proof, plan.Cost.Levels, milliseconds(took), dec.Plan.Steps, plan.Cost.Hours(), excess)
		return nil
	})
}

// auditJobs has the library's auditor and the rules look at each plan. It prints what is wrong.
func (p *program) auditJobs() error {
	plans, bad := make(map[string]int), make(map[string]int)
	err := p.eachJob(func(family string, d *draws.Job) error {
		dec, _, err := decide(&d.Planner, &d.Job)
		if err != nil || dec.Outcome != victims.Preempts {
			return err
		}
		plans[family]++
		wrong, err := wrongJob(d, &dec.Plan)
		if err == nil && wrong != "" {
			bad[family]++
			p.print("%s|proof=%s|%s\n", d.Name, dec.Plan.Proof, wrong)
		}
		return err
	})
	for _, family := range draws.JobFamilies {
		if plans[family] > 0 {
			p.print("%s plans %d wrong %d\n", family, plans[family], bad[family])
		}
	}
	return err
}

// wrongJob says what is wrong with a plan of the planner's, by the rules and by the auditor.
func wrongJob(d *draws.Job, plan *victims.Plan) (string, error) {
	j, err := rules.OfJob(&d.Planner, &d.Job, workload.Now)
	if err != nil {
		return "", err
	}
	var wrong []string
	if j.Facts.Refused != "" {
		wrong = append(wrong, "a plan, but "+j.Facts.Refused)
	} else if placed, why := j.Read(plan); why != "" {
		wrong = append(wrong, why)
	} else if why := placed.Cost.Differs(&plan.Cost); why != "" {
		wrong = append(wrong, why)
	}
	for _, v := range auditorOf(&d.Planner).Audit(nil, &victims.Decision{Plan: *plan}, workload.Now) {
		wrong = append(wrong, "auditor: "+v.String())
	}
	return strings.Join(wrong, "; "), nil
}

// printAsks prints what draws of asks are.
func (p *program) printAsks() error {
	return p.eachAsk(func(_ string, d *draws.Ask) error {
		p.print("%s %#v k=%d\n", d.Name, d.Hard, d.K)
		return nil
	})
}

// auditAsks has the library's auditor and the rules look at each plan. It prints what is wrong.
func (p *program) auditAsks() error {
	decided, plans, bad := 0, 0, 0
	err := p.eachAsk(func(_ string, d *draws.Ask) error {
		d.Subject.Decide()
		decided++
		if d.Subject.Decision.Outcome != victims.Preempts {
			return nil
		}
		plans++
		wrong, err := wrongAsk(d.Subject)
		if err == nil && wrong != "" {
			bad++
			p.print("%s|proof=%s|%s\n", d.Name, d.Subject.Decision.Plan.Proof, wrong)
		}
		return err
	})
	p.print("decided %d plans %d wrong %d\n", decided, plans, bad)
	return err
}

// wrongAsk says what is wrong with the plan of a decision, by the rules and by the auditor.
func wrongAsk(s *workload.Subject) (string, error) {
	f, err := rules.OfAsk(&s.Planner, &s.Ask, workload.Now)
	if err != nil {
		return "", err
	}
	plan := &s.Decision.Plan
	var wrong []string
	if f.Refused != "" {
		wrong = append(wrong, "a plan, but "+f.Refused)
	} else {
		set, err := f.Find(plan.Victims)
		if err != nil {
			return err.Error(), nil
		}
		node := f.At(plan.Places[0].Node)
		if why := f.Broken(node, set); why != "" {
			wrong = append(wrong, "unlawful: "+why)
		}
		c := f.CostOf(node, set)
		if why := c.Differs(&plan.Cost); why != "" {
			wrong = append(wrong, why)
		}
	}
	for _, v := range auditorOf(&s.Planner).Audit(nil, &victims.Decision{Plan: *plan}, workload.Now) {
		wrong = append(wrong, "auditor: "+v.String())
	}
	return strings.Join(slices.Compact(wrong), "; "), nil
}

// planOf writes victims for an ask on a node as the library has it.
func planOf(s *workload.Subject, f *rules.Facts, node int, set []int) victims.Plan {
	c := s.Planner.Cluster
	id := f.Nodes[node]
	return victims.Plan{Ask: s.Ask, Places: []victims.Place{{Key: s.Ask.Key, Node: id, NodeName: c.NodeName(id)}}, Victims: f.Victims(c, set)}
}
