package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/scenario"
	"github.com/go-preempt/preempt/victims"
)

// victims writes a row per victim.
func (p page) victims(s *scenario.Step) {
	t := newTable(p.w, "    ", "victim", "queue", "node", "size", "priority", "rank", "running for", "makes room", "remarks")
	for i, v := range s.Asked.Decision.Plan.Victims {
		task := &s.Asked.Victims[i]
		t.row(plain.Name(task.Key), p.queue(task.Queue), p.node(task.Node), p.amounts(task.Size),
			fmt.Sprint(task.Priority), fmt.Sprint(v.Rank), running(task, s.Now), v.Purpose(), remarks(task))
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
