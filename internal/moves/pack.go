// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A packing gives movers places, and notes what is taken and freed by that.
type packing struct {
	s            *Search
	moves        []victims.Move
	moving       map[victims.TaskID]bool
	taken, freed map[victims.NodeID]resources.Vector
	drawn        map[string]int64 // on hard budgets that movers are in
	shut         map[victims.NodeID]bool
	clearing     victims.NodeID // to which nobody moves: members of gangs on other nodes could
	tries        int
}

func (s *Search) packing() *packing {
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
	p.s.pay(len(tasks), lookWork)
	enough := p.draw(tasks, 1)
	if p.draw(tasks, -1); !enough {
		return false
	}
	c := p.s.c
	slices.SortStableFunc(tasks, func(a, b victims.TaskID) int {
		x, y := p.s.share(c.TaskView(a).Size), p.s.share(c.TaskView(b).Size)
		return cmp.Or(y.Compare(x), strings.Compare(c.Key(a), c.Key(b)))
	})
	return p.place(tasks)
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
func (p *packing) note(v *victims.Move, times int64) {
	size := resources.Scale(nil, v.Size, times)
	p.take(v.To, size)
	p.freed[v.From] = resources.Add(p.freed[v.From], p.freed[v.From], size)
	p.draw([]victims.TaskID{v.Task}, times)
	p.moving[v.Task] = times > 0
}

// cut takes the last moves back, but for the first n.
func (p *packing) cut(n int) {
	for i := range p.moves[n:] {
		p.note(&p.moves[n+i], -1)
	}
	p.moves = p.moves[:n]
}

// put makes moves.
func (p *packing) put(moves []victims.Move) {
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
	v := victims.Move{Task: id, Key: t.Key, Size: t.Size, From: t.Node, Grant: s.unused(t.Key + "+")}
	may, near := s.asks(&v), p.nearGang(&t)
	for i, n := range s.open {
		if i%pieceOfNodes == 0 {
			s.meter.Pay(int64(min(len(s.open)-i, pieceOfNodes)))
		}
		room := s.room[i*s.types : (i+1)*s.types]
		if n == t.Node || n == p.clearing || !fits(t.Size, room, nil) || p.shut[n] || !fits(t.Size, room, p.taken[n]) || !near(n) {
			continue
		}
		if p.tries--; p.tries < 0 || s.meter.Over() {
			s.proven = false
			return false
		}
		if v.To = n; !may(n) {
			continue
		}
		p.put([]victims.Move{v})
		if p.place(tasks[1:]) {
			return true
		}
		p.cut(len(p.moves) - 1)
	}
	return false
}

// nearGang returns a function that says whether a task may go to a node as one of a gang, whose
// members share as narrow a domain as they did.
func (p *packing) nearGang(t *victims.Task) func(n victims.NodeID) bool {
	s, depth := p.s, 0
	if s.bound(t.Job) {
		depth = len(s.gangOf(t.Job).shared)
	}
	if depth <= 0 {
		return func(victims.NodeID) bool { return true }
	}
	s.meter.Pay(int64(len(p.moves)) / 8)
	i := slices.IndexFunc(p.moves, func(v victims.Move) bool { return s.jobOf(&v) == t.Job })
	return func(n victims.NodeID) bool {
		d := s.c.NodeView(n).Domains
		return len(d) >= depth && (i < 0 || slices.Equal(d[:depth], s.c.NodeView(p.moves[i].To).Domains[:depth]))
	}
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

// asks returns a function that asks the caller whether a mover may run on a node, and nobody
// there keeps it away.
func (s *Search) asks(v *victims.Move) func(n victims.NodeID) bool {
	if s.Filter == nil && s.Blockers == nil {
		return func(victims.NodeID) bool { return true }
	}
	ask := lent.To(s.Options).AskOf(v, s.c)
	q := lent.To(s.Options).Question(s.c, &ask, s.Now)
	return func(n victims.NodeID) bool {
		q.Node = n
		return s.passes(q) && (s.Blockers == nil || len(s.Blockers(nil, q)) == 0)
	}
}

// blocks reports whether movers to one node block each other: whoever blocks a mover where it runs
// does so where it moves to.
func (s *Search) blocks(set []victims.Move) bool {
	for i := range set {
		if s.Blockers == nil {
			break
		}
		m := &set[i]
		ask := lent.To(s.Options).AskOf(m, s.c)
		q := lent.To(s.Options).Question(s.c, &ask, s.Now)
		for j := range set {
			o := &set[j]
			q.Node = o.From
			if o.To == m.To && i != j && slices.Contains(s.Blockers(nil, q), o.Task) {
				return true
			}
		}
	}
	return false
}
