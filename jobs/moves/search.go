// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

const (
	exactSets  = 1 << 10 // sets of units up to which an ask is searched to the end
	packTries  = 2_000   // tries to place one set of movers
	coverSteps = 5_000   // of the search on one node
	fewSets    = 8       // sets of movers alone that are decided about
	fewTasks   = 10_000  // tasks that are looked at for another such set, or for a first mover
	mixedNodes = 32      // nodes on which others may have to stop as well
)

// search is the memory of a planner.
type search struct {
	*question
	rulesOf  eligible.Rules
	worker   cover.Worker
	found    cover.Selection
	capacity resources.Vector
	open     []victims.NodeID // that movers may go to
	hosts    []victims.NodeID // that the ask may run on
	near     byLack           // of them those on which it lacks something
	most     resources.Vector // of each type, what some of them has for movers
	free     resources.Vector
	short    resources.Vector
	all      resources.Vector
	ids      []victims.TaskID // of units
	units    []unit
	looked   int // tasks that were looked at
	movers   int // units that were found among them
	problem  cover.Problem
	need     [1]int32 // of the units of a problem: the only one
	entitled bool
	proven   bool
	hasty    bool // no case is searched to the end: for tests
}

// run decides without moves, and then looks for moves that make the answer better.
func run[D any](s *search, x *subject[D], q *question, m *Plan) error {
	if err := x.decide(x.best); err != nil {
		return err
	}
	a := x.read(x.best)
	m.Proven = a.proven()
	entitled := q.entitled()
	if !a.opens() || !entitled && !q.Any {
		return nil
	}
	s.reset(q)
	s.entitled, s.proven = entitled, m.Proven
	w := way[D]{search: s, x: x, m: m}
	if err := w.look(); err != nil {
		return err
	}
	m.Proven = s.proven
	if best := x.read(x.best); best.outcome == victims.Refused {
		best.cause.Proven = best.cause.Proven && s.proven
		best.cause.Help.Anything(q.c)
	}
	return nil
}

// reset states who asks. E does not matter to moves, and law 6 lets equals of the own leaf
// move, who lose nothing.
func (s *search) reset(q *question) {
	s.question = q
	c := q.c
	t := &eligible.Taker{
		Tree: c.Tree(), Leaf: q.ask.Queue, Priority: q.ask.Priority, Arriving: q.arriving,
		Strict: q.rules.StrictPriority || q.byPriority, OnNode: q.ask.RequiredNode != "", OwnLeaf: true,
	}
	s.rulesOf.Reset(t)
	if !t.Strict {
		s.rulesOf.Leaves[t.Leaf].Ceiling = 0
	}
	s.capacity = c.Capacity()
	s.open, s.most, s.ids = s.open[:0], s.most[:0], s.ids[:0]
	for n := range c.Nodes() {
		if v := c.NodeView(n); !v.Unschedulable && v.ReservedFor == "" && !c.Closed(n) {
			s.open = append(s.open, n)
			s.free = c.ComingFree(s.free, n)
			s.most = resources.Max(s.most, s.most, s.free)
		}
	}
}

// takes reports whether a member may be put on a node, room aside.
func (s *search) takes(n victims.NodeID, m *member) bool {
	v := s.c.NodeView(n)
	switch {
	case s.c.Closed(n):
		return false
	case s.ask.RequiredNode != "":
		return v.Name == s.ask.RequiredNode
	case v.Unschedulable, v.ReservedFor != "" && v.ReservedFor != s.ask.Key:
		return false
	}
	return s.rules.Filter == nil || s.rules.Filter(m.class, n)
}

// lack returns what a member lacks on a node, until the next call; nil if nothing.
func (s *search) lack(n victims.NodeID, m *member, p *packing) (lack resources.Vector) {
	s.free = s.c.ComingFree(s.free, n)
	for t := range resources.Positive(m.size).All() {
		if short := m.size[t] - s.free[t] + p.taken[n].At(t) - p.freed[n].At(t); short > 0 {
			if lack == nil {
				s.short = append(s.short[:0], s.free...)
				lack = s.short
				clear(lack)
			}
			lack[t] = short
		}
	}
	return lack
}

// share returns what some amounts are of the cluster.
func (s *search) share(v resources.Vector) resources.Share {
	return resources.DominantShare(v, s.capacity)
}

// costOf returns the cost of moves for an answer.
func (s *search) costOf(set []Move, a *answer) (sum cost) {
	var freed resources.Vector
	for i := range set {
		v := &set[i]
		t := s.c.TaskView(v.Task)
		sum.moves++
		if v.Ask.OptedOut {
			sum.optedOut++
		}
		sum.lost = sum.lost.AddTimes(t.Lost(s.now), 1)
		if !s.job && len(a.nodes) > 0 && v.From == a.nodes[0] {
			freed = resources.Add(freed, freed, v.Ask.Size)
		}
	}
	if len(freed) > 0 {
		sum.excess = cover.Excess(freed, s.lack(a.nodes[0], &s.members[0], &packing{}), s.capacity)
	}
	return sum
}

// moderate reports whether moves stay within MaxMoved.
func (s *search) moderate(set []Move) bool {
	if s.MaxMoved <= 0 {
		return true
	}
	var moved resources.Vector
	for i := range set {
		moved = resources.Add(moved, moved, set[i].Ask.Size)
	}
	most := resources.Scale(nil, s.arriving, s.MaxMoved)
	for t := range resources.Positive(s.arriving).All() {
		if moved.At(t) > most[t] {
			return false
		}
	}
	return true
}

// A way is the search for moves for a subject.
type way[D any] struct {
	*search
	x *subject[D]
	m *Plan
}

// attempt decides in the cluster in which some tasks move, and keeps the answer if it is
// the best so far.
func (w *way[D]) attempt(set []Move) (better bool, err error) {
	if len(set) == 0 || !w.moderate(set) {
		return false, nil
	}
	set = slices.Clone(set)
	slices.SortFunc(set, func(a, b Move) int { return strings.Compare(a.Key, b.Key) })
	moved := Plan{Moves: set}
	version := w.c.Version()
	if err := w.c.Apply(moved.AddTo(victims.Change{For: w.ask.Key, Version: version, At: w.now})); err != nil {
		return false, err
	}
	blocked := w.blocks(set)
	if !blocked {
		err = w.x.decide(&w.x.other)
	}
	if undo := w.c.Undo(); undo != nil {
		panic(undo) // nobody else may change the cluster meanwhile
	}
	if blocked || err != nil {
		return false, err
	}
	a := w.x.read(&w.x.other)
	w.proven = w.proven && a.proven()
	if a.outcome == victims.Refused {
		return false, nil
	}
	moved.cost = w.costOf(set, &a)
	if best := w.x.read(w.x.best); best.outcome != victims.Refused && w.against(&a, &moved, &best) >= 0 {
		return false, nil
	}
	*w.x.best, w.x.other = w.x.other, *w.x.best
	*w.x.read(w.x.best).version = version
	w.m.Moves, w.m.cost = append(w.m.Moves[:0], set...), moved.cost
	return true, nil
}

// levels returns a cost of stops without what moves are not worth: excess, work and node.
func levels(c victims.Cost) victims.Cost {
	c.Excess, c.Work, c.NodePenalty, c.Node = resources.Share{}, cover.Wide{}, 0, 0
	return c
}

// against compares an answer with moves to the best so far: who stops, who moves, the rest of
// the cost, keys. The cost of stopping nobody is the least.
func (w *way[D]) against(a *answer, moved *Plan, best *answer) int {
	compare := w.compare
	if compare == nil {
		compare = (*victims.Cost).Compare
	}
	x, y := levels(a.cost), levels(best.cost)
	return cmp.Or(
		compare(&x, &y), moved.cost.compare(&w.m.cost), a.cost.Compare(&best.cost),
		slices.CompareFunc(moved.Moves, w.m.Moves, func(a, b Move) int { return strings.Compare(a.Key, b.Key) }),
	)
}

// look tries sets of movers: all of them in small clusters. Else movers alone; if that is
// no plan, movers for whom others stop as well; and victims of a plan without moves. If no
// node has anything free there are none.
func (w *way[D]) look() error {
	if w.blockers == nil && resources.Positive(w.most) == 0 {
		return nil
	}
	if w.job {
		if err := w.aloneForJob(); err != nil {
			return err
		}
	} else {
		w.listHosts()
		if !w.hasty && w.small() {
			return w.every()
		}
		w.listNear()
		if err := w.alone(); err != nil {
			return err
		}
	}
	switch best := w.x.read(w.x.best); {
	case best.outcome == victims.Preempts:
		return w.spare(best.victims, best.nodes)
	case best.outcome == victims.Refused && w.entitled && !w.job:
		return w.mixed()
	}
	return nil
}

// listHosts lists the nodes that the ask may run on.
func (s *search) listHosts() {
	s.hosts = s.hosts[:0]
	for n := range s.c.Nodes() {
		if s.takes(n, &s.members[0]) {
			s.hosts = append(s.hosts, n)
		}
	}
}

// small reports whether all sets of units of each host can be tried.
func (w *way[D]) small() bool {
	if len(w.hosts) > exactSets {
		return false
	}
	sets := 0
	for _, n := range w.hosts {
		if sets += 1 << min(len(w.unitsOn(n)), 30); sets > exactSets {
			return false
		}
	}
	return true
}

// every tries every set of units of each host.
func (w *way[D]) every() error {
	for _, n := range w.hosts {
		units := w.unitsOn(n)
		for set := 1; set < 1<<len(units); set++ {
			var some []unit
			for i := range units {
				if set>>i&1 == 1 {
					some = append(some, units[i])
				}
			}
			p := w.packing()
			p.clearing = n
			if !p.all(some) {
				continue
			}
			if _, err := w.attempt(p.moves); err != nil {
				return err
			}
		}
	}
	return nil
}

// A found set of movers makes room for one member.
type foundSet struct {
	node  victims.NodeID
	moves []Move
	cost  cover.Total
}

func (f foundSet) compare(g foundSet) int {
	return cmp.Or(
		slices.Compare(f.cost.Levels[:], g.cost.Levels[:]), f.cost.Excess.Compare(g.cost.Excess),
		f.cost.Work.Compare(g.cost.Work), cmp.Compare(f.node, g.node),
	)
}

// byLack has nodes on which an ask lacks something, those on which it lacks least first.
// They are sorted as far as they are asked for: behind a heap, the first one last.
type byLack struct {
	nodes []shortNode
	heap  int // how many are in the heap
}

type shortNode struct {
	node victims.NodeID
	lack resources.Share
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
func (b *byLack) at(i int) victims.NodeID {
	for i >= len(b.nodes)-b.heap {
		heap.Pop(b)
	}
	return b.nodes[len(b.nodes)-1-i].node
}

// listNear lists the hosts on which the ask lacks something.
func (s *search) listNear() {
	nodes := s.near.nodes[:0]
	for _, n := range s.hosts {
		if lack := s.lack(n, &s.members[0], &packing{}); lack != nil {
			nodes = append(nodes, shortNode{n, s.share(lack)})
		}
	}
	s.near = byLack{nodes, len(nodes)}
	heap.Init(&s.near)
}

// alone tries the cheapest sets of movers that make room by themselves on a node.
func (w *way[D]) alone() error {
	var sets []foundSet
	p := w.packing()
	w.looked, w.movers, w.proven = 0, 0, false
	for i := range w.near.nodes {
		var most *cover.Total
		if len(sets) == fewSets {
			if most = &sets[fewSets-1].cost; most.Levels == (cover.Levels{0, 1}) {
				break // enough sets of one task that has not opted out
			}
		}
		if w.looked > fewTasks && (len(sets) > 0 || w.movers == 0) {
			break
		}
		f, ok := w.clear(w.near.at(i), &w.members[0], p, most)
		if !ok {
			continue
		}
		at, _ := slices.BinarySearchFunc(sets, f, foundSet.compare)
		sets = slices.Insert(sets, at, f)
		sets = sets[:min(len(sets), fewSets)]
	}
	for i := range sets {
		if better, err := w.attempt(sets[i].moves); better || err != nil {
			return err
		}
	}
	return nil
}

// clear finds the cheapest movers that make room for a member on a node that takes it and
// has no room, and places for them beside what a packing has given away, which stays as it
// is. Sets that cost more than most are not looked for.
func (s *search) clear(n victims.NodeID, m *member, p *packing, most *cover.Total) (f foundSet, ok bool) {
	lack := s.lack(n, m, p)
	units := s.unitsOn(n)
	units = slices.DeleteFunc(units, func(u unit) bool { return p.moving(u.tasks[0]) })
	s.all = s.all[:0]
	for i := range units {
		s.all = resources.Add(s.all, s.all, units[i].size)
	}
	if !resources.Fits(lack, s.all) {
		return f, false
	}
	problem := &s.problem
	*problem = cover.Problem{
		Units: problem.Units[:0], Needs: append(problem.Needs[:0], lack), Order: cover.Order{Count: 1},
		Wanted: lack, Capacity: s.capacity, Limit: most,
	}
	for i := range units {
		problem.Units = append(problem.Units, s.coverUnit(&units[i]))
	}
	for len(units) > 0 {
		s.worker.Least(&s.found, problem, coverSteps)
		if !s.found.Found {
			return f, false
		}
		var chosen []unit
		for _, i := range s.found.Units {
			chosen = append(chosen, units[i])
		}
		before := len(p.moves)
		p.tries, p.clearing = packTries, n
		if p.all(chosen) {
			f = foundSet{node: n, moves: slices.Clone(p.moves[before:]), cost: s.found.Total}
			p.cut(before)
			return f, true
		}
		// The largest is the hardest to place.
		largest := slices.MaxFunc(s.found.Units, func(i, j int32) int { return s.share(units[i].size).Compare(s.share(units[j].size)) })
		units = slices.Delete(units, int(largest), int(largest)+1)
		problem.Units = slices.Delete(problem.Units, int(largest), int(largest)+1)
	}
	return f, false
}

// coverUnit returns a unit for package cover.
func (s *search) coverUnit(u *unit) cover.Unit {
	lost, held := u.lost.Int64()
	if !held {
		lost = math.MaxInt64
	}
	return cover.Unit{
		Key: s.c.Key(u.tasks[0]), Size: u.size, Needs: s.need[:], Work: uint64(lost),
		Levels: cover.Levels{int64(u.optedOut), int64(len(u.tasks))},
	}
}

// aloneForJob tries, in one domain after the other, to make room for each member by moves
// alone.
func (w *way[D]) aloneForJob() error {
	w.proven = false
	for _, area := range w.areas() {
		p := w.packing()
		if slices.ContainsFunc(w.members, func(m member) bool { return !w.settle(&m, area, p) }) {
			continue
		}
		if _, err := w.attempt(p.moves); err != nil {
			return err
		}
	}
	return nil
}

// areas lists the nodes of each domain of the job's depth: all are in one of depth 0.
func (w *way[D]) areas() (areas [][]victims.NodeID) {
	rows := map[string]int{}
	for n := range w.c.Nodes() {
		d := w.c.NodeView(n).Domains
		if len(d) < w.domain {
			continue
		}
		name := strings.Join(d[:w.domain], "\x00")
		if _, known := rows[name]; !known {
			rows[name] = len(areas)
			areas = append(areas, nil)
		}
		areas[rows[name]] = append(areas[rows[name]], n)
	}
	return areas
}

// settle gives a member a node of an area: one with room, or one that is the cheapest to
// clear.
func (s *search) settle(m *member, area []victims.NodeID, p *packing) bool {
	var full []victims.NodeID
	for _, n := range area {
		switch {
		case !s.takes(n, m):
		case s.lack(n, m, p) == nil:
			p.seat(n, m.size)
			return true
		default:
			full = append(full, n)
		}
	}
	var best foundSet
	found := false
	for _, n := range full {
		if f, ok := s.clear(n, m, p, nil); ok && (!found || f.compare(best) < 0) {
			best, found = f, true
		}
	}
	if found {
		p.put(best.moves)
		p.seat(best.node, m.size)
	}
	return found
}

// spare moves those victims of a plan that find a place.
func (w *way[D]) spare(all []victims.Victim, nodes []victims.NodeID) error {
	p := w.packing()
	for _, n := range nodes {
		p.shut[n] = true
	}
	isVictim := func(id victims.TaskID) bool {
		return slices.ContainsFunc(all, func(v victims.Victim) bool { return v.Task == id && !v.ForHeadroom && !v.ForQuota })
	}
	for i := range all {
		u, ok := w.unitOf(all[i].Task)
		if !ok || slices.ContainsFunc(u.tasks, func(id victims.TaskID) bool { return !isVictim(id) || p.moving(id) }) {
			continue
		}
		p.tries = packTries
		if before := len(p.moves); p.all([]unit{u}) && !w.moderate(p.moves) {
			p.cut(before)
			break
		}
	}
	_, err := w.attempt(p.moves)
	return err
}

// mixed lets all of a node move that can, has others stop for the rest, and takes back who
// need not move. It does so on the nodes on which the ask lacks least.
func (w *way[D]) mixed() error {
	for i := range min(len(w.near.nodes), mixedNodes) {
		p := w.packing()
		p.clearing = w.near.at(i)
		for _, u := range w.unitsOn(p.clearing) {
			p.tries = packTries
			p.all([]unit{u})
		}
		better, err := w.attempt(p.moves)
		if err != nil {
			return err
		}
		for i := len(p.moves) - 1; better && i >= 0; i-- {
			if w.bound(p.moves[i].Ask.Job) {
				continue
			}
			less := slices.Delete(slices.Clone(p.moves), i, i+1)
			fewer, err := w.attempt(less)
			if err != nil {
				return err
			}
			if fewer {
				p.moves = less
			}
		}
	}
	return nil
}
