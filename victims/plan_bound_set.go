package victims

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A setBounder is the last bound of a node, for one whose tasks are of few kinds and
// that must have as many victims as the best plan. It goes through the numbers of
// victims per lane that make so many. Of a lane those go first that lose the least
// work, and all else is the same. So it finds what a search would find, but for what
// laws say about sums, in a fraction of the time.
type setBounder struct {
	d     bounder
	node  NodeID
	from  *nodeDigest
	lanes []lane
	sums  []int64 // what is missing after so many lanes, per type
}

// mostSets is how many sets are looked at: with more of them a search takes about as
// long. It was measured once on the plain load of bench.
const mostSets = 200

// setWork is what it takes to look at a set, in elementary work for each type. It was
// measured once, likewise.
const setWork = 4

// beaten reports whether it is certain that no victims in some lanes of the node of a
// bound are cheaper than the best plan. It says so of bounds with the levels of the
// best plan only.
func (s *setBounder) beaten(b *nodeBound, lanes []lane, short resources.Vector) bool {
	d, count := s.d, b.levels[LevelVictims]
	// Otherwise victims may be elsewhere, or fewer.
	if d.needs.open() || d.p.Minimum != nil || b.levels != d.best.total.Levels || setsOf(count, int64(len(lanes))) > mostSets {
		return false
	}
	s.node, s.from, s.lanes = b.node, d.digestOf(b.node), lanes
	s.sums = rows.Zeros(d.scratch.sums, len(lanes)*d.c.types)
	d.scratch.sums = s.sums
	d.trial.left -= setWork * setsOf(count, int64(len(lanes))) * int64(len(d.types))
	return !s.mayBeat(0, count, setSoFar{missing: short})
}

// setsOf returns in how many ways so many victims can be dealt out to so many lanes,
// or something above mostSets.
func setsOf(count, lanes int64) int64 {
	// Choose lanes-1 of count+lanes-1. Each step divides without rest.
	sets := int64(1)
	for k := int64(1); k < lanes && sets <= mostSets; k++ {
		sets = sets * (count + k) / k
	}
	return sets
}

// A setSoFar is the victims of the first lanes.
type setSoFar struct {
	missing resources.Vector
	work    cover.Work
}

// mayBeat reports whether with so many more victims, in the lanes from i on, a set may
// be cheaper than the best plan.
func (s *setBounder) mayBeat(i int, left int64, set setSoFar) bool {
	types := s.d.c.types
	l, size := &s.lanes[i], s.from.size(i, types)
	tasks := int64(l.end - l.first)
	// The row of the lane, since the one before it goes on with what it has.
	missing := rows.At(s.sums, i, types)
	copy(missing, set.missing)
	if i == len(s.lanes)-1 {
		if left > tasks {
			return false // there are not so many
		}
		for t, v := range size {
			missing[t] -= v * left
		}
		return s.isCheaper(setSoFar{missing, set.work}, s.from.times[l.first:l.first+int32(left)])
	}
	for n := int64(0); ; n++ {
		if s.goesOn(i+1, left-n, setSoFar{missing, set.work}) {
			return true
		}
		if n == min(left, tasks) {
			return false
		}
		set.work = set.work.AddNanos(s.d.since(s.from.times[l.first+int32(n)]), 1)
		for t, v := range size {
			missing[t] -= v
		}
	}
}

// goesOn goes on with a lane, or ends if no more are to go.
func (s *setBounder) goesOn(i int, left int64, set setSoFar) bool {
	if left == 0 {
		return s.isCheaper(set, nil)
	}
	return s.mayBeat(i, left, set)
}

// isCheaper reports whether victims are enough, and cheaper than the best plan, or as
// cheap on a node that comes first. The last of them began at some instants, and their
// work is summed up only if it counts.
func (s *setBounder) isCheaper(set setSoFar, last []int64) bool {
	best := &s.d.best
	asMuch := false
	for t, missing := range set.missing {
		// The largest share decides, so a larger one of any type is enough.
		if missing > 0 || -missing >= best.more[t] {
			return false
		}
		asMuch = asMuch || -missing >= best.asMuch[t]
	}
	// Excess comes before work.
	if !asMuch {
		return true
	}
	for _, start := range last {
		set.work = set.work.AddNanos(s.d.since(start), 1)
	}
	c := set.work.Compare(best.total.Work)
	return c < 0 || c == 0 && s.d.c.comesBefore(s.node, best.node)
}
