package jobs

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
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

// noCeiling returns the ceiling that admits all.
func noCeiling() ceiling { return ceiling{rank: math.MaxInt64, priority: math.MaxInt64} }

// below returns the ceiling of a plan: it admits who is no worse than those who go.
func below(levels *cover.Levels) ceiling {
	return ceiling{
		plain: levels[victims.LevelOptedOut]+levels[victims.LevelOriginators] == 0,
		rank:  levels[victims.LevelRank], priority: levels[victims.LevelPriority],
	}
}

func (l *ceiling) admits(levels *cover.Levels) bool {
	return levels[victims.LevelRank] <= l.rank && levels[victims.LevelPriority] <= l.priority &&
		!(l.plain && levels[victims.LevelOptedOut]+levels[victims.LevelOriginators] > 0)
}

// lets is admits for a candidate of a grade.
func (l *ceiling) lets(g *grade) bool {
	return g.rank <= l.rank && g.priority <= l.priority && (g.plain || !l.plain)
}

// ceilings finds the lowest ceiling below which something can be done.
type ceilings struct {
	*jobCase
	values []int64 // scratch of distinct
	room   []int64 // scratch of capacity
}

// capacity returns how many members, which are all of one kind, hosts can take
// with everybody gone whom a ceiling admits, if no bound forbids it. It counts no
// further than all members. With it comes what is then free on each host, which
// is good until the next call.
func (x *ceilings) capacity(l ceiling) (members int, room []int64) {
	x.roomBelow(l)
	for h := range x.hosts {
		members += x.hosted(int32(h), x.row(x.room, h))
		if members >= len(x.todo) { // the room of later hosts is there, all the same
			return len(x.todo), x.room
		}
	}
	return members, x.room
}

// roomBelow returns what is free on each host with everybody gone whom a ceiling
// admits. It is good until the next call.
func (x *ceilings) roomBelow(l ceiling) []int64 {
	x.room = x.room[:0]
	for h := range x.hosts {
		x.room = append(x.room, x.hosts[h].free...)
	}
	for i := range x.grades {
		if g := &x.grades[i]; g.usable && g.host >= 0 && l.lets(g) {
			addTo(x.row(x.room, int(g.host)), x.cands[i].size, +1)
		}
	}
	return x.room
}

// reaches reports whether there are nodes for all members, which are of one
// kind, with everybody gone whom a ceiling admits.
func (x *ceilings) reaches(l ceiling) bool {
	if l == noCeiling() {
		members := 0
		for h := 0; h < len(x.hosts) && members < len(x.todo); h++ {
			members += x.hosted(int32(h), x.hosts[h].all)
		}
		return members >= len(x.todo)
	}
	members, _ := x.capacity(l)
	return members == len(x.todo)
}

// lowest finds the least rank, and with that the least priority, for which
// reaches still holds. It holds for l, and if for some ceiling then for every
// higher one.
func (x *ceilings) lowest(l ceiling, reaches func(ceiling) bool) ceiling {
	for _, part := range []struct {
		level victims.Level
		bound *int64
	}{{victims.LevelRank, &l.rank}, {victims.LevelPriority, &l.priority}} {
		// The first part is settled before the second is looked at: a cost compares
		// ranks first, so a lower priority with a higher rank is no gain.
		values := x.distinct(part.level, l)
		if len(values) == 0 {
			continue
		}
		// The highest value admits all that l does, and is not asked about.
		top := len(values) - 1
		n := sort.Search(top, func(i int) bool {
			*part.bound = values[i]
			return reaches(l)
		})
		*part.bound = values[n]
	}
	return l
}

// distinct returns the different values of a level of the candidates that a
// ceiling admits, ascending.
func (x *ceilings) distinct(level victims.Level, l ceiling) []int64 {
	values := x.values[:0]
	for i := range x.grades {
		g := &x.grades[i]
		if !g.usable || g.host < 0 && !x.needs.open() || !l.lets(g) {
			continue
		}
		v := g.rank
		if level == victims.LevelPriority {
			v = g.priority
		}
		if n, ok := slices.BinarySearch(values, v); !ok {
			values = slices.Insert(values, n, v)
		}
	}
	x.values = values
	return values
}

// A demand is a number of members of one kind that are to be placed on one host.
type demand struct {
	kind  *kind
	count int64
}

// A roomer tells what a host lacks for some members of one kind, and what that
// costs at least.
type roomer struct {
	*jobCase
	lack []int64 // what the last question found
}

// lacks sets x.lack to what members lack beside what is free on a host, and
// reports whether that is anything.
func (x *roomer) lacks(free []int64, d demand) (any bool) {
	x.lack = rows.Zeros(x.lack, x.types)
	for _, t := range d.kind.types {
		if lack := d.count*d.kind.size[t] - free[t]; lack > 0 {
			x.lack[t], any = lack, true
		}
	}
	return any
}

// least returns sums that no units go below that make room on a host for more
// members. It reports false if nothing there can make so much.
//
// Units are counted: as many as the largest ones need for the type that takes
// most. If two units of 4 are the largest, a lack of 5 takes two at least.
func (x *roomer) least(h int32, free []int64, d demand) (low sums, ok bool) {
	host := &x.hosts[h]
	if !x.lacks(free, d) {
		return low, true
	}
	units, count := int64(len(x.unitsOn(h))), int64(0)
	for t, lack := range x.lack {
		if lack == 0 {
			continue
		}
		// The count of one type starts at that of the types before it: it takes the
		// largest of all. Each type has its own order of units, so this may be less
		// than any set needs, and is never more.
		count = max(count, 1)
		for count <= units && host.most[int(count-1)*x.types+t] < lack {
			count++
		}
	}
	low.levels[victims.LevelVictims] = count
	low.levels[victims.LevelSumRanks] = count * host.least[victims.LevelRank]
	low.levels[victims.LevelSumPriorities] = count * host.least[victims.LevelPriority]
	return low, count <= units
}

// state states in c what the last question found: what must be freed on a host,
// and of no units yet. Queues need nothing here.
func (x *roomer) state(c *coverer, h int32) {
	for range x.needs.queues {
		c.needQueue(nil)
	}
	c.needHost(h, x.lack)
}

// A pooler bounds the cost of all plans by sums over hosts: what the members ask
// for together must come of room that is free and of victims. It forgets which
// member goes where, which bounds keep victims and what queues need. All of that
// can but add to the cost.
type pooler struct {
	*jobCase
	ceilings *ceilings

	smallest resources.Vector // by type, the least that any member asks for
	sum      resources.Vector // scratch of mayDo
	open     []bool           // by host: a member may have room there as it is
	sizes    []int64          // scratch: of candidates, and of room, of one type
	idle     []int64
}

// proves reports whether no plan has lower levels than a plan that has these. It
// may say no though that is so.
//
// First, nobody with a lower rank makes do, then nobody with a lower priority, and
// below these two no fewer victims do. Each level is then the least that it can be
// with those before it.
func (x *pooler) proves(plan *incumbent) bool {
	levels := &plan.levels
	rank, priority := levels[victims.LevelRank], levels[victims.LevelPriority]
	switch {
	case levels[victims.LevelVictims] == 0, rank == math.MinInt64, priority == math.MinInt64:
		return false // nothing to prove, or nothing below it to ask about
	case x.mayDo(ceiling{plain: true, rank: rank - 1, priority: math.MaxInt64}):
		return false
	case x.mayDo(ceiling{plain: true, rank: rank, priority: priority - 1}):
		return false
	}
	l := ceiling{plain: true, rank: rank, priority: priority}
	n := x.fewest(l)
	least := x.lowestOf(l)
	// One of them has the highest rank, and one the highest priority.
	want := cover.Levels{
		victims.LevelRank: rank, victims.LevelPriority: priority, victims.LevelVictims: n,
		victims.LevelSumRanks:      rank + (n-1)*least.rank,
		victims.LevelSumPriorities: priority + (n-1)*least.priority,
	}
	return want == *levels // all others are 0
}

// lowest returns the lowest ceiling below which candidates could be enough, if none
// of them need be an originator or have opted out.
func (x *pooler) lowest() (l ceiling, ok bool) {
	l = noCeiling()
	l.plain = true
	if !x.mayDo(l) {
		return l, false
	}
	return x.ceilings.lowest(l, x.mayDo), true
}

// mayDo reports whether the candidates below a ceiling could be enough.
func (x *pooler) mayDo(l ceiling) bool {
	room := x.ceilings.roomBelow(l)
	x.sum = rows.Zeros(x.sum, x.types)
	largest, hosted := &x.kinds[0], false
	for h := range x.hosts {
		here := x.row(room, h)
		for t, v := range here {
			x.sum[t] += max(v, 0)
		}
		hosted = hosted || largest.roomFor(here) && x.takes(int32(h), largest)
	}
	return hosted && resources.Fits(x.rem, x.sum)
}

// lowestOf returns the lowest rank and the lowest priority of candidates that a
// ceiling admits.
func (x *pooler) lowestOf(l ceiling) ceiling {
	least := l
	for i := range x.grades {
		if g := &x.grades[i]; g.usable && l.lets(g) {
			least.rank, least.priority = min(least.rank, g.rank), min(least.priority, g.priority)
		}
	}
	return least
}

// fewest returns how many candidates below a ceiling must go at least, by the type
// that takes most.
//
// A host on which nobody goes is of use only if a member fits there as it is. So n
// victims open n hosts at most that are of no use without: those with the most
// room, and with the largest victims of all, do as much as any.
func (x *pooler) fewest(l ceiling) (most int64) {
	x.findOpen()
	for t := range x.wants.All() {
		need := x.rem[t]
		x.sizes, x.idle = x.sizes[:0], x.idle[:0]
		for h := range x.hosts {
			free := max(x.hosts[h].free[t], 0)
			if x.open[h] {
				need -= free
			} else {
				x.idle = append(x.idle, free)
			}
		}
		if need <= 0 {
			continue
		}
		for i := range x.cands {
			c := &x.cands[i]
			if x.usable[i] && c.host >= 0 && c.size[t] > 0 && l.admits(&c.levels) {
				x.sizes = append(x.sizes, c.size[t])
			}
		}
		most = max(most, x.count(need))
	}
	return most
}

// count returns how many of x.sizes, the largest first, each with a host of
// x.idle, are as much as a need.
func (x *pooler) count(need int64) (n int64) {
	down := func(a, b int64) int { return cmp.Compare(b, a) }
	slices.SortFunc(x.sizes, down)
	slices.SortFunc(x.idle, down)
	for i := 0; need > 0 && i < len(x.sizes); i++ {
		need -= x.sizes[i]
		if i < len(x.idle) {
			need -= x.idle[i]
		}
		n++
	}
	return n
}

// findOpen finds the hosts on which a member may have room as they are.
func (x *pooler) findOpen() {
	x.smallest = resources.Copy(x.smallest, x.kinds[0].size)
	for i := range x.kinds {
		x.smallest = resources.Min(x.smallest, x.smallest, x.kinds[i].size)
	}
	x.open = rows.Zeros(x.open, len(x.hosts))
	for h := range x.hosts {
		x.open[h] = true
		for t, v := range x.smallest {
			if v > 0 && x.hosts[h].free[t] < v {
				x.open[h] = false
			}
		}
	}
}

// sums are the parts of a cost that are sums, in their order: what units cost
// below a ceiling, under which rank and priority do not count and are 0. Of two ways
// to do one part of a plan the cheaper is then the better one, whatever the rest
// is.
type sums struct {
	levels cover.Levels
	work   uint64
	rank   rankSum // of the members' nodes
}

// add adds what a unit costs.
func (s *sums) add(order *cover.Order, u *unit) {
	levels := u.Levels
	levels[victims.LevelRank], levels[victims.LevelPriority] = 0, 0
	s.levels = order.Join(&s.levels, 1, &levels)
	s.work = addWork(s.work, u.Work)
}

// plus returns what both cost together.
func (s *sums) plus(order *cover.Order, r *sums) sums {
	return sums{order.Join(&s.levels, 1, &r.levels), addWork(s.work, r.work), s.rank.add(r.rank)}
}

// comparePlus compares the sum of s and r with t. Mostly a level decides before all
// of them are summed up.
func (s *sums) comparePlus(order *cover.Order, r, t *sums) int {
	// The lower half of a wide level carries into the one before it. Levels that are
	// maxima are 0 in sums.
	if s.levels[victims.LevelOwnLow]|r.levels[victims.LevelOwnLow] == 0 {
		for i, v := range &s.levels {
			if c := cmp.Compare(v+r.levels[i], t.levels[i]); c != 0 {
				return c
			}
		}
	}
	sum := s.plus(order, r)
	return sum.compare(t)
}

// compare orders by cost, and compareLevels without the work lost and the nodes.
// Heaps of offers compare all the time, and levels decide nearly always: nothing
// after them is looked at before that is known.
func (s *sums) compare(r *sums) int {
	if order := s.compareLevels(r); order != 0 {
		return order
	}
	if order := cmp.Compare(s.work, r.work); order != 0 {
		return order
	}
	return s.rank.compare(r.rank)
}

func (s *sums) compareLevels(r *sums) int {
	for i, v := range &s.levels {
		if w := r.levels[i]; v != w {
			if v < w {
				return -1
			}
			return +1
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
	// n is at most the number of members, and mostly 1.
	for range n {
		// The sign goes into the high word; the carry shows as a low word that
		// has become smaller.
		low := r.low + uint64(rank)
		high := r.high + rank>>63
		if low < r.low {
			high++
		}
		r = rankSum{high, low}
	}
	return r
}

// add returns the sum of both.
func (r rankSum) add(s rankSum) rankSum {
	low := r.low + s.low
	high := r.high + s.high
	if low < r.low {
		high++
	}
	return rankSum{high, low}
}

func (r rankSum) compare(s rankSum) int {
	if order := cmp.Compare(r.high, s.high); order != 0 {
		return order
	}
	return cmp.Compare(r.low, s.low)
}

// int64 returns the sum, or the nearest number in range.
func (r rankSum) int64() int64 {
	switch {
	// The high word is nothing but the sign: the sum fits.
	case r.high == int64(r.low)>>63:
		return int64(r.low)
	case r.high < 0:
		return -1 << 63
	}
	return 1<<63 - 1
}
