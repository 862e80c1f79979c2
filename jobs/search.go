package jobs

import (
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A search finds the best plan for a case. Its engines are tried in the order of
// [search.run]; each offers what it finds to best.
type search struct {
	*jobCase
	*effort
	best  incumbent
	asker asker
	quick bool // small cases are treated like large ones; for tests

	// What engines share.
	cover    coverer
	room     roomer
	ceilings ceilings
	pool     pooler
	partial  partial
	finisher finisher

	// The engines.
	pack      packer
	spread    spreader
	grow      grower
	stow      stower
	clear     clearer
	all       completer
	persuader persuader

	load   load             // of nobody, for conceivable
	sum    resources.Vector // scratch of conceivableBelow
	proven bool             // no plan is cheaper, or there is none
	// How far the cost of the plan is proven least. It is ProofCost without a
	// plan if there is proven to be none.
	proof victims.Proof
}

// choose leaves the best plan that it finds for the members of todo in s.best,
// and reports whether there is one that the predicate accepts.
func (s *search) choose() bool {
	s.best.found, s.asker.picky, s.effort.found = false, false, false
	s.asker.moment = victims.Coming
	s.proven, s.proof = true, victims.NoProof
	if !s.conceivable() {
		return false // proven: with everybody gone there is no room
	}
	refusals := s.asker.refusals
	s.cover.reset()
	s.run()
	if s.best.found && s.asker.acceptsAll(s.best.at, s.best.chosen) {
		return true
	}
	if s.asker.refusals == refusals {
		return false
	}
	return s.persuade()
}

// run leaves the best plan that it finds in s.best, whatever the predicate says
// of it. This is the ladder of engines:
//
//  1. A small case is searched completely: proof of the cost.
//  2. Members that are alike are spread out by a dynamic programme, which is
//     exact if nothing but nodes decides: proof of the levels.
//  3. Members of several sizes are stowed host by host below the lowest ceiling of
//     rank and priority that sums do not rule out.
//  4. Plans grow member by member in several orders, below the lowest ceiling for
//     which that works, and members are stowed below that of the best one.
//  5. If none came about, everybody goes who may, and comes back if not needed.
//  6. If the case is not too large, the cost of what was found makes a complete
//     search short. If nothing was found, it goes as far as its steps do.
//  7. If sums show that no plan has lower levels: proof of these.
//
// It stops if nothing more can be proven or, if any plan will do, at the first.
func (s *search) run() {
	if s.within(small) && !s.quick {
		// A small case may take longer than others, for what it says is certain.
		s.proven = s.all.complete(4 * pace)
		if s.proven {
			s.proof = victims.ProofCost
		}
		if s.settled() {
			return
		}
	}
	// Only members of one kind are interchangeable, so that their number on each
	// host is all that matters.
	if len(s.kinds) == 1 {
		if s.spread.spread() {
			s.proof = victims.ProofLevels
		}
		if s.settled() {
			return
		}
	}
	if s.stowProven() {
		s.proof = victims.ProofLevels
		return
	}
	// What the spreader found stays the best unless a plan that grew is cheaper:
	// bounds may have been in its way, or whole jobs, at which it does not look.
	s.grow.growAll()
	if s.best.found && !s.eager && len(s.kinds) > 1 {
		s.stow.stow(below(&s.best.levels))
	}
	if !s.best.found {
		s.clear.clear()
	}
	if !s.eager || !s.best.found {
		s.prove()
	}
}

// prove proves as much as it can of the best plan, and looks for cheaper ones where
// that is done on the way.
func (s *search) prove() {
	steps := s.stepsLeft()
	// With a plan at hand branches end early, so a case that was too large to
	// begin with may now be searched to its end.
	s.proven = steps > 0 && s.all.complete(steps)
	if s.proven {
		s.proof = victims.ProofCost
		return
	}
	if s.best.found && s.wholes > 0 {
		s.finisher.redo(s.best.at, s.best.chosen)
	}
	if s.best.found && s.pool.proves(&s.best) {
		s.proof = victims.ProofLevels
	}
}

// stowProven offers a plan below the lowest ceiling that sums do not rule out, if
// there is a chance to prove that it has the least levels, and reports whether that
// is so.
func (s *search) stowProven() bool {
	if len(s.kinds) == 1 || s.eager || !s.quick && s.within(medium) {
		return false // others do as well, or prove more
	}
	l, ok := s.pool.lowest()
	if !ok {
		return false
	}
	s.stow.stow(l)
	return s.best.found && s.pool.proves(&s.best)
}

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
	return pace * few / max(few, len(s.hosts)+len(s.units))
}

// persuade looks for a plan that the predicate accepts, after it has refused the
// best one.
func (s *search) persuade() bool {
	s.best.found = false
	s.asker.picky = true
	s.proven, s.proof = false, victims.NoProof
	if s.persuader.small() {
		s.completePicky(4 * pace)
		return s.best.found
	}
	s.grow.growPatiently()
	if !s.best.found {
		s.clear.clear()
	}
	if steps := s.stepsLeft(); !s.best.found && steps > 0 {
		s.completePicky(steps)
	}
	return s.best.found
}

// completePicky searches completely with the predicate in the loop.
func (s *search) completePicky(steps int) {
	if s.persuader.complete(steps) {
		s.proven, s.proof = true, victims.ProofCost
	}
}

// conceivable reports whether there could be room for each member on some host
// with everybody gone who could, for all members of the only kind together, and
// in the queues. Law 2 is not asked.
func (s *search) conceivable() bool {
	if !s.conceivableBelow() {
		return false
	}
	s.load.clear()
	for i := range s.kinds {
		if !s.conceivableFor(&s.kinds[i]) {
			return false
		}
	}
	return len(s.kinds) != 1 || s.ceilings.reaches(noCeiling())
}

// conceivableBelow is conceivable for the queues that are short.
func (s *search) conceivableBelow() bool {
	for n, short := range s.needs.short {
		s.sum = resources.Copy(s.sum, short)
		for i := range s.cands {
			if c := &s.cands[i]; s.usable[i] && int(c.leaf.level) <= n {
				s.sum = resources.Sub(s.sum, s.sum, c.size)
			}
		}
		if resources.Positive(s.sum) != 0 {
			return false
		}
	}
	return true
}

// conceivableFor is conceivable for one member of a kind.
func (s *search) conceivableFor(k *kind) bool {
	for h := range s.hosts {
		if s.load.mayHost(int32(h), k) {
			return true
		}
	}
	return false
}
