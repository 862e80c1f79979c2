package victims

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// If plain tasks are not enough on most nodes, sums tell of one originator that must
// go, and of no priority: any other task might be of the least. A look at the tasks
// tells more. How many originators it takes is what plain tasks leave open; with no
// more of those, the lowest priorities that are enough tell the highest of a plan, and
// the largest tasks up to that one how many go.

// A markedBounder bounds nodes that need originators, but nobody who opted out.
type markedBounder struct{ bounder }

// mostMarked is up to how many lanes are looked at: it takes as many looks at all of
// them as they have priorities. It is not measured.
const mostMarked = 64

// A markedLane is what each task of a lane has of what is lacking.
type markedLane struct {
	share, tasks int64
	priority     int32
	originator   bool
}

// raise raises a bound by how many originators, which priority and how many victims
// it takes at least. All types count together; see mixture.
func (d markedBounder) raise(b *nodeBound, lanes []lane, short resources.Vector) {
	need := d.problem.mix.aim(short)
	marked := d.largestFirst(laneSet{b.node, lanes})
	if len(marked) > mostMarked {
		return
	}
	d.trial.pay(int64(len(marked) * len(d.types)))
	// A plan with more originators is dearer, whatever else it has.
	for ; ; b.levels[LevelOriginators]++ {
		if count := fewestMarked(marked, need, b.levels[LevelOriginators], math.MaxInt32); count < noLimit {
			break
		}
		if b.levels[LevelOriginators] >= mostMarked {
			return // so many are enough to know
		}
	}
	// Priorities are tried from the least one of the node on. All together are enough,
	// so this ends.
	top := b.levels[LevelPriority]
	for fewestMarked(marked, need, b.levels[LevelOriginators], top) == noLimit {
		next := int64(math.MaxInt32)
		for i := range marked {
			if p := int64(marked[i].priority); p > top {
				next = min(next, p)
			}
		}
		top = next
	}
	// If ranks are uneven, a higher priority is no higher rank.
	if d.eligible.evenRanks {
		b.levels[LevelRank] += top - b.levels[LevelPriority]
	}
	b.levels[LevelPriority] = top
	// Whoever has a higher priority makes a plan dearer before its victims count.
	count := fewestMarked(marked, need, b.levels[LevelOriginators], top)
	b.levels[LevelVictims] = max(b.levels[LevelVictims], count)
}

// raiseOptedOut raises a bound by how many of those who opted out must go even if all
// others do: by each type that those leave open, and by all types together.
func (d markedBounder) raiseOptedOut(b *nodeBound, short resources.Vector) {
	digests, row := d.digestAt(b.node)
	digest, optedIn := &digests.nodes[row], d.c.row(digests.optedIn, row)
	from := slices.IndexFunc(digest.lanes, func(l lane) bool { return l.flags.has(flagOptedOut) })
	d.trial.pay(int64((len(digest.lanes) - from) * len(d.types)))
	open, count := d.scratch.sum, b.levels[LevelOptedOut]
	for t := range open {
		if open[t] = max(short[t]-optedIn[t], 0); open[t] == 0 {
			continue
		}
		largest := int64(0)
		for i := from; i < len(digest.lanes); i++ {
			largest = max(largest, digest.size(i, d.c.types)[t])
		}
		count = max(count, (open[t]-1)/largest+1) // all together give what is lacking
	}
	b.levels[LevelOptedOut] = max(count, d.fewestOptedOut(digest, from, open))
}

// fewestOptedOut returns how many tasks of the lanes from one on it takes at least to
// give what is open of all types together.
func (d markedBounder) fewestOptedOut(digest *nodeDigest, from int, open resources.Vector) (count int64) {
	most := int64(mixMost)
	if d.best.found {
		most = min(most, max(d.best.total.Levels[LevelOptedOut], 1)) // one more is enough to know
	}
	mix, top := &d.problem.mix, d.scratch.shares[:0]
	rest, cut := mix.aim(open), mix.cut
	if rest <= 0 {
		return 0
	}
	for i := from; i < len(digest.lanes); i++ {
		top = insertFalling(top, int(most), laneShare{mix.of(digest.size(i, d.c.types)), digest.lanes[i].tasks(), int32(i)})
	}
	d.scratch.shares = top
	count, _ = mix.fewest(top, rest, most)
	mix.cut = cut // it is for all lanes
	return count
}

// largestFirst lists the lanes of those who did not opt out, those first whose tasks
// have most of what is lacking on the node that the mixture is aimed at.
func (d markedBounder) largestFirst(in laneSet) []markedLane {
	marked := d.scratch.marked[:0]
	for i := range in.lanes {
		l := &in.lanes[i]
		if l.flags.has(flagOptedOut) || len(marked) > mostMarked {
			break // lanes are in that order
		}
		share := d.problem.mix.of(d.digestOf(in.node).size(i, d.c.types))
		marked = append(marked, markedLane{share, l.tasks(), l.priority, l.flags.has(flagOriginator)})
	}
	d.scratch.marked = marked
	slices.SortFunc(marked, func(x, y markedLane) int { return cmp.Compare(y.share, x.share) })
	return marked
}

// fewestMarked returns how many tasks up to a priority, with no more than some
// originators among them, have what is needed, or noLimit if all of them do not.
func fewestMarked(marked []markedLane, need, originators, top int64) (count int64) {
	for i := range marked {
		if need <= 0 {
			break
		}
		m := &marked[i]
		if int64(m.priority) > top || m.share == 0 {
			continue
		}
		// The largest first, which leaves the fewest for the others. To pass over an
		// originator never helps while one more may go.
		take := min((need-1)/m.share+1, m.tasks)
		if m.originator {
			take = min(take, originators)
			originators -= take
		}
		need -= take * m.share
		count += take
	}
	// What is left open takes those who opted out, or a higher priority.
	if need > 0 {
		return noLimit
	}
	return count
}
