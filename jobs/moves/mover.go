// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"slices"

	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// A unit is what moves together: a task, or a gang.
type unit struct {
	tasks    []victims.TaskID
	size     resources.Vector // of those on the node that is looked at
	optedOut int
	lost     cover.Wide
}

// movable reports whether a task may move by itself.
func (s *search) movable(id victims.TaskID, t *victims.Task) bool {
	switch {
	case t.State != victims.Running, s.job && (t.NonPreemptible || t.Job == s.ask.Job):
		return false
	}
	if _, ok := s.Movable(id); !ok {
		return false
	}
	traits := eligible.Traits{
		Leaf: t.Queue, Priority: t.Priority, RequiredNode: t.RequiredNode,
		SameApplication: t.Application != "" && t.Application == s.ask.Application,
	}
	if s.rulesOf.Veto(&traits) != 0 || s.overMax(t) {
		return false
	}
	if s.rules.Exempt == nil {
		return true
	}
	until, exempt := s.rules.Exempt(victims.Exemption{Cluster: s.c, Task: id, Ask: s.ask, Now: s.now})
	return !exempt || !eligible.Lasts(until, s.now)
}

// overMax reports whether a queue above a task is over its max, in a type of the task: it
// could not start again.
func (s *search) overMax(t *victims.Task) bool {
	tree := s.c.Tree()
	for q := range tree.Up(t.Queue) {
		most, used, leaving := tree.Max(q), tree.Usage(q), tree.Preempting(q)
		for i := range most.Defined.All() {
			if t.Size.At(i) > 0 && used[i]-leaving[i] > most.Value[i] {
				return true
			}
		}
	}
	return false
}

// bound reports whether members of a job move together, or not at all.
func (s *search) bound(job string) bool {
	return job != "" && s.rules.Minimum != nil && s.rules.Minimum(job) > 0
}

// unitOf returns what moves with a task, and whether it may. A gang is listed on each of its
// nodes, by its first member there.
func (s *search) unitOf(id victims.TaskID) (u unit, ok bool) {
	s.ids = append(s.ids, id)
	tasks, here := s.ids[len(s.ids)-1:], s.c.NodeOf(id)
	if job := s.c.Job(id); s.bound(job) {
		tasks = slices.Collect(s.c.JobTasks(job))
	}
	for _, t := range tasks {
		v := s.c.TaskView(t)
		if v.Node == here && t < id || !fits(v.Size, s.most, nil) || !s.movable(t, &v) {
			return u, false
		}
		if len(tasks) == 1 {
			u.size = v.Size
		} else if v.Node == here {
			u.size = resources.Add(u.size, u.size, v.Size)
		}
		u.lost = u.lost.AddTimes(v.Lost(s.now), 1)
		if v.OptedOut {
			u.optedOut++
		}
	}
	u.tasks = tasks
	return u, true
}

// unitsOn lists the units on a node, in the order of its tasks, until the next call.
func (s *search) unitsOn(n victims.NodeID) []unit {
	s.units = s.units[:0]
	for id := range s.c.TasksOn(n) {
		s.looked++
		if u, ok := s.unitOf(id); ok {
			s.units = append(s.units, u)
			s.movers++
		}
	}
	return s.units
}
