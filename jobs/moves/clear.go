// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/units"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A found set of movers makes room for one member.
type foundSet struct {
	node  victims.NodeID
	moves []Move
	cost  cost.Total
}

func (f foundSet) compare(g foundSet) int {
	return cmp.Or(
		slices.Compare(f.cost.Levels[:], g.cost.Levels[:]), f.cost.Work.Compare(g.cost.Work),
		f.cost.Excess.Compare(g.cost.Excess), cmp.Compare(f.node, g.node),
	)
}

// byLack has nodes on which something lacks room, those on which it lacks least first.
// They are sorted as far as they are asked for: behind a heap, the first one last.
type byLack struct {
	nodes []shortNode
	heap  int // how many are in the heap
}

type shortNode struct {
	node victims.NodeID
	lack resources.Share
	vain bool // no movers make room there
}

func (b *byLack) Len() int      { return b.heap }
func (b *byLack) Swap(i, j int) { b.nodes[i], b.nodes[j] = b.nodes[j], b.nodes[i] }
func (b *byLack) Push(any)      {} // nothing is added once it is a heap
func (b *byLack) Pop() any      { b.heap--; return nil }
func (b *byLack) Less(i, j int) bool {
	x, y := &b.nodes[i], &b.nodes[j]
	return cmp.Or(x.lack.Compare(y.lack), cmp.Compare(x.node, y.node)) < 0
}

// at returns the node of an index in that order.
func (b *byLack) at(i int) *shortNode {
	for i >= len(b.nodes)-b.heap {
		heap.Pop(b)
	}
	return &b.nodes[len(b.nodes)-1-i]
}

// listNear lists those of some nodes on which a member lacks something beside a packing.
func (s *search) listNear(hosts []victims.NodeID, m *member, p *packing) {
	nodes := s.near.nodes[:0]
	for _, n := range hosts {
		if s.meter.Pay(hostWork); s.meter.Over() {
			break
		}
		if lack := s.lack(n, m, p); lack != nil {
			nodes = append(nodes, shortNode{node: n, lack: s.share(lack)})
		}
	}
	s.near, s.movers = byLack{nodes, len(nodes)}, 0
	heap.Init(&s.near)
}

// sets lists the cheapest sets of movers that make room for a member by themselves, each on a
// near node. Once there is one, no more is looked at than one of so many parts of the budget,
// and of the tasks.
func (s *search) sets(m *member, p *packing, parts int) (sets []foundSet) {
	looked, tasks := 0, fewTasks/max(len(s.members), 1)
	s.parts = int64(parts)
	floor := s.meter.Left - s.meter.Left/s.parts
	for i := range s.near.nodes {
		var most *cost.Total
		if len(sets) == fewSets {
			if most = &sets[fewSets-1].cost; most.Levels == (cost.Levels{0, 1}) {
				break // enough sets of one task that has not opted out
			}
		}
		if (looked > tasks || s.meter.Left < floor) && len(sets) > 0 || looked > fewTasks && s.movers == 0 || s.meter.Over() {
			break
		}
		at := s.near.at(i)
		if at.vain {
			continue
		}
		f, ok := s.clear(at.node, m, p, most)
		looked += s.looked
		if at.vain = !ok && most == nil; !ok {
			continue
		}
		to, _ := slices.BinarySearchFunc(sets, f, foundSet.compare)
		sets = slices.Insert(sets, to, f)
		sets = sets[:min(len(sets), fewSets)]
	}
	return sets
}

// clear finds the cheapest movers that make room for a member on a node that takes it, and
// places for them beside what a packing has given away, which stays as it is. Sets that cost
// more than most are not looked for.
func (s *search) clear(n victims.NodeID, m *member, p *packing, most *cost.Total) (f foundSet, ok bool) {
	f.node, s.looked = n, 0
	lack := s.lack(n, m, p)
	if lack == nil {
		return f, true
	}
	// Of a gang that moves, nobody goes to a node that is freed.
	s.meter.Pay(lookWork + int64(len(p.moves))/8)
	if slices.ContainsFunc(p.moves, func(v Move) bool { return v.To == n && s.bound(v.Ask.Job) }) {
		return f, false
	}
	on := s.unitsOn(n)
	units := on.units
	s.looked, s.movers = on.tasks, s.movers+len(units)
	if !fits(lack, s.rooms, nil) {
		return f, false // what moves needs room elsewhere
	}
	some := s.useful(units, lack, p)
	for len(some) > 0 && !ok && !s.meter.Over() {
		next := some[:min(mostUnits, len(some))]
		if s.pose(next, lack, most) {
			f.moves, ok = s.try(slices.Clone(next), n, p)
		}
		some = some[len(next):]
	}
	f.cost = s.found.Total
	return f, ok
}

// useful lists the units that have something of what is lacking and are not moving yet. If they
// are very many, those with most of that come first.
func (s *search) useful(units []unit, lack resources.Vector, p *packing) (some []unit) {
	for i := range units {
		s.meter.Pay(coverWork)
		if u := &units[i]; !p.moving[u.tasks[0]] && resources.Positive(u.size)&resources.Positive(lack) != 0 {
			some = append(some, *u)
		}
	}
	if len(some) > mostUnits {
		s.proven = false
		s.sortUnits(some, lack)
	}
	return some
}

// try finds the cheapest of some units that make room on a node, and places for them.
func (s *search) try(stated []unit, n victims.NodeID, p *packing) (moves []Move, ok bool) {
	for drop := 1; len(stated) > 0 && !s.meter.Over(); drop *= 2 {
		// A part of the budget, so that something is left for other nodes and members.
		aside := s.meter.Left - s.meter.Left/(nodeParts*s.parts)
		s.meter.Left -= aside
		s.worker.Least(&s.found, &s.problem, coverSteps)
		s.meter.Left += aside
		if !s.found.Found {
			return nil, false
		}
		if moves, ok = s.give(stated, p, n); ok {
			return moves, true
		}
		stated = s.leaveOut(stated, drop)
	}
	s.proven = false
	return nil, false
}

// pose makes the problem of a node, and reports whether its units could have all that is lacking.
func (s *search) pose(stated []unit, lack resources.Vector, most *cost.Total) bool {
	problem := &s.problem
	*problem = units.Problem{
		Units: problem.Units[:0], Needs: append(problem.Needs[:0], lack), Order: cost.Order{Count: 1},
		Wanted: lack, Capacity: s.capacity, Limit: most,
		// All movers together have to fit what is free.
		Bounds: append(problem.Bounds[:0], units.Bound{Room: resources.Limit{Value: s.rooms, Defined: resources.Positive(s.capacity)}}),
	}
	s.all = s.all[:0]
	for i := range stated {
		s.meter.Pay(coverWork)
		s.all = resources.Add(s.all, s.all, stated[i].size)
		problem.Units = append(problem.Units, s.coverUnit(&stated[i]))
	}
	return resources.Fits(lack, s.all)
}

// sortUnits sorts units by what they have of a capacity, the largest first.
func (s *search) sortUnits(units []unit, capacity resources.Vector) {
	keyed := make([]sizedUnit, len(units))
	for i, u := range units {
		s.meter.Pay(sortWork)
		keyed[i] = sizedUnit{u, resources.DominantShare(inTypes(u.size, capacity), capacity)}
	}
	slices.SortFunc(keyed, func(a, b sizedUnit) int {
		return cmp.Or(b.share.Compare(a.share), strings.Compare(s.c.Key(a.tasks[0]), s.c.Key(b.tasks[0])))
	})
	for i := range keyed {
		units[i] = keyed[i].unit
	}
}

type sizedUnit struct {
	unit
	share resources.Share
}

// give has the units that the worker has found leave a node, finds them places beside a
// packing, and takes both back.
func (s *search) give(stated []unit, p *packing, n victims.NodeID) (moves []Move, ok bool) {
	var chosen []unit
	for _, i := range s.found.Units {
		chosen = append(chosen, stated[i])
	}
	before := len(p.moves)
	if p.clearing = n; !p.all(chosen) {
		return nil, false
	}
	moves = slices.Clone(p.moves[before:])
	p.cut(before)
	return moves, true
}

// leaveOut takes some units out of the problem, the largest first of those that the worker has
// found, and then of all: they are the hardest to place. There are twice as many each time, so
// that a node is not searched as often as it has tasks.
func (s *search) leaveOut(stated []unit, drop int) []unit {
	found, order := make([]bool, len(stated)), make([]int, len(stated))
	for _, i := range s.found.Units {
		found[i] = true
	}
	for i := range order {
		s.meter.Pay(sortWork)
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		if found[i] != found[j] {
			if found[i] {
				return -1
			}
			return 1
		}
		x, y := &stated[i], &stated[j]
		return cmp.Or(s.share(y.size).Compare(s.share(x.size)), strings.Compare(s.c.Key(x.tasks[0]), s.c.Key(y.tasks[0])))
	})
	stay := slices.Sorted(slices.Values(order[min(drop, len(order)):]))
	for to, i := range stay {
		stated[to], s.problem.Units[to] = stated[i], s.problem.Units[i]
	}
	s.problem.Units = s.problem.Units[:len(stay)]
	return stated[:len(stay)]
}

// coverUnit returns a unit for package units.
func (s *search) coverUnit(u *unit) units.Unit {
	return units.Unit{
		Key: s.c.Key(u.tasks[0]), Size: u.size, Needs: s.need[:], Bounds: s.need[:], Work: u.lost,
		Levels: cost.Levels{int64(u.optedOut), int64(len(u.tasks))},
	}
}
