package victims

import (
	"cmp"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// Rivals are the lanes of a node that plans may use which are as cheap as the
// best one in the levels that were compared.
type rivals struct {
	d      sequenceBounder
	digest *nodeDigest
	lacks  resources.Vector
	lanes  []int32
	count  int64 // victims, at least
}

// rivalsOf returns all lanes of a node that lacks something.
func (d sequenceBounder) rivalsOf(n NodeID, lacks resources.Vector) rivals {
	s := rivals{d: d, digest: &d.c.digest.nodes[n], lacks: lacks, lanes: d.scratch.order[:0], count: 1}
	for i := range s.digest.lanes {
		s.lanes = append(s.lanes, int32(i))
	}
	d.scratch.order = s.lanes
	return s
}

// beatenByLanes is beatenByGauge by the lanes of a node, which is known to lack
// something.
func (d sequenceBounder) beatenByLanes(n NodeID, lacks resources.Vector) bool {
	s := d.rivalsOf(n, lacks)
	d.trial.pay(int64(len(s.lanes) * len(d.types)))
	for _, what := range d.problem.order.Sequence {
		if what >= int8(cover.NumLevels) && d.worker.OnlyLesser {
			return true
		}
		if c := s.compare(Level(what), n); c != 0 {
			return c > 0
		}
	}
	return d.worker.OnlyLesser || !d.c.comesBefore(n, d.best.node)
}

// compare returns how the least of a level that the lanes allow compares with the
// best plan, and if it is as much, keeps the lanes only that allow it.
func (s *rivals) compare(level Level, n NodeID) int {
	best := &s.d.best.total
	switch level {
	case LevelOptedOut, LevelOriginators, LevelOwn:
		return s.compareFlag(level)
	case LevelRank, LevelPriority:
		return s.compareHighest(level)
	case LevelVictims:
		s.count = s.fewest()
		return cmp.Compare(s.count, best.Levels[level])
	case LevelSumRanks, LevelSumPriorities:
		return cmp.Compare(s.count*s.lowest(level), best.Levels[level])
	case LevelExcess:
		s.count = max(s.count, s.fewest())
		if s.d.bounds.freesAsMuch(n, s.count, 0) {
			return 0
		}
		return -1
	case LevelWork:
		s.count = max(s.count, s.fewest())
		work := s.leastWork()
		if c := work.Compare(best.Work); c > 0 || !s.losesMore() {
			return c
		}
		return +1
	case LevelOwnLow:
		return 0 // the high half has spoken for both
	}
	return cmp.Compare(0, best.Levels[level])
}

// compareFlag compares a level that is 0 for most tasks: if the best plan has none
// of it, others must not either.
func (s *rivals) compareFlag(level Level) int {
	// How much of it a plan needs is not worked out: one with less may be there.
	best := &s.d.best.total.Levels
	if best[level] > 0 || level == LevelOwn && best[LevelOwnLow] > 0 {
		return -1
	}
	if !s.keep(func(i int32) bool { return !s.has(level, i) }) {
		return +1
	}
	return 0
}

// has reports whether the tasks of a lane count at a level that is 0 for most.
func (s *rivals) has(level Level, i int32) bool {
	l := &s.digest.lanes[i]
	switch level {
	case LevelOptedOut:
		return l.flags.has(flagOptedOut)
	case LevelOriginators:
		return l.flags.has(flagOriginator)
	}
	return s.d.c.costOf(s.digest.ids[l.first]) > 0
}

// compareHighest compares the highest rank, or priority.
func (s *rivals) compareHighest(level Level) int {
	most := s.d.best.total.Levels[level]
	// If tasks below the highest of the best plan are enough, a plan may have less.
	below := s.d.scratch.sum
	clear(below)
	for _, i := range s.lanes {
		if s.of(level, i) < most {
			s.addTo(below, i)
		}
	}
	if resources.Fits(s.lacks, below) {
		return -1
	}
	if !s.keep(func(i int32) bool { return s.of(level, i) <= most }) {
		return +1
	}
	return 0
}

// of returns the least rank, or the priority, of the tasks of a lane.
func (s *rivals) of(level Level, i int32) int64 {
	priority := s.digest.lanes[i].priority
	if level == LevelPriority || level == LevelSumPriorities {
		return int64(priority)
	}
	return s.d.eligible.leastRank(priority)
}

// lowest returns the least rank, or priority, of all lanes.
func (s *rivals) lowest(level Level) int64 {
	least := s.of(level, s.lanes[0])
	for _, i := range s.lanes[1:] {
		least = min(least, s.of(level, i))
	}
	return least
}

// keep keeps some lanes, and reports whether they give what the node lacks.
func (s *rivals) keep(is func(i int32) bool) bool {
	// In the same memory: what is kept never overtakes what is read.
	sum, kept := s.d.scratch.sum, s.lanes[:0]
	clear(sum)
	for _, i := range s.lanes {
		if is(i) {
			kept = append(kept, i)
			s.addTo(sum, i)
		}
	}
	s.lanes = kept
	return resources.Fits(s.lacks, sum)
}

// addTo adds all tasks of a lane to a sum.
func (s *rivals) addTo(sum resources.Vector, i int32) {
	l := &s.digest.lanes[i]
	for t, v := range s.digest.size(int(i), len(sum)) {
		sum[t] += v * l.tasks()
	}
}

// fewest returns a number of tasks below which no set of those in the lanes gives
// what the node lacks.
func (s *rivals) fewest() (count int64) {
	for t, short := range s.lacks {
		if short <= 0 {
			continue
		}
		var largest int64
		for _, i := range s.lanes {
			largest = max(largest, s.digest.size(int(i), len(s.lacks))[t])
		}
		count = max(count, (short-1)/largest+1)
	}
	return max(count, s.fewestOfAll())
}

// fewestOfAll is fewest over all types together, no more than one above what the
// best plan has; see [bounder.fewestOfAll] and [bounder.weigh].
func (s *rivals) fewestOfAll() (count int64) {
	mix, top := &s.d.problem.mix, s.d.scratch.shares[:0]
	most := min(mixMost, s.d.best.total.Levels[LevelVictims])
	rest, reach := mix.aim(s.lacks), most*mix.cut
	if rest <= 0 {
		return 1
	}
	shares := s.d.scratch.weights[:0]
	for _, i := range s.lanes {
		share := mix.of(s.digest.size(int(i), len(s.lacks)))
		shares = append(shares, share)
		reach += max(share-mix.cut, 0) * min(s.digest.lanes[i].tasks(), most)
	}
	s.d.scratch.weights = shares
	// Without sorting: as many tasks as the best plan has are not enough.
	if reach < rest {
		return most + 1
	}
	for k, i := range s.lanes {
		top = insertFalling(top, int(most), laneShare{shares[k], s.digest.lanes[i].tasks(), i})
	}
	s.d.scratch.shares = top
	count, _ = mix.fewest(top, rest, most)
	return count
}

// leastWork returns the work that so many tasks of the lanes lose at least: the
// newest.
func (s *rivals) leastWork() (work cover.Work) {
	newest := s.d.scratch.newest[0][:0]
	for _, i := range s.lanes {
		l := &s.digest.lanes[i]
		newest = insertNewest(newest, int(s.count), s.digest.times[l.first:min(l.end, l.first+int32(s.count))])
	}
	s.d.scratch.newest[0] = newest
	for _, start := range newest {
		work = work.AddNanos(s.d.bounds.since(start), 1)
	}
	return work
}
