package victims

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/heap"
	"github.com/go-preempt/preempt/internal/wide"
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

// searchBounded looks at nodes in the order of their bounds until it has a
// plan, and after that only at those whose bounds do not exceed it. The answer
// is that of looking at all. (Step 5.)
func (d *decision) searchBounded() {
	d.boundNodes()
	rest := d.bounds
	heap.Init(rest, compareBounds)
	for len(rest) > 0 && !d.best.found && !d.hopeless {
		rest = heap.Pop(rest, compareBounds)
		d.searchNode(d.bounds[len(rest)].node)
	}
	if d.hopeless {
		return
	}
	rest = slices.DeleteFunc(rest, func(b nodeBound) bool { return d.beaten(&b) })
	slices.SortFunc(rest, func(a, b nodeBound) int { return compareBounds(&a, &b) })
	for i := range rest {
		if !d.beaten(&rest[i]) {
			d.searchNode(rest[i].node)
		}
	}
}

// lowestLevels are not above those of any plan.
var lowestLevels = Levels{levelRank: math.MinInt64, levelPriority: math.MinInt64}

// boundNodes bounds every node that may have a plan.
func (d *decision) boundNodes() {
	d.bounds = d.bounds[:0]
	base, fenced := d.lowestRank()
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
		case !d.boundNode(&b, base, fenced):
			continue
		}
		d.bounds = append(d.bounds, b)
	}
}

// lowestRank returns what is least added to a raw priority to give a rank, over
// the leaves in reach, and the lowest rank that a fence gives.
func (d *decision) lowestRank() (base, fenced int64) {
	base, fenced = noLimit, noLimit
	for i := range d.leaves {
		switch leaf := &d.leaves[i]; {
		case leaf.veto != 0:
		case leaf.rank.Fenced:
			fenced = min(fenced, leaf.rank.Offset)
		default:
			base = min(base, leaf.rank.Offset)
		}
	}
	return base, fenced
}

// boundNode bounds a node that lacks d.nodeShort. It reports false where all
// its tasks together do not give that.
func (d *decision) boundNode(b *nodeBound, base, fenced int64) bool {
	c, n := d.c, b.node
	c.tighten(n)
	digest := &c.digest.nodes[n]
	all, optedIn, plain := c.row(c.digest.all, n), c.row(c.digest.optedIn, n), c.row(c.digest.plain, n)
	largest := c.row(c.digest.largest, n)
	count := int64(1)
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
	rank := fenced
	if base != noLimit {
		rank = min(rank, base+int64(digest.minPriority))
	}
	b.levels[levelRank] = rank
	b.levels[levelPriority] = int64(digest.minPriority)
	b.levels[levelVictims] = count
	b.levels[levelSumRanks] = count * rank
	if digest.newest < d.ns {
		hi, lo := bits.Mul64(uint64(d.ns)-uint64(digest.newest), uint64(count))
		b.work = lo
		if hi > 0 {
			b.work = 1<<64 - 1
		}
	}
	return true
}

// boundLocal bounds a node by its candidates, which are gathered. It reports
// false where they do not give what d.nodeShort lacks, or where no plan for the
// node costs less than the best so far.
func (d *decision) boundLocal(n NodeID) bool {
	b := nodeBound{node: n, seq: d.c.nodes[n].seq}
	typ, ok := d.boundLevels(&b)
	if !ok || !d.best.found {
		return ok
	}
	d.boundWork(&b, typ)
	return !d.beaten(&b)
}

// boundLevels sets the levels of a bound from the candidates, and returns the
// type for which the most of them are needed.
func (d *decision) boundLevels(b *nodeBound) (most int, ok bool) {
	b.levels[levelRank], b.levels[levelPriority] = noLimit, noLimit
	for _, id := range d.local.ids {
		r := &d.c.tasks[id]
		b.levels[levelRank] = min(b.levels[levelRank], d.leaves[r.leaf].rank.Of(r.priority))
		b.levels[levelPriority] = min(b.levels[levelPriority], int64(r.priority))
	}
	for t, short := range d.nodeShort {
		if short <= 0 {
			continue
		}
		var all, optedIn, plain, largest int64
		for _, id := range d.local.ids {
			size, f := d.c.size(id)[t], d.c.tasks[id].flags
			all += size
			largest = max(largest, size)
			if !f.has(flagOptedOut) {
				optedIn += size
			}
			if !f.has(flagOptedOut | flagOriginator) {
				plain += size
			}
		}
		switch {
		case short > all:
			return 0, false
		case short > optedIn:
			b.levels[levelOptedOut] = 1
		case short > plain:
			b.levels[levelOriginators] = 1
		}
		if count := (short-1)/largest + 1; count > b.levels[levelVictims] {
			b.levels[levelVictims], most = count, t
		}
	}
	if b.levels[levelOptedOut] > 0 {
		b.levels[levelOriginators] = 0 // an opted-out originator may do
	}
	b.levels[levelSumRanks] = b.levels[levelVictims] * b.levels[levelRank]
	return most, true
}

// boundWork sets the work of a bound, given that exactly as many victims go as
// its levels say: few of those can be smaller than the largest in type t.
func (d *decision) boundWork(b *nodeBound, t int) {
	count := int(b.levels[levelVictims])
	var largest, second int64
	for _, id := range d.local.ids {
		switch size := d.c.size(id)[t]; {
		case size > largest:
			largest, second = size, largest
		case size < largest:
			second = max(second, size)
		}
	}
	smaller := int((int64(count)*largest - d.nodeShort[t]) / (largest - second))
	d.works[0], d.works[1] = d.works[0][:0], d.works[1][:0]
	for _, id := range d.local.ids {
		class := 0
		if d.c.size(id)[t] < largest {
			class = 1
		}
		d.works[class] = insertLeast(d.works[class], count, d.lost(&d.c.tasks[id]))
	}
	// The least work is that of the least of both, of the others no more than
	// may be smaller.
	big, small := d.works[0], d.works[1]
	small = small[:min(len(small), smaller)]
	for n := count; n > 0; n-- {
		var next uint64
		switch {
		case len(big) > 0 && (len(small) == 0 || big[0] <= small[0]):
			next, big = big[0], big[1:]
		case len(small) > 0:
			next, small = small[0], small[1:]
		}
		if b.work += next; b.work < next {
			b.work = math.MaxUint64
			return
		}
	}
}

// insertLeast adds v to least, which are the most least values of some, in
// rising order.
func insertLeast(least []uint64, most int, v uint64) []uint64 {
	if len(least) == most {
		if v >= least[most-1] {
			return least
		}
		least = least[:most-1]
	}
	i := len(least)
	least = append(least, v)
	for ; i > 0 && least[i-1] > v; i-- {
		least[i] = least[i-1]
	}
	least[i] = v
	return least
}

// beaten reports whether no plan for the node of b costs less than the best.
func (d *decision) beaten(b *nodeBound) bool {
	if c := slices.Compare(b.levels[:], d.bestTotal.Levels[:]); c != 0 {
		return c > 0
	}
	if c := (Work{wide.Of(b.work)}).Compare(d.bestTotal.Work); c < 0 || c == 0 && int(b.seq) < d.best.cost.Node {
		return d.exceeds(b, false)
	}
	return d.exceeds(b, true)
}

// exceeds reports whether every plan for the node of b frees more beyond what
// is wanted than the best one, or as much where equal says so.
func (d *decision) exceeds(b *nodeBound, equal bool) bool {
	best := d.bestTotal.Excess
	if best.Amount == 0 && equal {
		return true
	}
	least := d.c.row(d.c.digest.least, b.node)
	d.nodeNeed(d.nodeShort, b.node)
	d.want()
	for t, v := range least {
		beyond := b.levels[levelVictims]*v - d.wanted[t]
		if beyond <= 0 {
			continue
		}
		c := wide.CmpRatio(uint64(beyond), uint64(max(d.c.total[t], 1)), uint64(best.Amount), uint64(max(best.Of, 1)))
		if c > 0 || c == 0 && equal {
			return true
		}
	}
	return false
}
