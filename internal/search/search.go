// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/resources"
)

// A Row is a number of units of a node that are alike in all but work and key.
type Row struct {
	Size  []int64 // what each gives on the node, per type
	Count int64
	// What each costs at least. A unit may be a gang, whose members elsewhere cost too.
	Levels cost.Levels
	// When the work of each began, the last first: they go in this order. nil means that
	// nothing is known of their work.
	Times []int64
	// What each weighs: its work is its time by that. 0 counts as nothing.
	Weight uint64
}

// A Site is a node as a search sees it: what is lacking there, and who may give it.
type Site struct {
	Node   int32
	Need   []int64 // what is lacking, per type, and 0 if nothing is
	Wanted []int64 // what is freed to some purpose, per type: excess is what is beyond that
	Rows   []Row
	// Rough asks for rows that cost no more than units do, if those are stated sooner. The
	// host clears it if it states them as they are.
	Rough bool
	// Same says that all but node and times is as in the site that was stated last.
	Same bool
	// Exact says that rows tell work and excess, too: the cheapest set of them is the
	// cheapest plan, if laws over sums let it go.
	Exact bool
}

// A Pick is a number of units of a row, the first ones.
type Pick struct {
	Row, Count int32
}

// A Host poses the problem. It knows who units are and what laws say.
type Host interface {
	// Skip reports whether sums tell that a node has no plan that matters. It is asked
	// of every node, and may be a hand-written form of the first steps of the ladder.
	Skip(n int32) bool
	// State states a node. It reports false if the node has no plan, or needs none.
	State(s *Site, n int32) bool
	// Admits reports whether a node is to be searched. It is asked once bounds do not
	// tell, and may take long.
	Admits(n int32) bool
	// Try offers the cheapest plan among some units of the site that was stated last, if
	// laws let them go, and returns what it costs. If it finds out that some unit cannot go
	// at all, it reports true with a total of no units: then the node is to be stated again.
	Try(s *Site, picks []Pick) (total cost.Total, ok bool)
	// Solve searches a node and offers its cheapest plan. If only lesser levels are
	// wanted it may find no other. It reports whether it did so to the end.
	Solve(n int32) bool
	// Before reports whether node n is preferred to m if all else is equal.
	Before(n, m int32) bool
}

// A Best is the incumbent: the cheapest plan so far.
type Best struct {
	Found bool
	Exact bool // no plan for the node is cheaper
	Node  int32
	Total cost.Total
	Yardstick
}

// A Budget is what is left of the elementary work that a search may take.
type Budget struct {
	Meter    *least.Meter
	Aside    int64 // what comes after the present part; see Within
	Overdraw int64 // how much more may be taken until there is any plan
}

// Within lets a search have a part of what is left.
func (b *Budget) Within(part int64, search func() bool) bool {
	rest := b.Meter.Left - part
	b.Meter.Left, b.Aside = part, b.Aside+rest
	done := search()
	b.Meter.Left, b.Aside = b.Meter.Left+rest, b.Aside-rest
	return done
}

// A Search looks for the node with the cheapest plan. Its exported fields pose the
// problem; the rest is memory. Its zero value is ready for [Search.Reset]. It serves one
// goroutine at a time.
type Search struct {
	Budget
	Host     Host
	Order    *cost.Order
	Size     []int64 // what is wanted, per type
	Types    []int   // of which anything is wanted
	Capacity []int64 // of the cluster, per type
	Now      int64   // in the unit of [Row.Times]: what began before has that much work
	Nodes    []int32 // in the order in which they are preferred, all else equal
	Best     *Best
	// Lesser says that only plans are wanted which are less than the best in the levels
	// before work and excess. It takes much less to show that there are none.
	Lesser bool

	sequence []int8 // what decides, the most important first
	plain    bool   // that is the order of levels, then work, then excess
	site     Site
	prices   prices
	ladder   ladder
	sets     sets
	front    frontier
}

// Reset begins a search, once the exported fields are set.
func (s *Search) Reset() {
	s.sequence = append(s.sequence[:0], s.Order.Sequence...)
	if s.plain = s.Order.Sequence == nil; s.plain {
		for what := range int8(cost.NumLevels) {
			s.sequence = append(s.sequence, what)
		}
		s.sequence = append(s.sequence, cost.ByWork, cost.ByExcess)
	}
	s.prices.reset(s.Size, s.Types)
	s.sets.missed = attempts{}
	s.ladder.paid, s.ladder.best = [5]int64{5, 6, 8, 12, 20}, 0
	s.Lesser = false
}

// Exhausted reports whether nothing is left, or nothing of the present part, or the
// caller ends the search. Until there is any plan it goes on for a while after its last
// part, for a plan is better than none.
func (s *Search) Exhausted() bool {
	m := s.Meter
	return m.Stopped || m.Left <= 0 && (s.Best.Found || s.Aside > 0 || m.Left <= -s.Overdraw)
}

// work returns the work that a unit of a row loses.
func (s *Search) work(r *Row, unit int64) resources.Wide {
	return resources.Wide{}.AddTimes(s.since(r.Times[unit]), r.Weight)
}

// since returns the time since an instant, in nanoseconds.
func (s *Search) since(start int64) uint64 {
	if start <= s.Now {
		return uint64(s.Now) - uint64(start) // the difference of two int64 fits
	}
	return 0
}

// compareTo compares a bound with a total along the sequence, as far as excess.
func (s *Search) compareTo(levels *cost.Levels, work resources.Wide, t *cost.Total) int {
	for _, what := range s.sequence {
		var c int
		switch {
		case what == cost.ByExcess || what == cost.ByWork && s.Lesser:
			return 0
		case what == cost.ByWork:
			c = work.Compare(t.Work)
		default:
			c = cmp.Compare(levels[what], t.Levels[what])
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// attempts counts how often something was tried with success, and how often in vain.
type attempts struct{ told, missed int }

// mostInVain is by how many more attempts may be in vain before they are given up.
const mostInVain = 16

// vain reports whether attempts are given up.
func (a *attempts) vain() bool { return a.missed > a.told+mostInVain }

// note counts an attempt.
func (a *attempts) note(told bool) {
	if told {
		a.told++
	} else {
		a.missed++
	}
}

// A Yardstick is what sets of the same levels are compared with: the work and an excess.
type Yardstick struct {
	AsMuch []int64 // by type, the least amounts that are no smaller a share than the excess
	more   []int64 // by type, the least amounts that are a larger one
	work   resources.Wide
	any    bool // any set is cheaper
}

// Note makes the yardstick that of work and an excess.
func (y *Yardstick) Note(work resources.Wide, share resources.Share, capacities []int64) {
	y.AsMuch, y.more, y.work, y.any = AsMuch(y.AsMuch[:0], share, capacities), y.more[:0], work, false
	for t, capacity := range capacities {
		amount := y.AsMuch[t]
		if amount < noLimit && (resources.Share{Amount: amount, Of: max(capacity, 1)}).Compare(share) == 0 {
			amount++
		}
		y.more = append(y.more, amount)
	}
}

// AsMuch appends to dst, per type, the least amount that is no smaller a share of its
// capacity than the given one.
func AsMuch(dst []int64, share resources.Share, capacities []int64) []int64 {
	for _, capacity := range capacities {
		dst = append(dst, asMuchAs(share, max(capacity, 1)))
	}
	return dst
}

// compareWork compares some work with that of the yardstick.
func (y *Yardstick) compareWork(work resources.Wide) int {
	if y.any {
		return -1
	}
	return work.Compare(y.work)
}

// Compare compares a set that loses some work, and leaves so much missing, with the
// yardstick. Less than nothing is missing of what it frees in vain.
func (y *Yardstick) Compare(work resources.Wide, missing []int64) int {
	if c := y.compareWork(work); c != 0 {
		return c
	}
	asMuch := false
	for t, v := range missing {
		if -v >= y.more[t] {
			return 1 // the largest share decides, so a larger one of any type is enough
		}
		asMuch = asMuch || -v >= y.AsMuch[t]
	}
	if !asMuch {
		return -1
	}
	return 0
}
