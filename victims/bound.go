package victims

import (
	"math"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A nodeBound is a cost that no plan for a node goes below, as far as the
// digest of the node tells: levels, and work where the levels are the same.
type nodeBound struct {
	levels    cover.Levels
	work      cover.Work
	node      NodeID
	elsewhere int64 // how many of the victims are not on the node; see headroomBeats
}

// stride is how far apart the nodes are that a search looks at first.
const stride = 64

// searchBounded looks at a few nodes from everywhere first, which gives a good
// plan, and then at those of the others that may have a cheaper one. The answer
// is that of looking at all, in whatever order: node order is part of the cost.
// (Step 5.)
func (d *decision) searchBounded() {
	d.searchRoomy()
	for i := 0; i < len(d.nodes) && !d.hopeless; i += stride {
		d.look(d.nodes[i])
	}
	for i := d.next(0); i < len(d.nodes) && !d.hopeless; i = d.next(i + 1) {
		d.look(d.nodes[i])
	}
}

// searchRoomy looks at the first node that has room for the ask as it is. If
// headroom is needed, all such nodes have the same plan.
func (d *decision) searchRoomy() {
	if !d.needs.open() {
		return
	}
	for _, n := range d.nodes {
		if d.usable(n) && !d.refused[n] && d.nodeNeed(d.nodeShort, n) == 0 {
			d.searchNode(n)
			return
		}
	}
}

// next returns the index in node order of the next node, from i on, that must
// be looked at and was not in the first round: all others are beaten by the
// best plan, or have none, by what their gauges tell. It says no more than
// [decision.look] does, only sooner, and is the inner loop of every decision.
func (d *decision) next(i int) int {
	c, ceiling := d.c, d.ceiling()
	if d.relaxed.Rule == RelaxPriority {
		ceiling = math.MaxInt64
	}
	for ; i < len(d.nodes); i++ {
		n := d.nodes[i]
		if i%stride == 0 {
			continue
		}
		if !c.digest.gauges[n].fresh {
			c.refresh(n)
		}
		switch rank := d.leastRank(c.digest.gauges[n].minPriority); {
		case rank > ceiling:
			continue // law 6, for all of its tasks
		case d.best.found:
			if d.quicklyBeaten(n, rank) {
				continue
			}
		case d.tooLarge(c.row(c.digest.least, n)):
			continue // law 2, likewise
		}
		return i
	}
	return i
}

// quicklyBeaten is beaten for a node of which the least rank is known, and nothing
// else: of opted-out tasks and originators it takes none to be needed.
func (d *decision) quicklyBeaten(n NodeID, rank int64) bool {
	c, best := d.c, &d.bestTotal
	priority := int64(c.digest.gauges[n].minPriority)
	switch {
	case best.Levels[LevelOptedOut] > 0 || best.Levels[LevelOriginators] > 0:
		return false
	case rank != best.Levels[LevelRank]:
		return rank > best.Levels[LevelRank]
	case priority != best.Levels[LevelPriority]:
		return priority > best.Levels[LevelPriority]
	}
	count, fewer := best.Levels[LevelVictims], true
	first := int(n) * c.types
	for _, t := range d.types {
		short, largest := d.size[t]-c.coming[first+t], c.digest.largest[first+t]
		if !reaches(count, largest, short) {
			return true // more victims
		}
		fewer = fewer && reaches(count-1, largest, short)
	}
	switch sum := count * rank; {
	case fewer:
		return false
	case sum != best.Levels[LevelSumRanks]:
		return sum > best.Levels[LevelSumRanks]
	}
	// As the last of the tasks was scheduled no later than any, all lose as much.
	last := c.digest.latest[int(n)*numLatest]
	work := cover.Work{}.AddNanos(d.since(last), uint64(count))
	if work.Compare(best.Work) <= 0 {
		work = d.leastLost(n, count)
		if c := work.Compare(best.Work); c < 0 || c == 0 && d.c.place(n) < d.best.cost.Node {
			return false
		}
	}
	return d.freesAsMuch(n, count, 0)
}

// reaches reports whether count times amount, which may be beyond int64, is at
// least short. Count and amount are not negative.
func reaches(count, amount, short int64) bool {
	hi, lo := bits.Mul64(uint64(count), uint64(amount))
	return hi > 0 || short <= 0 || lo >= uint64(short)
}

// look searches a node that lacks room, unless its bounds show that it has no
// plan or none that beats the best.
func (d *decision) look(n NodeID) {
	b := nodeBound{node: n}
	if !d.usable(n) || d.refused[n] || d.nodeNeed(d.nodeShort, n) == 0 || !d.boundNode(&b) {
		return
	}
	if !d.best.found || !d.beaten(&b) && d.refine(&b) && !d.headroomBeats(&b) {
		d.searchNode(n)
	}
}

// boundNode bounds a node that lacks d.nodeShort. It reports false where all
// its tasks together do not give that, or priorities or guarantees let none of
// them go.
func (d *decision) boundNode(b *nodeBound) bool {
	c, n := d.c, b.node
	c.refresh(n)
	gauge := &c.digest.gauges[n]
	all, optedIn, plain := c.row(c.digest.all, n), c.row(c.digest.optedIn, n), c.row(c.digest.plain, n)
	largest := c.row(c.digest.largest, n)
	rank := d.leastRank(gauge.minPriority)
	if rank > d.ceiling() && d.relaxed.Rule != RelaxPriority {
		return false // law 6, for all of them
	}
	count := int64(1)
	if d.tooLarge(c.row(c.digest.least, n)) {
		return false
	}
	for t, short := range d.nodeShort {
		switch {
		case short <= 0:
			continue
		case short > all[t]:
			return false
		case short > optedIn[t]:
			b.levels[LevelOptedOut] = 1
		case short > plain[t]:
			b.levels[LevelOriginators] = 1
		}
		if !reaches(count, largest[t], short) {
			count = (short-1)/largest[t] + 1
		}
	}
	if b.levels[LevelOptedOut] > 0 {
		b.levels[LevelOriginators] = 0 // an opted-out originator may do
	}
	b.levels[LevelRank] = rank
	b.levels[LevelPriority] = int64(gauge.minPriority)
	b.levels[LevelVictims] = count
	b.levels[LevelSumRanks] = count * rank
	b.work = d.leastLost(n, count)
	return true
}

// tooLarge reports whether guarantees let no task of a size, or of a larger
// one, go: no leaf in reach has so much to give.
func (d *decision) tooLarge(size resources.Vector) bool { return !resources.Fits(size, d.mostRoom) }

// leastRank returns the least rank of a task of a node whose lowest priority is
// given.
func (d *decision) leastRank(minPriority int32) int64 {
	if d.leastLift == noLimit {
		return d.fencedRank
	}
	return min(d.fencedRank, d.leastLift+int64(minPriority))
}

// leastLost returns the work that so many victims on a node lose at least.
func (d *decision) leastLost(n NodeID, count int64) (work cover.Work) {
	latest := d.c.digest.latest[int(n)*numLatest:][:numLatest]
	for _, start := range latest[:min(count, numLatest)] {
		work = work.AddNanos(d.since(start), 1)
	}
	if count > numLatest {
		work = work.AddNanos(d.since(latest[numLatest-1]), uint64(count-numLatest))
	}
	return work
}

// beaten reports whether it is certain that no plan for the node of b costs less
// than the best.
func (d *decision) beaten(b *nodeBound) bool {
	if c := slices.Compare(b.levels[:], d.bestTotal.Levels[:]); c != 0 {
		return c > 0
	}
	c := b.work.Compare(d.bestTotal.Work)
	if c < 0 || c == 0 && d.c.place(b.node) < d.best.cost.Node {
		return false
	}
	return d.freesAsMuch(b.node, b.levels[LevelVictims]-b.elsewhere, b.elsewhere)
}

// freesAsMuch reports whether so many victims on a node, and those elsewhere,
// free at least as much beyond what is wanted as the best plan does. One type
// that does is enough; the first to look at is the one that decided for the
// best.
func (d *decision) freesAsMuch(n NodeID, count, elsewhere int64) bool {
	if d.bestTotal.Excess.Amount == 0 || d.freesAsMuchOf(n, count, elsewhere, d.bestType) {
		return true
	}
	for t := range d.c.types {
		if d.freesAsMuchOf(n, count, elsewhere, t) {
			return true
		}
	}
	return false
}

func (d *decision) freesAsMuchOf(n NodeID, count, elsewhere int64, t int) bool {
	beyond := count * d.c.digest.least[int(n)*d.c.types+t]
	if elsewhere > 0 {
		beyond += elsewhere * d.poolSums.least[t]
	}
	if d.wants.Has(t) {
		beyond -= max(d.size[t]-d.free(n, t, coming), d.needs.most[t], 0)
	}
	return d.asMuch[t] < noLimit && beyond >= d.asMuch[t]
}

// noteExcess notes the excess of the best plan, and a type that decided for it.
func (d *decision) noteExcess() {
	share := d.bestTotal.Excess
	d.noteShare(share)
	for t, capacity := range d.c.total {
		if max(capacity, 1) == max(share.Of, 1) {
			d.bestType = t
		}
	}
}

// noteShare notes, per type, what least amount is no smaller a share of the
// cluster.
func (d *decision) noteShare(share resources.Share) {
	d.asMuch = d.asMuch[:0]
	for _, capacity := range d.c.total {
		d.asMuch = append(d.asMuch, asMuchAs(share, max(capacity, 1)))
	}
}

// asMuchAs returns the least amount of a capacity that is no smaller a share
// than the given one, or noLimit where that is more than there can be.
func asMuchAs(share resources.Share, capacity int64) int64 {
	amount, of := uint64(max(share.Amount, 0)), uint64(max(share.Of, 1))
	if wide.Mul(amount, uint64(capacity)).Hi >= of {
		return noLimit // the quotient has more than 64 bits
	}
	quo, rem := wide.MulDiv(amount, uint64(capacity), of)
	if quo >= noLimit {
		return noLimit
	}
	if rem > 0 {
		quo++
	}
	return int64(quo)
}
