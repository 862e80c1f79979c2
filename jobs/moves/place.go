// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A packing gives movers places, and notes what is taken and freed by that.
type packing struct {
	s            *search
	moves        []Move
	taken, freed map[victims.NodeID]resources.Vector
	drawn        map[string]int64 // on hard budgets that movers are in
	shut         map[victims.NodeID]bool
	clearing     victims.NodeID // to which nobody moves: members of gangs on other nodes could
	tries        int
}

func (s *search) packing() *packing {
	return &packing{
		s: s, taken: map[victims.NodeID]resources.Vector{}, freed: map[victims.NodeID]resources.Vector{},
		drawn: map[string]int64{}, shut: map[victims.NodeID]bool{}, tries: packTries,
	}
}

// blocks reports whether movers that have their grants block each other.
func (s *search) blocks(set []Move) bool {
	return s.blockers != nil && slices.ContainsFunc(set, func(m Move) bool {
		return slices.ContainsFunc(s.blockers(nil, &m.Ask, m.To), func(id victims.TaskID) bool { return s.c.Key(id) != m.Ask.Key })
	})
}

// all gives units places, the largest tasks first. What was given before stays.
func (p *packing) all(units []unit) bool {
	var tasks []victims.TaskID
	for i := range units {
		tasks = append(tasks, units[i].tasks...)
	}
	if !p.draw(tasks, 1) {
		p.draw(tasks, -1)
		return false
	}
	c := p.s.c
	slices.SortStableFunc(tasks, func(a, b victims.TaskID) int {
		x, y := p.s.share(c.TaskView(a).Size), p.s.share(c.TaskView(b).Size)
		return cmp.Or(y.Compare(x), strings.Compare(c.Key(a), c.Key(b)))
	})
	before := len(p.moves)
	if !p.place(tasks) {
		p.draw(tasks, -1)
		return false
	}
	for _, v := range p.moves[before:] {
		p.freed[v.From] = resources.Add(p.freed[v.From], p.freed[v.From], v.Ask.Size)
	}
	return true
}

// take notes amounts that are taken on a node.
func (p *packing) take(n victims.NodeID, size resources.Vector) {
	p.taken[n] = resources.Add(p.taken[n], p.taken[n], size)
}

// seat gives a member a node, to which nobody moves then.
func (p *packing) seat(n victims.NodeID, size resources.Vector) {
	p.take(n, size)
	p.shut[n] = true
}

// note notes all about a move, or with -1 takes that back.
func (p *packing) note(v *Move, times int64) {
	size := resources.Scale(nil, v.Ask.Size, times)
	p.take(v.To, size)
	p.freed[v.From] = resources.Add(p.freed[v.From], p.freed[v.From], size)
	p.draw([]victims.TaskID{v.Task}, times)
}

// cut takes the last moves back, but for the first n.
func (p *packing) cut(n int) {
	for i := range p.moves[n:] {
		p.note(&p.moves[n+i], -1)
	}
	p.moves = p.moves[:n]
}

// put makes moves that were taken back.
func (p *packing) put(moves []Move) {
	for i := range moves {
		p.note(&moves[i], 1)
	}
	p.moves = append(p.moves, moves...)
}

// draw draws tasks on their hard budgets so many times, and reports whether these have enough
// left.
func (p *packing) draw(tasks []victims.TaskID, times int64) bool {
	enough := true
	for _, id := range tasks {
		for _, name := range p.s.c.TaskView(id).Budgets {
			if b, known := p.s.c.Budget(name); known && b.Hard {
				p.drawn[name] += times
				enough = enough && p.drawn[name] <= max(b.Left, 0)
			}
		}
	}
	return enough
}

// place gives tasks places in turn, and comes back to another one if a later task finds
// none.
func (p *packing) place(tasks []victims.TaskID) bool {
	if len(tasks) == 0 {
		return true
	}
	s, id := p.s, tasks[0]
	t := s.c.TaskView(id)
	class, _ := s.Movable(id)
	depth := 0
	if s.bound(t.Job) {
		depth = s.shared(t.Job)
	}
	for _, n := range s.open {
		if n == t.Node || n == p.clearing || p.shut[n] || depth > 0 && !p.together(&t, n, depth) {
			continue
		}
		s.free = s.c.ComingFree(s.free, n)
		if !fits(t.Size, s.free, p.taken[n]) {
			continue
		}
		if p.tries--; p.tries < 0 {
			s.proven = false
			return false
		}
		if s.rules.Filter != nil && !s.rules.Filter(class, n) {
			continue
		}
		v := s.move(id, n, class)
		if s.blockers != nil && len(s.blockers(nil, &v.Ask, n)) > 0 {
			continue
		}
		p.moves = append(p.moves, v)
		p.take(n, t.Size)
		if p.place(tasks[1:]) {
			return true
		}
		p.moves = p.moves[:len(p.moves)-1]
		p.taken[n] = resources.Sub(p.taken[n], p.taken[n], t.Size)
	}
	return false
}

// shared returns how many depths of domains the members of a gang share.
func (s *search) shared(job string) int {
	depth, first := -1, []string(nil)
	for id := range s.c.JobTasks(job) {
		domains := s.c.NodeView(s.c.NodeOf(id)).Domains
		if depth < 0 {
			depth, first = len(domains), domains
		}
		depth = min(depth, len(domains))
		for !slices.Equal(domains[:depth], first[:depth]) {
			depth--
		}
	}
	return depth
}

// together reports whether a place may be given to a member of a gang of which others have
// places already: they share as narrow a domain as they did.
func (p *packing) together(t *victims.Task, n victims.NodeID, depth int) bool {
	mine := p.s.c.NodeView(n).Domains
	if len(mine) < depth {
		return false
	}
	for i := range p.moves {
		if v := &p.moves[i]; v.Ask.Job == t.Job && !slices.Equal(p.s.c.NodeView(v.To).Domains[:depth], mine[:depth]) {
			return false
		}
	}
	return true
}

// fits reports whether a size fits what is free beside what is taken, in its types.
func fits(size, free, taken resources.Vector) bool {
	for t := range resources.Positive(size).All() {
		if size[t] > free.At(t)-taken.At(t) {
			return false
		}
	}
	return true
}

// move returns the move of a task to a node.
func (s *search) move(id victims.TaskID, to victims.NodeID, class int) Move {
	m := Move{Task: id, Key: s.c.Key(id), From: s.c.NodeOf(id), To: to, Ask: s.AskOf(s.c, id)}
	m.Ask.Class = class
	return m
}

// moving reports whether a task has a new place already.
func (p *packing) moving(id victims.TaskID) bool {
	return slices.ContainsFunc(p.moves, func(v Move) bool { return v.Task == id })
}
