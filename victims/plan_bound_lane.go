package victims

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// refineWork is what it takes to bound the work of a node, in elementary work, beside
// what grows with its lanes. It was measured once, on the plain load of bench.
const refineWork = 250

// refine raises the bound of a node by a look at its lanes. It reports false if
// no plan for the node can cost less than the best so far.
//
// The bound from sums takes every task for one of the least priority and of the
// largest size. Lanes know better. They are sorted by what decides first, so
// the shortest run of first lanes that gives what the node lacks tells the least
// highest priority of any plan. The lanes up to that priority tell how many
// victims it takes, and when those were scheduled.
//
// Tasks that law 2, fences and the like may protect count as candidates here.
// That only makes the bound lower, so it stays true.
func (d bounder) refine(b *nodeBound, short resources.Vector) bool {
	lanes := d.refineLevels(b, short)
	if lanes == nil || d.beaten(b) {
		return false
	}
	d.trial.pay(refineWork)
	_, typ := d.fewest(b.node, lanes, short)
	d.leastWork(b, lanes, lack{typ, short[typ]})
	sets := setBounder{d: d}
	return !d.beaten(b) && !sets.beaten(b, lanes, short)
}

// refineLevels is refine for the levels of a bound alone. It returns the lanes of
// which a plan of those levels has its victims, or nil if there is none.
func (d bounder) refineLevels(b *nodeBound, short resources.Vector) []lane {
	last := &d.problem.likeness
	if !last.serves(d, b.node) {
		return d.boundLanes(b, short)
	}
	if last.recall(d, b, short) {
		d.trial.pay(int64(last.lanes))
		return d.digestOf(b.node).lanes[:last.lanes]
	}
	last.begin(d, b, short)
	lanes := d.boundLanes(b, short)
	last.end(b, len(lanes))
	return lanes
}

// boundLanes is refineLevels for a node that is like no other.
func (d bounder) boundLanes(b *nodeBound, short resources.Vector) []lane {
	lanes := d.digestOf(b.node).lanes
	least := *b // of each victim
	if !d.uniform(b.node) {
		if b.levels[LevelOptedOut] == 0 && b.levels[LevelOriginators] == 0 && d.eligible.evenRanks {
			if lanes = d.lowestLanes(b, short); lanes == nil {
				return nil
			}
		}
		if fewest, _ := d.fewest(b.node, lanes, short); fewest > b.levels[LevelVictims] {
			b.levels[LevelVictims] = fewest
		}
		switch {
		case b.levels[LevelOptedOut] > 0:
			markedBounder{d}.raiseOptedOut(b, short)
		case b.levels[LevelOriginators] > 0:
			markedBounder{d}.raise(b, lanes, short)
		}
	}
	d.trial.pay(int64(len(lanes) * len(d.types)))
	if len(d.c.costs) > 0 && !d.boundOwn(b, lanes, short) {
		b.levels[LevelOptedOut] = noLimit
		return nil
	}
	d.boundCount(b, &least, laneSet{b.node, lanes}, short)
	return lanes
}

// boundCount raises the bound of a node by how many victims it takes over all types
// together. That number counts as long as it is of interest: one more than the
// best plan has is enough to know. If only lesser levels are wanted and the
// victims are alike, as many are enough.
func (d bounder) boundCount(b, least *nodeBound, in laneSet, short resources.Vector) {
	most := int64(mixMost)
	if d.best.found {
		if most = d.best.total.Levels[LevelVictims]; d.worker.OnlyLesser {
			most--
		}
	}
	for ; ; most++ {
		if count, spare := d.fewestOfAll(&d.problem.mix, in, lackOfAll{short, most}); count >= b.levels[LevelVictims] {
			b.levels[LevelVictims], b.spare = count, spare
		}
		count := b.levels[LevelVictims]
		b.levels[LevelSumRanks] = (count-1)*least.levels[LevelRank] + b.levels[LevelRank]
		b.levels[LevelSumPriorities] = (count-1)*least.levels[LevelPriority] + b.levels[LevelPriority]
		if !d.best.found || count != d.best.total.Levels[LevelVictims] || count != most+1 || slices.Compare(b.levels[:], d.best.total.Levels[:]) >= 0 {
			return
		}
	}
}

// lowGive reports whether the tasks of a node that law 6 does not keep give what it
// lacks, as far as lanes tell.
func (d bounder) lowGive(n NodeID, lacks resources.Vector) bool {
	digest := d.digestOf(n)
	sum := d.scratch.sum
	clear(sum)
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if d.eligible.leastRank(l.priority) > d.eligible.ceiling {
			continue
		}
		for t, v := range digest.size(i, d.c.types) {
			sum[t] += v * l.tasks()
		}
	}
	return resources.Fits(lacks, sum)
}

// uniform reports whether all tasks of a node are alike in what decides before
// own costs.
func (d bounder) uniform(n NodeID) bool {
	g, row := d.digestAt(n)
	return g.gauges[row].uniform
}

// lowestLanes returns the lanes of the lowest priorities that give what a node
// lacks, and raises the bound by the highest of them. Plain tasks are enough. It
// returns nil if that makes the bound higher than the best plan.
func (d bounder) lowestLanes(b *nodeBound, short resources.Vector) []lane {
	// In the order of lanes the first that are enough tell how high a priority it
	// takes.
	lanes := d.digestOf(b.node).lanes
	n := d.enoughLanes(b.node, short, d.highest(b))
	d.trial.pay(int64(n * len(d.types)))
	top := int64(lanes[n-1].priority)
	for n < len(lanes) && lanes[n].flags == 0 && int64(lanes[n].priority) == top {
		n++
	}
	b.levels[LevelRank] += top - b.levels[LevelPriority]
	b.levels[LevelPriority] = top
	if d.best.found && slices.Compare(b.levels[:LevelJobs], d.best.total.Levels[:LevelJobs]) > 0 {
		return nil
	}
	return lanes[:n]
}

// highest returns a priority that no victim may go beyond in a plan that is to
// beat the best. Ranks are even, so a priority tells the rank.
func (d bounder) highest(b *nodeBound) int64 {
	best := &d.best.total.Levels
	// Those who opted out and the like decide before ranks.
	if !d.best.found || slices.Compare(b.levels[:LevelRank], best[:LevelRank]) < 0 {
		return noLimit
	}
	return best[LevelRank] - b.levels[LevelRank] + b.levels[LevelPriority]
}

// enoughLanes returns how many of the first lanes of a node give what it lacks.
// All together do. It ends with the first lane that is beyond the highest priority,
// for that is enough to know.
func (d bounder) enoughLanes(n NodeID, lacks resources.Vector, highest int64) int {
	digest := d.digestOf(n)
	clear(d.scratch.sum)
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if int64(l.priority) > highest {
			return i + 1
		}
		size := digest.size(i, d.c.types)
		enough := true
		for t, short := range lacks {
			d.scratch.sum[t] += size[t] * int64(l.end-l.first)
			enough = enough && d.scratch.sum[t] >= short
		}
		if enough {
			return i + 1
		}
	}
	return len(digest.lanes)
}

// fewest returns a number of tasks below which no set of those in the lanes
// gives what the node lacks, and the type that takes so many.
func (d bounder) fewest(n NodeID, lanes []lane, lacks resources.Vector) (count int64, typ int) {
	digest := d.digestOf(n)
	for t, short := range lacks {
		if short <= 0 {
			continue
		}
		var largest int64
		for i := range lanes {
			largest = max(largest, digest.size(i, d.c.types)[t])
		}
		if n := (short-1)/largest + 1; n > count {
			count, typ = n, t
		}
	}
	return count, typ
}

// fewestOfAll is fewest over all types together: each amount counts as a part
// of what the ask wants, and all lacks must be met. A task that has much of one
// type often has little of another, so this says more if sizes differ. It also
// returns by how much the tasks that have most exceed what is lacking, or 0 if it
// takes more victims than are of interest, and then says no more than that.
func (d bounder) fewestOfAll(mix *mixture, in laneSet, lacks lackOfAll) (count, spare int64) {
	lacks.most = min(lacks.most, mixMost)
	rest, reach := d.weigh(mix, in, lacks)
	switch {
	case rest <= 0:
		return 1, 0 // what is lacking is too little for weights to tell
	case reach < rest:
		return lacks.most + 1, 0
	}
	return mix.fewest(d.largestShares(in, lacks.most), rest, lacks.most)
}

// A laneSet is some of the lanes of a node.
type laneSet struct {
	node  NodeID
	lanes []lane
}

// lackOfAll is what a node lacks, and how many victims at most are of interest.
type lackOfAll struct {
	amounts resources.Vector
	most    int64
}

// weigh works out what each task of the lanes has of what is lacking, and returns
// all that is lacking and a sum that no set of as many victims as are of interest
// goes beyond.
//
// For that sum nothing is sorted. A set of m tasks has at most m times a share c,
// and what its tasks have beyond c. So it has at most m·c and all that any task has
// beyond c. That is exact if c is the share of the m-th largest task. Nodes are
// alike, so what it was on a node before is mostly close.
func (d bounder) weigh(mix *mixture, in laneSet, lacks lackOfAll) (rest, reach int64) {
	rest, reach = mix.aim(lacks.amounts), lacks.most*mix.cut
	types, sizes := d.c.types, d.digestOf(in.node).sizes
	shares := slices.Grow(d.scratch.weights[:0], len(in.lanes))[:len(in.lanes)]
	for i := range in.lanes {
		share := mix.of(sizes[i*types : (i+1)*types])
		shares[i] = share
		if beyond := share - mix.cut; beyond > 0 {
			reach += beyond * min(in.lanes[i].tasks(), lacks.most)
		}
	}
	d.scratch.weights = shares
	return rest, reach
}

// largestShares lists the lanes whose tasks have most of what is lacking, the
// largest first, as they were weighed last.
func (d bounder) largestShares(in laneSet, most int64) []laneShare {
	top := d.scratch.shares[:0]
	for i, share := range d.scratch.weights {
		top = insertFalling(top, int(most), laneShare{share, in.lanes[i].tasks(), int32(i)})
	}
	d.scratch.shares = top
	return top
}

// A lack is an amount of a type that a node is short of.
type lack struct {
	typ    int
	amount int64
}

// leastWork sets the work of a bound, given that exactly as many victims go as
// its levels say. It looks at the one type that took so many.
//
// Call the count n, the largest size of any lane L, the next smaller size S, and
// what is lacking A. If s of the n victims are smaller than L, each of those
// gives at most S. So together they give at most (n−s)·L + s·S, and that must be
// at least A:
//
//	(n−s)·L + s·S ≥ A    so    s ≤ (n·L − A) / (L − S)
//
// If A is 7, n 2, L 4 and S 2, then s is 0: both victims have size 4. The count
// is often as tight as that, and then the work of small tasks, however new they
// are, cannot make the bound low.
//
// The least work that is possible now is that of the n newest tasks with at most
// s small ones among them. Both lists fall, so one merge finds it. Tasks count as
// newest by when their work began; see [Cluster.newest].
func (d bounder) leastWork(b *nodeBound, lanes []lane, need lack) {
	mix := d.sizesOf(b, lanes, need)
	b.work = d.newestOf(laneSet{b.node, lanes}, &mix)
}

// A sizeMix is how many victims a plan has at least, and how many of them may be smaller
// than the largest tasks.
type sizeMix struct {
	count, smaller int
	typ            int
	largest        int64 // of the type
}

// sizesOf works out of which sizes the victims of a bound are; see [bounder.leastWork].
func (d bounder) sizesOf(b *nodeBound, lanes []lane, need lack) sizeMix {
	digest, count := d.digestOf(b.node), b.levels[LevelVictims]
	var largest, second int64
	for i := range lanes {
		switch size := digest.size(i, d.c.types)[need.typ]; {
		case size > largest:
			largest, second = size, largest
		case size < largest:
			second = max(second, size)
		}
	}
	// Sizes that are all equal have second 0, and lack that much less than one
	// size: smaller is 0 then, and there is nobody small anyway.
	smaller := int((count*largest - need.amount) / (largest - second))
	return sizeMix{int(count), min(smaller, int(count)), need.typ, largest}
}

// newestOf returns the work that the newest tasks of a mix lose.
func (d bounder) newestOf(in laneSet, mix *sizeMix) (work cover.Work) {
	digest, types := d.digestOf(in.node), d.c.types
	big, small := d.scratch.newest[0][:0], d.scratch.newest[1][:0]
	for i := range in.lanes {
		l := &in.lanes[i]
		times := digest.times[l.first:min(l.end, l.first+int32(mix.count))]
		if digest.sizes[i*types+mix.typ] == mix.largest {
			big = insertNewest(big, mix.count, times)
		} else if mix.smaller > 0 {
			small = insertNewest(small, mix.smaller, times)
		}
	}
	d.scratch.newest[0], d.scratch.newest[1] = big, small
	// If both lists end there are fewer tasks than victims, which no plan has: whoever is
	// missing loses nothing.
	i, j := 0, 0
	for range mix.count {
		var next int64 = math.MaxInt64
		switch {
		case i < len(big) && (j == len(small) || big[i] >= small[j]):
			next = big[i]
			i++
		case j < len(small):
			next = small[j]
			j++
		}
		work = work.AddNanos(d.since(next), 1)
	}
	return work
}

// insertNewest merges times, which fall, into newest, which falls too and keeps
// no more than the most newest.
func insertNewest(newest []int64, most int, times []int64) []int64 {
	if len(newest) == 0 {
		return append(newest, times[:min(most, len(times))]...) // mostly there is one lane of a size
	}
	for _, v := range times {
		if len(newest) == most {
			if most == 0 || v <= newest[most-1] {
				break
			}
			newest = newest[:most-1]
		}
		i := len(newest)
		newest = append(newest, v)
		for ; i > 0 && newest[i-1] < v; i-- {
			newest[i] = newest[i-1]
		}
		newest[i] = v
	}
	return newest
}
