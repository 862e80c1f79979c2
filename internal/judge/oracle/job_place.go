// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// fits returns where the members fit without any victim: in the first domain in
// which they do, at the first nodes, in the order of members.
func (h *jobJudge) fits(s stock) (nodes []int, ok bool) {
	for _, d := range h.domains() {
		if nodes, ok := d.fitsHere(s); ok {
			return nodes, true
		}
	}
	return nil, false
}

// fitsHere is fits for the domain of the judge.
func (h *jobJudge) fitsHere(s stock) (nodes []int, ok bool) {
	if len(h.overMax(s)) > 0 || len(h.notAdmitted(s, h.ask.Size)) > 0 {
		return nil, false
	}
	for nodes := range h.seatings(s) {
		return nodes, true
	}
	return nil, false
}

// placements adds to a result the places of the minimum, and of each further
// member that finds room in what is then left, one after another.
func (h *jobJudge) placements(r JobResult, s stock, nodes []int) JobResult {
	earlier := h.names(nodes)
	for i, m := range h.members {
		node := earlier[i]
		r.Placements = append(r.Placements, Placement{Member: m.Key, Node: node})
		s = s.with(&h.c.Job, m, node)
	}
	for _, m := range h.further {
		single := *h
		single.members, single.earlier = []*world.Member{m}, earlier
		single.domain = h.domainOf(earlier)
		ask := h.c.Job.Ask(m)
		single.judge = newJudge(h.w, &ask, h.o)
		if nodes, ok := single.fits(s); ok {
			node := h.w.Nodes[nodes[0]].Name
			r.Placements = append(r.Placements, Placement{Member: m.Key, Node: node, Further: true})
			earlier = append(earlier, node)
			s = s.with(&h.c.Job, m, node)
		}
	}
	return r
}

// after returns the state once victims have gone too.
func (h *jobJudge) after(victims []string) stock { return h.later.without(h.named(victims)) }

// FurtherPlaces returns the places of members beyond the minimum that follow
// from an outcome with those places of the members of the minimum, in their
// order, and those victims.
func FurtherPlaces(c *world.JobCase, outcome string, places, victims []string) (further []Placement) {
	h := newJobJudge(c)
	s := h.after(victims)
	if outcome == Fits {
		s = h.now
	}
	for _, p := range h.placements(JobResult{}, s, h.numbered(places)).Placements {
		if p.Further {
			further = append(further, p)
		}
	}
	return further
}

// JobVictims returns what each of the victims is for, with those places of the
// members of the minimum, in their order.
func JobVictims(c *world.JobCase, places, victims []string) (list []JobVictim) {
	h := newJobJudge(c)
	tasks := h.named(victims)
	whole, _ := h.stopped(tasks)
	nodes := h.numbered(places)
	for _, t := range tasks {
		v := JobVictim{Key: t.Key, Rank: h.rank(t), Job: t.Job, Whole: slices.Contains(whole, t.Job)}
		v.ForNode = shares(t.Size, h.seatNeed(h.numbered([]string{t.Node})[0], nodes))
		for _, q := range h.path {
			if world.Inside(t.Queue, q) {
				v.ForHeadroom = v.ForHeadroom || shares(t.Size, h.headroomNeed(q))
				v.ForQuota = v.ForQuota || shares(t.Size, h.quotaNeed(q))
			}
		}
		list = append(list, v)
	}
	return list
}

// couldStart reports whether the members that hold a grant have room now, where
// what is leaving is still: on their nodes, under the maxima of their path, and
// in its quotas, each with the grants taken off.
func (h *jobJudge) couldStart() bool {
	held, without := make(world.Amounts), h.now.clone()
	for _, g := range h.w.Grants {
		if !slices.ContainsFunc(h.c.Job.Members, func(m world.Member) bool { return m.Key == g.Ask.Key }) {
			continue
		}
		for t, v := range g.Ask.Size {
			held[t] += v
			if v > 0 && h.now.free[g.Node][t] < 0 {
				return false
			}
		}
		add(without.used, g.Ask.Queue, g.Ask.Size, -1)
		if g.Ask.NonPreemptible {
			add(without.fixed, g.Ask.Queue, g.Ask.Size, -1)
		}
	}
	for _, q := range h.path {
		for t, v := range held {
			if most, ok := h.queues[q].Max[t]; ok && v > 0 && h.now.used[q][t] > most {
				return false
			}
		}
	}
	return len(h.notAdmitted(without, held)) == 0
}
