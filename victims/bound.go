package victims

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// A nodeBound is a cost that no plan for a node goes below, as far as the
// digest of the node tells: levels, and work where the levels are the same.
type nodeBound struct {
	levels Levels
	work   uint64
	node   NodeID
	seq    uint64
}

func compareBounds(a, b *nodeBound) int {
	if c := slices.Compare(a.levels[:], b.levels[:]); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.work, b.work), cmp.Compare(a.seq, b.seq))
}

// searchBounded looks at the node of the lowest bound first, and after that at
// those whose bounds do not exceed the best plan so far. The answer is that of
// looking at all. (Step 5.)
func (d *decision) searchBounded() {
	if first := d.boundNodes(); first > 0 {
		d.bounds[0], d.bounds[first] = d.bounds[first], d.bounds[0]
	}
	for i := range d.bounds {
		b := &d.bounds[i]
		if d.hopeless {
			return
		}
		if !d.best.found || b.levels == lowestLevels || !d.beaten(b) && d.refine(b) {
			d.searchNode(b.node)
		}
	}
}

// lowestLevels are not above those of any plan.
var lowestLevels = Levels{levelRank: math.MinInt64, levelPriority: math.MinInt64}

// boundNodes bounds every node that may have a plan, in node order, and returns
// the index of the lowest bound.
func (d *decision) boundNodes() (lowest int) {
	d.bounds = d.bounds[:0]
	roomy := false
	for _, n := range d.c.order {
		if !d.usable(n) || d.refused[n] {
			continue
		}
		b := nodeBound{node: n, seq: d.c.nodes[n].seq}
		short := d.nodeNeed(d.nodeShort, n)
		switch {
		case short == 0:
			// All such nodes have the same plan, if headroom is needed at all:
			// the first of them is enough, and looked at before all others.
			if roomy || !d.needs.open() {
				continue
			}
			roomy = true
			b.levels = lowestLevels
		case !d.boundNode(&b):
			continue
		}
		d.bounds = append(d.bounds, b)
		if last := len(d.bounds) - 1; compareBounds(&b, &d.bounds[lowest]) < 0 {
			lowest = last
		}
	}
	return lowest
}

// boundNode bounds a node that lacks d.nodeShort. It reports false where all
// its tasks together do not give that, or priorities or guarantees let none of
// them go.
func (d *decision) boundNode(b *nodeBound) bool {
	c, n := d.c, b.node
	c.refresh(n)
	digest := &c.digest.nodes[n]
	all, optedIn, plain := c.row(c.digest.all, n), c.row(c.digest.optedIn, n), c.row(c.digest.plain, n)
	largest := c.row(c.digest.largest, n)
	rank := d.fencedRank
	if d.leastLift != noLimit {
		rank = min(rank, d.leastLift+int64(digest.minPriority))
	}
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
			b.levels[levelOptedOut] = 1
		case short > plain[t]:
			b.levels[levelOriginators] = 1
		}
		if short > count*largest[t] {
			count = (short-1)/largest[t] + 1
		}
	}
	if b.levels[levelOptedOut] > 0 {
		b.levels[levelOriginators] = 0 // an opted-out originator may do
	}
	b.levels[levelRank] = rank
	b.levels[levelPriority] = int64(digest.minPriority)
	b.levels[levelVictims] = count
	b.levels[levelSumRanks] = count * rank
	if digest.newest < d.ns {
		hi, lo := bits.Mul64(uint64(d.ns)-uint64(digest.newest), uint64(count))
		b.work = lo
		if hi > 0 {
			b.work = math.MaxUint64
		}
	}
	return true
}

// tooLarge reports whether guarantees let no task of a size, or of a larger
// one, go: no leaf in reach has so much to give.
func (d *decision) tooLarge(size resources.Vector) bool { return !resources.Fits(size, d.mostRoom) }

// beaten reports whether it is certain that no plan for the node of b costs less
// than the best.
func (d *decision) beaten(b *nodeBound) bool {
	if c := slices.Compare(b.levels[:], d.bestTotal.Levels[:]); c != 0 {
		return c > 0
	}
	c := (Work{wide.Of(b.work)}).Compare(d.bestTotal.Work)
	if c < 0 || c == 0 && int(b.seq) < d.best.cost.Node {
		return false
	}
	return d.freesAsMuch(b)
}

// freesAsMuch reports whether every plan for the node of b frees at least as
// much beyond what is wanted as the best one does. One type that does is
// enough; the first to look at is the one that decided for the best.
func (d *decision) freesAsMuch(b *nodeBound) bool {
	if d.bestTotal.Excess.Amount == 0 || d.freesAsMuchOf(b, d.bestType) {
		return true
	}
	for t := range d.c.types {
		if d.freesAsMuchOf(b, t) {
			return true
		}
	}
	return false
}

func (d *decision) freesAsMuchOf(b *nodeBound, t int) bool {
	least := d.c.digest.least[int(b.node)*d.c.types+t]
	beyond := b.levels[levelVictims] * least
	if d.wants.Has(t) {
		beyond -= max(d.size[t]-d.free(b.node, t, coming), d.needs.most[t], 0)
	}
	best := d.bestTotal.Excess
	return beyond > 0 && wide.CmpRatio(
		uint64(beyond), uint64(max(d.c.total[t], 1)), uint64(best.Amount), uint64(max(best.Of, 1))) >= 0
}

// noteBestType notes the type that decides the excess of the best plan.
func (d *decision) noteBestType() {
	most := d.bestTotal.Excess
	for t, capacity := range d.c.total {
		if max(capacity, 1) == max(most.Of, 1) {
			d.bestType = t
			return
		}
	}
}
