package jobs

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// The highest rank and the highest priority of a cost are no sums, so that of
// two ways for a node to host members neither need be the better one: it
// depends on what falls elsewhere. Once both are known they are limits, and
// what is left of a cost are sums, for which the better way on each node is
// the better one in all.

// limit says which candidates may fall.
type limit struct {
	plain          bool // neither opted out nor an originator
	rank, priority int64
}

// noLimit returns the limit that admits all.
func noLimit() limit { return limit{rank: math.MaxInt64, priority: math.MaxInt64} }

func (l *limit) admits(levels *cover.Levels) bool {
	return levels[victims.LevelRank] <= l.rank && levels[victims.LevelPriority] <= l.priority &&
		!(l.plain && levels[victims.LevelOptedOut]+levels[victims.LevelOriginators] > 0)
}

// capacity returns how many members, which are all of one kind, hosts can take
// with all gone that a limit admits, where no bound forbids it. It counts no
// further than all members.
func (d *decision) capacity(l limit) int {
	x := &d.spread
	x.room = x.room[:0]
	for h := range d.hosts {
		x.room = append(x.room, d.hosts[h].free...)
	}
	for i := range d.cands {
		c := &d.cands[i]
		if d.falling[i] && c.host >= 0 && l.admits(&c.levels) {
			addTo(d.row(x.room, int(c.host)), c.size, +1)
		}
	}
	n := 0
	for h := range d.hosts {
		n += d.hosted(int32(h), d.row(x.room, h))
		if n >= len(d.todo) {
			return len(d.todo)
		}
	}
	return n
}

// hosted returns how many members a host takes with some room, all of them at
// most.
func (d *decision) hosted(h int32, room resources.Vector) int {
	k := &d.kinds[0]
	if !d.hosts[h].takes(k) {
		return 0
	}
	n := int64(len(d.todo))
	for _, t := range k.types {
		n = min(n, max(room[t], 0)/k.size[t])
	}
	return int(n)
}

// lowestLimit finds the least rank, and with that the least priority, for which
// reaches still holds. It holds for l, and if for some limit then for every
// wider one.
func (d *decision) lowestLimit(l limit, reaches func(limit) bool) limit {
	for _, part := range []struct {
		level int
		bound *int64
	}{{victims.LevelRank, &l.rank}, {victims.LevelPriority, &l.priority}} {
		values := d.distinct(part.level, l)
		n, _ := slices.BinarySearchFunc(values, true, func(v int64, _ bool) int {
			*part.bound = v
			if reaches(l) {
				return 1
			}
			return -1
		})
		if n < len(values) {
			*part.bound = values[n]
		}
	}
	return l
}

// distinct returns the different values of a level of the candidates that a
// limit admits, ascending.
func (d *decision) distinct(level int, l limit) []int64 {
	values := d.spread.values[:0]
	for i := range d.cands {
		c := &d.cands[i]
		if !d.falling[i] || c.host < 0 && !d.needs.open() || !l.admits(&c.levels) {
			continue
		}
		if n, ok := slices.BinarySearch(values, c.levels[level]); !ok {
			values = slices.Insert(values, n, c.levels[level])
		}
	}
	d.spread.values = values
	return values
}
