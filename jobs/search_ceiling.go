package jobs

import (
	"math"
	"slices"
	"sort"

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
