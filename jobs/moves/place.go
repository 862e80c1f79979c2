// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A packing gives movers places, and notes what is taken and freed by that.
type packing struct {
	s            *search
	moves        []Move
	moving       map[victims.TaskID]bool
	moved        resources.Vector
	taken, freed map[victims.NodeID]resources.Vector
	drawn        map[string]int64 // on hard budgets that movers are in
	shut         map[victims.NodeID]bool
	clearing     victims.NodeID // to which nobody moves: members of gangs on other nodes could
	tries        int
}

func (s *search) packing() *packing {
	return &packing{
		s: s, moving: map[victims.TaskID]bool{}, taken: map[victims.NodeID]resources.Vector{}, freed: map[victims.NodeID]resources.Vector{},
		drawn: map[string]int64{}, shut: map[victims.NodeID]bool{},
	}
}

// all gives units places, the largest tasks first. What was given before stays.
func (p *packing) all(units []unit) bool {
	var tasks []victims.TaskID
	for i := range units {
		tasks = append(tasks, units[i].tasks...)
	}
	if p.tries = packTries; len(tasks) > p.tries {
		p.s.proven = false
		return false
	}
	for range tasks {
		p.s.meter.Pay(lookWork)
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
	for i := range p.moves[before:] {
		p.leave(&p.moves[before+i], 1)
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

// leave notes that a task has left its node, or with -1 that it has not.
func (p *packing) leave(v *Move, times int64) {
	size := resources.Scale(nil, v.Ask.Size, times)
	p.freed[v.From] = resources.Add(p.freed[v.From], p.freed[v.From], size)
	p.moved = resources.Add(p.moved, p.moved, size)
	p.moving[v.Task] = times > 0
}

// note notes all about a move, or with -1 takes that back.
func (p *packing) note(v *Move, times int64) {
	p.take(v.To, resources.Scale(nil, v.Ask.Size, times))
	p.draw([]victims.TaskID{v.Task}, times)
	p.leave(v, times)
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
	rack := p.rackOf(&t)
	for i, n := range s.open {
		if i%pieceOfNodes == 0 {
			s.meter.Pay(int64(min(len(s.open)-i, pieceOfNodes)))
		}
		room := s.room[i*s.types : (i+1)*s.types]
		if n == t.Node || n == p.clearing || !fits(t.Size, room, nil) || p.shut[n] || !fits(t.Size, room, p.taken[n]) || !rack.has(s.c, n) {
			continue
		}
		if p.tries--; p.tries < 0 || s.meter.Over() {
			s.proven = false
			return false
		}
		v, ok := s.move(id, t.Node, n)
		if !ok {
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

// A rack is the domains that a mover has to go to, as those of its gang that have places.
type rack struct {
	depth   int
	domains []string // nil: any of that depth
}

// rackOf returns where the gang of a task goes: its members share as narrow a domain as they
// did.
func (p *packing) rackOf(t *victims.Task) (r rack) {
	s := p.s
	if !s.bound(t.Job) {
		return r
	}
	if r.depth = s.gangOf(t.Job).shared; r.depth <= 0 {
		return rack{}
	}
	i := slices.IndexFunc(p.moves, func(v Move) bool { return v.Ask.Job == t.Job })
	if i >= 0 {
		r.domains = s.c.NodeView(p.moves[i].To).Domains[:r.depth]
	}
	s.meter.Pay(int64(len(p.moves)) / 8)
	return r
}

// has reports whether a node is in the rack.
func (r *rack) has(c *victims.Cluster, n victims.NodeID) bool {
	if r.depth == 0 {
		return true
	}
	d := c.NodeView(n).Domains
	return len(d) >= r.depth && (r.domains == nil || slices.Equal(d[:r.depth], r.domains))
}

// fits reports whether a size fits what is free beside what is taken, in its types.
func fits(size, free, taken resources.Vector) bool {
	for t, amount := range size {
		if amount > 0 && amount > free.At(t)-taken.At(t) {
			return false
		}
	}
	return true
}

// move returns the move of a task to a node, unless the filter or somebody there keeps it away.
func (s *search) move(id victims.TaskID, from, to victims.NodeID) (v Move, ok bool) {
	v = Move{Task: id, Key: s.c.Key(id), From: from, To: to, Ask: AskOf(s.c, id)}
	v.Ask.Key = s.unused(v.Ask.Key)
	if s.rules.Filter != nil && !s.rules.Filter(v.asked(s.c, s.now)) {
		return v, false
	}
	return v, s.rules.Blockers == nil || len(s.rules.Blockers(nil, v.asked(s.c, s.now))) == 0
}

// asked returns what functions of the caller are asked about a mover and its new node.
func (m *Move) asked(c *victims.Cluster, now time.Time) *victims.Question {
	q := m.Ask.Question(c, now)
	q.Node = m.To
	return q
}

// blocks reports whether movers to one node block each other: whoever blocks a mover where it runs
// does so where it moves to.
func (s *search) blocks(set []Move) bool {
	return s.rules.Blockers != nil && slices.ContainsFunc(set, func(m Move) bool {
		return slices.ContainsFunc(set, func(o Move) bool {
			q := m.asked(s.c, s.now)
			q.Node = o.From
			return o.To == m.To && o.Task != m.Task && slices.Contains(s.rules.Blockers(nil, q), o.Task)
		})
	})
}
