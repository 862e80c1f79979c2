package jobs

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// A domainBound says what a plan in a domain costs at least.
type domainBound struct {
	domain int32
	free   bool // nobody need go for the nodes: nothing is known
	levels cover.Levels
}

// passes reports whether every plan in the domain costs more than some levels.
func (x *domainBound) passes(levels *cover.Levels) bool {
	return !x.free && slices.Compare(x.levels[:], levels[:]) > 0
}

// A bounder bounds the cost of domains.
type bounder struct {
	*jobCase
	ranks, priorities []int64 // of candidates, ascending and different
	start             []int32 // candidates of host h are running[start[h]:start[h+1]]
	running           []int32
	room              []int64

	// Scratch of fewest.
	least, needed, sizes []int64
}

// boundAll appends to dst the domains in which the members may have room, and
// what that costs at least; the cheapest come first.
//
// For each kind of members by itself: the lowest rank, and with that the lowest
// priority, such that the hosts of the domain take all of them with everybody
// gone up to there; and the fewest victims with which that can be. Laws about sums
// are not asked, so no plan in the domain has less.
func (x *bounder) boundAll(c *jobCase, dst []domainBound) []domainBound {
	x.begin(c)
	from := len(dst)
	c.domains.each(func(row int32) bool {
		if bound, ok := x.bound(row); ok {
			dst = append(dst, bound)
		}
		return false
	})
	// A domain of which nothing is known may be the cheapest of all, so it comes
	// before those with a bound.
	slices.SortFunc(dst[from:], func(a, b domainBound) int {
		if a.free != b.free {
			if a.free {
				return -1
			}
			return +1
		}
		return cmp.Or(slices.Compare(a.levels[:], b.levels[:]), cmp.Compare(a.domain, b.domain))
	})
	return dst
}

// begin lists the candidates of every host, and their ranks and priorities.
func (x *bounder) begin(c *jobCase) {
	x.jobCase = c
	x.start = rows.Zeros(x.start, len(c.hosts)+1)
	x.ranks, x.priorities = x.ranks[:0], x.priorities[:0]
	total := int32(0)
	for i := range c.cands {
		g := &c.grades[i]
		if !g.usable || g.host < 0 {
			continue
		}
		x.start[g.host+1]++
		total++
		x.ranks = insert(x.ranks, g.rank)
		x.priorities = insert(x.priorities, g.priority)
	}
	// A counting sort: start counts, then says where each host's candidates begin,
	// and while they are filled in, where its next one goes. That shifts it by a
	// host, which the last line puts right.
	for h := range c.hosts {
		x.start[h+1] += x.start[h]
	}
	x.running = rows.Zeros(x.running, int(total))
	for i := range c.cands {
		if g := &c.grades[i]; g.usable && g.host >= 0 {
			x.running[x.start[g.host]] = int32(i)
			x.start[g.host]++
		}
	}
	copy(x.start[1:], x.start)
	x.start[0] = 0
}

// insert adds a value to ascending different ones.
func insert(values []int64, v int64) []int64 {
	if n := len(values); n > 0 && values[n-1] == v {
		return values
	}
	if at, ok := slices.BinarySearch(values, v); !ok {
		values = slices.Insert(values, at, v)
	}
	return values
}

// bound returns what a plan in a domain costs at least, and false if there is
// none.
func (x *bounder) bound(d int32) (b domainBound, ok bool) {
	b.domain, b.free = d, true
	for i := range x.kinds {
		k := &x.kinds[i]
		if x.reaches(d, k, nobody()) {
			continue
		}
		l := noCeiling()
		l.plain = true
		var levels cover.Levels
		if !x.reaches(d, k, l) {
			if l.plain = false; !x.reaches(d, k, l) {
				return b, false
			}
			levels[victims.LevelOriginators] = 1 // or somebody opted out, which is worse
		}
		l.rank = lowest(x.ranks, func(v int64) bool { return x.reaches(d, k, ceiling{l.plain, v, l.priority}) })
		l.priority = lowest(x.priorities, func(v int64) bool { return x.reaches(d, k, ceiling{l.plain, l.rank, v}) })
		levels[victims.LevelRank], levels[victims.LevelPriority] = l.rank, l.priority
		x.count(&levels, x.fewest(d, k, l), l)
		// Every kind must have its room, so the dearest kind is a bound for all.
		// Their sum would be none: one victim may make room for two kinds.
		if b.free || slices.Compare(levels[:], b.levels[:]) > 0 {
			b.free, b.levels = false, levels
		}
	}
	return b, true
}

// reaches reports whether the hosts of a domain take all members of a kind with
// everybody gone whom a ceiling admits.
func (x *bounder) reaches(d int32, k *kind, l ceiling) bool {
	left := int64(k.end - k.first)
	for _, h := range x.domains.hostsOf(d) {
		if !x.takes(h, k) {
			continue
		}
		x.room = append(x.room[:0], x.hosts[h].free...)
		for _, i := range x.candsOn(h) {
			if l.lets(&x.grades[i]) {
				addTo(x.room, x.cands[i].size, +1)
			}
		}
		n := left
		for _, t := range k.types {
			n = min(n, max(x.room[t], 0)/k.size[t])
		}
		if left -= n; left <= 0 {
			return true
		}
	}
	return false
}

// candsOn returns the candidates on a host.
func (x *bounder) candsOn(h int32) []int32 { return x.running[x.start[h]:x.start[h+1]] }

// nobody returns a ceiling that admits no candidate.
func nobody() ceiling { return ceiling{plain: true, rank: math.MinInt64, priority: math.MinInt64} }

// lowest returns the least of some values, which ascend, for which reaches
// holds. It holds for the last one.
func lowest(values []int64, reaches func(int64) bool) int64 {
	n, _ := slices.BinarySearchFunc(values, true, func(v int64, _ bool) int {
		if reaches(v) {
			return 1
		}
		return -1
	})
	return values[min(n, len(values)-1)]
}
