// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"slices"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// judgeJob judges the plan that is proposed for a job, if there is one and the
// run is to judge.
func (r *runner) judgeJob(s *Step, q *Request) error {
	if !r.judging || q.Proposed == nil {
		return nil
	}
	if q.Proposed.Node != "" {
		return r.notJudged(q.Proposed.At.Field("node"), "a job has placements; a node is of an ask")
	}
	d := &s.Placed.Decision
	j := &Judged{}
	s.Judged = j
	if d.Outcome != victims.Refused {
		j.Least = &d.Plan.Cost
	}
	if q.Proposed.none() {
		j.refusal(d.Outcome, *s.Result.Proven)
		return nil
	}
	plan, err := r.jobPlanOf(&d.Plan.Job, q.Proposed)
	if err != nil {
		return err
	}
	if r.auditJob(j, q.Job, plan); j.Verdict == Breaks {
		return nil
	}
	if err := r.priceJob(j, plan, q); err != nil {
		return r.jobError(q.Job, err)
	}
	j.compare(d.Outcome, *s.Result.Proven)
	return nil
}

// jobPlanOf returns a proposal as package jobs has plans.
func (r *runner) jobPlanOf(job *jobs.Job, p *Proposal) (*jobs.Plan, error) {
	plan := &jobs.Plan{Job: *job}
	missing := job.MinMembers // of the minimum; the members after these come further
	if missing == 0 {
		missing = len(job.Members)
	}
	for i := range job.Members {
		if key := job.Members[i].Key; r.placed(job, key) && !r.leaves(key) {
			missing--
		}
	}
	for i := range job.Members {
		if name, ok := p.Placements[job.Members[i].Key]; ok {
			further := len(plan.Placements) >= missing
			plan.Placements = append(plan.Placements, jobs.Placement{Member: i, Node: r.node(name), Further: further})
		}
	}
	if len(plan.Placements) < len(p.Placements) {
		return nil, r.notJudged(p.At.Field("placements"), "not all of these are members of the job")
	}
	for _, ref := range p.Victims {
		plan.Victims = append(plan.Victims, victims.Victim{Task: r.row(ref.Key), Key: ref.Key})
	}
	return plan, nil
}

// leaves reports whether a task is leaving.
func (r *runner) leaves(key string) bool {
	id := r.row(key)
	return id != noRow && slices.Contains([]victims.State{victims.Releasing, victims.Preempting}, r.cluster.State(id))
}

// auditJob notes the laws that a plan breaks.
func (r *runner) auditJob(j *Judged, job *Job, plan *jobs.Plan) {
	p := r.jobPlanner(job)
	auditor := jobs.Auditor{Cluster: r.cluster, ByPriority: p.ByPriority, Rules: p.Rules, Allowances: p.Allowances}
	for _, v := range auditor.Audit(nil, plan, r.now) {
		j.breaks(v)
	}
}

// priceJob is price for a job. Every member becomes a class of its own, which
// may run on one node.
func (r *runner) priceJob(j *Judged, plan *jobs.Plan, q *Request) error {
	job := plan.Job
	job.Members = slices.Clone(job.Members)
	for i := range job.Members {
		job.Members[i].Class = i
	}
	planner := r.jobPlanner(q.Job)
	planner.Exempt = q.Proposed.sparesOthers
	planner.Filter = func(class int, node victims.NodeID) bool {
		there := func(at jobs.Placement) bool { return at.Member == class && at.Node == node }
		return slices.ContainsFunc(plan.Placements, there)
	}
	var d jobs.Decision
	if err := planner.Decide(&d, &job, r.now); err != nil {
		return err
	}
	j.Outcome, j.Cost = d.Outcome, &d.Plan.Cost
	return nil
}
