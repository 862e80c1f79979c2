// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
)

// The highest rank and the highest priority of a cost are maxima. Maxima are not
// additive, so two ways for one node to host members cannot be ranked in
// isolation: which is better depends on who goes elsewhere. Once both maxima are
// known they are a ceiling, and what is left of a cost are sums, for which the
// better way on each node is the better one in all.

// A ceiling says which candidates may go.
type ceiling struct {
	plain          bool // neither opted out nor an originator
	rank, priority int64
}

// noCeiling returns the ceiling that admits all, and nobody one that admits none.
func noCeiling() ceiling { return ceiling{rank: math.MaxInt64, priority: math.MaxInt64} }
func nobody() ceiling    { return ceiling{plain: true, rank: math.MinInt64, priority: math.MinInt64} }

// below returns the ceiling of a plan: it admits who is no worse than those who go.
func below(levels *cost.Levels) ceiling {
	return ceiling{
		plain: levels[rulebook.LevelOptedOut]+levels[rulebook.LevelOriginators] == 0,
		rank:  levels[rulebook.LevelRank], priority: levels[rulebook.LevelPriority],
	}
}

func (l *ceiling) admits(levels *cost.Levels) bool {
	return levels[rulebook.LevelRank] <= l.rank && levels[rulebook.LevelPriority] <= l.priority &&
		!(l.plain && levels[rulebook.LevelOptedOut]+levels[rulebook.LevelOriginators] > 0)
}

// lets is admits for a candidate of a grade.
func (l *ceiling) lets(g *grade) bool {
	return g.rank <= l.rank && g.priority <= l.priority && (g.plain || !l.plain)
}

// A bounder tells what plans below a ceiling can do at most, and what they cost at
// least. It forgets laws about sums, and mostly which member goes where. Both can
// but add to the cost.
type bounder struct {
	*jobCase
	ranks, priorities []int64 // of candidates that may be of use, ascending and different
	cut               bool    // a lowest ceiling may not be the lowest: the budget has ended

	room, sizes, needed, gone []int64 // scratch
}

// begin lists the ranks and priorities of candidates in the area.
func (x *bounder) begin(c *jobCase) {
	x.jobCase, x.cut = c, false
	c.pay(len(c.area.units) / 4)
	x.ranks, x.priorities = x.ranks[:0], x.priorities[:0]
	for _, u := range c.area.units {
		for _, i := range c.tasksOf(u) {
			if g := &c.grades[i]; c.inArea(g.host) || c.needs.open() {
				x.ranks, x.priorities = add(x.ranks, g.rank), add(x.priorities, g.priority)
			}
		}
	}
	slices.Sort(x.ranks)
	slices.Sort(x.priorities)
	x.ranks, x.priorities = slices.Compact(x.ranks), slices.Compact(x.priorities)
}

// add adds a value unless it is the last one, as it mostly is.
func add(values []int64, v int64) []int64 {
	if n := len(values); n > 0 && values[n-1] == v {
		return values
	}
	return append(values, v)
}

// roomOn returns what is free on a host with everybody gone whom a ceiling admits.
// It is good until the next call.
func (x *bounder) roomOn(h int32, l ceiling) resources.Vector {
	if l == noCeiling() {
		return x.hosts[h].all
	}
	x.pay(len(x.unitsOn(h)))
	x.room = append(x.room[:0], x.hosts[h].free...)
	for i := range x.candsOn(h) {
		if l.lets(&x.grades[i]) {
			addTo(x.room, x.cands[i].size, +1)
		}
	}
	return x.room
}

// reaches reports whether some hosts take all members of a kind with everybody gone
// whom a ceiling admits.
func (x *bounder) reaches(hosts []int32, k *kind, l ceiling) bool {
	left := int64(k.end - k.first)
	for _, h := range hosts {
		if left -= x.hosted(h, k, x.roomOn(h, l)); left <= 0 {
			return true
		}
	}
	return false
}

// lowest finds the least rank, and with that the least priority, for which
// reaches still holds. It holds for l, and if for some ceiling then for every
// higher one. Once the budget has ended it looks no further down.
func (x *bounder) lowest(l ceiling, reaches func(ceiling) bool) ceiling {
	// Ranks are settled before priorities are looked at: a cost compares ranks first,
	// so a lower priority with a higher rank is no gain.
	for _, part := range [...]struct {
		values []int64
		bound  *int64
	}{{x.ranks, &l.rank}, {x.priorities, &l.priority}} {
		values := part.values
		if n, ok := slices.BinarySearch(values, *part.bound); ok {
			values = values[:n+1]
		} else if values = values[:n]; n == 0 {
			continue
		}
		// The highest value admits all that l does, and is not asked about.
		n := sort.Search(len(values)-1, func(i int) bool {
			if x.cut = x.cut || x.over(); x.cut {
				return false
			}
			*part.bound = values[i]
			return reaches(l)
		})
		*part.bound = values[n]
	}
	return l
}

// setLevels sets the levels of so many victims below a ceiling. One of them has the
// highest rank, and one the highest priority; the others have the least.
func setLevels(levels *cost.Levels, n int64, most, least ceiling) {
	levels[rulebook.LevelRank], levels[rulebook.LevelPriority] = most.rank, most.priority
	levels[rulebook.LevelVictims] = n
	levels[rulebook.LevelSumRanks] = most.rank + (n-1)*min(least.rank, most.rank)
	levels[rulebook.LevelSumPriorities] = most.priority + (n-1)*min(least.priority, most.priority)
}

func descending(a, b int64) int { return cmp.Compare(b, a) }

// mostCounted is how large a set of hosts may be, in hosts times members, for its
// victims to be counted: a larger one is bounded by one victim.
const mostCounted = 1 << 14

// fewestOn returns how many candidates below a ceiling must go at least if some
// hosts are to take all members of a kind. They are to have room below the ceiling.
//
// On each host the largest go first, type by type: nobody gets by with fewer. A
// dynamic programme over the hosts then finds how many members go where, as a
// spreader does, without laws about sums.
func (x *bounder) fewestOn(hosts []int32, k *kind, l ceiling) int64 {
	members := int(k.end - k.first)
	if len(hosts)*members > mostCounted {
		return 1
	}
	// gone[j] is for j members on the hosts so far.
	x.gone = append(x.gone[:0], 0)
	for range members {
		x.gone = append(x.gone, math.MaxInt64)
	}
	for _, h := range hosts {
		if !x.takes(h, k) {
			continue
		}
		x.countOn(h, k, l)
		// Downwards, so that what is read is without this host.
		for j := members; j > 0; j-- {
			for n := 1; n <= min(j, len(x.needed)); n++ {
				if rest := x.gone[j-n]; rest < math.MaxInt64 {
					x.gone[j] = min(x.gone[j], rest+x.needed[n-1])
				}
			}
		}
	}
	if n := x.gone[members]; n < math.MaxInt64 {
		return max(n, 1)
	}
	return 1
}

// countOn sets x.needed to how many candidates must go at least from a host for
// one member, for two, and so on, as far as it can take them.
func (x *bounder) countOn(h int32, k *kind, l ceiling) {
	most := int(k.end - k.first)
	x.needed = rows.Zeros(x.needed, most)
	for _, t := range k.types {
		x.sizes = x.sizes[:0]
		for i := range x.candsOn(h) {
			if size := x.cands[i].size[t]; size > 0 && l.lets(&x.grades[i]) {
				x.sizes = append(x.sizes, size)
			}
		}
		slices.SortFunc(x.sizes, descending)
		left, gone := x.hosts[h].free[t], 0
		for n := range most {
			for left < k.size[t] && gone < len(x.sizes) {
				left += x.sizes[gone]
				gone++
			}
			if left < k.size[t] {
				most = n
				break
			}
			left -= k.size[t]
			x.needed[n] = max(x.needed[n], int64(gone))
		}
	}
	x.needed = x.needed[:most]
}

// least returns sums that no units go below that free on a host what is lacking
// there. It reports false if nothing there can free so much.
//
// Units are counted: as many as the largest ones need for the type that takes
// most. If two units of 4 are the largest, a lack of 5 takes two at least.
func (c *jobCase) least(h int32, lack []int64) (low sums, ok bool) {
	host := &c.hosts[h]
	units, count := int64(host.end-host.first), int64(0)
	for t, v := range lack {
		if v == 0 {
			continue
		}
		// The count of one type starts at that of the types before it: it takes the
		// largest of all. Each type has its own order of units, so this may be less
		// than any set needs, and is never more.
		count = max(count, 1)
		for count <= units && host.most[int(count-1)*c.types+t] < v {
			count++
		}
	}
	low.levels[rulebook.LevelVictims] = count
	low.levels[rulebook.LevelSumRanks] = count * host.least[rulebook.LevelRank]
	low.levels[rulebook.LevelSumPriorities] = count * host.least[rulebook.LevelPriority]
	return low, count <= units
}

// A hostCost is what a host costs at least.
type hostCost struct {
	host int32
	low  sums
}

// cheapestFirst appends the hosts that may have what is wanted, those first that could cost the
// least.
func (s *search) cheapestFirst(dst []hostCost, want resources.Vector, may func(h int32) bool) []hostCost {
	for _, h := range s.area.hosts {
		if !may(h) {
			continue
		}
		s.lacks(want, s.hosts[h].free)
		if low, ok := s.least(h, s.lack); ok {
			dst = append(dst, hostCost{h, low})
		}
	}
	slices.SortFunc(dst, func(a, b hostCost) int {
		return cmp.Or(a.low.compareLevels(&b.low), cmp.Compare(a.host, b.host))
	})
	return dst
}

// sums are the parts of a cost that are sums, in their order: what units cost
// below a ceiling, under which rank and priority do not count and are 0. Of two ways
// to do one part of a plan the cheaper is then the better one, whatever the rest
// is.
type sums struct {
	levels cost.Levels
	work   resources.Wide
	rank   rankSum // of the members' nodes
}

// add adds what a unit costs.
func (s *sums) add(order *cost.Order, u *unit) {
	levels := u.Levels
	levels[rulebook.LevelRank], levels[rulebook.LevelPriority] = 0, 0
	s.levels = order.Join(&s.levels, 1, &levels)
	s.work = s.work.Add(u.Work)
}

// plus returns what both cost together.
func (s *sums) plus(order *cost.Order, r *sums) sums {
	return sums{order.Join(&s.levels, 1, &r.levels), s.work.Add(r.work), s.rank.add(r.rank)}
}

// comparePlus compares the sum of s and r with t. Mostly a level decides before all
// of them are summed up.
func (s *sums) comparePlus(order *cost.Order, r, t *sums) int {
	// The lower half of a wide level carries into the one before it. Levels that are
	// maxima are 0 in sums.
	if s.levels[rulebook.LevelOwnLow]|r.levels[rulebook.LevelOwnLow] == 0 {
		for i, v := range &s.levels {
			if c := cmp.Compare(v+r.levels[i], t.levels[i]); c != 0 {
				return c
			}
		}
	}
	sum := s.plus(order, r)
	return sum.compare(t)
}

// compare orders by cost.
func (s *sums) compare(r *sums) int {
	// Not as one expression: levels decide nearly always.
	if order := s.compareLevels(r); order != 0 {
		return order
	}
	return cmp.Or(s.work.Compare(r.work), s.rank.compare(r.rank))
}

// compareLevels orders without the work lost and the nodes.
func (s *sums) compareLevels(r *sums) int {
	for i, v := range &s.levels {
		if w := r.levels[i]; v != w {
			return cmp.Compare(v, w)
		}
	}
	return 0
}

// A rankSum is a sum of node ranks, in 128 bits, for ranks may be as large as
// int64 allows.
type rankSum struct {
	high int64
	low  uint64
}

// plus returns the sum with a rank n times more.
func (r rankSum) plus(rank int64, n int64) rankSum {
	for range n { // at most the number of members, and mostly 1
		r = r.add(rankSum{rank >> 63, uint64(rank)}) // the high word is the sign
	}
	return r
}

// add returns the sum of both.
func (r rankSum) add(s rankSum) rankSum {
	low, carry := bits.Add64(r.low, s.low, 0)
	return rankSum{r.high + s.high + int64(carry), low}
}

func (r rankSum) compare(s rankSum) int {
	return cmp.Or(cmp.Compare(r.high, s.high), cmp.Compare(r.low, s.low))
}

// int64 returns the sum, or the nearest number in range.
func (r rankSum) int64() int64 {
	switch {
	case r.high == int64(r.low)>>63: // nothing but the sign: the sum fits
		return int64(r.low)
	case r.high < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}
