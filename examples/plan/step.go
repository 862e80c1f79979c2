// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/victims"
)

// step writes one request and what came of it.
func (p page) step(s *scenario.Step) {
	q := &p.run.Document.Requests[s.Request]
	p.printf("\nrequest %d: ", s.Request)
	switch q.Kind {
	case scenario.KindAsk:
		p.ask(s)
		p.decision(s, q.Then)
	case scenario.KindEnforceQuota:
		p.enforcement(s, q.Then)
	case scenario.KindJob:
		p.job(s, q.Then)
	case scenario.KindAdvance:
		p.printf("%v pass, it is now %s\n", q.Advance, instant(s.Now.Add(q.Advance)))
	case scenario.KindFinish:
		var keys []string
		for _, ref := range q.Finish {
			keys = append(keys, ref.Key)
		}
		p.printf("gone: %s\n", plain.Names(keys))
	case scenario.KindStart:
		var keys []string
		for i := range q.Start {
			keys = append(keys, q.Start[i].Key)
		}
		p.printf("started: %s\n", plain.Names(keys))
	}
}

// ask writes who asks for what.
func (p page) ask(s *scenario.Step) {
	a := &s.Asked.Decision.Plan.Ask
	p.printf("%s asks for %s in %s\n", plain.Name(a.Key), p.amounts(a.Size), p.queue(a.Queue))
	p.printf("  application %s, priority %d, pending for %s", plain.Name(a.Application), a.Priority, plain.Duration(s.Now.Sub(a.PendingSince)))
	if a.RequiredNode != "" {
		p.printf(", on %s only", plain.Name(a.RequiredNode))
	}
	p.printf("\n")
	p.lines("  ", p.where(s))
}

// decision writes what was decided about an ask, and what follows.
func (p page) decision(s *scenario.Step, then scenario.Then) {
	d := &s.Asked.Decision
	plan := &d.Plan
	p.movers(plan)
	switch d.Outcome {
	case victims.Fits:
		p.printf("  fits on %s: there is room, %s\n", p.node(plan.Places[0].Node), follows[victims.Fits][then])
	case victims.Waits:
		p.printf("  waits for %s: what is leaving makes room there, %s\n", p.node(plan.Places[0].Node), follows[victims.Waits][then])
	case victims.Preempts:
		if len(plan.Victims) == 0 {
			p.printf("  plan: on %s, once those have moved: %s\n", p.node(plan.Places[0].Node), followsMoves[then])
			break
		}
		p.printf("  plan: on %s, once these victims have gone: %s\n", p.node(plan.Places[0].Node), follows[victims.Preempts][then])
		p.victims(s)
		p.indented("    ", lent.To(d).CostText(p.run.After.Schema()))
	case victims.Refused:
		p.indented("  ", d.DescribeRefusal())
	}
	if e := s.Asked.Explanation; e != nil {
		p.printf("  why\n")
		p.indented("  ", e.String())
	}
}

// movers writes a line for each who moves.
func (p page) movers(plan *victims.Plan) {
	for i := range plan.Moves {
		m := &plan.Moves[i]
		p.printf("  %s moves from %s to %s\n", plain.Name(m.Key), plain.Name(m.FromName), plain.Name(m.ToName))
	}
}

// follows are words for what follows an outcome.
var follows = map[victims.Outcome]map[scenario.Then]string{
	victims.Fits: {
		scenario.ThenFinish:  "it runs there",
		scenario.ThenLeave:   "it runs there",
		scenario.ThenNothing: dryRun,
	},
	victims.Waits: {
		scenario.ThenFinish:  "the place is held for it",
		scenario.ThenLeave:   "the place is held for it",
		scenario.ThenNothing: dryRun,
	},
	victims.Preempts: {
		scenario.ThenFinish:  "they are stopped, and it runs there",
		scenario.ThenLeave:   "they are told to leave, and the place is held for it",
		scenario.ThenNothing: dryRun,
	},
}

// followsMoves are words for what follows a plan by which nobody stops.
var followsMoves = map[scenario.Then]string{
	scenario.ThenFinish:  "they run where they go, and it runs, too",
	scenario.ThenLeave:   "they are told to leave, and all places are held",
	scenario.ThenNothing: dryRun,
}

const dryRun = "a dry run, nothing changes"

// victims writes a row per victim.
func (p page) victims(s *scenario.Step) {
	t := say.NewTable(p.w, "    ", "victim", "queue", "node", "size", "priority", "rank", "running for", "makes room", "remarks")
	for i, v := range s.Asked.Decision.Plan.Victims {
		task := &s.Asked.Victims[i]
		t.Row(plain.Name(task.Key), p.queue(task.Queue), p.node(task.Node), p.amounts(task.Size),
			fmt.Sprint(task.Priority), fmt.Sprint(v.Rank), running(task, s.Now), v.Purpose(), jobRemarks(task))
	}
	t.End()
	p.lines("    ", p.toll(s))
}

// running returns how long a task has been running, and since when that is safe.
func running(t *victims.Task, now time.Time) string {
	if t.Scheduled.IsZero() {
		return "not yet"
	}
	text := plain.Duration(now.Sub(t.Scheduled))
	if t.Checkpoint.After(t.Scheduled) && !t.Checkpoint.After(now) {
		text += fmt.Sprintf(", saved %s ago", plain.Duration(now.Sub(t.Checkpoint)))
	}
	return text
}
