// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A unit is what moves together: a task, or a gang.
type unit struct {
	tasks    []victims.TaskID
	size     resources.Vector // of those on the node that is looked at
	optedOut int
	lost     resources.Wide
}

// movable reports whether a task may move by itself.
func (s *Search) movable(id victims.TaskID, t *victims.Task) bool {
	switch {
	case t.State != victims.Running, !t.Movable, s.Gang && (t.NonPreemptible || t.Job != "" && t.Job == s.Ask.Job):
		return false
	}
	traits := eligible.Traits{
		Leaf: t.Queue, Priority: t.Priority, RequiredNode: t.RequiredNode,
		SameApplication: t.Application != "" && t.Application == s.Ask.Application,
	}
	return s.rules.Veto(&traits) == 0 && !s.overMax(t) && s.timed.Keeps(lent.To(s.Options).Stay(s.c, id)) == 0
}

// Exempts asks the caller; see [eligible.Exempter].
func (s *Search) Exempts(task int32) (until time.Time, exempt bool) {
	s.asked.Task = victims.TaskID(task)
	return s.Exempt(s.asked)
}

// firstEnd returns the first instant from which a task may go, or move, that may not now; zero: never. What
// ends there may not be enough.
func (s *Search) firstEnd() time.Time {
	s.ends = s.ends[:0]
	for id := range s.c.Tasks() {
		if s.c.State(id) == victims.Running {
			s.ends = s.timed.AppendEnd(s.ends, lent.To(s.Options).Stay(s.c, id))
		}
	}
	return eligible.FirstEnd(s.ends, func(time.Time) bool { return true })
}

// overMax reports whether a queue above a task is over its max, in a type of the task: it
// could not start again.
func (s *Search) overMax(t *victims.Task) bool {
	tree := s.c.Tree()
	for q := range tree.Ancestors(t.Queue) {
		most, used, leaving := tree.Max(q), tree.Usage(q), tree.Leaving(q)
		for i := range most.Defined.All() {
			if t.Size.At(i) > 0 && used[i]-leaving[i] > most.Value[i] {
				return true
			}
		}
	}
	return false
}

// jobOf returns the job of a mover.
func (s *Search) jobOf(v *victims.Move) string { return s.c.TaskView(v.Task).Job }

// bound reports whether members of a job move together, or not at all.
func (s *Search) bound(job string) bool {
	return s.c.MinMembers(job) > 0
}

// A gang is what a job with a minimum is to a decision: its members that run.
type gang struct {
	unit   // of all nodes
	ok     bool
	shared []string // domains, of all members
	at     map[victims.NodeID]foothold
}

// A foothold is the part of a gang that is on a node.
type foothold struct {
	first victims.TaskID // of its members there
	size  resources.Vector
}

// gangOf returns the gang of a job. A member that is leaving, or holds a grant, neither moves
// nor keeps others from that.
func (s *Search) gangOf(job string) *gang {
	g, known := s.gangs[job]
	if known {
		return g
	}
	g = &gang{ok: true, at: map[victims.NodeID]foothold{}}
	s.gangs[job] = g
	for id := range s.c.JobTasks(job) {
		if s.meter.Pay(2 * lookWork); s.meter.Over() {
			g.ok = false
			break
		}
		v := s.c.TaskView(id)
		if v.State != victims.Running {
			continue
		}
		at, here := g.at[v.Node]
		if !here || id < at.first {
			at.first = id
		}
		at.size = resources.Add(at.size, at.size, v.Size)
		g.at[v.Node] = at
		g.ok = g.ok && s.lets(id, &v)
		d := s.c.NodeView(v.Node).Domains
		if len(g.tasks) == 0 {
			g.shared = d
		}
		for g.shared = g.shared[:min(len(g.shared), len(d))]; !slices.Equal(g.shared, d[:len(g.shared)]); {
			g.shared = g.shared[:len(g.shared)-1]
		}
		g.tasks = append(g.tasks, id)
		s.add(&g.unit, &v)
	}
	// Rows say nothing: a unit is known by its first task.
	slices.SortFunc(g.tasks, func(a, b victims.TaskID) int { return strings.Compare(s.c.Key(a), s.c.Key(b)) })
	return g
}

// add adds to a unit what is lost with a task.
func (s *Search) add(u *unit, t *victims.Task) {
	u.lost = u.lost.Add(s.weights.Work(t.Size, rulebook.Lost(t.Scheduled, t.Checkpoint, s.Now)))
	if t.OptedOut {
		u.optedOut++
	}
}

// lets reports whether a task may move, and some node may have room for it.
func (s *Search) lets(id victims.TaskID, t *victims.Task) bool {
	return fits(t.Size, s.most, nil) && s.movable(id, t)
}

// unitOf returns what moves with a task, and whether it may. A gang is listed on each of its
// nodes, by its first member there.
func (s *Search) unitOf(id victims.TaskID) (u unit, ok bool) {
	v := s.c.TaskView(id)
	if s.bound(v.Job) && v.State == victims.Running {
		g := s.gangOf(v.Job)
		u, at := g.unit, g.at[v.Node]
		u.size = at.size
		return u, g.ok && at.first == id
	}
	if !s.lets(id, &v) {
		return u, false
	}
	s.ids = append(s.ids, id)
	u.tasks, u.size = s.ids[len(s.ids)-1:len(s.ids):len(s.ids)], v.Size
	s.add(&u, &v)
	return u, true
}

// A listing is the units on a node, in no stable order, and of how many tasks they are.
type listing struct {
	units []unit
	tasks int
}

// unitsOn lists the units on a node: none if the budget ends meanwhile.
func (s *Search) unitsOn(n victims.NodeID) listing {
	on, known := s.units[n]
	if known {
		return on
	}
	for id := range s.c.TasksOn(n) {
		if s.meter.Pay(lookWork); s.meter.Over() {
			s.proven = false
			return listing{}
		}
		on.tasks++
		if u, ok := s.unitOf(id); ok {
			on.units = append(on.units, u)
		}
	}
	s.units[n] = on
	return on
}
