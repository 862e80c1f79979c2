// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/victims"
)

// job writes which job asks for places, what bounds it, and what was decided.
func (p page) job(s *scenario.Step, then scenario.Then) {
	j := &s.Placed.Decision.Plan.Ask
	members := "1 member"
	if n := len(j.Members); n != 1 {
		members = fmt.Sprintf("%d members", n)
	}
	if j.MinMembers > 0 {
		members += fmt.Sprintf(", at least %d of them,", j.MinMembers)
	}
	p.printf("job %s asks for places for %s in %s\n", plain.Name(j.Key), members, p.queue(j.Queue))
	p.printf("  application %s, priority %d, %s\n", plain.Name(j.Application), j.Priority, preemptible[!j.NonPreemptible])
	p.lines("  ", p.where(s))
	p.bounds(s)
	p.jobDecision(s, then)
	p.law4(s.Placed)
}

// relaxed writes a line for each rule without which a gang would have its places.
func (p page) relaxed(e *victims.Explanation) {
	if e == nil || len(e.Relaxations) == 0 {
		return
	}
	p.printf("  it would have its places\n")
	for i := range e.Relaxations {
		p.printf("    %s\n", e.Relaxations[i].String())
	}
}

// law4 writes what guarantees say to a job without room, if the decision is explained.
func (p page) law4(placed *scenario.Placed) {
	if len(placed.Law4) == 0 {
		return
	}
	schema := p.run.After.Schema()
	p.printf("  law 4: its members, asked one after another with the largest last, each have to find the queue under its guarantee\n")
	t := say.NewTable(p.w, "    ", "type", "queue", "guaranteed", "used", "before the last", "finding")
	for _, g := range placed.Law4 {
		finding := "under its guarantee"
		if g.Met() {
			finding = "has its guarantee, or would before the last"
		}
		t.Row(schema.Name(g.Type), p.queue(g.Queue), vectors.Text(schema, g.Type, g.Guaranteed), vectors.Text(schema, g.Type, g.Used),
			vectors.Text(schema, g.Type, g.Before), finding)
	}
	t.End()
	p.printf("  E, the needy queue, is %s: outside of it others have to give\n", p.queue(placed.Needy))
}

// preemptible are words for whether a job is.
var preemptible = map[bool]string{true: "preemptible", false: "not preemptible"}

// bounds writes a row for each queue that bounds the job.
func (p page) bounds(s *scenario.Step) {
	if len(s.Placed.Bounds) == 0 {
		return
	}
	p.printf("  what bounds it\n")
	t := say.NewTable(p.w, "    ", "queue", "max", "quota min", "quota max", "used", "not preemptible")
	for i := range s.Placed.Bounds {
		b := &s.Placed.Bounds[i]
		cells := []string{p.queue(b.Queue), p.limit(b.Max), "", "", p.amounts(b.Used), ""}
		if b.Quota != nil {
			cells[2], cells[3], cells[5] = p.limit(b.Quota.Min), p.limit(b.Quota.Max), p.amounts(b.NonPreemptible)
		}
		t.Row(cells...)
	}
	t.End()
}

// jobDecision writes what was decided about a job, and what follows.
func (p page) jobDecision(s *scenario.Step, then scenario.Then) {
	d, room := &s.Placed.Decision, "room"
	if in := d.Plan.Domain; len(in) > 0 {
		room += " in " + plain.Names(in)
	}
	p.movers(&d.Plan)
	switch d.Outcome {
	case victims.Fits:
		p.printf("  fits: there is %s, %s\n", room, followsJob[victims.Fits][then])
		p.members(&d.Plan)
	case victims.Waits:
		p.printf("  waits: what is leaving makes %s, %s\n", room, followsJob[victims.Waits][then])
		p.members(&d.Plan)
	case victims.Preempts:
		if len(d.Plan.Victims) == 0 {
			p.printf("  plan: once those have moved, there is %s: %s\n", room, followsMoves[then])
			p.members(&d.Plan)
			break
		}
		p.printf("  plan: once these victims have gone, there is %s: %s\n", room, followsJob[victims.Preempts][then])
		p.members(&d.Plan)
		p.jobVictims(s)
		p.indented("    ", lent.To(d).CostText(p.run.After.Schema()))
	case victims.Refused:
		p.indented("  ", d.DescribeRefusal())
		p.relaxed(s.Placed.Explanation)
	}
}

// members writes a row for each member that is given a place.
func (p page) members(plan *victims.Plan) {
	if len(plan.Places) == 0 {
		return
	}
	t := say.NewTable(p.w, "    ", "member", "size", "node", "remarks")
	for _, at := range plan.Places {
		m := &plan.Ask.Members[at.Member]
		further := ""
		if at.Extra {
			further = "beyond the minimum"
		}
		t.Row(plain.Name(m.Key), p.amounts(m.Size), p.node(at.Node), further)
	}
	t.End()
}

// jobVictims writes a row per victim: those that go one by one, and then each
// job that goes as a whole.
func (p page) jobVictims(s *scenario.Step) {
	t := say.NewTable(p.w, "    ", "victim", "queue", "node", "size", "priority", "rank", "running for", "makes room", "stops", "remarks")
	plan := &s.Placed.Decision.Plan
	var whole []string
	for i := range plan.Victims {
		v := &plan.Victims[i]
		if !v.Whole {
			p.jobVictim(t, s, i)
		} else if !slices.Contains(whole, v.Job) {
			whole = append(whole, v.Job)
		}
	}
	for _, job := range whole {
		for i := range plan.Victims {
			if v := &plan.Victims[i]; v.Whole && v.Job == job {
				p.jobVictim(t, s, i)
			}
		}
	}
	t.End()
	p.lines("    ", p.toll(s))
}

func (p page) jobVictim(t *say.Table, s *scenario.Step, i int) {
	v, task := &s.Placed.Decision.Plan.Victims[i], &s.Placed.Victims[i]
	stops := "alone"
	if v.Whole {
		stops = "with all of job " + plain.Name(v.Job)
	} else if v.Job != "" {
		stops = "above the minimum of job " + plain.Name(v.Job)
	}
	t.Row(plain.Name(task.Key), p.queue(task.Queue), p.node(task.Node), p.amounts(task.Size), fmt.Sprint(task.Priority),
		fmt.Sprint(v.Rank), running(task, s.Now), v.Purpose(), stops, remarks(task))
}

// followsJob are words for what follows an outcome.
var followsJob = map[victims.Outcome]map[scenario.Then]string{
	victims.Fits: {
		scenario.ThenFinish:  "the members run",
		scenario.ThenLeave:   "the members run",
		scenario.ThenNothing: dryRun,
	},
	victims.Waits: {
		scenario.ThenFinish:  "the places are held for the members",
		scenario.ThenLeave:   "the places are held for the members",
		scenario.ThenNothing: dryRun,
	},
	victims.Preempts: {
		scenario.ThenFinish:  "the victims are stopped, and the members run",
		scenario.ThenLeave:   "the victims are told to leave, and the places are held for the members",
		scenario.ThenNothing: dryRun,
	},
}
