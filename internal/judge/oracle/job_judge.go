// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// jobJudge judges a case of a job, with what follows from that at once. It
// decides over one ask of all members of the minimum together, which is what
// queues see of a job.
type jobJudge struct {
	*judge
	c *world.JobCase

	members []*world.Member // the minimum: the first that are not placed
	further []*world.Member // those after them that are not placed either
	lacking int             // of the minimum, for they are leaving
	now     stock           // as things are
	later   stock           // once those already leaving have gone

	earlier []string // the nodes of members that were placed before these
	domain  []string // in which the members are placed; nil: in any that is deep enough
}

func newJobJudge(c *world.JobCase) *jobJudge {
	h := &jobJudge{c: c}
	minimum := c.Job.MinMembers
	if minimum == 0 {
		minimum = len(c.Job.Members)
	}
	var unplaced []*world.Member
	for i := range c.Job.Members {
		switch m := &c.Job.Members[i]; standing(&c.World, m.Key) {
		case placed:
			minimum--
		case unknown:
			unplaced = append(unplaced, m)
		}
	}
	first := min(max(minimum, 0), len(unplaced))
	h.members, h.further, h.lacking = unplaced[:first], unplaced[first:], max(minimum, 0)-first

	ask := c.Job.Ask(&world.Member{Key: c.Job.Name, Size: sum(h.members)})
	o := c.Options
	o.Minimums, o.VictimsOnNode = c.Minimums, false // an option of asks
	h.judge = newJudge(&c.World, &ask, &o)
	if h.before = before(h.members); c.InOrder && first > 0 {
		h.before = sum(h.members[:first-1])
	}
	if c.ByPriority {
		h.own = h.o.OwnLeaf != "" // one stage, in which its own leaf is within reach anyway
		if h.o.OwnLeaf == world.Branch {
			h.o.OwnLeaf = world.Met // the same, for whom E binds nothing
		}
	}
	h.now, h.later = newStock(&c.World, false), newStock(&c.World, true)
	return h
}

// before returns what members ask for together but for the largest amount of each type
// that one of them has.
func before(members []*world.Member) world.Amounts {
	all, largest := sum(members), make(world.Amounts)
	for _, m := range members {
		for t, v := range m.Size {
			largest[t] = max(largest[t], v)
		}
	}
	for t := range all {
		all[t] -= largest[t]
	}
	return all
}

// What a member is to the world: it may have no place, have one, or be leaving
// it, and then it counts for nothing and can get none.
const (
	unknown = "unknown"
	placed  = "placed"
	leaving = "leaving"
)

func standing(w *world.World, key string) string {
	for _, t := range w.Tasks {
		switch {
		case t.Key == key && t.State.Leaving():
			return leaving
		case t.Key == key:
			return placed
		}
	}
	if slices.ContainsFunc(w.Grants, func(g world.Grant) bool { return g.Ask.Key == key }) {
		return placed
	}
	return unknown
}

// Unplaced returns the members that are to be placed: the first without a place,
// as many as the minimum lacks.
func Unplaced(c *world.JobCase) []*world.Member { return newJobJudge(c).members }

// sum returns what members ask for together.
func sum(members []*world.Member) world.Amounts {
	total := make(world.Amounts)
	for _, m := range members {
		for t, v := range m.Size {
			total[t] += v
		}
	}
	return total
}
