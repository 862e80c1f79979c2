// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// Quota is a law of plans for jobs: the formulas hold once the victims have gone.
const Quota Law = "quota"

// forbids returns the first law about a single victim that keeps a task from
// being one, or "".
func (h *jobJudge) forbids(v *world.Task) Law {
	switch {
	case v.State.Leaving(), v.RequiredNode, v.NonPreemptible:
		return Candidate
	case h.isKin(v):
		return Law3
	case h.outside(v.Queue) && v.Queue != h.c.Job.Queue && h.inReach(v.Queue):
		return Law4
	case h.outside(v.Queue):
		return Law7
	case h.disabled(v.Queue):
		return Disabled
	case !h.c.ByPriority && !(h.own && h.owns(v.Queue)) && h.insideStarving(v.Queue):
		return Storm
	case h.tooHigh(v):
		return Law6
	case h.early(v) != "":
		return Exempt
	}
	return ""
}

// isKin reports whether a task is of the job, or of its application.
func (h *jobJudge) isKin(t *world.Task) bool {
	return t.Job == h.c.Job.Name || t.Application != "" && t.Application == h.c.Job.Application ||
		slices.ContainsFunc(h.c.Job.Members, func(m world.Member) bool { return m.Key == t.Key })
}

// stopped returns the running jobs that a set of victims stops, and those that
// it would leave half dead. A job that keeps its minimum is neither.
func (h *jobJudge) stopped(victims []*world.Task) (whole, half []string) {
	gone := make(map[string]int)
	for _, v := range victims {
		if v.Job != "" {
			gone[v.Job]++
		}
	}
	for job, n := range gone {
		switch staff := len(staff(h.w, job)); {
		case staff-n >= h.c.Minimums[job]:
		case n == staff:
			whole = append(whole, job)
		default:
			half = append(half, job)
		}
	}
	slices.Sort(whole)
	slices.Sort(half)
	return whole, half
}

// unlawful returns the first law, but for those about single victims, that the
// set of victims breaks wherever the members go, or "".
func (h *jobJudge) unlawful(victims []*world.Task) Law {
	if _, half := h.stopped(victims); len(half) > 0 {
		return Gang
	}
	after := h.later.without(victims)
	switch {
	case len(h.overMax(after)) > 0:
		return Headroom
	case len(h.notAdmitted(after, h.ask.Size)) > 0:
		return Quota
	}
	if law := h.beyondCap(victims); law != "" {
		return law
	}
	return h.limits(victims)
}

// limits returns the first law that more victims can only break more: no hard
// budget loses more than it has left, and law 2.
func (h *jobJudge) limits(victims []*world.Task) Law {
	switch {
	case !h.holds("", victims, (*docket).budgets):
		return Budget
	case !h.holds("", victims, (*docket).guarantees):
		return Law2
	}
	return ""
}

// JobBreaks returns the laws that a plan for a job does not hold to, each once:
// nothing, if the members of the minimum may run at those places, in their
// order, once the victims have gone. It does not ask who may trigger.
func JobBreaks(c *world.JobCase, places, victims []string) (broken []Law) {
	h := newJobJudge(c)
	if broken = h.jobBreaks(places, victims); len(broken) > 0 && !c.ByPriority && h.o.OwnLeaf != "" {
		h.judge = h.again()
		broken = h.jobBreaks(places, victims)
	}
	return broken
}

// jobBreaks is JobBreaks for a stage.
func (h *jobJudge) jobBreaks(places, victims []string) (broken []Law) {
	tasks := h.named(victims)
	report := func(law Law) {
		if law != "" && !slices.Contains(broken, law) {
			broken = append(broken, law)
		}
	}
	if len(tasks) != len(victims) {
		report(Candidate) // unknown, or twice
	}
	for _, v := range tasks {
		report(h.forbids(v))
	}
	report(h.unlawful(tasks))
	if !h.together(places) || !h.seats(places, h.later.without(tasks)) {
		report(Node)
	}
	for _, less := range h.parts(tasks) {
		if h.unlawful(less) == "" && h.seats(places, h.later.without(less)) {
			report(Minimal)
		}
	}
	return broken
}

// FitsAt reports whether the members of the minimum may run at those places, in
// their order, as things are.
func FitsAt(c *world.JobCase, places []string) bool {
	h := newJobJudge(c)
	return h.together(places) && h.seats(places, h.now) && len(h.overMax(h.now)) == 0 && len(h.notAdmitted(h.now, h.ask.Size)) == 0
}

// seats reports whether the members find room at those places in some state.
func (h *jobJudge) seats(places []string, s stock) bool {
	for nodes := range h.seatings(s) {
		if slices.Equal(h.names(nodes), places) {
			return true
		}
	}
	return false
}
