// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"slices"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// This file explains decisions about jobs and quotas: of each task that is no
// victim, the auditors say whether a law keeps it.

// explained reports whether the next step is to be explained.
func (r *runner) explained() bool { return r.explain != nil && r.explain(len(r.steps)) }

// keptFrom returns, for each running task that a plan for a job does not take, the
// first law that it alone would break as a victim. Who breaks none is left out.
func (r *runner) keptFrom(planner *jobs.Planner, p *Placed) (kept []victims.Violation) {
	auditor := victims.Auditor{Cluster: r.cluster, Options: planner.Options}
	auditor.Filter = nil // where members may run says nothing of tasks
	plan := victims.Plan{Ask: p.Decision.Plan.Ask}
	var found []victims.Violation
	for _, id := range r.others(p.Victims) {
		t := r.cluster.TaskView(id)
		// An audit needs a place to begin with; which one is of no matter here.
		plan.Places = append(plan.Places[:0], victims.Place{Node: t.Node})
		plan.Victims = append(plan.Victims[:0], victims.Victim{Task: id, Key: t.Key})
		found = slices.DeleteFunc(auditor.Audit(found[:0], &victims.Decision{Plan: plan}, r.now), func(v victims.Violation) bool {
			return slices.Contains(ofPlans, v.Law)
		})
		if v, broken := keeping(found, t.Key); broken {
			kept = append(kept, v)
		}
	}
	return kept
}

// ofPlans are laws that depend on where members are placed and on who else goes, and law 5,
// for which law 2 stands.
var ofPlans = []string{finding.LawHelpful, finding.LawNearby, finding.LawOptedOut, finding.LawSurplus}

// law4 notes what guarantees say to a job without room.
func (r *runner) law4(p *Placed) {
	d, tree := &p.Decision, r.cluster.Tree()
	var sum, most resources.Vector
	for _, m := range r.required(d) {
		sum = resources.Add(sum, sum, m.Size)
		most = resources.Max(most, most, m.Size)
	}
	for t := range resources.Positive(sum).All() {
		if q, ok := tree.Governing(d.Plan.Ask.Queue, t); ok {
			g, _ := tree.Guaranteed(q).Bound(t)
			p.Law4 = append(p.Law4, Governed{t, q, g, tree.Effective(nil, q).At(t), sum.At(t) - most.At(t)})
			p.Needy = max(p.Needy, q) // on a path the lower queue has the larger number
		}
	}
}

// required returns the required members without a place for which victims were looked
// for, or were not because of a law: none of a job that has room.
func (r *runner) required(d *victims.Decision) (members []victims.Member) {
	job := &d.Plan.Ask
	switch d.Outcome {
	case victims.Preempts:
		for _, at := range d.Plan.Places {
			if !at.Extra {
				members = append(members, job.Members[at.Member])
			}
		}
	case victims.Refused:
		for _, m := range job.Members {
			if !r.placed(job, m.Key) && len(members) < d.Refusal.Wanted {
				members = append(members, m)
			}
		}
	}
	return members
}

// keptWithin returns, for each running task that an enforcement does not take, the
// first law that it would break beside the victims. Who breaks none is left out.
func (r *runner) keptWithin(enforcer *quota.Enforcer, e *Enforced) (kept []victims.Violation) {
	auditor := victims.Auditor{Cluster: r.cluster, Options: enforcer.Options}
	trial := e.Decision
	var found []victims.Violation
	for _, id := range r.others(e.Victims) {
		t := r.cluster.TaskView(id)
		trial.Plan.Victims = append(slices.Clone(e.Decision.Plan.Victims), victims.Victim{Task: id, Key: t.Key})
		found = auditor.Audit(found[:0], &trial, trial.Plan.At)
		if v, broken := keeping(found, t.Key); broken {
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

// keeping returns the first law that keeps a task from being a victim, of those that are
// broken with it.
func keeping(found []victims.Violation, key string) (v victims.Violation, broken bool) {
	of := slices.IndexFunc(found, func(v victims.Violation) bool {
		return v.Victim == key && v.Law != finding.LawMinimal || v.Law == finding.LawGuarantee || v.Law == finding.LawBudget
	})
	if of < 0 {
		return v, false
	}
	v = found[of]
	v.Victim = key
	return v, true
}
