// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// look tries sets of movers: all of them in small clusters. Else movers alone; if there is no
// plan, or one of the own leaf only, movers for whom others stop as well; and victims of a plan
// without moves. If no node has anything free there are none.
func (s *Search) look() error {
	if s.Blockers == nil && resources.Positive(s.most) == 0 {
		return nil
	}
	alone := s.settleAreas
	if !s.Gang {
		s.hosts = s.listHosts(s.hosts[:0], s.c.Nodes(), &s.members[0])
		if alone = s.alone; !s.Hasty && s.small() {
			return s.every()
		}
	}
	if err := alone(); err != nil {
		return err
	}
	if (s.best.Outcome == victims.Refused || s.isSecond(s.best)) && s.entitled && !s.Gang {
		if err := s.mixed(); err != nil {
			return err
		}
	}
	if s.best.Outcome == victims.Preempts && len(s.moves) == 0 {
		return s.spare()
	}
	return nil
}

// small reports whether all sets of units of each host can be tried.
func (s *Search) small() bool {
	if len(s.hosts) > exactSets {
		return false
	}
	sets := 0
	for _, n := range s.hosts {
		if sets += 1 << min(len(s.unitsOn(n).units), 30); sets > exactSets || s.meter.Over() {
			return false
		}
	}
	return int64(sets)*hostWork*int64(s.c.NodeLen()) <= s.meter.Left
}

// every tries every set of units of each host.
func (s *Search) every() error {
	for _, n := range s.hosts {
		units := s.unitsOn(n).units
		for set := 1; set < 1<<len(units); set++ {
			var some []unit
			for i := range units {
				if set>>i&1 == 1 {
					some = append(some, units[i])
				}
			}
			p := s.packing()
			if p.clearing = n; !p.all(some) {
				continue
			}
			if _, err := s.attempt(n, p.moves); err != nil {
				return err
			}
		}
	}
	return nil
}

// alone tries the cheapest sets of movers that make room by themselves on a node.
func (s *Search) alone() error {
	m, p := &s.members[0], s.packing()
	s.proven = false
	s.listNear(s.hosts, m, p)
	for _, f := range s.sets(m, p, 2) {
		if better, err := s.attempt(f.node, f.moves); better || err != nil {
			return err
		}
	}
	return nil
}

// settleAreas tries, in one domain after the other, to make room for each member by moves
// alone.
func (s *Search) settleAreas() error {
	s.proven = false
	for _, area := range s.areas() {
		p := s.packing()
		aside := s.meter.Left / 4 // for the decision
		s.meter.Left -= aside
		settled := s.settle(area, p)
		if s.meter.Left += aside; !settled {
			continue
		}
		if _, err := s.attempt(0, p.moves); err != nil || s.meter.Over() {
			return err
		}
	}
	return nil
}

// spare moves those victims of the best plan that find a place.
func (s *Search) spare() error {
	p, list := s.packing(), s.best.Plan.Victims
	nodes := nodesOf(s.best)
	for _, n := range nodes {
		p.shut[n] = true
	}
	isVictim := map[victims.TaskID]bool{}
	for i := range list {
		isVictim[list[i].Task] = !list[i].ForHeadroom && !list[i].ForQuota
	}
	for i := range list {
		if s.meter.Pay(lookWork); s.meter.Over() {
			break
		}
		// A gang is looked at once for each of its nodes, by its first member there.
		u, ok := s.unitOf(list[i].Task)
		if !ok || p.moving[u.tasks[0]] || slices.ContainsFunc(u.tasks, func(id victims.TaskID) bool { return !isVictim[id] }) {
			continue
		}
		if before := len(p.moves); p.all([]unit{u}) && !s.moderate(p.moves) {
			p.cut(before)
			break
		}
	}
	_, err := s.attempt(nodes[0], p.moves)
	return err
}

// mixed lets all of a node move that can, has others stop for the rest, and takes back who
// need not move. It does so on the nodes on which the ask lacks least.
func (s *Search) mixed() error {
	for i := range min(len(s.near), mixedNodes) {
		p := s.packing()
		p.clearing = s.near[i].node
		units := slices.Clone(s.unitsOn(p.clearing).units)
		s.sortUnits(units, s.Ask.Size)
		for j := range units {
			if s.meter.Over() {
				return nil
			}
			if before := len(p.moves); p.all(units[j:j+1]) && !s.moderate(p.moves) {
				p.cut(before)
			}
		}
		if err := s.giveBack(p.clearing, p.moves); err != nil {
			return err
		}
	}
	return nil
}

// giveBack decides about moves from a node, and again without those that the ask can do
// without, until it needs all of them. What the caller refuses then it may need after all.
func (s *Search) giveBack(n victims.NodeID, set []victims.Move) error {
	better, err := s.attempt(n, set)
	for better && err == nil {
		idle := s.idle(n)
		better = false
		for ; len(idle) > 0 && !better && err == nil; idle = idle[:len(idle)/2] {
			better, err = s.attempt(n, slices.DeleteFunc(slices.Clone(s.moves), func(v victims.Move) bool { return slices.Contains(idle, v.Task) }))
		}
	}
	return err
}

// idle lists movers without which the ask has room on the node of the best plan just so.
// Gangs move on.
func (s *Search) idle(n victims.NodeID) (ids []victims.TaskID) {
	room := s.c.ComingFree(nil, n)
	for i := range s.moves {
		if v := &s.moves[i]; v.From == n {
			room = resources.Add(room, room, v.Size)
		}
	}
	for i := range s.best.Plan.Victims {
		if t := s.c.TaskView(s.best.Plan.Victims[i].Task); t.Node == n {
			room = resources.Add(room, room, t.Size)
		}
	}
	room = resources.Sub(room, room, s.Ask.Size)
	for t := range room {
		if s.Ask.Size.At(t) <= 0 {
			room[t] = math.MaxInt64 // it does not matter
		}
	}
	var block []victims.TaskID
	if s.Blockers != nil {
		s.asked.Node = n
		block = s.Blockers(nil, s.asked)
	}
	for i := len(s.moves) - 1; i >= 0; i-- {
		v := &s.moves[i]
		if s.bound(s.jobOf(v)) || slices.Contains(block, v.Task) || !fits(v.Size, room, nil) {
			continue
		}
		room = resources.Sub(room, room, v.Size)
		ids = append(ids, v.Task)
	}
	return ids
}

// attempt decides in the cluster in which some tasks move, without a gang about one node, and
// keeps the answer if it is better than the best so far.
func (s *Search) attempt(n victims.NodeID, set []victims.Move) (better bool, err error) {
	if len(set) == 0 || !s.moderate(set) {
		return false, nil
	}
	if s.meter.Over() {
		s.proven = false
		return false, nil
	}
	moves := slices.SortedFunc(slices.Values(set), byKey)
	s.name(moves)
	if decided, err := s.trial(n, moves); !decided || err != nil {
		return false, err
	}
	d := &s.other
	s.proven = s.proven && isProven(d)
	if d.Outcome == victims.Refused {
		return false, nil
	}
	if some := s.serving(moves, nodesOf(d)); len(some) < len(set) {
		s.proven = false
		return s.attempt(n, some)
	}
	cost := s.costOf(moves, d)
	if s.best.Outcome != victims.Refused && s.against(moves, &cost) >= 0 {
		return false, nil
	}
	*s.best, s.other = s.other, *s.best
	s.moves, s.cost = moves, cost
	return true, nil
}

// trial decides over a copy of the cluster in which some tasks move, and takes the moves back.
func (s *Search) trial(n victims.NodeID, moves []victims.Move) (decided bool, err error) {
	s.payTrial(moves)
	if s.blocks(moves) {
		return false, nil
	}
	c := s.aside.Of(s.c)
	if c.Apply(&victims.Decision{Plan: victims.Plan{Version: c.Version(), Moves: moves}}) != nil {
		s.proven = false
		return false, nil
	}
	defer func() {
		if undo := c.Undo(); undo != nil {
			panic(undo) // nobody else has the copy
		}
	}()
	if err := s.Decide(&s.other, c, n, s.stopTrial()); err != nil {
		return false, err
	}
	steps := s.other.Plan.Steps // it has asked itself whether to stop
	s.meter.Left, s.meter.Used = s.meter.Left-steps, s.meter.Used+steps
	return true, nil
}

// payTrial charges for a trial what it takes beside its search.
func (s *Search) payTrial(set []victims.Move) {
	s.pay(s.c.NodeLen(), hostWork)
	s.pay(len(set), moveWork)
	var changed []victims.NodeID
	for i := range set {
		changed = append(changed, set[i].From, set[i].To)
	}
	slices.Sort(changed)
	for _, n := range slices.Compact(changed) {
		for range s.c.TasksOn(n) {
			s.meter.Pay(sortWork)
		}
	}
}

// stopTrial ends a trial with the budget: what asks whether to stop has taken some steps since
// it asked before.
func (s *Search) stopTrial() func() bool {
	left := s.meter.Left
	return func() bool {
		left -= pollSteps
		s.meter.Ask()
		return s.meter.Stopped || left < 0
	}
}

// serving lists the moves of which a plan has use: those of units that leave a node on which
// something is placed that has to be. Of a gang nobody goes to a node that others leave for
// that.
func (s *Search) serving(set []victims.Move, nodes []victims.NodeID) (some []victims.Move) {
	left, gangs := map[victims.NodeID]bool{}, map[string]bool{}
	for i := range set {
		if v := &set[i]; slices.Contains(nodes, v.From) {
			left[v.From], gangs[s.jobOf(v)] = true, true
		}
	}
	for i := range set {
		v := &set[i]
		switch bound := s.bound(s.jobOf(v)); {
		case bound && left[v.To]:
			return nil
		case left[v.From] || bound && gangs[s.jobOf(v)]:
			some = append(some, *v)
		}
	}
	return some
}

// costOf returns whom moves disturb for a plan. Of a gang nothing is beyond what it lacks.
func (s *Search) costOf(set []victims.Move, d *victims.Decision) (sum cost.Total) {
	var freed resources.Vector
	for i := range set {
		t := s.c.TaskView(set[i].Task)
		if sum.Levels[1]++; t.OptedOut {
			sum.Levels[0]++
		}
		sum.Work = sum.Work.Add(s.weights.Work(t.Size, rulebook.Lost(t.Scheduled, t.Checkpoint, s.Now)))
		if !s.Gang && t.Node == d.Plan.Places[0].Node {
			freed = resources.Add(freed, freed, t.Size)
		}
	}
	if len(freed) > 0 {
		sum.Excess = cost.Excess(freed, s.lack(d.Plan.Places[0].Node, &s.members[0], &packing{}), s.capacity)
	}
	return sum
}

// levels returns a cost of stops without what moves are not worth: work, excess and node.
func levels(c victims.Cost) victims.Cost {
	c.Excess, c.Work, c.NodePenalty, c.Node = resources.Share{}, resources.Wide{}, 0, 0
	return c
}

// against compares the last decision, with moves, to the best so far: work of others before the
// own leaf, who stops, who moves, the rest of the cost, keys. The cost of stopping nobody is the
// least.
func (s *Search) against(moves []victims.Move, cost *cost.Total) int {
	if second := s.isSecond(s.best); s.isSecond(&s.other) != second {
		if second {
			return -1
		}
		return 1
	}
	a, b := &s.other.Plan.Cost, &s.best.Plan.Cost
	x, y := levels(*a), levels(*b)
	return cmp.Or(lent.To(s.Options).CompareCosts(&x, &y), order.CompareTotals(cost, &s.cost), a.Compare(b), slices.CompareFunc(moves, s.moves, byKey))
}

// name gives the grants of movers keys that nobody has, in the order of moves.
func (s *Search) name(moves []victims.Move) {
	asks := len(s.keys)
	for i := range moves {
		moves[i].Grant = s.unused(moves[i].Key + "+")
		s.keys = append(s.keys, moves[i].Grant)
	}
	s.keys = s.keys[:asks]
}

// unused returns a key that no task or grant has, nor what is asked: longer if need be.
func (s *Search) unused(key string) string {
	for {
		_, task := s.c.Lookup(key)
		if _, grant := s.c.LookupGrant(key); !task && !grant && !slices.Contains(s.keys, key) {
			return key
		}
		key += "+"
	}
}

// areas lists the nodes of each domain of the gang's depth: all are in one of depth 0.
func (s *Search) areas() (areas [][]victims.NodeID) {
	rows := map[string]int{}
	depth := s.Ask.DomainDepth
	for n := range s.c.Nodes() {
		d := s.c.NodeView(n).Domains
		if len(d) < depth {
			continue
		}
		name := strings.Join(d[:depth], "\x00")
		if _, known := rows[name]; !known {
			rows[name] = len(areas)
			areas = append(areas, nil)
		}
		areas[rows[name]] = append(areas[rows[name]], n)
	}
	return areas
}
