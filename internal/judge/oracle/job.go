// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// A JobResult is what was decided about a job, in plain words.
type JobResult struct {
	Outcome string

	// For any outcome but Refused.
	Placements []Placement // of the members that had no place and have one now, in their order
	Victims    []string    // sorted by key
	Cost       JobCost     // of a plan with victims
	OwnLeaf    bool        // some victims are of the job's own leaf

	// For Refused. Counts and Candidates are there where victims were looked for.
	Reason      string
	Late        bool           // it is that of the second stage
	AlsoWhere   []string       // every queue and type of which Also is true
	Also        string         // the reason of the first stage, if Reason is of the second one
	Where       []string       // every queue and type whose quota is the reason, as "path type"
	Counts      map[string]int // tasks by the rule that kept them, without zeros
	ProtectedBy string         // of the count guarantee, as "path type"
	Cause       string         // of the first required member that has one; see judge.cause
	Candidates  int
	RetryAt     time.Time
}

// A JobVictim is a task of a plan, and what for: whether it has some of what its
// node is short of for the members there, and of what a queue above it lacks
// under its max, and under the max of its quota.
type JobVictim struct {
	Key                            string
	Rank                           int64
	Job                            string
	Whole                          bool // it falls with all of its job
	ForNode, ForHeadroom, ForQuota bool
}

// A Placement is the node that a member of the job was given.
type Placement struct {
	Member, Node string
	Further      bool // beyond the minimum
}

// The reasons for which a job is refused, in the words of package jobs.
const (
	InFlight       = "in-flight"        // members are leaving, and the minimum is not without them; or grants cannot start yet
	QuotaMin       = "quota-min"        // it may not trigger preemption, for the min of a quota
	QuotaMax       = "quota-max"        // or for a max, which no victims could change
	MayNotPreempt  = "may-not-preempt"  // nobody may go for it
	NothingInReach = "nothing-in-reach" // no leaf is in its fence, and enabled
	NoVictims      = "no-victims"       // no lawful set makes room
	Domain         = "domain"           // there is no such domain, or members are in different ones
)

// DecideJob decides a job by definition (DESIGN.md, Jobs: plans). The cost is
// exponential in the number of tasks that could be victims, and in the number
// of members.
func DecideJob(c *world.JobCase) JobResult {
	h := newJobJudge(c)
	r := h.decide()
	if r.Outcome != Refused || r.Reason == InFlight {
		return r
	}
	for _, m := range h.members {
		if r.Cause == "" {
			r.Cause = h.cause(m.Size, func(n *world.Node) bool { return h.mayUse(n, m) })
		}
	}
	return r
}

func (h *jobJudge) decide() JobResult {
	ready := h.couldStart()
	if h.lacking > 0 || len(h.members) == 0 && !ready {
		return JobResult{Outcome: Refused, Reason: InFlight}
	}
	if len(h.domains()) == 0 {
		return JobResult{Outcome: Refused, Reason: Domain}
	}

	// Lazy: whoever fits without victims takes none.
	if nodes, ok := h.fits(h.now); ok && ready { // they start together
		return h.placements(JobResult{Outcome: Fits}, h.now, nodes)
	}
	if nodes, ok := h.fits(h.later); ok {
		return h.placements(JobResult{Outcome: Waits}, h.later, nodes)
	}

	// The cheapest of all lawful sets and placements, in the first stage that has any.
	first, cost, ok := h.stage()
	told, also := first, ""
	if second := h.second(first); !ok && second != nil {
		var refusal *JobResult
		if refusal, cost, ok = second.stage(); !ok && second.hasOthers() {
			// What could be done about the own leaf is what is told.
			told, refusal.Late = refusal, true
			if slices.Contains([]string{"over-max", "not-guaranteed", "over-guarantee", "headroom-inside"}, first.Reason) {
				also, told.AlsoWhere = first.Reason, first.Where
			}
		}
	}
	if ok {
		r := JobResult{Outcome: Preempts, Victims: cost.Keys, Cost: cost, OwnLeaf: h.takesOwn(h.named(cost.Keys))}
		return h.placements(r, h.after(cost.Keys), cost.Nodes)
	}
	told.Also = also
	if h.fullDomain(told.Reason) {
		told.Reason, told.Where, told.Also, told.AlsoWhere = Domain, nil, "", nil
	}
	if told.RetryAt.IsZero() && (len(told.Counts) > 0 || h.second(first) != nil) {
		told.RetryAt = h.wake()
	}
	return *told
}

// stage decides with the candidates of one stage: the cost of the cheapest plan, or else
// why there is none, but for the time of the next attempt that exemptions bring.
func (h *jobJudge) stage() (refusal *JobResult, best JobCost, ok bool) {
	reason, where, retry := h.preconditions()
	if reason != "" {
		return &JobResult{Outcome: Refused, Reason: reason, Where: where, RetryAt: retry}, best, false
	}
	if best, ok = h.best(); ok {
		return nil, best, true
	}
	r := h.noPlan()
	return &r, best, false
}

// second returns the judge of the second stage, in which tasks of the own leaf are
// candidates, or nil if there is none after such a refusal.
func (h *jobJudge) second(first *JobResult) *jobJudge {
	if first == nil || h.c.ByPriority || h.own || h.o.OwnLeaf == "" || slices.Contains(untouched, first.Reason) {
		return nil
	}
	second := *h
	second.judge = h.again()
	return &second
}

// hasOthers reports whether the own leaf, or branch, has tasks of other applications.
func (h *jobJudge) hasOthers() bool {
	return slices.ContainsFunc(h.w.Tasks, func(t world.Task) bool {
		return h.owns(t.Queue) && t.Application != h.c.Job.Application
	})
}

// decidedJob returns whether there is a plan in any stage.
func (h *jobJudge) decidedJob() bool {
	first, _, ok := h.stage()
	if second := h.second(first); !ok && second != nil {
		_, _, ok = second.stage()
	}
	return ok
}
