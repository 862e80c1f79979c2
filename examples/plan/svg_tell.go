// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// tell takes down what was decided.
func (s *scene) tell(step *scenario.Step) {
	s.aside = &step.Aside
	for i := range s.aside.Blockers {
		s.blocks[s.aside.Blockers[i].Key] = true
	}
	switch {
	case step.Asked != nil:
		s.victims, s.moves = step.Asked.Victims, step.Asked.Decision.Plan.Moves
		s.tellAsk(step)
	case step.Placed != nil:
		s.victims, s.moves = step.Placed.Victims, step.Placed.Decision.Plan.Moves
		s.tellJob(step)
	case step.Enforced != nil:
		s.victims = step.Enforced.Victims
		s.tellQuota(step)
	}
	s.remarks = slices.Concat(s.where(step), s.suffered(step), s.remarks)
	for i := range s.victims {
		t := &s.victims[i]
		s.goes[t.Key] = true
		s.falls[t.Key] = slices.ContainsFunc(s.aside.Jobs, func(u scenario.JobUse) bool { return u.Job == t.Job && u.Stops() })
	}
}

// tellAsk takes down the decision about an ask.
func (s *scene) tellAsk(step *scenario.Step) {
	d := &step.Asked.Decision
	ask := &d.Plan.Ask
	s.asker, s.places, s.asked = ask.Queue, true, ask.Size
	s.headline = fmt.Sprintf("request %d: %s asks for %s in %s", step.Request, plain.Name(ask.Key), s.amounts(ask.Size), s.queue(ask.Queue))
	if d.Outcome == victims.Refused {
		why := linesOf(d.DescribeRefusal())
		s.verdict, s.remarks = why[0], why[1:]
		return
	}
	s.arrive(ask.Key, d.Plan.Places[0].Node, ask.Size)
	node := s.node(d.Plan.Places[0].Node)
	switch d.Outcome {
	case victims.Fits:
		s.verdict = fmt.Sprintf("fits on %s: there is room", node)
	case victims.Waits:
		s.verdict = fmt.Sprintf("waits for %s: what is leaving makes room there", node)
	case victims.Preempts:
		own := ""
		if d.Plan.WithinQueue {
			own = " of its own queue"
			if len(step.OwnVictims()) < len(s.victims) {
				own = ", some of its own queue,"
			}
		}
		s.verdict = fmt.Sprintf("plan: %s and run on %s", s.disturbs(own), node)
		if len(s.victims) > 0 {
			s.remarks, s.lost = linesOf(lent.To(d).CostText(s.cluster.Schema())), lostOf(&d.Plan.Cost)
		}
	}
}

// tellJob takes down the decision about a job.
func (s *scene) tellJob(step *scenario.Step) {
	d := &step.Placed.Decision
	job := &d.Plan.Ask
	s.asker, s.places = job.Queue, true
	s.depth, s.closest = job.DomainDepth, d.Refusal.Domain
	for i := range job.Members {
		s.asked = resources.Add(s.asked, s.asked, job.Members[i].Size)
		if _, placed := s.cluster.Lookup(job.Members[i].Key); !placed {
			s.waiting++
		}
	}
	s.headline = fmt.Sprintf("request %d: job %s asks for places for %s in %s",
		step.Request, plain.Name(job.Key), say.Counted(len(job.Members), "member"), s.queue(job.Queue))
	for _, at := range d.Plan.Places {
		m := &job.Members[at.Member]
		s.arrive(m.Key, at.Node, m.Size)
	}
	members := say.Counted(len(s.comes), "member")
	switch d.Outcome {
	case victims.Fits:
		s.verdict = "fits: there is room for " + members
	case victims.Waits:
		s.verdict = "waits: what is leaving makes room for " + members
	case victims.Preempts:
		s.verdict = fmt.Sprintf("plan: %s, which makes room for %s", s.disturbs(""), members)
		if len(s.victims) > 0 {
			s.remarks, s.lost = linesOf(lent.To(d).CostText(s.cluster.Schema())), lostOf(&d.Plan.Cost)
		}
	case victims.Refused:
		why := linesOf(d.DescribeRefusal())
		s.comes, s.verdict, s.remarks = nil, why[0], why[1:]
	}
}

// tellQuota takes down what came of the enforcement of a quota.
func (s *scene) tellQuota(step *scenario.Step) {
	d, result := &step.Enforced.Decision, step.Enforced.Result
	e := &d.Enforcement
	s.asker, s.max, s.asked = d.Plan.Ask.Queue, e.Max, e.Target
	s.headline = fmt.Sprintf("request %d: the quota of %s is enforced: at most %s", step.Request, s.queue(s.asker), s.limit(e.Max))
	if e.Max.Defined == 0 {
		s.headline = fmt.Sprintf("request %d: %s has no max to enforce", step.Request, s.queue(s.asker))
	}
	s.verdict = fmt.Sprintf("%v: %s", result, s.remains(step.Enforced))
	if len(s.victims) > 0 {
		s.verdict = fmt.Sprintf("%v: stop %s, then %s", result, s.count(), s.remains(step.Enforced))
	}
	s.remarks = linesOf(d.DescribeRefusal())
}

// arrive adds a place.
func (s *scene) arrive(key string, node victims.NodeID, size resources.Vector) {
	_, held := s.cluster.LookupGrant(key)
	s.comes = append(s.comes, arrival{key, node, size, held})
}

// disturbs says who stops, with what there is to say of them, and who moves.
func (s *scene) disturbs(own string) string {
	var all []string
	if len(s.victims) > 0 {
		all = append(all, "stop "+s.count()+own)
	}
	if len(s.moves) > 0 {
		keys := make([]string, len(s.moves))
		for i := range s.moves {
			keys[i] = s.moves[i].Key
		}
		all = append(all, "move "+few(keys, "task"))
	}
	return strings.Join(all, ", ")
}

// count names the victims, or how many there are.
func (s *scene) count() string {
	keys := make([]string, len(s.victims))
	for i := range s.victims {
		keys[i] = s.victims[i].Key
	}
	return few(keys, "victim")
}

// few names things, or says how many there are if they are more than a few.
func few(keys []string, what string) string {
	if len(keys) > 4 {
		return say.Counted(len(keys), what)
	}
	return plain.Names(keys)
}

// linesOf returns the lines of a text, without blanks around them.
func linesOf(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return slices.DeleteFunc(lines, func(l string) bool { return l == "" })
}

// lostOf writes the time that a plan loses.
func lostOf(c *victims.Cost) string { return plain.Duration(c.LostTime) }
