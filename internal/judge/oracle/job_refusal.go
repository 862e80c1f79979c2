// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// preconditions returns the first reason why nobody may go for the job, or "", and if that
// is only a matter of time, when it no longer is.
func (h *jobJudge) preconditions() (reason string, where []string, retry time.Time) {
	if h.c.ByPriority {
		if reason, where = h.mayNot(); reason == "" {
			switch {
			case h.c.Job.MayNot:
				reason = MayNotPreempt
			case !slices.ContainsFunc(h.w.Queues(), func(q world.Place) bool { return q.IsLeaf() && h.inJobReach(q.Path) }):
				reason = NothingInReach
			}
		}
		return reason, where, retry
	}
	// In the second stage nobody asks for what was asked before, and headroom is what the
	// tasks of the own leaf make.
	if !h.own {
		if reason, retry = h.precondition(); reason != "" {
			return reason, h.where(reason), retry
		}
	} else if !slices.ContainsFunc(h.w.Queues(), func(q world.Place) bool { return q.IsLeaf() && h.inStage(q.Path) }) {
		return NothingInReach, nil, retry
	}
	reason, where = h.mayNot()
	return reason, where, retry
}

// mayNot returns the quotas that forbid the job to preempt.
func (h *jobJudge) mayNot() (reason string, where []string) {
	where = h.mayNotTrigger()
	switch {
	case len(where) > 0 && h.c.Job.NonPreemptible:
		return QuotaMin, where
	case len(where) > 0:
		return QuotaMax, where
	}
	return "", nil
}

// inStage reports whether tasks of a leaf may go as far as queues are concerned, in a job
// by guarantee.
func (h *jobJudge) inStage(leaf string) bool {
	if h.disabled(leaf) {
		return false
	}
	if leaf == h.c.Job.Queue {
		return h.own
	}
	return h.inReach(leaf) && (h.own && h.owns(leaf) || !h.insideStarving(leaf) && (!h.own || h.entitled()))
}

// outside reports whether the fence, in the words of the stage, keeps the tasks of a leaf.
func (h *jobJudge) outside(leaf string) bool {
	if leaf == h.c.Job.Queue {
		return !h.c.ByPriority && !h.own
	}
	return !h.inReach(leaf) || !h.c.ByPriority && h.own && !h.owns(leaf) && !h.entitled()
}

// tooHigh reports whether law 6 keeps a task.
func (h *jobJudge) tooHigh(t *world.Task) bool {
	strictly := h.c.ByPriority || h.o.StrictPriority || t.Queue == h.c.Job.Queue || h.own && h.owns(t.Queue)
	return h.rank(t) > 0 || strictly && h.rank(t) == 0
}

// inJobReach reports whether the tasks of a leaf may be taken as far as queues
// are concerned. Its own leaf is within reach of a job.
func (h *jobJudge) inJobReach(leaf string) bool {
	return (leaf == h.c.Job.Queue || h.inReach(leaf)) && !h.disabled(leaf)
}

// noPlan says why there is no plan for a job that may have one.
func (h *jobJudge) noPlan() JobResult {
	r := JobResult{Outcome: Refused, Counts: make(map[string]int)}
	r.Reason = h.obstacle(func(free *judge) bool {
		beyond := *h
		beyond.judge = free
		_, ok := beyond.best()
		return ok
	})
	var free, together []*world.Task
	var kept [][]*world.Task
	for i := range h.w.Tasks {
		t := &h.w.Tasks[i]
		switch rule := h.rule(t); rule {
		case "":
			free = append(free, t)
		case "guarantee":
			if kept = append(kept, []*world.Task{t}); !h.spare(t) {
				kept[len(kept)-1] = staff(h.w, t.Job)
			}
			fallthrough
		default:
			r.Counts[rule]++
		}
	}
	for _, t := range free {
		if r.Reason == NoVictims && h.heldTogether(t, free) {
			r.Counts["guarantee"]++
			together = free
		} else {
			r.Candidates++
		}
	}
	r.ProtectedBy = h.protector(kept, together)
	// The quota is checked with all eligible tasks gone.
	if where := h.notAdmitted(h.later.without(h.candidates()), h.ask.Size); len(where) > 0 {
		r.Reason, r.Where = QuotaMax, where
	}
	return r
}

// rule returns the first rule that keeps a task from being a victim, or "".
func (h *jobJudge) rule(t *world.Task) string {
	switch rule := h.early(t); {
	case t.State.Leaving():
		return "leaving"
	case t.RequiredNode:
		return "required-node"
	case h.isKin(t):
		return "same-application"
	case h.outside(t.Queue):
		return "fence"
	case h.disabled(t.Queue):
		return "disabled"
	case !h.c.ByPriority && !(h.own && h.owns(t.Queue)) && h.insideStarving(t.Queue):
		return "inside"
	case t.NonPreemptible:
		return "non-preemptible"
	case h.tooHigh(t):
		return "priority"
	case rule != "":
		return rule
	case !h.spare(t) && !h.mayStop(t.Job):
		return "gang"
	case !h.mayHelp(t):
		return "not-helping"
	}
	return h.keptBack(t)
}

// spare reports whether the task may go without its job: the job runs more
// members than its minimum, or there is none.
func (h *jobJudge) spare(t *world.Task) bool {
	return t.Job == "" || len(staff(h.w, t.Job)) > h.c.Minimums[t.Job]
}

// mayStop reports whether all members of a job may go together, as far as each
// is concerned.
func (h *jobJudge) mayStop(job string) bool {
	return job != "" && h.c.Minimums[job] > 0 &&
		!slices.ContainsFunc(h.w.Tasks, func(t world.Task) bool {
			return t.Job == job && !t.State.Leaving() && h.forbids(&t) != ""
		})
}

// mayHelp reports whether a task has some of what is wanted where it counts: on
// a node that may be given to a member, or below a queue of the path that is
// short.
func (h *jobJudge) mayHelp(t *world.Task) bool {
	for _, q := range h.path {
		if world.Inside(t.Queue, q) && (shares(t.Size, h.headroomNeed(q)) || shares(t.Size, h.quotaNeed(q))) {
			return true
		}
	}
	for _, n := range h.w.Nodes {
		for i := range h.c.Job.Members {
			if n.Name == t.Node && h.takes(&n, &h.c.Job.Members[i]) && shares(t.Size, h.ask.Size) {
				return true
			}
		}
	}
	return false
}

// keptBack returns the rule of sums that keeps a task: that it cannot go by
// itself, if its job spares it, nor with all of its job.
func (h *jobJudge) keptBack(t *world.Task) string {
	words := map[Law]string{Budget: "budget", Law2: "guarantee"}
	alone := Law("") // of a job that does not spare it
	if h.spare(t) {
		if alone = h.limits([]*world.Task{t}); alone == "" {
			return ""
		}
	}
	if !h.mayStop(t.Job) {
		return words[alone]
	}
	whole := h.limits(staff(h.w, t.Job))
	if whole == "" || alone == "" {
		return words[whole]
	}
	return words[alone]
}

// heldTogether reports whether law 2, in the words of the option of the own leaf,
// is what keeps a task that may go alone: all members would fit with every task
// gone that may, and a queue above this one would then lose too much in a type
// that the task uses.
func (h *jobJudge) heldTogether(t *world.Task, free []*world.Task) bool {
	if _, ok := h.fits(h.later.without(free)); !ok {
		return false
	}
	return !h.holds("", free, func(d *docket) {
		for _, q := range d.w.Queues() {
			for ty := range q.Guaranteed {
				if world.Inside(t.Queue, q.Path) && t.Size[ty] > 0 && !d.lawful(q.Path, ty, d.after(q.Path, ty)) {
					d.report(Law2, "%s of %s would lose too much", ty, q.Path)
				}
			}
		}
	})
}

// HasPlan reports whether there would be a plan, or room without one, if only
// the first n of the unplaced members of the minimum were to be placed.
func HasPlan(c *world.JobCase, n int) bool {
	return firstMembers(c, n).any()
}

// HasLatePlan is HasPlan for the stage of the own leaf.
func HasLatePlan(c *world.JobCase, n int) bool {
	h := firstMembers(c, n)
	h.judge = h.again()
	return h.any()
}

// firstMembers returns the judge of a case with the first n of its members only. What
// guarantees let the job do is for all of them to say.
func firstMembers(c *world.JobCase, n int) *jobJudge {
	h := newJobJudge(c)
	h.members = h.members[:n]
	ask := c.Job.Ask(&world.Member{Key: c.Job.Name, Size: sum(h.members)})
	all := h.judge
	h.judge = newJudge(&c.World, &ask, h.o)
	h.own, h.all = all.own, all
	return h
}
