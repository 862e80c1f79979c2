// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// notJudged is the error that a proposal cannot be judged.
func (r *runner) notJudged(at *Path, why string) error {
	return r.doc.Fail(at, "", fmt.Errorf("%w: %s", ErrValue, why))
}

// none reports whether a proposal is a refusal.
func (p *Proposal) none() bool {
	return p.Node == "" && len(p.Victims) == 0 && len(p.Placements) == 0
}

// takes reports whether a proposal has a task among its victims.
func (p *Proposal) takes(key string) bool {
	return slices.ContainsFunc(p.Victims, func(ref Ref) bool { return ref.Key == key })
}

// noRow is the row of what is not there.
const noRow = -1

// row returns the row of a running task, or noRow. The auditor has a word for
// that.
func (r *runner) row(key string) victims.TaskID {
	if id, ok := r.cluster.Lookup(key); ok {
		return id
	}
	return noRow
}

// judgeAsk judges the plan that is proposed for an ask, if there is one and the
// run is to judge.
func (r *runner) judgeAsk(s *Step, q *Request) error {
	if !r.judging || q.Proposed == nil {
		return nil
	}
	switch {
	case q.Repeat > 0:
		return r.notJudged(q.Proposed.At, "it is not clear for which of the repeated asks this is")
	case q.Proposed.Placements != nil:
		return r.notJudged(q.Proposed.At.Field("placements"), "an ask has a node; placements are of a job")
	}
	d := &s.Asked.Decision
	j := &Judged{}
	s.Judged = j
	if d.Outcome != victims.Refused {
		j.Least = &d.Plan.Cost
	}
	proven := *s.Result.Proven || d.Outcome == victims.Fits || d.Outcome == victims.Waits
	if q.Proposed.none() {
		j.refusal(d.Outcome, proven)
		return nil
	}
	plan := victims.Plan{Ask: d.Plan.Ask}
	if q.Proposed.Node != "" {
		plan.Places = []victims.Place{{Node: r.node(q.Proposed.Node)}}
	}
	for _, ref := range q.Proposed.Victims {
		id := r.row(ref.Key)
		plan.Victims = append(plan.Victims, victims.Victim{Task: id, Key: ref.Key})
	}
	if r.auditAsk(j, &plan); j.Verdict == Breaks {
		return nil
	}
	if err := r.price(j, &plan, q.Proposed); err != nil {
		return r.taskError(q.Ask.At, plan.Ask.Key, plan.Ask.Size, err)
	}
	j.OwnLeaf = j.OwnLeaf && !lent.To(d).Second()
	j.compare(&r.planner.Options, d.Outcome, proven)
	return nil
}

// refusal judges a refusal.
func (j *Judged) refusal(ours victims.Outcome, proven bool) {
	j.Verdict, j.Proven = Refuses, proven
	if ours == victims.Refused {
		j.Verdict = Same
	}
}

// auditAsk notes the laws that a plan breaks. The options are those of the planner
// that has decided the ask.
func (r *runner) auditAsk(j *Judged, plan *victims.Plan) {
	auditor := victims.Auditor{
		Cluster: r.cluster, Options: r.planner.Options,
	}
	for _, v := range auditor.Audit(nil, &victims.Decision{Plan: *plan}, r.now) {
		j.breaks(v)
	}
}

// breaks notes a law that is broken.
func (j *Judged) breaks(v victims.Violation) {
	j.Verdict, j.Broken = Breaks, append(j.Broken, Broken{Law: v.Law, Number: finding.Number(v.Law), Text: v.String()})
}

// price works out what a lawful plan costs. A lawful plan is minimal; so it is
// the only one if the ask may run on no other node and no other task can be
// taken, and then the planner says what it costs.
func (r *runner) price(j *Judged, plan *victims.Plan, p *Proposal) error {
	var planner jobs.Planner
	r.setPlanner(&planner)
	planner.Moves = ""
	planner.Filter = func(q *victims.Question) bool { return q.Node == plan.Places[0].Node }
	planner.Blockers, planner.Exempt = r.planner.Blockers, p.sparesOthers
	var d victims.Decision
	if err := planner.Decide(&d, &plan.Ask, r.now); err != nil {
		return err
	}
	j.Outcome, j.Cost, j.OwnLeaf = d.Outcome, &d.Plan.Cost, lent.To(&d).Second()
	return nil
}

// sparesOthers exempts all tasks but the victims of a proposal.
func (p *Proposal) sparesOthers(e *victims.Question) (until time.Time, exempt bool) {
	return time.Time{}, !p.takes(e.Cluster.Key(e.Task))
}

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
	plan, err := r.jobPlanOf(&d.Plan.Ask, q.Proposed)
	if err != nil {
		return err
	}
	if r.auditJob(j, q.Job, plan); j.Verdict == Breaks {
		return nil
	}
	if err := r.priceJob(j, plan, q); err != nil {
		return r.jobError(q.Job, err)
	}
	j.compare(&r.planner.Options, d.Outcome, *s.Result.Proven)
	return nil
}

// jobPlanOf returns a proposal as package jobs has plans.
func (r *runner) jobPlanOf(job *victims.Ask, p *Proposal) (*victims.Plan, error) {
	plan := &victims.Plan{Ask: *job}
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
			further := len(plan.Places) >= missing
			plan.Places = append(plan.Places, victims.Place{Member: i, Node: r.node(name), Extra: further})
		}
	}
	if len(plan.Places) < len(p.Placements) {
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
	return id != noRow && slices.Contains([]victims.State{victims.Releasing, victims.Marked}, r.cluster.State(id))
}

// auditJob notes the laws that a plan breaks.
func (r *runner) auditJob(j *Judged, job *Job, plan *victims.Plan) {
	p := r.jobPlanner(job)
	auditor := victims.Auditor{Cluster: r.cluster, Options: p.Options}
	for _, v := range auditor.Audit(nil, &victims.Decision{Plan: *plan}, r.now) {
		j.breaks(v)
	}
}

// priceJob is price for a job. Every member becomes a class of its own, which
// may run on one node.
func (r *runner) priceJob(j *Judged, plan *victims.Plan, q *Request) error {
	job := plan.Ask
	job.Members = slices.Clone(job.Members)
	for i := range job.Members {
		job.Members[i].Class = i
	}
	planner := r.jobPlanner(q.Job)
	planner.Exempt = q.Proposed.sparesOthers
	planner.Filter = func(q *victims.Question) bool {
		there := func(at victims.Place) bool { return at.Member == q.Member.Class && at.Node == q.Node }
		return slices.ContainsFunc(plan.Places, there)
	}
	var d victims.Decision
	if err := planner.Decide(&d, &job, r.now); err != nil {
		return err
	}
	j.Outcome, j.Cost = d.Outcome, &d.Plan.Cost
	return nil
}
