// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A search finds the best plan for a case. Its engines are tried in the order of
// [search.run]; each offers what it finds to best. All of them know the search, and so
// the case and the parts that they share.
type search struct {
	*jobCase
	*effort
	best  incumbent
	asker asker
	quick bool // small cases are treated like large ones; for tests

	// What engines share.
	cover   coverer
	bounds  bounder
	partial partial
	lack    resources.Vector // what lacks found
	sum     resources.Vector // scratch of conceivable

	// The engines.
	pack   packer
	spread spreader
	grow   grower
	all    completer
	change exchanger
	purse  int64 // steps that exchanges may take still in this decision; see open

	seed   *turns // the plan of the members in turn, or nil
	narrow bool   // the case has not all candidates
	proven bool   // no plan is cheaper, or there is none
	// How far the cost of the plan is proven least. It is ProofCost without a
	// plan if there is proven to be none.
	proof victims.Proof
}

// wire tells a search what it is about, and its parts whose they are.
func (s *search) wire(c *jobCase, e *effort, p *Planner) {
	s.jobCase, s.effort, s.quick = c, e, p.quick
	s.best.jobCase, s.cover.jobCase, s.cover.effort = c, c, e
	s.asker.jobCase, s.asker.predicate = c, p.Predicate
	s.pack.jobCase, s.pack.effort, s.pack.asker = c, e, &s.asker
	s.partial.search, s.partial.load.jobCase = s, c
	s.all.search, s.all.load.jobCase = s, c
	s.spread.search, s.grow.search, s.change.search = s, s, s
	s.purse = -1
}

// choose leaves the best plan that it finds for the members of todo in s.best,
// and reports whether there is one that the predicate accepts.
func (s *search) choose() bool {
	s.best.found, s.asker.picky, s.effort.found = false, s.asksBlockers(), false
	s.asker.coming = true
	s.proven, s.proof = true, victims.NoProof
	s.bounds.begin(s.jobCase)
	if s.seed == nil && !s.conceivable() {
		return false // proven: with everybody gone there is no room
	}
	refusals := s.asker.refusals
	s.cover.reset()
	if s.seed != nil && s.partial.tryOut(s.seed.hosts, s.seed.units) && len(s.todo) == 1 {
		// A job of one member is decided as the ask is.
		s.proven, s.proof = s.seed.proof == victims.ProofCost, s.seed.proof
		return true
	}
	if s.asksBlockers() {
		return s.choosePicky()
	}
	if s.run(); s.narrow || s.onNodes || s.choice != nil && s.best.found {
		s.proven, s.proof = false, victims.NoProof
	}
	if s.best.found && s.asker.acceptsAll(s.best.at, s.best.chosen) {
		return true
	}
	if s.asker.refusals == refusals {
		return false
	}
	s.best.found = false
	return s.choosePicky()
}

// run leaves the best plan that it finds in s.best, whatever the predicate says
// of it. This is the ladder of engines:
//
//  1. A small case is searched completely: proof of the cost.
//  2. Members that are alike, or few, are spread out by a dynamic programme, which is
//     exact if nothing but nodes decides: proof of the levels.
//  3. A plan grows member by member.
//  4. Exchanges make the best plan cheaper, or look for one.
//  5. If the case is not too large, the cost of what was found makes a complete
//     search short. If nothing was found, it goes as far as its steps do.
//
// It stops if nothing more can be proven or, if any plan will do, at the first.
func (s *search) run() {
	if s.spent() {
		return
	}
	if s.within(small) && !s.quick {
		// A small case may take longer than others, for what it says is certain.
		if s.complete(4 * pace); s.settled() {
			return
		}
	}
	if s.spreads() {
		s.proof = victims.ProofLevels
		if s.stepsLeft() > 0 && len(s.kinds) > 1 {
			s.complete(pace)
		}
	}
	if s.proof == victims.ProofLevels && !s.spent() {
		s.change.refine()
	}
	if s.settled() || s.spent() {
		return
	}
	if s.grow.grow(); !s.eager || !s.best.found {
		if !s.exhausted() {
			s.change.exchange()
		}
		// With a plan at hand branches end early, so a case that was too large to
		// begin with may now be searched to its end.
		s.complete(s.stepsLeft())
	}
}

// spreads spreads members out. If that proves nothing, it may take half of what is left.
func (s *search) spreads() bool {
	part := s.Left
	if s.narrow {
		part /= 2
	}
	return s.Within(part, s.spread.spread)
}

// complete looks at all plans that might be cheaper than the best, in so many steps, and notes
// whether that proves the best one, or that there is none.
func (s *search) complete(steps int) {
	if s.proven = steps > 0 && s.all.complete(steps); s.proven {
		s.proof = victims.ProofCost
	}
}

// spent reports whether there is a plan, and nothing left to look for another.
func (s *search) spent() bool { return s.best.found && s.exhausted() }

// settled reports whether there is nothing more to look for: what was found is
// proven, or that there is nothing, or any plan will do.
func (s *search) settled() bool {
	if s.best.found {
		return s.eager || s.proof > victims.NoProof
	}
	return s.proof == victims.ProofCost
}

// stepsLeft returns the choices that a complete search may make in the end. A
// medium case gets a full search. A larger one with a plan gets none. Without
// a plan it gets a search scaled down, for a step looks at every host and every
// unit: the time is then that of a full search of a case with few of them.
func (s *search) stepsLeft() int {
	const few = 64
	switch {
	case s.quick:
		return 0
	case s.within(medium):
		return pace
	case s.best.found:
		return 0
	}
	return pace * few / max(few, len(s.area.hosts)+len(s.area.units))
}

// choosePicky looks for a plan that the predicate accepts, after it has refused the
// best one, and if there may be blockers: with both in the loop.
func (s *search) choosePicky() bool {
	s.asker.picky = true
	s.proven, s.proof = false, victims.NoProof
	steps := 4 * pace
	if !s.fewWays() {
		s.grow.growPatiently()
		if steps = s.stepsLeft(); s.best.found {
			steps = 0
		}
	}
	if s.complete(steps); s.onNodes || s.asksBlockers() || s.choice != nil {
		s.proven, s.proof = false, victims.NoProof
	}
	return s.best.found
}

// fewWays reports whether all ways to place the members can be looked at if each of
// them is told from the others. In the towns of BenchmarkTowns an eighth of as many
// leads to the same plans and proofs.
func (s *search) fewWays() bool {
	const most = 1 << 14
	ways := 1
	for range s.todo {
		if ways *= max(len(s.area.hosts), 1); ways > most {
			return false
		}
	}
	return true
}

// lacks sets s.lack to what is wanted beyond what is free.
func (s *search) lacks(want, free resources.Vector) {
	s.lack = rows.Zeros(s.lack, s.types)
	for t, v := range want {
		if v > 0 {
			s.lack[t] = max(v-free[t], 0)
		}
	}
}

// conceivable reports whether there could be room for each member on some host
// with everybody gone who could, for all members of the only kind together, and
// in the queues. Law 2 is not asked.
func (s *search) conceivable() bool {
	for n, short := range s.needs.short {
		s.sum = append(s.sum[:0], short...)
		for i := range s.cands {
			if c := &s.cands[i]; s.grades[i].usable && int(c.leaf.Level) <= n {
				s.sum = resources.Sub(s.sum, s.sum, c.size)
			}
		}
		if resources.Positive(s.sum) != 0 {
			return false
		}
	}
	for i := range s.kinds {
		k := &s.kinds[i]
		if !slices.ContainsFunc(s.area.hosts, func(h int32) bool { return k.roomFor(s.hosts[h].all) && s.takes(h, k) }) {
			return false
		}
	}
	return len(s.kinds) != 1 || s.bounds.reaches(s.area.hosts, &s.kinds[0], noCeiling())
}

// scarcest returns the type of which the members ask for the largest share of the
// cluster's capacity.
func (s *search) scarcest() (scarce int) {
	var largest resources.Share
	for t := range s.wants.All() {
		share := resources.Share{Amount: s.rem[t], Of: s.c.Capacity().At(t)}
		if share.Compare(largest) > 0 {
			scarce, largest = t, share
		}
	}
	return scarce
}

// An incumbent is the best plan so far. Every engine offers what it finds.
type incumbent struct {
	*jobCase
	found  bool
	cost   victims.Cost
	levels cost.Levels
	rank   rankSum  // of the members' nodes
	at     []int32  // the host of each member of todo
	chosen []int32  // units that go
	keys   []string // of the victims, sorted

	offered victims.Cost // scratch: of what is offered
	rival   []string     // scratch: its keys
	sum     resources.Vector
	used    []int64
}

// offer makes a plan the best if it costs less, or as much and comes first: by
// the sum of the ranks of the members' nodes, then by these nodes in the order
// of members, which take the place of the one node in the cost, then by the keys
// of the victims.
func (b *incumbent) offer(at, units []int32, total *cost.Total) {
	b.offered = victims.Cost(rulebook.CostOf(total))
	rank := b.rankOf(at)
	// The order is total, so which plan is the best does not depend on the order in
	// which engines offer. Keys are last and dearest to compare: they are only
	// collected if all else is equal, or the plan is kept.
	if b.onNodes && slices.ContainsFunc(units, func(u int32) bool { return !b.isNear(at, u) }) {
		return
	}
	if b.found {
		c := b.compare(&b.offered, &b.cost)
		if c == 0 {
			c = rank.compare(b.rank)
		}
		if c == 0 {
			c = slices.Compare(at, b.at)
		}
		if c > 0 {
			return
		}
		if b.rival = b.keysOf(b.rival[:0], units); c == 0 && slices.Compare(b.rival, b.keys) >= 0 {
			return
		}
	}
	b.found, b.cost, b.levels, b.rank = true, b.offered, total.Levels, rank
	b.at = append(b.at[:0], at...)
	b.chosen = append(b.chosen[:0], units...)
	b.keys = b.keysOf(b.keys[:0], b.chosen)
}

// compare compares the costs of two plans.
func (c *jobCase) compare(a, b *victims.Cost) int {
	if c.choice != nil {
		return lent.To(c.choice).CompareCosts(a, b)
	}
	return a.Compare(b)
}

// isNear reports whether a task of a unit runs on a host that a member is given.
func (c *jobCase) isNear(at []int32, u int32) bool {
	return slices.ContainsFunc(c.tasksOf(u), func(i int32) bool {
		return c.cands[i].host >= 0 && slices.Contains(at, c.cands[i].host)
	})
}

// rankOf returns the sum of the ranks of some hosts.
func (b *incumbent) rankOf(at []int32) (sum rankSum) {
	for _, h := range at {
		sum = sum.plus(b.hosts[h].rank, 1)
	}
	return sum
}

// keysOf appends the sorted keys of the tasks of some units.
func (b *incumbent) keysOf(dst []string, units []int32) []string {
	for _, u := range units {
		for _, i := range b.tasksOf(u) {
			dst = append(dst, b.cands[i].key)
		}
	}
	slices.SortFunc(dst, strings.Compare)
	return dst
}

// totalOf returns what units cost that free something to some purpose; see
// [units.Problem].
func (b *incumbent) totalOf(units []int32, wanted resources.Vector) (total cost.Total) {
	b.sum = rows.Zeros(b.sum, b.types)
	for n, u := range units {
		unit := &b.units[u].Unit
		total.Levels = b.order.Join(&total.Levels, n, &unit.Levels)
		total.Work = total.Work.Add(unit.Work)
		b.sum = resources.Add(b.sum, b.sum, unit.Size)
	}
	// Overrun is no sum over units: two that take one each of a budget with one
	// left overrun it together, and neither does alone.
	total.Levels[rulebook.LevelOverrun] = b.budgets.overrun(b.usedBy(units))
	total.Units = len(units)
	total.Excess = cost.Excess(b.sum, wanted, b.c.Capacity())
	return total
}

// usedBy returns what units take of every soft budget. It is good until the next
// call.
func (b *incumbent) usedBy(units []int32) []int64 {
	b.used = rows.Zeros(b.used, len(b.budgets.soft))
	for _, u := range units {
		for _, use := range b.units[u].Uses {
			b.used[use.Budget] += use.Count
		}
	}
	return b.used
}

// An effort is how hard a decision tries: what is left of its budget of
// elementary steps, and whether any plan will do. The engines of a decision share
// one.
type effort struct {
	most        int64 // the whole budget
	set         bool  // by the caller
	inTurn      int64 // what members in turn have taken of it,
	pass        int64 // when they were asked last,
	longest     int64 // and at most
	least.Meter       // what is left of it
	found       bool  // there is some plan for the members at hand
	hasty       bool  // there is an answer without the decision
	// Any plan will do. A refusal asks which members could be placed and when all
	// could, and for that it matters only whether there is a plan.
	eager bool
}

// pace is how many choices a single search may make, and smallPace one of many
// searches. They keep one hard host from taking what is left of the budget from
// all the others. In BenchmarkTowns half of pace saves up to 47 % of the steps in
// clusters of few nodes, and leaves one cost of 144 unproven; twice takes up to 1.9
// times as many and proves no more. Half of smallPace saves up to 13 %, twice takes
// up to 11 % more, and no answer is another.
const pace, smallPace = 1 << 16, 1 << 12

// begin gives a decision about so many members its budget.
func (e *effort) begin(p *Planner, members int) {
	*e = effort{most: p.Steps, set: p.Steps > 0, Meter: least.Meter{Stop: p.Stop}}
	if e.most <= 0 {
		hi, lo := bits.Mul64(uint64(lent.To(&p.Options).DefaultSteps(p.Cluster)), uint64(max(members, 1)))
		if e.most = int64(lo); hi > 0 || e.most < 0 {
			e.most = math.MaxInt64
		}
	}
	e.Left, e.hasty = e.most, p.hasty
}

// spend takes elementary steps off the budget.
func (e *effort) spend(steps int) { e.Pay(int64(steps)) }

// steps returns the elementary steps that were taken.
func (e *effort) steps() int64 { return e.Used }

// turns notes what a member has taken that was asked in turn. Unless the caller has set
// another budget, it is then some times what all of them have.
func (e *effort) turns(steps int64) {
	e.Pay(steps)
	e.inTurn, e.pass = e.inTurn+steps, e.pass+steps
	if e.longest = max(e.longest, e.pass); !e.set {
		e.most = max(turnTimes*e.longest, e.inTurn+leastEffort)
		e.Left = e.most - e.Used
	}
}

// The budget of a job whose members are asked in turn is turnTimes what they take, and at
// least leastEffort for the rest of it: some 50 ms. A step of it takes longer than one of an ask,
// so that it is less than ten times in time.
const turnTimes, leastEffort = 3, 1 << 23

// narrow leaves a part of the budget, unless the caller has set it, to a search that looks at few nodes
// and proves nothing: as much as the members in turn have taken, and at least narrowEffort. With all of it
// the 48 jobs of solvers -mode sizes 2000 5000 20000 have as many victims, after up to three times as long.
func (e *effort) narrow() {
	if !e.set {
		e.Left = min(e.Left, max(e.inTurn, narrowEffort))
	}
}

const narrowEffort = 1 << 21

// exhausted reports whether the budget is spent, so that only what must be done is
// done. Until there is a plan a decision may take as much again, or a million steps,
// for a plan is better than none.
func (e *effort) exhausted() bool { return e.Stopped || e.rest() <= 0 }

// rest returns how many steps may still be taken.
func (e *effort) rest() int64 {
	if e.found || e.hasty {
		return e.Left
	}
	return e.Left + max(e.most, 1<<20)
}

// An asker asks the caller's predicate. Without one it accepts everything.
//
// A search first does without it and asks about its best plan only. What the
// predicate refuses then puts it into the loop, so that it is asked as rarely
// as can be.
type asker struct {
	*jobCase
	predicate func(q *victims.Question) bool
	picky     bool // the predicate is in the loop
	refusals  int  // how often it, or who blocks a host, has refused
	refused   bool // it has
	coming    bool // what is leaving has gone
	question  victims.Question
}

// asks reports whether the predicate is in the loop. It is while members are
// placed without victims, after it has refused the best plan, and if there may be blockers.
func (a *asker) asks() bool { return a.picky && a.any() }

// any reports whether anybody is asked at all.
func (a *asker) any() bool { return a.predicate != nil || a.asksBlockers() }

// accepts asks about the last of the members that are placed, with the tasks of
// some units gone.
func (a *asker) accepts(at []int32, units []int32) bool {
	if !a.any() {
		return true
	}
	p := &a.question
	p.Victims = a.appendTasks(p.Victims[:0], units)
	return a.acceptsLast(at)
}

// appendTasks appends the tasks of units.
func (c *jobCase) appendTasks(dst []victims.TaskID, units []int32) []victims.TaskID {
	for _, u := range units {
		for _, i := range c.tasksOf(u) {
			dst = append(dst, c.cands[i].id)
		}
	}
	return dst
}

// acceptsAll asks about every member in turn.
func (a *asker) acceptsAll(at []int32, units []int32) bool {
	for i := range at {
		if !a.accepts(at[:i+1], units) {
			return false
		}
	}
	return true
}

// conceives asks about the last of the members that are placed, with everybody
// gone that could go: what the predicate refuses then, it refuses always.
func (a *asker) conceives(at []int32) bool {
	p := &a.question
	p.Victims = p.Victims[:0]
	for _, u := range a.area.units {
		for _, i := range a.tasksOf(u) {
			if !a.units[u].whole || !a.grades[i].alone { // once, if it is in two units
				p.Victims = append(p.Victims, a.cands[i].id)
			}
		}
	}
	return a.acceptsLast(at)
}

// acceptsLast asks about the last member, with the victims as they are stated.
func (a *asker) acceptsLast(at []int32) bool {
	// The last is asked about, and those before it are told.
	last := len(at) - 1
	a.question.Places = a.placements(a.question.Places[:0], at[:last])
	if a.accepted(a.todo[last], at[last]) {
		return true
	}
	a.refusals++
	return false
}

// accepted asks about a member on a host, with places and victims as they are stated.
func (a *asker) accepted(member int, h int32) bool {
	q := &a.question
	if !a.clears(member, h, q.Victims, a.coming) {
		return false
	}
	if a.predicate == nil {
		return true
	}
	q.Cluster, q.Now, q.Ask, q.Member, q.Node, q.AfterVictims = a.c, a.now, a.job, &a.job.Members[member], a.hosts[h].id, a.coming
	accepts := a.predicate(q)
	a.refused = a.refused || !accepts
	return accepts
}
