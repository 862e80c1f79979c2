package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/scenario"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// victims writes a row per victim.
func (p page) victims(s *scenario.Step) {
	t := newTable(p.w, "    ", "victim", "queue", "node", "size", "priority", "rank", "running for", "makes room", "remarks")
	for i, v := range s.Asked.Decision.Plan.Victims {
		task := &s.Asked.Victims[i]
		t.row(word(task.Key), p.queue(task.Queue), p.node(task.Node), p.amounts(task.Size),
			fmt.Sprint(task.Priority), fmt.Sprint(v.Rank), running(task, s.Now), room(v), remarks(task))
	}
	t.end()
}

// running returns how long a task has been running.
func running(t *victims.Task, now time.Time) string {
	if t.Scheduled.IsZero() {
		return "not yet"
	}
	return now.Sub(t.Scheduled).String()
}

// room returns where a victim makes room.
func room(v victims.Victim) string {
	switch {
	case v.ForNode && v.ForHeadroom:
		return "on the node, under a max"
	case v.ForHeadroom:
		return "under a max"
	}
	return "on the node"
}

// remarks returns what makes a task costly to stop.
func remarks(t *victims.Task) string {
	var all []string
	if t.OptedOut {
		all = append(all, "opted out")
	}
	if t.Originator {
		all = append(all, "originator")
	}
	return strings.Join(all, ", ")
}

// cost writes what a plan costs, the dearest part first, and whether another
// might cost less.
func (p page) cost(plan *victims.Plan) {
	c := &plan.Cost
	var parts []string
	part := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if c.OptedOut > 0 {
		part("%d opted out", c.OptedOut)
	}
	if c.Originators > 0 {
		part("%s lost", number(c.Originators, "originator"))
	}
	part("%s of rank up to %d and priority up to %d", number(c.Victims, "victim"), c.MaxRank, c.MaxPriority)
	if c.Jobs > 0 {
		part("%s stopped", number(c.Jobs, "job"))
	}
	if c.Excess.Amount > 0 {
		part("%s of the cluster freed beyond need", fraction(c.Excess))
	}
	part("%v of work lost", c.Work)
	p.printf("    cost: %s\n", strings.Join(parts, ", "))
	if plan.Proven {
		p.printf("    no legal plan costs less\n")
	} else {
		p.printf("    the best that was found within the step budget\n")
	}
}

// number returns a number of things.
func number(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// fraction returns a share in lowest terms.
func fraction(s resources.Share) string {
	a, b := s.Amount, max(s.Of, 1)
	for b != 0 {
		a, b = b, a%b
	}
	return fmt.Sprintf("%d/%d", s.Amount/a, max(s.Of, 1)/a)
}
