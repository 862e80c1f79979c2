// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"math"
	"math/bits"

	"github.com/go-preempt/preempt/internal/aside"
	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/units"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

const (
	exactSets  = 1 << 10 // sets of units up to which an ask is searched to the end
	packTries  = 2_000   // tries to place one set of movers
	coverSteps = 5_000   // of the search on one node
	nodeParts  = 8       // what part of a member's budget is for the search on one node
	fewSets    = 8       // sets of movers alone that are decided about
	mostUnits  = 250     // of a node that package units is asked about at once
	fewTasks   = 10_000  // tasks that are looked at for another such set, or for a first mover
	mixedNodes = 32      // nodes on which others may have to stop as well
)

// Elementary steps that work is charged for, a million of which take some milliseconds.
const (
	hostWork     = 16  // to see what a node has for a member
	lookWork     = 64  // to see whether a task may move
	coverWork    = 32  // to state a unit for package units
	moveWork     = 128 // to apply a move and to take it back
	sortWork     = 32  // to sort a task of a node that has changed, and again once it has changed back
	pieceOfNodes = 256 // places that are looked at, and charged for, at once
	// pollSteps is how many steps at least are between two questions whether to stop.
	pollSteps = 500
)

// search is the memory of a planner.
type search struct {
	*question
	aside    aside.Copy  // on which moves are tried
	meter    least.Meter // the budget of the search for moves
	rulesOf  eligible.Rules
	worker   units.Worker
	found    units.Selection
	capacity resources.Vector
	types    int
	weights  rulebook.Weights
	open     []victims.NodeID // that movers may go to
	room     []int64          // what each of them has for movers
	most     resources.Vector // of each type, what some of them has
	rooms    resources.Vector // and what all have
	hosts    []victims.NodeID // that the ask may run on
	near     byLack           // of them those on which it lacks something
	free     resources.Vector
	short    resources.Vector
	all      resources.Vector
	ids      []victims.TaskID // of units
	units    map[victims.NodeID]listing
	gangs    map[string]*gang
	parts    int64 // of the budget; one is for the member at hand
	looked   int   // tasks of the last node that was to be cleared
	movers   int   // units on the nodes that were to be cleared
	problem  units.Problem
	need     [1]int32 // the only need, and bound, of a problem
	entitled bool
	proven   bool
	hasty    bool // no case is searched to the end: for tests
}

// run decides without moves, and then looks for moves that make the answer better.
func run(s *search, x *subject, q *question, m *Plan) error {
	if err := x.decide(x.best); err != nil {
		return err
	}
	a := q.read(x.best)
	m.Proven, m.Steps = a.proven(), a.steps
	entitled := q.entitled()
	if !a.opens() || !entitled && !q.Any {
		return nil
	}
	s.reset(q)
	s.allow(a.steps)
	s.entitled, s.proven = entitled, m.Proven
	w := way{search: s, x: x, m: m}
	err := w.look()
	m.Steps += s.meter.Used
	if err != nil {
		return err
	}
	m.Proven = s.proven && !s.meter.Over()
	if best := q.read(x.best); best.outcome == victims.Refused {
		best.cause.Proven = best.cause.Proven && m.Proven
		best.cause.Help.Anything(q.c)
	}
	return nil
}

// allow gives the search its budget, after a decision that took so many steps. (DESIGN.md,
// Moves.)
func (s *search) allow(spent int64) {
	left := s.steps - spent
	if s.steps <= 0 {
		hi, lo := bits.Mul64(9, uint64(spent))
		if left = max(int64(lo), victims.DefaultSteps(s.c)); hi > 0 || lo > math.MaxInt64/2 {
			left = math.MaxInt64 / 2
		}
	}
	s.meter = least.Meter{Left: left, Stop: s.stop}
	s.meter.Ask()
	s.worker.Meter = &s.meter
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
	s.capacity, s.types = c.Capacity(), c.Schema().Len()
	s.weights.Set(s.capacity)
	s.ids, s.units, s.gangs = s.ids[:0], map[victims.NodeID]listing{}, map[string]*gang{}
	s.open, s.room, s.most, s.rooms = s.open[:0], s.room[:0], s.most[:0], s.rooms[:0]
	for n := range c.Nodes() {
		if v := c.NodeView(n); !v.Unschedulable && v.ReservedFor == "" && !c.Closed(n) {
			s.free = c.ComingFree(s.free, n)
			s.open, s.room = append(s.open, n), append(s.room, s.free...)
			s.most = resources.Max(s.most, s.most, s.free)
			s.rooms = resources.Add(s.rooms, s.rooms, resources.Max(s.free, s.free, nil))
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
	q := *s.asked
	q.Member, q.Node = m.of, n
	return s.rules.Filter == nil || s.rules.Filter(&q)
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
func (s *search) costOf(set []Move, a *answer) (sum disturbance) {
	var freed resources.Vector
	for i := range set {
		v := &set[i]
		t := s.c.TaskView(v.Task)
		sum.moves++
		if v.Ask.OptedOut {
			sum.optedOut++
		}
		sum.lost = sum.lost.Add(s.weights.Work(t.Size, t.Lost(s.now)))
		if !s.job && v.From == a.nodes[0] {
			freed = resources.Add(freed, freed, v.Ask.Size)
		}
	}
	if len(freed) > 0 {
		sum.excess = cost.Excess(freed, s.lack(a.nodes[0], &s.members[0], &packing{}), s.capacity)
	}
	return sum
}

// moderate reports whether moves of such amounts stay within MaxMoved.
func (s *search) moderate(moved resources.Vector) bool {
	if s.MaxMoved <= 0 {
		return true
	}
	most := resources.Scale(nil, s.arriving, s.MaxMoved)
	for t := range resources.Positive(s.arriving).All() {
		if moved.At(t) > most[t] {
			return false
		}
	}
	return true
}

// moved returns the amounts that move.
func moved(set []Move) (sum resources.Vector) {
	for i := range set {
		sum = resources.Add(sum, sum, set[i].Ask.Size)
	}
	return sum
}
