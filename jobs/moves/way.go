// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A way is the search for moves for a subject.
type way struct {
	*search
	x *subject
	m *Plan
}

// attempt decides in the cluster in which some tasks move, for an ask about one node, and
// keeps the answer if it is better than the best so far.
func (w *way) attempt(n victims.NodeID, set []Move) (better bool, err error) {
	if len(set) == 0 || !w.moderate(moved(set)) {
		return false, nil
	}
	if w.meter.Over() {
		w.proven = false
		return false, nil
	}
	found := Plan{Moves: slices.SortedFunc(slices.Values(set), func(a, b Move) int { return strings.Compare(a.Key, b.Key) })}
	w.name(found.Moves)
	if decided, err := w.trial(n, &found); !decided || err != nil {
		return false, err
	}
	a := w.read(&w.x.other)
	w.proven = w.proven && a.proven()
	if a.outcome == victims.Refused {
		return false, nil
	}
	if some := w.serving(found.Moves, &a); len(some) < len(set) {
		w.proven = false
		return w.attempt(n, some)
	}
	found.cost = w.costOf(found.Moves, &a)
	if best := w.read(w.x.best); best.outcome != victims.Refused && w.against(&a, &found, &best) >= 0 {
		return false, nil
	}
	*w.x.best, w.x.other = w.x.other, *w.x.best
	*w.read(w.x.best).version = w.c.Version()
	w.m.Moves, w.m.cost = found.Moves, found.cost
	return true, nil
}

// trial decides over a copy of the cluster in which some tasks move, and takes the moves back.
func (w *way) trial(n victims.NodeID, m *Plan) (decided bool, err error) {
	w.payTrial(m.Moves)
	if w.blocks(m.Moves) {
		return false, nil
	}
	c := w.aside.Of(w.c)
	if c.ApplyChange(m.AddTo(victims.Change{For: w.ask.Key, Version: c.Version()})) != nil {
		w.proven = false
		return false, nil
	}
	defer func() {
		if undo := c.Undo(); undo != nil {
			panic(undo) // nobody else has the copy
		}
	}()
	if err := w.x.trial(&w.x.other, c, n, w.stopTrial()); err != nil {
		return false, err
	}
	steps := w.read(&w.x.other).steps // it has asked itself whether to stop
	w.meter.Left, w.meter.Used = w.meter.Left-steps, w.meter.Used+steps
	return true, nil
}

// payTrial charges for a trial what it takes beside its search.
func (s *search) payTrial(set []Move) {
	for range s.c.NodeLen() {
		s.meter.Pay(hostWork)
	}
	changed := map[victims.NodeID]bool{}
	for i := range set {
		s.meter.Pay(moveWork)
		for _, n := range [...]victims.NodeID{set[i].From, set[i].To} {
			if changed[n] {
				continue
			}
			changed[n] = true
			for range s.c.TasksOn(n) {
				s.meter.Pay(sortWork)
			}
		}
	}
}

// stopTrial ends a trial with the budget: what asks whether to stop has taken some steps since
// it asked before.
func (s *search) stopTrial() func() bool {
	left := s.meter.Left
	return func() bool {
		left -= pollSteps
		s.meter.Ask()
		return s.meter.Stopped || left < 0
	}
}

// serving lists the moves of which an answer has use: those of units that leave a node on which
// something is placed that has to be. Of a gang nobody goes to a node that others leave for
// that.
func (s *search) serving(set []Move, a *answer) (some []Move) {
	left, gangs := map[victims.NodeID]bool{}, map[string]bool{}
	for i := range set {
		if v := &set[i]; slices.Contains(a.nodes, v.From) {
			left[v.From] = true
			gangs[v.Ask.Job] = true
		}
	}
	for i := range set {
		v := &set[i]
		switch bound := s.bound(v.Ask.Job); {
		case bound && left[v.To]:
			return nil
		case left[v.From] || bound && gangs[v.Ask.Job]:
			some = append(some, *v)
		}
	}
	return some
}

// levels returns a cost of stops without what moves are not worth: work, excess and node.
func levels(c victims.Cost) victims.Cost {
	c.Excess, c.Work, c.NodePenalty, c.Node = resources.Share{}, resources.Wide{}, 0, 0
	return c
}

// against compares an answer with moves to the best so far: work of others before the own leaf,
// who stops, who moves, the rest of the cost, keys. The cost of stopping nobody is the least.
func (w *way) against(a *answer, moved *Plan, best *answer) int {
	if a.second != best.second {
		if best.second {
			return -1
		}
		return 1
	}
	x, y := levels(a.cost), levels(best.cost)
	return cmp.Or(
		w.rules.CompareCosts(&x, &y), moved.cost.compare(&w.m.cost), a.cost.Compare(&best.cost),
		slices.CompareFunc(moved.Moves, w.m.Moves, func(a, b Move) int { return strings.Compare(a.Key, b.Key) }),
	)
}

// look tries sets of movers: all of them in small clusters. Else movers alone; if there is no
// plan, or one of the own leaf only, movers for whom others stop as well; and victims of a plan
// without moves. If no node has anything free there are none.
func (w *way) look() error {
	if w.rules.Blockers == nil && resources.Positive(w.most) == 0 {
		return nil
	}
	if w.job {
		if err := w.aloneForJob(); err != nil {
			return err
		}
	} else {
		w.hosts = w.listHosts(w.hosts[:0], w.c.Nodes(), &w.members[0])
		if !w.hasty && w.small() {
			return w.every()
		}
		if err := w.alone(); err != nil {
			return err
		}
	}
	best := w.read(w.x.best)
	if (best.outcome == victims.Refused || best.second) && w.entitled && !w.job {
		if err := w.mixed(); err != nil {
			return err
		}
		best = w.read(w.x.best)
	}
	if best.outcome == victims.Preempts && len(w.m.Moves) == 0 {
		return w.spare(&best)
	}
	return nil
}

// small reports whether all sets of units of each host can be tried.
func (w *way) small() bool {
	if len(w.hosts) > exactSets {
		return false
	}
	sets := 0
	for _, n := range w.hosts {
		if sets += 1 << min(len(w.unitsOn(n).units), 30); sets > exactSets || w.meter.Over() {
			return false
		}
	}
	return int64(sets)*hostWork*int64(w.c.NodeLen()) <= w.meter.Left
}

// every tries every set of units of each host.
func (w *way) every() error {
	for _, n := range w.hosts {
		units := w.unitsOn(n).units
		for set := 1; set < 1<<len(units); set++ {
			var some []unit
			for i := range units {
				if set>>i&1 == 1 {
					some = append(some, units[i])
				}
			}
			p := w.packing()
			if p.clearing = n; !p.all(some) {
				continue
			}
			if _, err := w.attempt(n, p.moves); err != nil {
				return err
			}
		}
	}
	return nil
}

// alone tries the cheapest sets of movers that make room by themselves on a node.
func (w *way) alone() error {
	m, p := &w.members[0], w.packing()
	w.proven = false
	w.listNear(w.hosts, m, p)
	for _, f := range w.sets(m, p, 2) {
		if better, err := w.attempt(f.node, f.moves); better || err != nil {
			return err
		}
	}
	return nil
}

// spare moves those victims of a plan that find a place.
func (w *way) spare(best *answer) error {
	p := w.packing()
	for _, n := range best.nodes {
		p.shut[n] = true
	}
	isVictim := map[victims.TaskID]bool{}
	for i := range best.victims {
		v := &best.victims[i]
		isVictim[v.Task] = !v.ForHeadroom && !v.ForQuota
	}
	for i := range best.victims {
		if w.meter.Pay(lookWork); w.meter.Over() {
			break
		}
		// A gang is looked at once for each of its nodes, by its first member there.
		u, ok := w.unitOf(best.victims[i].Task)
		if !ok || p.moving[u.tasks[0]] || slices.ContainsFunc(u.tasks, func(id victims.TaskID) bool { return !isVictim[id] }) {
			continue
		}
		if before := len(p.moves); p.all([]unit{u}) && !w.moderate(p.moved) {
			p.cut(before)
			break
		}
	}
	_, err := w.attempt(best.nodes[0], p.moves)
	return err
}

// mixed lets all of a node move that can, has others stop for the rest, and takes back who
// need not move. It does so on the nodes on which the ask lacks least.
func (w *way) mixed() error {
	for i := range min(len(w.near.nodes), mixedNodes) {
		p := w.packing()
		p.clearing = w.near.at(i).node
		units := slices.Clone(w.unitsOn(p.clearing).units)
		w.sortUnits(units, w.ask.Size)
		for j := range units {
			if w.meter.Over() {
				return nil
			}
			if before := len(p.moves); p.all(units[j:j+1]) && !w.moderate(p.moved) {
				p.cut(before)
			}
		}
		if err := w.giveBack(p.clearing, p.moves); err != nil {
			return err
		}
	}
	return nil
}

// giveBack decides about moves from a node, and again without those that the ask can do
// without, until it needs all of them. What the caller refuses then it may need after all.
func (w *way) giveBack(n victims.NodeID, set []Move) error {
	better, err := w.attempt(n, set)
	for better && err == nil {
		best := w.read(w.x.best)
		idle := w.idle(n, &best)
		better = false
		for ; len(idle) > 0 && !better && err == nil; idle = idle[:len(idle)/2] {
			better, err = w.attempt(n, slices.DeleteFunc(slices.Clone(w.m.Moves), func(v Move) bool { return slices.Contains(idle, v.Task) }))
		}
	}
	return err
}

// idle lists movers without which the ask has room on the node of the best answer just so.
// Gangs move on.
func (w *way) idle(n victims.NodeID, best *answer) (ids []victims.TaskID) {
	room := w.c.ComingFree(nil, n)
	for i := range w.m.Moves {
		if v := &w.m.Moves[i]; v.From == n {
			room = resources.Add(room, room, v.Ask.Size)
		}
	}
	for i := range best.victims {
		if t := w.c.TaskView(best.victims[i].Task); t.Node == n {
			room = resources.Add(room, room, t.Size)
		}
	}
	room = resources.Sub(room, room, w.ask.Size)
	var block []victims.TaskID
	if w.rules.Blockers != nil {
		w.asked.Node = n
		block = w.rules.Blockers(nil, w.asked)
	}
	for i := len(w.m.Moves) - 1; i >= 0; i-- {
		v := &w.m.Moves[i]
		if w.bound(v.Ask.Job) || slices.Contains(block, v.Task) || !fits(inTypes(v.Ask.Size, w.ask.Size), room, nil) {
			continue
		}
		room = resources.Sub(room, room, v.Ask.Size)
		ids = append(ids, v.Task)
	}
	return ids
}

// inTypes returns amounts in the types of others.
func inTypes(size, of resources.Vector) resources.Vector {
	size = slices.Clone(size)
	for t := range size {
		if of.At(t) <= 0 {
			size[t] = 0
		}
	}
	return size
}
