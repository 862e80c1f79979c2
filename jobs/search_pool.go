package jobs

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

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
