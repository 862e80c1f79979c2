// SPDX-License-Identifier: Apache-2.0

package gangs

import (
	"math"
	"slices"
	"sort"

	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
)

// A Solver looks for the cheapest plan of a problem. The zero Solver is ready; one that has
// solved problems before allocates nothing for others of their size. It is not for
// concurrent use.
type Solver struct {
	// Meter is charged for all steps, and ends the search early if it is stopped.
	Meter *least.Meter
	// Offer is shown every plan that might be the best. It reports whether the plan is
	// lawful, and may take away who need not go.
	Offer func(*Selection) bool
	// Any ends the search at the first plan.
	Any bool

	plan
	programme programme
	guide     guide

	purse      int64 // steps that may still be taken
	found      bool
	best       Selection
	last       Selection // what was offered last
	least      ceiling   // with everybody above it out there are too few places
	members    int32     // of all kinds
	ranks      []int64   // ascending
	priorities []int64

	rates  [MostRows]int64 // of tolls: what all of a row costs, see tollBits
	tolled bool            // sets have tolls
	record saved           // the best plan of several
	noted  Price           // what it costs

	end    int64 // of the purse: an improvement ends there,
	lawful bool  // or if no row is passed
	width  int   // labels of a state, if more than usual
	seed   uint64
	mark   []int32 // by site: the exchange that it was entered for last
	marks  int32

	// Scratch.
	free, flips, chain, ins, list, banned, have []int32
	spare                                       []int64
	gains                                       []gain
}

// Solve looks for the cheapest plan, in so many steps, beginning with one that is known or
// with none. It returns the best one, which is kept until the next call, or nil, and
// whether no plan is cheaper by the levels of its cost.
func (s *Solver) Solve(p *Problem, start *Selection, steps int64) (best *Selection, proven bool) {
	s.Problem, s.purse, s.found, s.weighing, s.looks = p, steps, false, false, 0
	s.members, s.least = 0, noCeiling()
	for k := range p.Kinds {
		s.members += p.Kinds[k].Count
	}
	s.ranks = p.heights(s.ranks[:0], func(rank, _ int64) int64 { return rank })
	s.priorities = p.heights(s.priorities[:0], func(_, priority int64) int64 { return priority })
	if start != nil {
		s.found = true
		s.best.copyFrom(start)
		p.judge(&s.best)
	}
	proven = s.search()
	if !s.found {
		return nil, false
	}
	return &s.best, proven
}

// search looks for plans with nobody first whose price has bits from Head on.
func (s *Solver) search() bool {
	l := noCeiling()
	if l.plain = true; !s.found || s.head(s.best.price) != (Price{}) {
		if s.reaches(&l) && s.fresh(l) {
			return s.lower()
		}
		if l.plain = false; !s.found && !s.fresh(l) {
			return false
		}
	}
	return s.lower()
}

// lower looks for plans below lower ceilings than that of the best one, and then makes that
// cheaper.
func (s *Solver) lower() bool {
	if s.Any {
		return false
	}
	if s.head(s.best.price) != (Price{}) {
		s.again(noCeiling(), s.purse/2) // the fewest of these come first
	}
	s.descend()
	return s.again(s.below(&s.best), 0)
}

// looksPerStep is how many looks at sets are a step.
const looksPerStep = 12

// pay charges for steps, and for looks at sets.
func (s *Solver) pay(steps int64) {
	steps += s.looks / looksPerStep
	s.looks %= looksPerStep
	s.purse -= steps
	if s.Meter != nil {
		s.Meter.Pay(steps)
	}
}

func (s *Solver) stopped() bool { return s.purse <= 0 || s.Meter != nil && s.Meter.Stopped }

// prepare makes the plan one that is known, below a ceiling that admits it, or else that of
// nothing done. It reports false if that cannot be.
func (s *Solver) prepare(l ceiling, known *Selection) bool {
	s.allowance = max(s.purse, 0) * looksPerStep
	ok := false
	if known != nil {
		ok = s.open(l, known)
	} else {
		ok = s.begin(l)
	}
	s.pay(int64(len(s.items)))
	if !ok {
		return false
	}
	s.rates, s.tolled = [MostRows]int64{}, false // menus are new
	s.mark, s.marks = rows.Zeros(s.mark, len(s.sites)), 0
	s.guide.begin(s)
	s.seed = 0x9e3779b97f4a7c15
	return true
}

// fresh looks for a plan from nothing below a ceiling, and offers it as soon as it is lawful.
// If rows are in the way it looks for one by what it uses of them alone.
func (s *Solver) fresh(l ceiling) bool {
	share := s.purse / 4 * 3
	if s.found {
		share = s.purse / 4 // most is for making the best plan cheaper
	}
	return s.spend(share, func() bool { return s.begun(l) })
}

// spend does something for so much of the purse at most.
func (s *Solver) spend(share int64, do func() bool) bool {
	purse := s.purse
	s.purse = share
	done := do()
	s.purse += purse - share
	return done
}

// begun is fresh for all of the purse.
func (s *Solver) begun(l ceiling) bool {
	if !s.prepare(l, nil) || !s.start() {
		return false
	}
	if s.broke > 0 && !s.relax(l) || !s.offer() {
		return false
	}
	// The fewest of those whose prices have bits from Head on come first.
	if !l.plain && s.prepare(l, &s.last) {
		if s.improve(s.purse/2, false); s.broke == 0 {
			s.offer()
		}
	}
	return true
}

// relax looks for a plan that passes no row: the cheapest by what is used of rows and, if that
// passes some still or needs alone are in the way, by its cost. It reports whether there is one.
func (s *Solver) relax(l ceiling) bool {
	for _, s.weighing = range [...]bool{true, false} {
		if s.broke == 0 || s.weighing && s.keeps(&s.use) {
			continue
		}
		if !s.prepare(l, nil) || !s.start() {
			s.weighing = false
			return false
		}
		s.improve(s.purse/2, true)
	}
	return s.broke == 0
}

// again makes the best plan cheaper, below a ceiling that admits it, until so much of the purse is
// left, and reports whether it is proven to be the cheapest.
func (s *Solver) again(l ceiling, leave int64) bool {
	if !s.prepare(l, &s.best) {
		return false
	}
	if s.jobs() || len(s.Kinds) > 1 {
		s.beginAnew(leave)
		s.improve(leave, false)
		s.keep()
		s.recall()
	} else {
		s.improve(leave, false)
	}
	if s.broke == 0 {
		s.offer()
	}
	return !s.jobs() && s.broke == 0 && s.guide.proves(s)
}

// turnShare is one part in so many of the purse for a plan in turn.
const turnShare = 8

// beginAnew finds a plan to improve: the best of that at hand, of those in turn, and of that of
// start. If members are not alike, which is best says little of what comes of it: then the best
// one without start is improved for half of the purse, and the plan is again that at hand or that
// of start.
func (s *Solver) beginAnew(leave int64) {
	s.note()
	s.chargeLittle()
	for _, price := range [...]func(*Solver, int32) Price{(*Solver).priceOfWhole, (*Solver).pricePerPlace} {
		if s.spend(s.purse/turnShare, func() bool { return s.inTurn(price) }) {
			s.keep()
		}
	}
	if len(s.Kinds) == 1 {
		if s.start() {
			s.keep()
		}
		s.recall()
		return
	}
	s.recall()
	s.improve((s.purse+leave)/2, false)
	s.note()
	s.reopen(&s.best)
	if was := s.worth(); !s.start() || s.broke > 0 || !s.worth().Less(was) {
		s.reopen(&s.best)
	}
}

// note notes the plan, and keep does so if it is lawful and better than the one noted, which recall
// makes the plan.
func (s *Solver) note() {
	s.saveTo(&s.record)
	s.noted = s.worth()
}

func (s *Solver) keep() {
	if s.broke == 0 && s.worth().Less(s.noted) {
		s.note()
	}
}

func (s *Solver) recall() { s.restoreFrom(&s.record) }

// jobs reports whether a whole goes.
func (s *Solver) jobs() bool { return slices.Contains(s.in, true) }

// offer offers the plan, and makes it the best one if it is lawful and cheaper.
func (s *Solver) offer() bool {
	s.write(&s.last)
	if s.Offer != nil && !s.Offer(&s.last) {
		return false
	}
	if s.judge(&s.last); !s.found || s.compare(&s.last, &s.best) < 0 {
		s.found = true
		s.best.copyFrom(&s.last)
	}
	return true
}

// reaches reports whether there are places enough with everybody gone whom a ceiling admits,
// by counts: for the members no smaller than one, in places of its size.
func (s *Solver) reaches(l *ceiling) bool {
	g := &s.guide
	g.count(s)
	g.sums = rows.Zeros(g.sums, len(g.kinds))
	s.list = rows.Zeros(s.list, len(s.Gangs)) // 1: goes as a whole
	s.room = s.room[:0]
	for i := range s.Sites {
		s.room = append(s.room, s.Sites[i].Free...)
	}
	for w := range s.Wholes {
		if h := &s.Wholes[w]; s.letsWhole(l, h) {
			if h.Gang >= 0 {
				s.list[h.Gang] = 1
			}
			for _, p := range s.partsOf(int32(w)) {
				addTo(s.roomOf(p.Site), p.Size, +1)
			}
		}
	}
	for i := range s.Sites {
		at := &s.Sites[i]
		for u := at.First; u < at.End; u++ {
			if unit := &s.Units[u]; (unit.Gang < 0 || s.list[unit.Gang] == 0) && s.letsUnit(l, unit) {
				addTo(s.roomOf(int32(i)), unit.Size, +1)
			}
		}
		for n, k := range g.kinds {
			g.sums[n] += s.Kinds[k].fit(s.roomOf(int32(i)))
		}
	}
	s.pay(int64(len(s.Sites)+len(s.Units)) / 4)
	return g.enough()
}

// descend looks for the lowest ceiling for which there is a plan, between one for which there
// could be and that of the best plan: of the rank, and then of the priority. Plans that are
// not found may be there, so the search by halves may miss the lowest.
func (s *Solver) descend() {
	failed := -1 // so many who may go were not enough
	s.least = s.below(&s.best)
	for _, byRank := range [...]bool{true, false} {
		l := s.below(&s.best)
		values, part, floor := s.priorities, &l.priority, &s.least.priority
		if byRank {
			values, part, floor = s.ranks, &l.rank, &s.least.rank
		}
		to, _ := slices.BinarySearch(values, *part)
		if byRank {
			l.priority = math.MaxInt64
		}
		from := sort.Search(to, func(i int) bool {
			*part = values[i]
			return s.reaches(&l)
		})
		if from < len(values) {
			*floor = values[from]
		}
		for at := from; from < to && !s.stopped(); at = (from + to) / 2 {
			*part = values[at]
			if n := s.admitted(&l); n > failed && s.fresh(l) && s.best.rank <= l.rank && s.best.priority <= l.priority {
				to = at
			} else {
				from, failed = at+1, max(failed, n)
			}
		}
	}
}

// admitted counts who may go below a ceiling.
func (s *Solver) admitted(l *ceiling) (n int) {
	for i := range s.Units {
		if s.letsUnit(l, &s.Units[i]) {
			n++
		}
	}
	for i := range s.Wholes {
		if s.letsWhole(l, &s.Wholes[i]) {
			n++
		}
	}
	return n
}
