// SPDX-License-Identifier: Apache-2.0

// Package moves looks for tasks that start again on another node, so that an ask has a plan,
// or one that stops less. DESIGN.md, Moves, has the rules and how it searches.
package moves

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/aside"
	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/internal/units"
	"github.com/go-preempt/preempt/queue"
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

// A Case is an ask that may have a better plan if tasks move.
type Case struct {
	*victims.Options
	Cluster *victims.Cluster
	Ask     *victims.Ask // its Job is that of its members
	Gang    bool         // the rules are those of gangs
	Now     time.Time
	// Decide decides in a cluster in which tasks move, without a gang for one node only. stop
	// ends it.
	Decide func(d *victims.Decision, c *victims.Cluster, only victims.NodeID, stop func() bool) error
}

// A Search is the memory of a planner for the search for moves.
type Search struct {
	Case
	Hasty bool // no case is searched to the end: for tests

	c       *victims.Cluster
	best    *victims.Decision // the best so far
	moves   []victims.Move    // its moves
	cost    cost.Total        // whom they disturb
	other   victims.Decision  // another one
	aside   aside.Copy        // on which moves are tried
	asked   *victims.Question // of who asks: of a gang the first member without a place
	keys    []string          // of what asks: no mover's grant has one of them
	members []victims.Member  // that have to be placed
	sum     resources.Vector  // of them

	meter    least.Meter // the budget
	rules    eligible.Rules
	timed    eligible.Timed
	worker   units.Worker
	found    units.Selection
	problem  units.Problem
	need     [1]int32 // the only need, and bound, of a problem
	capacity resources.Vector
	types    int
	weights  rulebook.Weights
	open     []victims.NodeID // that movers may go to
	room     []int64          // what each of them has for movers
	most     resources.Vector // of each type, what some of them has
	rooms    resources.Vector // and what all have
	hosts    []victims.NodeID // that a member may run on
	near     []shortNode      // of them those on which it lacks something
	free     resources.Vector
	short    resources.Vector
	all      resources.Vector
	ids      []victims.TaskID // of units
	units    map[victims.NodeID]listing
	gangs    map[string]*gang
	parts    int64       // of the budget; one is for the member at hand
	looked   int         // tasks of the last node that was to be cleared
	movers   int         // units on the nodes that were to be cleared
	until    time.Time   // the first end of what the filter refuses; zero: never
	ends     []time.Time // of other rules
	entitled bool
	proven   bool
}

// Improve makes a decision one with moves, if that is better: the plan with the cheapest stops,
// and of those the one with the cheapest moves that is found. What was not searched to its end
// is not proven.
func (s *Search) Improve(d *victims.Decision, x Case) error {
	s.Case, s.c, s.best, s.moves, s.cost, s.until = x, x.Cluster, d, nil, cost.Total{}, time.Time{}
	s.listMembers()
	spent := d.Plan.Steps
	if s.entitled = s.isEntitled(); !opens(d) || !s.entitled && s.Moves != victims.MovesAny {
		return nil
	}
	s.reset()
	s.allow(spent)
	s.proven = isProven(d)
	if err := s.look(); err != nil {
		return err
	}
	s.tell(spent + s.meter.Used)
	return nil
}

// tell completes the best decision.
func (s *Search) tell(steps int64) {
	d := s.best
	s.proven = s.proven && !s.meter.Over()
	if d.Outcome == victims.Refused {
		r := &d.Refusal
		d.Plan.Steps, r.Proven = steps, r.Proven && s.proven
		if r.Proven {
			r.RetryAt = eligible.Sooner(eligible.Sooner(r.RetryAt, s.until, s.Now), s.firstEnd(), s.Now)
		}
		lent.To(d).HelpTime()
		lent.To(d).Anything(s.c)
		return
	}
	p := &d.Plan
	p.Steps, p.Version = steps, s.c.Version()
	for _, m := range s.moves {
		m.Path, m.FromName, m.ToName = s.c.Tree().Path(s.c.TaskView(m.Task).Queue), s.c.NodeName(m.From), s.c.NodeName(m.To)
		m.Size = lent.To(d).Keep(m.Size)
		p.Moves = append(p.Moves, m)
	}
	if len(s.moves) > 0 {
		d.Outcome = victims.Preempts // who moves has to be told
	}
	switch {
	case s.proven:
	case len(p.Victims) > 0:
		p.Proof = victims.NoProof
	default: // nobody stops
		p.Proof = min(p.Proof, victims.ProofLevels)
	}
}

// isProven reports whether nothing better was possible.
func isProven(d *victims.Decision) bool {
	switch d.Outcome {
	case victims.Refused:
		return d.Refusal.Proven
	case victims.Preempts:
		return d.Plan.Proof == victims.ProofCost
	}
	return true
}

// opens reports whether moves may help after a decision.
func opens(d *victims.Decision) bool {
	return d.Outcome == victims.Preempts || d.Outcome == victims.Refused && rulebook.ReasonOf(d.Refusal.Reason).Moves
}

// nodesOf lists the nodes of what has to be placed.
func nodesOf(d *victims.Decision) (nodes []victims.NodeID) {
	for i := range d.Plan.Places {
		if at := &d.Plan.Places[i]; !at.Extra {
			nodes = append(nodes, at.Node)
		}
	}
	return nodes
}

// byPriority reports whether priorities entitle to take from others.
func (s *Search) byPriority() bool { return s.Gang && s.ByPriority }

// isSecond reports whether a plan takes from the own leaf, or branch, what others have not.
func (s *Search) isSecond(d *victims.Decision) bool {
	return d.Plan.WithinQueue && !s.byPriority() && s.Ask.RequiredNode == ""
}

// listMembers lists the required members without a place, the largest first.
func (s *Search) listMembers() {
	s.keys, s.members, s.sum = append(s.keys[:0], s.Ask.Key), s.members[:0], s.sum[:0]
	s.asked = lent.To(s.Options).Question(s.c, s.Ask, s.Now)
	all := max(len(s.Ask.Members), 1)
	missing := cmp.Or(s.Ask.MinMembers, all)
	for i := range all {
		m := s.Ask.Member(i)
		s.keys = append(s.keys, m.Key)
		id, there := s.c.Lookup(m.Key)
		_, held := s.c.LookupGrant(m.Key)
		switch {
		case held, there && s.c.State(id) == victims.Running:
			missing--
		case !there: // who is leaving has no place, and can get none
			s.members = append(s.members, m)
		}
	}
	s.members = s.members[:max(min(missing, len(s.members)), 0)]
	for i := range s.members {
		s.sum = resources.Add(s.sum, s.sum, s.members[i].Size)
	}
	if len(s.members) > 0 {
		first := s.members[0]
		s.asked.Member = &first
	}
	s.capacity = s.c.Capacity()
	slices.SortStableFunc(s.members, func(a, b victims.Member) int {
		return cmp.Or(s.share(b.Size).Compare(s.share(a.Size)), cmp.Compare(a.Class, b.Class), slices.Compare(a.Size, b.Size)) // alike ones together
	})
}

// isEntitled reports whether law 4 lets the ask take from others.
func (s *Search) isEntitled() bool {
	if s.byPriority() || s.Ask.RequiredNode != "" {
		return true
	}
	var most resources.Vector
	for i := range s.members {
		most = resources.Max(most, most, s.members[i].Size)
	}
	var counting queue.Tree
	tree, _ := trees.Counting(s.c.Tree(), &counting, s.Scarce)
	asks := trigger.Case{Tree: tree, Leaf: s.Ask.Queue, Arriving: s.sum, Before: resources.Sub(nil, s.sum, most)}
	return asks.Guarantees().Hold()
}

// allow gives the search its budget, after a decision that took so many steps. (DESIGN.md,
// Moves.)
func (s *Search) allow(spent int64) {
	left := lent.To(s.Options).Rest(s.c, spent)
	if s.Steps > 0 {
		left -= spent
	}
	s.meter = least.Meter{Left: left, Stop: s.Stop}
	s.meter.Ask()
	s.worker.Meter = &s.meter
}

// reset states who may move, and where to. E does not matter to moves, and law 6 lets equals of
// the own leaf move, who lose nothing.
func (s *Search) reset() {
	c := s.c
	t := &eligible.Taker{
		Tree: c.Tree(), Leaf: s.Ask.Queue, Priority: s.Ask.Priority, Arriving: s.sum,
		Strict: s.StrictPriority || s.byPriority(), OnNode: s.Ask.RequiredNode != "", OwnLeaf: true,
	}
	s.rules.Reset(t)
	s.timed.Reset(s.c.Tree(), s.Now)
	if s.Exempt != nil {
		s.timed.Exempts = s
	}
	if !t.Strict {
		s.rules.Leaves[t.Leaf].Ceiling = 0
	}
	s.types = c.Schema().Len()
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
func (s *Search) takes(n victims.NodeID, m *victims.Member) bool {
	v := s.c.NodeView(n)
	switch {
	case s.c.Closed(n):
		return false
	case s.Ask.RequiredNode != "":
		return v.Name == s.Ask.RequiredNode
	case v.Unschedulable, v.ReservedFor != "" && v.ReservedFor != s.Ask.Key:
		return false
	}
	q := *s.asked
	q.Member, q.Node = m, n
	return s.passes(&q)
}

// passes asks the filter, and notes when what it refuses may end.
func (s *Search) passes(q *victims.Question) bool {
	if q.Until = (time.Time{}); s.Filter == nil || s.Filter(q) {
		return true
	}
	s.until = eligible.Sooner(s.until, q.Until, s.Now)
	return false
}

// lack returns what a member lacks on a node, until the next call; nil if nothing.
func (s *Search) lack(n victims.NodeID, m *victims.Member, p *packing) (lack resources.Vector) {
	s.free = s.c.ComingFree(s.free, n)
	for t := range resources.Positive(m.Size).All() {
		if short := m.Size[t] - s.free[t] + p.taken[n].At(t) - p.freed[n].At(t); short > 0 {
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
func (s *Search) share(v resources.Vector) resources.Share {
	return resources.DominantShare(v, s.capacity)
}

// moderate reports whether moves stay within MaxMoved.
func (s *Search) moderate(set []victims.Move) bool {
	if s.MaxMoved <= 0 {
		return true
	}
	most := resources.Scale(nil, s.sum, s.MaxMoved)
	for i := range set {
		most = resources.Sub(most, most, set[i].Size)
	}
	for t := range resources.Positive(s.sum).All() {
		if most[t] < 0 {
			return false
		}
	}
	return true
}

// pay charges for so many things.
func (s *Search) pay(things int, work int64) {
	for range things {
		s.meter.Pay(work)
	}
}

// byKey compares moves by their keys.
func byKey(a, b victims.Move) int { return strings.Compare(a.Key, b.Key) }
