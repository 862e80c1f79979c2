// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
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
			fmt.Sprint(task.Priority), fmt.Sprint(v.Rank), running(task, s.Now), v.Purpose(), jobRemarks(task))
	}
	t.end()
	p.lines("    ", p.toll(s))
}

// running returns how long a task has been running, and since when that is safe.
func running(t *victims.Task, now time.Time) string {
	if t.Scheduled.IsZero() {
		return "not yet"
	}
	text := now.Sub(t.Scheduled).String()
	if t.Checkpoint.After(t.Scheduled) && !t.Checkpoint.After(now) {
		text += fmt.Sprintf(", saved %v ago", now.Sub(t.Checkpoint))
	}
	return text
}
