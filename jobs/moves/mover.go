// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/eligible"
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
func (s *search) movable(id victims.TaskID, t *victims.Task) bool {
	switch {
	case t.State != victims.Running, !t.Movable, t.RefusedUntil.After(s.now), s.job && (t.NonPreemptible || t.Job == s.ask.Job):
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
	s.asked.Task = id
	until, exempt := s.rules.Exempt(s.asked)
	return !exempt || !eligible.Lasts(until, s.now)
}

// overMax reports whether a queue above a task is over its max, in a type of the task: it
// could not start again.
func (s *search) overMax(t *victims.Task) bool {
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

// bound reports whether members of a job move together, or not at all.
func (s *search) bound(job string) bool {
	return s.c.MinMembers(job) > 0
}

// A gang is what a job with a minimum is to a decision: its members that run.
type gang struct {
	unit   // of all nodes
	ok     bool
	shared int // how many depths of domains the members share
	at     map[victims.NodeID]foothold
}

// A foothold is the part of a gang that is on a node.
type foothold struct {
	first victims.TaskID // of its members there
	size  resources.Vector
}

// gangOf returns the gang of a job. A member that is leaving, or holds a grant, neither moves
// nor keeps others from that.
func (s *search) gangOf(job string) *gang {
	g, known := s.gangs[job]
	if known {
		return g
	}
	g = &gang{ok: true, shared: -1, at: map[victims.NodeID]foothold{}}
	s.gangs[job] = g
	var domains []string
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
		g.tasks = append(g.tasks, id)
		s.add(&g.unit, &v)
		d := s.c.NodeView(v.Node).Domains
		if g.shared < 0 {
			domains, g.shared = d, len(d)
		}
		g.shared = min(g.shared, len(d))
		for !slices.Equal(d[:g.shared], domains[:g.shared]) {
			g.shared--
		}
	}
	// Rows say nothing: a unit is known by its first task.
	slices.SortFunc(g.tasks, func(a, b victims.TaskID) int { return strings.Compare(s.c.Key(a), s.c.Key(b)) })
	return g
}

// add adds to a unit what is lost with a task.
func (s *search) add(u *unit, t *victims.Task) {
	u.lost = u.lost.Add(s.weights.Work(t.Size, t.Lost(s.now)))
	if t.OptedOut {
		u.optedOut++
	}
}

// lets reports whether a task may move, and some node may have room for it.
func (s *search) lets(id victims.TaskID, t *victims.Task) bool {
	return fits(t.Size, s.most, nil) && s.movable(id, t)
}

// name gives the grants of movers keys that nobody has, in the order of moves.
func (s *search) name(moves []Move) {
	given := map[string]bool{}
	for i := range moves {
		key := &moves[i].Ask.Key
		for *key = s.unused(moves[i].Key + "+"); given[*key]; {
			*key = s.unused(*key + "+")
		}
		given[*key] = true
	}
}

// unused returns a key that no task or grant has, nor what is asked: longer if need be.
func (s *search) unused(key string) string {
	for {
		_, task := s.c.Lookup(key)
		if _, grant := s.c.LookupGrant(key); !task && !grant && !slices.Contains(s.keys, key) {
			return key
		}
		key += "+"
	}
}

// unitOf returns what moves with a task, and whether it may. A gang is listed on each of its
// nodes, by its first member there.
func (s *search) unitOf(id victims.TaskID) (u unit, ok bool) {
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
func (s *search) unitsOn(n victims.NodeID) listing {
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
