package victims

import (
	"slices"

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
	d.problem.mix.reset(d.decision)
	d.problem.price = 0
	var s scan
	switch first := d.problem.order.Sequence[0]; {
	case first == cover.ByWork:
		if !d.searchByWork() {
			d.trial.proven, d.trial.levels = false, false
		}
		return
	case first == cover.ByExcess || !d.trial.brief:
		if !d.scan(&s) {
			d.trial.proven, d.trial.levels = false, false
		}
		return
	}
	// As in [bounder.searchBounded]: most searches end here, and of the others some
	// have a good plan by now.
	allowed := d.trial.meter.Left
	if d.bounds.within(allowed/firstShare, func() bool { return d.scan(&s) }) && d.trial.proven {
		return
	}
	if d.best.found && !d.trial.meter.Stopped {
		d.trial.lesser = d.searchLesser()
	}
	if d.trial.lesser {
		d.trial.meter.Left = min(d.trial.meter.Left, allowed/lastShare)
	}
	if !d.scan(&s) {
		d.trial.proven, d.trial.levels = false, false
	}
}

// scan goes on until the budget is spent, and reports whether it is done.
func (d sequenceBounder) scan(s *scan) bool {
	for ; ; s.i, s.second = 0, true {
		step := stride
		if s.second {
			// Those of the first round are passed over.
			step = 1
		}
		for ; s.i < len(d.nodes); s.i += step {
			n := d.nodes[s.i]
			if s.second && s.i%stride == 0 || d.pool.hopeless || d.best.found && d.beatenByGauge(n) {
				continue
			}
			if d.exhausted() {
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
		if shown = d.trial.proven && !d.exhausted(); !shown {
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
		if d.best.found && n != d.best.node && slices.Contains(d.problem.order.Sequence, int8(LevelWork)) {
			d.reprice(n)
		}
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
			least, most = d.eligible.leastRank(priority), best.Levels[what]
		case LevelPriority:
			least, most = int64(priority), best.Levels[what]
		case LevelVictims:
			least, most = count, best.Levels[what]
		case LevelSumRanks:
			least, most = count*d.eligible.leastRank(priority), best.Levels[what]
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
