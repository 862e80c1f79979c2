package victims

import (
	"cmp"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A sequenceBounder searches the nodes of a decision whose planner has Levels, and
// passes over those that cannot have the best plan.
//
// A bound goes along the levels in their order and compares each with that of the
// best plan so far. A node that must have more of a level is beaten. If it might
// have less, it is searched. If it must have as much, the next level decides, and
// of the tasks only those count from then on that plans of no higher level can
// have: with the highest rank equal, those of no higher rank. So each level makes
// the next bound sharper, whatever their order. Amounts are taken for
// granted as in [bounder]: laws and exemptions keep nobody.
type sequenceBounder struct{ *decision }

// search looks at a few nodes from everywhere first, and then at the others, as
// [bounder.searchBounded] does. If that takes long and levels decide first, it is
// shown meanwhile which of them are the least.
func (d sequenceBounder) search() {
	d.bounds.searchRoomy()
	var s scan
	if !d.trial.brief || d.problem.order.Sequence[0] >= cover.NumLevels {
		if !d.scan(&s) {
			d.trial.proven, d.trial.levels = false, false
		}
		return
	}
	part := d.trial.left / 16
	if d.bounds.within(part, func() bool { return d.scan(&s) }) && d.trial.proven {
		return
	}
	if d.best.found && !d.trial.stopped {
		d.trial.lesser = d.searchLesser()
	}
	if d.trial.lesser {
		d.trial.left = min(d.trial.left, part)
	}
	if !d.scan(&s) {
		d.trial.proven, d.trial.levels = false, false
	}
}

// scan goes on until the budget is spent, and reports whether it is done.
func (d sequenceBounder) scan(s *scan) bool {
	for ; ; s.i, s.second = 0, true {
		for ; s.i < len(d.nodes); s.i++ {
			n := d.nodes[s.i]
			if (s.i%stride == 0) == s.second || d.pool.hopeless || d.best.found && d.beatenByGauge(n) {
				continue
			}
			if d.bounds.exhausted() {
				return false
			}
			d.look(n)
		}
		if s.second {
			return true
		}
	}
}

// searchLesser looks for plans that are less than the best in the levels before
// excess and work, and reports whether it has shown that there are no others.
func (d sequenceBounder) searchLesser() (shown bool) {
	proven, levels := d.trial.proven, d.trial.levels
	d.worker.OnlyLesser, shown = true, true
	for _, n := range d.nodes {
		if d.beatenByGauge(n) {
			continue
		}
		d.trial.proven = true
		d.look(n)
		if shown = d.trial.proven && !d.bounds.exhausted(); !shown {
			break
		}
	}
	d.worker.OnlyLesser = false
	d.trial.proven, d.trial.levels = proven, levels
	return shown
}

// look searches a node that lacks room, unless it has no plan or none that beats
// the best.
func (d sequenceBounder) look(n NodeID) {
	short := d.scratch.short
	if !d.usable(n) || d.nodeNeed(short, n) == 0 || !d.conceivable(n, short) {
		return
	}
	if d.best.found && d.beatenByLanes(n, short) {
		return
	}
	if d.hearing.admits(n) {
		d.searchNode(n)
	}
}

// conceivable reports whether all tasks of a node together give what it lacks, and
// priorities and guarantees let some task go.
func (d sequenceBounder) conceivable(n NodeID, lacks resources.Vector) bool {
	c := d.c
	return d.eligible.leastRank(c.digest.gauges[n].minPriority) <= d.eligible.ceiling && // law 6
		!d.bounds.tooLarge(c.row(c.digest.least, n)) && resources.Fits(lacks, c.row(c.digest.all, n))
}

// fewest returns a number of victims below which no plan for a node has any.
func (d sequenceBounder) fewest(n NodeID) (count int64) {
	c := d.c
	free, largest := c.row(c.coming, n), c.row(c.digest.largest, n)
	for _, t := range d.types {
		if short := d.size[t] - free[t]; short > 0 {
			if largest[t] == 0 {
				return noLimit // nobody there has any
			}
			count = max(count, (short-1)/largest[t]+1)
		}
	}
	return count
}

// beatenByGauge reports whether a few numbers of the digest tell that no plan for
// a node costs less than the best. It is the inner loop of a decision.
func (d sequenceBounder) beatenByGauge(n NodeID) bool {
	best := &d.best.total
	priority := d.c.digest.gauges[n].minPriority
	rank := d.eligible.leastRank(priority)
	count := int64(-1)
	for _, what := range d.problem.order.Sequence {
		if what >= int8(cover.NumLevels) && d.worker.OnlyLesser {
			return true
		}
		// The least that any plan for the node has of the level, and what the best
		// has of it.
		least, most := int64(0), int64(0)
		// Only what comes after ranks and flags depends on how many must go.
		if count < 0 && what >= int8(LevelVictims) {
			if count = d.fewest(n); count == noLimit {
				return true
			}
		}
		switch Level(what) {
		case LevelRank:
			least, most = rank, best.Levels[what]
		case LevelPriority:
			least, most = int64(priority), best.Levels[what]
		case LevelVictims:
			least, most = count, best.Levels[what]
		case LevelSumRanks:
			least, most = count*rank, best.Levels[what]
		case LevelSumPriorities:
			least, most = count*int64(priority), best.Levels[what]
		case LevelExcess:
			if !d.bounds.freesAsMuch(n, count, 0) {
				return false
			}
		case LevelWork:
			// As the last of the tasks was scheduled no later than any, all lose as much.
			work := cover.Work{}.AddNanos(d.bounds.since(d.c.digest.latest[int(n)*numLatest]), uint64(count))
			if work.Compare(best.Work) <= 0 {
				work = d.bounds.leastLost(n, count)
			}
			least = int64(work.Compare(best.Work))
		default:
			most = best.Levels[what] // and none may be enough
		}
		// What is equal leaves it to the next level.
		if least != most {
			return least > most
		}
	}
	return d.worker.OnlyLesser || !d.c.comesBefore(n, d.best.node)
}

// A laneSieve is the lanes of a node that plans may use which are as cheap as the
// best one in the levels that were compared.
type laneSieve struct {
	d      sequenceBounder
	digest *nodeDigest
	lacks  resources.Vector
	lanes  []int32
	count  int64 // victims, at least
}

// beatenByLanes is beatenByGauge by the lanes of a node, which is known to lack
// something.
func (d sequenceBounder) beatenByLanes(n NodeID, lacks resources.Vector) bool {
	s := laneSieve{d: d, digest: &d.c.digest.nodes[n], lacks: lacks, lanes: d.scratch.order[:0], count: 1}
	for i := range s.digest.lanes {
		s.lanes = append(s.lanes, int32(i))
	}
	d.scratch.order = s.lanes
	d.trial.left -= int64(len(s.lanes) * len(d.types))
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
func (s *laneSieve) compare(level Level, n NodeID) int {
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
		return work.Compare(best.Work)
	case LevelOwnLow:
		return 0 // the high half has spoken for both
	}
	return cmp.Compare(0, best.Levels[level])
}

// compareFlag compares a level that is 0 for most tasks: if the best plan has none
// of it, others must not either.
func (s *laneSieve) compareFlag(level Level) int {
	// How much of it a plan needs is not worked out: one with less may be there.
	best := &s.d.best.total.Levels
	if best[level] > 0 || level == LevelOwn && best[LevelOwnLow] > 0 {
		return -1
	}
	if !s.sift(func(i int32) bool { return !s.has(level, i) }) {
		return +1
	}
	return 0
}

// has reports whether the tasks of a lane count at a level that is 0 for most.
func (s *laneSieve) has(level Level, i int32) bool {
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
func (s *laneSieve) compareHighest(level Level) int {
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
	if !s.sift(func(i int32) bool { return s.of(level, i) <= most }) {
		return +1
	}
	return 0
}

// of returns the least rank, or the priority, of the tasks of a lane.
func (s *laneSieve) of(level Level, i int32) int64 {
	priority := s.digest.lanes[i].priority
	if level == LevelPriority || level == LevelSumPriorities {
		return int64(priority)
	}
	return s.d.eligible.leastRank(priority)
}

// lowest returns the least rank, or priority, of all lanes.
func (s *laneSieve) lowest(level Level) int64 {
	least := s.of(level, s.lanes[0])
	for _, i := range s.lanes[1:] {
		least = min(least, s.of(level, i))
	}
	return least
}

// sift keeps some lanes, and reports whether they give what the node lacks.
func (s *laneSieve) sift(keep func(i int32) bool) bool {
	// In the same memory: what is kept never overtakes what is read.
	sum, kept := s.d.scratch.sum, s.lanes[:0]
	clear(sum)
	for _, i := range s.lanes {
		if keep(i) {
			kept = append(kept, i)
			s.addTo(sum, i)
		}
	}
	s.lanes = kept
	return resources.Fits(s.lacks, sum)
}

// addTo adds all tasks of a lane to a sum.
func (s *laneSieve) addTo(sum resources.Vector, i int32) {
	l := &s.digest.lanes[i]
	for t, v := range s.digest.size(int(i), len(sum)) {
		sum[t] += v * int64(l.end-l.first)
	}
}

// fewest returns a number of tasks below which no set of those in the lanes gives
// what the node lacks.
func (s *laneSieve) fewest() (count int64) {
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
	return count
}

// leastWork returns the work that so many tasks of the lanes lose at least: the
// newest.
func (s *laneSieve) leastWork() (work cover.Work) {
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
