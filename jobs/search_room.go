package jobs

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/victims"
)

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
