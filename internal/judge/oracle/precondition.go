// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// precondition returns the first reason why the ask may not look for victims,
// or "", and, if that is only a matter of time, when it no longer is.
func (j *judge) precondition() (reason string, retry time.Time) {
	required := j.ask.RequiredNode != ""
	delayed := j.ask.PendingSince.Add(j.delay(j.ask.Queue))
	early := !required && j.o.Now.Before(delayed)
	spaced := j.ask.LastAttempt.Add(j.o.Interval)
	soon := j.o.Interval > 0 && !j.ask.LastAttempt.IsZero() && j.o.Now.Before(spaced)
	known := slices.ContainsFunc(j.w.Nodes, func(n world.Node) bool { return n.Name == j.ask.RequiredNode })
	switch {
	case required && !known:
		return "unknown-node", time.Time{}
	case j.ask.MayNot:
		return "may-not-preempt", time.Time{}
	case early && soon && spaced.After(delayed):
		return "too-early", spaced
	case early:
		return "too-early", delayed
	case soon:
		return "too-soon", spaced
	}
	_, guaranteed := j.starving()
	switch {
	// A queue on the path is over its max in a type of the ask already.
	case len(j.where("over-max")) > 0:
		return "over-max", time.Time{}
	case required:
		return "", time.Time{}
	// Law 4: at least one type of the ask is governed, and each that is, is
	// under its guarantee there.
	case !guaranteed:
		return "not-guaranteed", time.Time{}
	case len(j.where("over-guarantee")) > 0:
		return "over-guarantee", time.Time{}
	// A max at E or below is what is short.
	case len(j.where("headroom-inside")) > 0:
		return "headroom-inside", time.Time{}
	case !j.reach():
		return "nothing-in-reach", time.Time{}
	}
	return "", time.Time{}
}

// where returns every queue and type of which a reason is true.
func (j *judge) where(reason string) (list []string) {
	e, _ := j.starving()
	for _, q := range j.path {
		for _, t := range j.wants {
			governing, _ := j.governing(t)
			most, bounded := j.queues[q].Max[t]
			switch {
			case reason == "over-max" && bounded && j.coming[q][t] > most,
				reason == "over-guarantee" && governing == q && j.coming[q][t]+j.before[t] >= j.queues[q].Guaranteed[t],
				reason == "headroom-inside" && world.Inside(q, e) && j.headroomNeed(q)[t] > 0:
				list = append(list, q+" "+t)
			}
		}
	}
	return list
}

// reach: some leaf is in reach, enabled and outside E.
func (j *judge) reach() bool {
	for _, q := range j.w.Queues() {
		if q.IsLeaf() && j.inReach(q.Path) && !j.disabled(q.Path) && !j.insideStarving(q.Path) {
			return true
		}
	}
	return false
}

// Precondition returns the reason for which nobody may go for the ask of a
// case, in the first decision, or "".
func Precondition(c *world.Case) string {
	reason, _ := newJudge(&c.World, &c.Ask, &c.Options).precondition()
	return reason
}
