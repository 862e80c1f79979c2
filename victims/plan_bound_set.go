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
// laws say about sums, in a fraction of the time. See [setTaker.takes].
type setBounder struct {
	d     bounder
	node  NodeID
	from  *nodeDigest
	lanes []lane
	sums  []int64 // what is missing after so many lanes, per type
	most  []int64 // the largest size of any lane from one on, per type
	than  *yardstick
}

// mostSets is how many sets are looked at: with more of them a search takes about as
// long. It was measured once on the plain load of bench.
const mostSets = 200

// setWork is what it takes to look at a set, in elementary work for each type. It was
// measured once, likewise.
const setWork = 4

// A yardstick is what sets of the same levels are compared with.
type yardstick struct {
	asMuch []int64 // the least amounts that are no smaller a share than the excess; see noteShare
	more   []int64 // the least amounts that are a larger one
	work   cover.Work
}

// note makes the yardstick one of an excess and work.
func (y *yardstick) note(share resources.Share, work cover.Work, capacities []int64) {
	y.asMuch, y.work = noteShare(y.asMuch, share, capacities), work
	y.more = y.more[:0]
	for t, capacity := range capacities {
		more := y.asMuch[t]
		if more < noLimit && (resources.Share{Amount: more, Of: max(capacity, 1)}).Compare(share) == 0 {
			more++
		}
		y.more = append(y.more, more)
	}
}

// noteNone makes the yardstick one that any set is cheaper than.
func (y *yardstick) noteNone(types int) {
	y.asMuch, y.more = y.asMuch[:0], y.more[:0]
	for range types {
		y.asMuch, y.more = append(y.asMuch, noLimit), append(y.more, noLimit)
	}
}

// A foundSet is the cheapest set of a node that a setBounder has found.
type foundSet struct {
	yardstick
	node  NodeID
	found bool
	tied  bool    // another one has the same excess and work, and keys decide
	takes []int32 // of each lane
	draft []int32 // what the set takes that is looked at
}

// beaten reports whether it is certain that no victims in some lanes of the node of a
// bound are cheaper than the best plan. It says so of bounds with the levels of the
// best plan only. If there are cheaper ones, it leaves the cheapest.
func (s *setBounder) beaten(b *nodeBound, lanes []lane, short resources.Vector) bool {
	d, count := s.d, b.levels[LevelVictims]
	// Otherwise victims may be elsewhere, or fewer.
	if d.needs.open() || d.p.Minimum != nil || d.best.found && b.levels != d.best.total.Levels || setsOf(count, int64(len(lanes))) > mostSets {
		return false
	}
	s.node, s.from, s.lanes = b.node, d.digestOf(b.node), lanes
	// Both have a row for each lane.
	block := rows.Zeros(d.scratch.sums, 2*len(lanes)*d.c.types)
	d.scratch.sums = block
	s.sums, s.most = block[:len(block)/2], block[len(block)/2:]
	s.fillMost()
	set := &d.problem.set
	if s.than = &d.best.yardstick; !d.best.found {
		s.than = &set.yardstick
		s.than.noteNone(d.c.types)
	}
	set.node, set.found, set.tied = b.node, false, false
	set.draft = rows.Zeros(set.draft, len(lanes))
	d.trial.pay(setWork * setsOf(count, int64(len(lanes))) * int64(len(d.types)))
	s.goThrough(0, count, setSoFar{missing: short})
	return !set.found
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

// fillMost works out how large the tasks of the lanes are from each of them on.
func (s *setBounder) fillMost() {
	types := s.d.c.types
	for i := len(s.lanes) - 1; i >= 0; i-- {
		most := rows.At(s.most, i, types)
		copy(most, s.from.size(i, types))
		if i+1 < len(s.lanes) {
			resources.Max(most, most, rows.At(s.most, i+1, types))
		}
	}
}

// goThrough looks at all sets with so many more victims, in the lanes from i on.
func (s *setBounder) goThrough(i int, left int64, set setSoFar) {
	types := s.d.c.types
	// Most ways to begin leave too much to so few.
	for t, largest := range rows.At(s.most, i, types) {
		if !reaches(left, largest, set.missing[t]) {
			return
		}
	}
	l, size := &s.lanes[i], s.from.size(i, types)
	tasks, takes := int64(l.end-l.first), &s.d.problem.set.draft[i]
	// The row of the lane, since the one before it goes on with what it has.
	missing := rows.At(s.sums, i, types)
	copy(missing, set.missing)
	if i == len(s.lanes)-1 {
		if left > tasks {
			return // there are not so many
		}
		for t, v := range size {
			missing[t] -= v * left
		}
		*takes = int32(left)
		s.consider(setSoFar{missing, set.work}, s.from.times[l.first:l.first+int32(left)])
		return
	}
	for n := int64(0); ; n++ {
		*takes = int32(n)
		s.goOn(i+1, left-n, setSoFar{missing, set.work})
		if n == min(left, tasks) {
			return
		}
		set.work = set.work.AddNanos(s.d.since(s.from.times[l.first+int32(n)]), 1)
		for t, v := range size {
			missing[t] -= v
		}
	}
}

// goOn goes on with a lane, or ends if no more are to go.
func (s *setBounder) goOn(i int, left int64, set setSoFar) {
	if left > 0 {
		s.goThrough(i, left, set)
		return
	}
	clear(s.d.problem.set.draft[i:])
	s.consider(set, nil)
}

// consider takes note of a set if it is cheaper than those before it. The last victims
// began at some instants.
func (s *setBounder) consider(set setSoFar, last []int64) {
	found := &s.d.problem.set
	c := s.than.compare(s.d, set, last)
	switch {
	case c > 0:
		// It is not enough, or dearer.
	case found.found && c == 0:
		found.tied = true
	case c < 0 || s.d.c.comesBefore(s.node, s.d.best.node):
		capacities, work := s.d.c.total, set.work
		for _, start := range last {
			work = work.AddNanos(s.d.since(start), 1)
		}
		var share resources.Share
		for t, missing := range set.missing {
			if x := (resources.Share{Amount: -missing, Of: capacities[t]}); t == 0 || x.Compare(share) > 0 {
				share = x
			}
		}
		// From now on a set has to be cheaper than this one.
		found.note(share, work, capacities)
		found.found, found.tied, s.than = true, false, &found.yardstick
		found.takes = append(found.takes[:0], found.draft...)
	}
}

// compare compares victims with a yardstick: it returns a positive number too if they
// are not enough. The last of them began at some instants, and their work is summed up
// only if it counts.
func (y *yardstick) compare(d bounder, set setSoFar, last []int64) int {
	asMuch := false
	for t, missing := range set.missing {
		// The largest share decides, so a larger one of any type is enough.
		if missing > 0 || -missing >= y.more[t] {
			return 1
		}
		asMuch = asMuch || -missing >= y.asMuch[t]
	}
	// Excess comes before work.
	if !asMuch {
		return -1
	}
	for _, start := range last {
		set.work = set.work.AddNanos(d.since(start), 1)
	}
	return set.work.Compare(y.work)
}
