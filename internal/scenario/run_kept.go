package scenario

import (
	"slices"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/victims"
)

// This file explains decisions about jobs and quotas: of each task that is no
// victim, the auditors say whether a law keeps it.

// explained reports whether the next step is to be explained.
func (r *runner) explained() bool { return r.explain != nil && r.explain(len(r.steps)) }

// keptFrom returns, for each running task that a plan for a job does not take, the
// first law that it alone would break as a victim. Who breaks none is left out.
func (r *runner) keptFrom(planner *jobs.Planner, p *Placed) (kept []jobs.Violation) {
	auditor := jobs.Auditor{
		Cluster: r.cluster, Trigger: planner.Trigger, StrictPriority: planner.StrictPriority, Quotas: planner.Quotas, Minimum: planner.Minimum, Exempt: planner.Exempt, OwnLeaf: planner.OwnLeaf,
	}
	plan := jobs.Plan{Job: p.Decision.Plan.Job}
	var found []jobs.Violation
	for _, id := range r.others(p.Victims) {
		t := r.cluster.TaskView(id)
		// An audit needs a place to begin with; which one is of no matter here.
		plan.Placements = append(plan.Placements[:0], jobs.Placement{Node: t.Node})
		plan.Victims = append(plan.Victims[:0], jobs.Victim{Task: id, Key: t.Key})
		found = auditor.Audit(found[:0], &plan, r.now)
		of := slices.IndexFunc(found, func(v jobs.Violation) bool {
			return v.Victim == t.Key && v.Law != jobs.LawMinimal || v.Law == jobs.LawGuarantee || v.Law == jobs.LawBudget
		})
		if of >= 0 {
			v := found[of]
			v.Victim, v.Task = t.Key, id
			kept = append(kept, v)
		}
	}
	return kept
}

// keptWithin returns, for each running task that an enforcement does not take, the
// first law that it would break beside the victims. Who breaks none is left out.
func (r *runner) keptWithin(enforcer *quota.Enforcer, e *Enforced) (kept []quota.Violation) {
	auditor := quota.Auditor{Cluster: r.cluster, Overshoot: enforcer.Overshoot, Miss: enforcer.Miss, Minimum: enforcer.Minimum}
	trial := e.Outcome
	var found []quota.Violation
	for _, id := range r.others(e.Victims) {
		t := r.cluster.TaskView(id)
		trial.Victims = append(slices.Clone(e.Outcome.Victims), victims.Victim{Task: id, Key: t.Key})
		found = auditor.Audit(found[:0], &trial)
		of := slices.IndexFunc(found, func(v quota.Violation) bool {
			return v.Key == t.Key && v.Law != quota.LawMinimal || v.Law == quota.LawGuarantee || v.Law == quota.LawBudget
		})
		if of >= 0 {
			v := found[of]
			v.Key = t.Key
			kept = append(kept, v)
		}
	}
	return kept
}

// others returns the tasks of the cluster that are not among some, without grants.
func (r *runner) others(taken []victims.Task) (rest []victims.TaskID) {
	goes := make(map[string]bool)
	for i := range taken {
		goes[taken[i].Key] = true
	}
	for id := range r.cluster.Tasks() {
		key := r.cluster.Key(id)
		if _, granted := r.cluster.LookupGrant(key); !granted && !goes[key] {
			rest = append(rest, id)
		}
	}
	return rest
}
