// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"cmp"
	"iter"
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
	moves []victims.Move
	cost  cost.Total
}

func (f foundSet) compare(g foundSet) int {
	return cmp.Or(order.CompareTotals(&f.cost, &g.cost), cmp.Compare(f.node, g.node))
}

// order is that of costs of movers: those that opted out, how many, the work that they lose, and
// what they free beyond what is lacking. They count after who stops, and before work and excess
// of those who stop.
var order = cost.Order{Count: 1}

// A shortNode is a node on which something lacks room.
type shortNode struct {
	node victims.NodeID
	lack resources.Share
	vain bool // no movers make room there
}

// listNear lists those of some nodes on which a member lacks something beside a packing, those first on which
// it lacks least.
func (s *Search) listNear(hosts []victims.NodeID, m *victims.Member, p *packing) {
	s.near, s.movers = s.near[:0], 0
	for _, n := range hosts {
		if s.meter.Pay(hostWork); s.meter.Over() {
			break
		}
		if lack := s.lack(n, m, p); lack != nil {
			s.near = append(s.near, shortNode{node: n, lack: s.share(lack)})
		}
	}
	slices.SortFunc(s.near, func(a, b shortNode) int { return cmp.Or(a.lack.Compare(b.lack), cmp.Compare(a.node, b.node)) })
}

// sets lists the cheapest sets of movers that make room for a member by themselves, each on a
// near node. Once there is one, no more is looked at than one of so many parts of the budget,
// and of the tasks.
func (s *Search) sets(m *victims.Member, p *packing, parts int) (sets []foundSet) {
	looked, tasks := 0, fewTasks/max(len(s.members), 1)
	s.parts = int64(parts)
	floor := s.meter.Left - s.meter.Left/s.parts
	for i := range s.near {
		var most *cost.Total
		if len(sets) == fewSets {
			if most = &sets[fewSets-1].cost; most.Levels == (cost.Levels{0, 1}) {
				break // enough sets of one task that has not opted out
			}
		}
		if (looked > tasks || s.meter.Left < floor) && len(sets) > 0 || looked > fewTasks && s.movers == 0 || s.meter.Over() {
			break
		}
		at := &s.near[i]
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
func (s *Search) clear(n victims.NodeID, m *victims.Member, p *packing, most *cost.Total) (f foundSet, ok bool) {
	f.node, s.looked = n, 0
	lack := s.lack(n, m, p)
	if lack == nil {
		return f, true
	}
	// Of a gang that moves, nobody goes to a node that is freed.
	s.meter.Pay(lookWork + int64(len(p.moves))/8)
	if slices.ContainsFunc(p.moves, func(v victims.Move) bool { return v.To == n && s.bound(s.jobOf(&v)) }) {
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
func (s *Search) useful(units []unit, lack resources.Vector, p *packing) (some []unit) {
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

// try finds the cheapest of some units that make room on a node, and places for them beside a
// packing, which stays as it is.
func (s *Search) try(stated []unit, n victims.NodeID, p *packing) (moves []victims.Move, ok bool) {
	for drop := 1; len(stated) > 0 && !s.meter.Over(); drop *= 2 {
		// A part of the budget, so that something is left for other nodes and members.
		aside := s.meter.Left - s.meter.Left/(nodeParts*s.parts)
		s.meter.Left -= aside
		s.worker.Least(&s.found, &s.problem, coverSteps)
		s.meter.Left += aside
		if !s.found.Found {
			return nil, false
		}
		chosen, before := []unit(nil), len(p.moves)
		for _, i := range s.found.Units {
			chosen = append(chosen, stated[i])
		}
		if p.clearing = n; p.all(chosen) {
			moves = slices.Clone(p.moves[before:])
			p.cut(before)
			return moves, true
		}
		stated = s.leaveOut(stated, drop)
	}
	s.proven = false
	return nil, false
}

// pose makes the problem of a node, and reports whether its units could have all that is lacking.
func (s *Search) pose(stated []unit, lack resources.Vector, most *cost.Total) bool {
	problem := &s.problem
	*problem = units.Problem{
		Units: problem.Units[:0], Needs: append(problem.Needs[:0], lack), Order: order,
		Wanted: lack, Capacity: s.capacity, Limit: most,
		// All movers together have to fit what is free.
		Bounds: append(problem.Bounds[:0], units.Bound{Room: resources.Limit{Value: s.rooms, Defined: resources.Positive(s.capacity)}}),
	}
	s.all = s.all[:0]
	for i := range stated {
		s.meter.Pay(coverWork)
		s.all = resources.Add(s.all, s.all, stated[i].size)
		u := &stated[i]
		problem.Units = append(problem.Units, units.Unit{
			Key: s.c.Key(u.tasks[0]), Size: u.size, Needs: s.need[:], Bounds: s.need[:], Work: u.lost,
			Levels: cost.Levels{int64(u.optedOut), int64(len(u.tasks))},
		})
	}
	return resources.Fits(lack, s.all)
}

// sortUnits sorts units by what they have of a capacity, the largest first.
func (s *Search) sortUnits(units []unit, capacity resources.Vector) {
	s.pay(len(units), sortWork)
	slices.SortFunc(units, func(a, b unit) int {
		x, y := shareIn(a.size, capacity), shareIn(b.size, capacity)
		return cmp.Or(y.Compare(x), strings.Compare(s.c.Key(a.tasks[0]), s.c.Key(b.tasks[0])))
	})
}

// shareIn returns what some amounts are of a capacity, in its types.
func shareIn(size, capacity resources.Vector) (most resources.Share) {
	for t := range resources.Positive(capacity).All() {
		if share := (resources.Share{Amount: max(size.At(t), 0), Of: capacity[t]}); share.Compare(most) > 0 {
			most = share
		}
	}
	return most
}

// leaveOut takes some units out of the problem, the largest first of those that the worker has
// found, and then of all: they are the hardest to place. There are twice as many each time, so
// that a node is not searched as often as it has tasks.
func (s *Search) leaveOut(stated []unit, drop int) []unit {
	first, all := make([]int, len(stated)), make([]int, len(stated)) // those found are before all others
	for _, i := range s.found.Units {
		first[i] = -1
	}
	for i := range all {
		all[i] = i
	}
	s.pay(len(all), sortWork)
	slices.SortFunc(all, func(i, j int) int {
		x, y := &stated[i], &stated[j]
		return cmp.Or(first[i]-first[j], s.share(y.size).Compare(s.share(x.size)), strings.Compare(s.c.Key(x.tasks[0]), s.c.Key(y.tasks[0])))
	})
	stay := slices.Sorted(slices.Values(all[min(drop, len(all)):]))
	for to, i := range stay {
		stated[to], s.problem.Units[to] = stated[i], s.problem.Units[i]
	}
	s.problem.Units = s.problem.Units[:len(stay)]
	return stated[:len(stay)]
}

// listHosts appends those of some nodes that take a member.
func (s *Search) listHosts(dst []victims.NodeID, nodes iter.Seq[victims.NodeID], m *victims.Member) []victims.NodeID {
	for n := range nodes {
		if s.meter.Pay(hostWork); s.meter.Over() {
			break
		}
		if s.takes(n, m) {
			dst = append(dst, n)
		}
	}
	return dst
}

// settle gives each member a node of an area: the first with room, or one that is cheap to
// clear. Nodes are listed once for members that are alike.
func (s *Search) settle(area []victims.NodeID, p *packing) bool {
	roomy := 0 // hosts before it have no room
	listed := false
	for i := range s.members {
		m := &s.members[i]
		if i == 0 || m.Class != s.members[i-1].Class || !resources.Equal(m.Size, s.members[i-1].Size) {
			s.hosts = s.listHosts(s.hosts[:0], slices.Values(area), m)
			roomy, listed = 0, false
		}
		for ; roomy < len(s.hosts) && s.lack(s.hosts[roomy], m, p) != nil; roomy++ {
			s.meter.Pay(hostWork)
		}
		if roomy < len(s.hosts) {
			p.seat(s.hosts[roomy], m.Size)
			continue
		}
		if !listed {
			s.listNear(s.hosts, m, p)
			listed = true
		}
		sets := s.sets(m, p, 1+len(s.members)-i)
		if len(sets) == 0 {
			return false
		}
		p.put(sets[0].moves)
		p.seat(sets[0].node, m.Size)
	}
	return true
}
