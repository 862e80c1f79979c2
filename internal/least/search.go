// SPDX-License-Identifier: Apache-2.0

package least

import (
	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// A Best is the incumbent: the cheapest plan so far.
type Best struct {
	Found bool
	Exact bool // no plan for the node is cheaper
	Node  int32
	Total cost.Total
	// AsMuch has, by type, the least amounts that are no smaller a share than its excess.
	AsMuch []int64
}

// Note notes the excess of the plan.
func (b *Best) Note(capacities []int64) {
	b.AsMuch = AsMuch(b.AsMuch[:0], b.Total.Excess, capacities)
}

// AsMuch appends to dst, per type, the least amount that is no smaller a share of its
// capacity than the given one.
func AsMuch(dst []int64, share resources.Share, capacities []int64) []int64 {
	for _, capacity := range capacities {
		dst = append(dst, asMuchAs(share, max(capacity, 1)))
	}
	return dst
}

// asMuchAs returns the least amount of a capacity that is no smaller a share than the
// given one, or noLimit if that is more than there can be.
func asMuchAs(share resources.Share, capacity int64) int64 {
	amount, of := uint64(max(share.Amount, 0)), uint64(max(share.Of, 1))
	if wide.Mul(amount, uint64(capacity)).Hi >= of {
		return noLimit // the quotient has more than 64 bits
	}
	quo, rem := wide.MulDiv(amount, uint64(capacity), of)
	if quo >= noLimit {
		return noLimit
	}
	return int64(quo + min(rem, 1))
}

// A Search looks for the node with the cheapest plan. Exported fields pose the problem; the
// rest is memory. Its zero value is ready for [Search.Reset]. It serves one goroutine at a
// time.
type Search struct {
	Host     Host  // none if there is one problem; see [Search.Pose]
	Keys     Keyer // tells sets apart that cost the same
	Order    *cost.Order
	Meter    *Meter
	Dims     []int64 // by dimension of all problems: no more than that is ever needed
	Budgets  []int64 // what soft ones have left
	Capacity []int64 // of the cluster, per type
	Now      int64   // in the unit of Row.Times
	Nodes    []int32 // in the order in which they are preferred, all else equal
	Best     *Best
	// Lesser: only plans of lesser levels than the best are of interest. It takes much less
	// to show that there are none.
	Lesser bool
	// Aside is what comes after the present part of the budget; see Within. Overdraw is how
	// much more may be taken until there is any plan.
	Aside, Overdraw int64
	// Shown: every search so far was complete. Levels: every one has shown the levels. Both
	// begin true, and whatever leaves something out makes them false.
	Shown, Levels bool
	// Sequence is what decides, the most important first. Reset sets it.
	Sequence []int8
	// Blind: no bounds, and no limits by the best plan.
	Blind bool

	shared   []int64 // needs that are waived
	ties     bool    // sets that cost as much as the best plan are of interest
	hasty    int     // instead of pace, for tests
	missed   int     // by how much more often looks at rough rows were in vain
	rough    Problem // the two do not share memory: rows may be views
	exact    Problem
	prices   prices
	ladder   ladder
	solver   solver
	frontier frontier
}

// Reset begins a search, once the exported fields are set.
func (s *Search) Reset() {
	s.Sequence = append(s.Sequence[:0], s.Order.Sequence...)
	if s.Order.Sequence == nil {
		for what := range int8(cost.NumLevels) {
			s.Sequence = append(s.Sequence, what)
		}
		s.Sequence = append(s.Sequence, cost.ByWork, cost.ByExcess)
	}
	s.prices.reset(s.Dims)
	s.Lesser, s.Shown, s.Levels, s.Aside, s.missed = false, true, true, 0, 0
}

// Pose begins a search of one problem, of which every dimension has a price. It is for
// Solve alone, and nothing is best then.
func (s *Search) Pose(p *Problem) {
	s.Dims = p.Need
	s.Reset()
	s.ladder.p = nil
}

// Steps returns how many steps the last search of a problem took.
func (s *Search) Steps() int { return s.solver.steps }

// Unproven notes that something was not looked at: nothing is shown.
func (s *Search) Unproven() { s.Shown, s.Levels = false, false }

// Exhausted reports whether nothing is left, or nothing of the present part, or the caller
// ends the search. Until there is any plan it goes on for a while after its last part, for a
// plan is better than none.
func (s *Search) Exhausted() bool {
	m := s.Meter
	return m.Stopped || m.Left <= 0 && (s.Best.Found || s.Aside > 0 || m.Left <= -s.Overdraw)
}

// Within lets a search have a part of what is left.
func (s *Search) Within(part int64, search func() bool) bool {
	rest := s.Meter.Left - part
	s.Aside += rest
	done := s.Meter.Within(part, search)
	s.Aside -= rest
	return done
}

// Work returns what a unit of a row loses.
func (s *Search) Work(r *Row, unit int64) resources.Wide {
	switch {
	case r.Works != nil:
		return r.Works[unit]
	case r.Times != nil:
		return resources.Wide(wide.Mul(s.Since(r.Times[unit]), r.Weight))
	}
	return resources.Wide{}
}

// Since returns the time since an instant, in nanoseconds.
func (s *Search) Since(start int64) uint64 {
	if start <= s.Now {
		return uint64(s.Now) - uint64(start) // the difference of two int64 fits
	}
	return 0
}

// Compare compares a set of the same levels as the best plan with that, if it loses some work
// and frees some amounts, of which some are wanted.
func (s *Search) Compare(work resources.Wide, freed, wanted []int64) int {
	if c := work.Compare(s.Best.Total.Work); c != 0 {
		return c
	}
	for t, asMuch := range s.Best.AsMuch {
		if freed[t]-wanted[t] >= asMuch {
			return cost.Excess(freed, wanted, s.Capacity).Compare(s.Best.Total.Excess)
		}
	}
	return -1
}

// isWide reports whether a level is the high half of a number.
func (s *Search) isWide(level int) bool {
	return level+1 < cost.NumLevels && s.isLow(level+1)
}

// isLow reports whether a level is the low half of a number, of which the level before it
// speaks.
func (s *Search) isLow(level int) bool { return s.Order.Carry>>level&1 != 0 }

// mostValue is no less than any value that is told apart from others. Its low half is 0, so
// that it is not above any number that it stands for.
const mostValue = noLimit / 4 &^ (1<<cost.HalfBits - 1)

// valueOf returns what levels have of one, with its low half.
func (s *Search) valueOf(level int, levels *cost.Levels) int64 {
	if !s.isWide(level) {
		return levels[level]
	}
	const most = mostValue >> cost.HalfBits
	switch high := levels[level]; {
	case high >= most:
		return mostValue
	case high < -most:
		return -mostValue
	default:
		return high<<cost.HalfBits | levels[level+1]
	}
}

// setValue sets what levels have of one, with its low half.
func (s *Search) setValue(level int, levels *cost.Levels, value int64) {
	levels[level] = value
	if s.isWide(level) {
		levels[level], levels[level+1] = value>>cost.HalfBits, value&(1<<cost.HalfBits-1)
	}
}

// beats reports whether a set, or a bound, is no dearer than a limit; if only lesser levels are of
// interest, whether it has lesser ones.
func (s *Search) beats(t, limit *cost.Total) bool {
	if s.Lesser {
		return s.Order.CompareLevels(&t.Levels, &limit.Levels) < 0
	}
	return s.Order.CompareTotals(t, limit) <= 0
}
