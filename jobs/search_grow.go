package jobs

import (
	"container/heap"
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A grower makes plans member by member, each where the least must go for it. It
// is quick and not exact: it never takes a decision back. It is the engine for
// members of several sizes, and for cases in which bounds keep the spreader from
// its plan.
type grower struct {
	offers
	ceilings *ceilings
	finisher *finisher
	refused  []int32 // hosts that the predicate has refused to the member at hand
	inOrder  []int32 // places in todo
}

// growAll makes plans with the largest members first, on hosts in node order if
// nothing else tells them apart. If that does not work the tightest hosts come
// first, and then members in the order of the job.
func (x *grower) growAll() {
	x.tight, x.queuesFirst = false, true
	found := x.growFrom(x.sorted)
	if x.needs.open() && !(found && x.eager) {
		x.queuesFirst = false
		found = x.growFrom(x.sorted) || found
	}
	if found || len(x.kinds) == 1 {
		return
	}
	x.tight, x.queuesFirst = true, true
	if !x.growFrom(x.sorted) {
		x.growFrom(x.asGiven())
	}
}

// How many offers to ask for, for a member. Whether members find places depends
// little on it, and what they cost does: so it is few while the ceiling is
// looked for, and more below it.
//
// In the full clusters of BenchmarkTowns half of hasty saves up to 23 % of the steps,
// twice takes up to 1.5 times as many, and some plans have other victims. Half of
// patient stops 17 more of 664 in clusters of 64 nodes; twice changes nothing.
const hasty, patient = 4, 32

// growFrom makes a plan member by member in an order, below the lowest ceiling
// for which that works, and offers it.
func (x *grower) growFrom(order []int32) bool {
	l := noCeiling()
	l.plain = true
	x.patience = hasty
	if !x.growBelow(l, order) {
		l.plain = false
		if !x.growBelow(l, order) {
			return false
		}
	}
	// A plan is offered before a lower ceiling is looked for: if steps run out
	// there is at least this one.
	x.finisher.finish()
	if x.eager {
		return true
	}
	// That a ceiling works for this engine is not monotone, for it takes no step
	// back. The search by halves may miss the lowest one, and what it ends with
	// may not work with more patience: then the less patient way is kept.
	l = x.ceilings.lowest(l, func(l ceiling) bool { return x.growBelow(l, order) })
	for _, x.patience = range [...]int{patient, hasty} {
		if x.growBelow(l, order) && x.finisher.finish() {
			x.finisher.polish()
			break
		}
	}
	return true
}

// asGiven returns the members of todo in the order of the job.
func (x *grower) asGiven() []int32 {
	x.inOrder = x.inOrder[:0]
	for m := range x.todo {
		x.inOrder = append(x.inOrder, int32(m))
	}
	return x.inOrder
}

// growPatiently makes one plan in the order of the job, without a ceiling, for a
// predicate that is in the loop.
func (x *grower) growPatiently() {
	x.patience, x.tight, x.queuesFirst = patient, false, true
	if x.growBelow(noCeiling(), x.asGiven()) {
		x.finisher.finish()
	}
}

// growBelow places members one after another, each where the least must go for
// it below a ceiling, beside those who have gone before. It reports whether all
// members have a place and all queues what they need.
//
// The cost is members times hosts, and a few searches on one host for each
// member.
func (x *grower) growBelow(l ceiling, order []int32) bool {
	p := x.partial
	p.begin()
	x.ceiling, x.kind = l, nil
	if x.queuesFirst && !p.coverQueues(l) {
		return false
	}
	x.refused = x.refused[:0]
	for _, m := range order {
		if x.exhausted() || !x.growOne(m) {
			return false
		}
	}
	return p.coverQueues(l)
}

// growOne places a member and reports whether it could.
func (x *grower) growOne(m int32) bool {
	// Members of a kind follow each other, so offers are collected anew for each
	// kind and not for each member.
	if k := x.kindAt(m); k != x.kind {
		x.collect(k)
	}
	defer x.reconsider()
	p := x.partial
	for {
		h := x.cheapest()
		if h < 0 {
			return false
		}
		before := len(p.chosen)
		for _, u := range x.unitsOf(h) {
			p.choose(u)
		}
		p.seat(m, h)
		if x.accepted(m) {
			x.changed(before, h)
			return true
		}
		// The offers of other hosts were not touched, so they need no new estimate:
		// all is as it was before.
		p.takeBack(before)
		p.unseat(m)
		x.refuse(h)
		x.refused = append(x.refused, h)
	}
}

// accepted asks the predicate about the member that was placed last. If there is
// one in the loop, members are placed in their order.
func (x *grower) accepted(m int32) bool {
	asker := x.finisher.asker
	return !asker.asks() || asker.accepts(x.partial.at[:m+1], x.partial.chosen)
}

// reconsider forgets what the predicate has refused to the member at hand.
func (x *grower) reconsider() {
	for _, h := range x.refused {
		x.list[h].refused = false
		x.settle(h)
	}
	x.refused = x.refused[:0]
}

// changed estimates anew the offers of hosts on which something has changed: a
// member was placed on h, and units have gone since some had.
func (x *grower) changed(before int, h int32) {
	x.renew(h)
	for _, u := range x.partial.chosen[before:] {
		for _, i := range x.tasksOf(u) {
			if h := x.cands[i].host; h >= 0 {
				x.renew(h)
			}
		}
	}
}

// offers are what every host asks for one more member of a kind, in a heap: the
// least first. Most are estimates, which never ask too much; those that come up
// first are worked out. A block of hosts stands in the heap as one, until it comes
// up; see hostBlocks.
type offers struct {
	*jobCase
	*effort
	cover   *coverer
	room    *roomer
	partial *partial

	ceiling     ceiling // of who may go
	patience    int     // how many offers to work out, for a member
	queuesFirst bool    // queues are covered before members are placed, else after
	tight       bool    // of hosts that cost as much, the one with the least room comes first
	kind        *kind   // that the offers are for
	blocks      hostBlocks
	list        []offer // of hosts, and then of blocks
	heap        []int32 // rows of list, the one with the least offer first
	chosen      []int32 // the units of the offers
	worked      []int32 // hosts whose offers were worked out, some of them long ago
	left        resources.Vector
}

// An offer is the cheapest way for a host to take one more member of a kind.
type offer struct {
	state       offerState
	refused     bool  // by the predicate, to the member at hand
	worked      bool  // the host is in offers.worked
	at          int32 // its index in the heap
	sums        sums
	first, last int32           // who goes for it is offers.chosen[first:last]
	left        resources.Share // the largest share that the host has left, if nobody goes
}

type offerState uint8

const (
	estimated  offerState = 1 + iota // the sums are the least that there could be
	possible                         // the sums are what units cost
	impossible                       // there is none
)

// collect estimates the offers of all blocks for members of a kind.
func (x *offers) collect(k *kind) {
	if x.kind == nil {
		x.blocks.measure(x.jobCase, x.partial.free)
	}
	x.kind = k
	x.list = slices.Grow(x.list[:0], len(x.hosts)+x.blocks.len())[:len(x.hosts)+x.blocks.len()]
	x.chosen, x.heap, x.worked = x.chosen[:0], x.heap[:0], x.worked[:0]
	for b := range x.blocks.len() {
		row := x.rowOf(b)
		x.list[row] = offer{at: int32(b)}
		x.blocks.closed[b] = true
		x.estimateBlock(b)
		x.heap = append(x.heap, row)
	}
	heap.Init((*offerHeap)(x))
}

// demand returns one member of the kind at hand.
func (x *offers) demand() demand { return demand{x.kind, 1} }

// unitsOf returns the units of the offer of a host.
func (x *offers) unitsOf(h int32) []int32 { return x.chosen[x.list[h].first:x.list[h].last] }

// estimate finds out what an offer costs at least.
func (x *offers) estimate(h int32) {
	o := &x.list[h]
	o.state, o.sums, o.left = impossible, sums{}, resources.Share{}
	if !x.takes(h, x.kind) {
		return
	}
	free := x.row(x.partial.free, int(h))
	if low, ok := x.room.least(h, free, x.demand()); ok {
		o.state, o.sums = estimated, low
		o.sums.rank = o.sums.rank.plus(x.hosts[h].rank, 1)
		if x.tight && low.levels[victims.LevelVictims] == 0 {
			x.left = resources.Sub(x.left, free, x.kind.size)
			o.left = resources.DominantShare(x.left, x.c.Capacity())
		}
	}
}

// cheapest returns the host that takes one more member the cheapest, the first
// such in node order, or -1. Of many that may be cheap only some are looked at.
func (x *offers) cheapest() int32 {
	// Estimates are never too high. So if the host at the top has been worked out,
	// every other asks for as much at least, whatever its estimate says.
	for asked := 0; len(x.heap) > 0; {
		h := x.heap[0]
		if asked >= x.patience {
			if some := x.cheapestPossible(); some >= 0 {
				h = some
			}
		}
		switch o := &x.list[h]; {
		case o.state == impossible || o.refused:
			return -1 // so are all others
		case x.isBlock(h):
			x.openBlock(x.blockAt(h))
			continue
		case o.state == possible && x.partial.mayGoTogether(x.unitsOf(h)):
			return h
		}
		// It is an estimate, or was worked out before others took what bounds left.
		x.workOut(h)
		asked++
	}
	return -1
}

// cheapestPossible returns the host with the least offer of those that were
// worked out, or -1. Hosts whose offers were estimated anew since then leave the
// list here: of a thousand hosts it has some dozens.
func (x *offers) cheapestPossible() int32 {
	best, kept := int32(-1), x.worked[:0]
	for _, h := range x.worked {
		o := &x.list[h]
		if o.worked = o.state == possible; !o.worked {
			continue
		}
		kept = append(kept, h)
		if !o.refused && (best < 0 || x.comesBefore(h, best)) {
			best = h
		}
	}
	x.worked = kept
	return best
}

// workOut finds out how a host takes one more member.
func (x *offers) workOut(h int32) {
	x.cover.begin(x.partial.boundsLeft(), x.partial.budgetsLeft())
	if x.room.lacks(x.row(x.partial.free, int(h)), x.demand()) {
		x.room.state(x.cover, h)
		for _, u := range x.unitsOn(h) {
			if x.ceiling.admits(&x.units[u].Levels) && x.partial.mayGo(u) {
				x.cover.offerWithin(u)
			}
		}
	}
	x.cover.run(smallPace)
	o := &x.list[h]
	o.state, o.sums, o.first = impossible, sums{}, int32(len(x.chosen))
	if x.cover.found.Found {
		x.chosen = x.cover.appendFound(x.chosen)
	}
	// A search on one host knows what bounds leave, but not what of that is in use
	// already: members of the own leaf may not take that away from others.
	if x.cover.found.Found && x.partial.mayGoTogether(x.chosen[o.first:]) {
		o.state = possible
		if !o.worked {
			o.worked, x.worked = true, append(x.worked, h)
		}
		for _, u := range x.chosen[o.first:] {
			o.sums.add(&x.order, &x.units[u])
		}
		o.sums.levels[victims.LevelOverrun] = x.cover.found.Total.Levels[victims.LevelOverrun]
		o.sums.rank = o.sums.rank.plus(x.hosts[h].rank, 1)
	}
	o.last = int32(len(x.chosen))
	x.settle(h)
}

// renew estimates the offer of a host anew, on which something has changed.
func (x *offers) renew(h int32) {
	b := x.blocks.of(h)
	x.blocks.measureFree(x.jobCase, x.partial.free, b)
	if x.blocks.closed[b] {
		x.estimateBlock(b)
		h = x.rowOf(b)
	} else {
		x.estimate(h)
	}
	x.settle(h)
}

// refuse passes over a host for the member at hand.
func (x *offers) refuse(h int32) {
	x.list[h].refused = true
	x.settle(h)
}

// comesBefore reports whether host g comes before h in the heap: it has the
// smaller offer, or as small a one and comes first in node order. Hosts that can
// have none come last. A block is as its first host.
func (x *offers) comesBefore(g, h int32) bool {
	a, b := &x.list[g], &x.list[h]
	if none := a.out(); none != b.out() {
		return !none
	} else if none {
		return x.firstOf(g) < x.firstOf(h)
	}
	if order := a.sums.compare(&b.sums); order != 0 {
		return order < 0
	}
	if a.left != b.left {
		if order := a.left.Compare(b.left); order != 0 {
			return order < 0
		}
	}
	return x.firstOf(g) < x.firstOf(h)
}

// out reports whether there is nothing to offer.
func (o *offer) out() bool { return o.state == impossible || o.refused }

// settle moves a host or block whose offer has changed to where it belongs in the heap.
func (x *offers) settle(h int32) { heap.Fix((*offerHeap)(x), int(x.list[h].at)) }

// offerHeap is the rows of list as a heap, of which offers know their places. A
// block leaves it when its hosts come.
type offerHeap offers

func (x *offerHeap) Len() int { return len(x.heap) }
func (x *offerHeap) Less(i, j int) bool {
	return (*offers)(x).comesBefore(x.heap[i], x.heap[j])
}
func (x *offerHeap) Swap(i, j int) {
	x.heap[i], x.heap[j] = x.heap[j], x.heap[i]
	x.list[x.heap[i]].at, x.list[x.heap[j]].at = int32(i), int32(j)
}
func (x *offerHeap) Push(any) { panic("jobs: openBlock adds the hosts") }
func (x *offerHeap) Pop() any {
	x.heap = x.heap[:len(x.heap)-1]
	return nil // boxed, a row would be an allocation
}

// hostBlocks are runs of hosts in node order. Each has an estimate that is no more
// than that of any of its hosts, and so stands for all of them until it comes up.
//
// A job of a thousand different members asks every host a thousand times, and of
// most all that matters is that others are cheaper. Asked by blocks, 5,000 hosts
// are 79 questions, and some dozens for each block that is opened.
type hostBlocks struct {
	size   int // of a block, in hosts; 0 means blockHosts
	hosts  int
	types  int
	rows   []hostBlock
	free   []int64 // by block: the most that is free on any of its hosts
	most   []int64 // rows as host.most has them, block by block
	closed []bool
}

// A hostBlock is the least that hosts ask, and the most that they have.
type hostBlock struct {
	first, end int32 // its rows of hostBlocks.most
	rank       int64 // the lowest of a node
	sumRanks   int64 // the lowest rank of a unit, and its lowest priority
	priorities int64
}

// blockHosts is how many hosts make a block: about the root of some thousands, so
// that to ask all blocks and to open one cost as much.
const blockHosts = 64

func (x *hostBlocks) len() int { return (x.hosts + x.size - 1) / x.size }

// of returns the block of a host.
func (x *hostBlocks) of(h int32) int { return int(h) / x.size }

// hostsOf returns the hosts of a block: those from first to end.
func (x *hostBlocks) hostsOf(b int) (first, end int) {
	return b * x.size, min((b+1)*x.size, x.hosts)
}

// measure works the rows of all blocks out.
func (x *hostBlocks) measure(c *jobCase, free []int64) {
	if x.size == 0 {
		x.size = blockHosts
	}
	x.hosts, x.types = len(c.hosts), c.types
	n := x.len()
	x.rows, x.closed = rows.Zeros(x.rows, n), rows.Zeros(x.closed, n)
	x.free, x.most = rows.Zeros(x.free, n*x.types), x.most[:0]
	for b := range n {
		x.measureFree(c, free, b)
		x.measureUnits(c, b)
	}
}

// measureFree works out the most that is free on a host of a block.
func (x *hostBlocks) measureFree(c *jobCase, free []int64, b int) {
	first, end := x.hostsOf(b)
	most := c.row(x.free, b)
	copy(most, c.row(free, first))
	for h := first + 1; h < end; h++ {
		for t, v := range c.row(free, h) {
			most[t] = max(most[t], v)
		}
	}
}

// measureUnits works out what units of a block free at most and cost at least.
func (x *hostBlocks) measureUnits(c *jobCase, b int) {
	r := &x.rows[b]
	*r = hostBlock{rank: math.MaxInt64, sumRanks: math.MaxInt64, priorities: math.MaxInt64}
	r.first = int32(len(x.most) / x.types)
	first, end := x.hostsOf(b)
	for i := first; i < end; i++ {
		h := &c.hosts[i]
		r.rank = min(r.rank, h.rank)
		if h.first == h.end {
			continue
		}
		r.sumRanks = min(r.sumRanks, h.least[victims.LevelRank])
		r.priorities = min(r.priorities, h.least[victims.LevelPriority])
		have := x.most[int(r.first)*x.types:]
		for at, v := range h.most[:min(len(have), len(h.most))] {
			have[at] = max(have[at], v)
		}
		x.most = append(x.most, h.most[min(len(have), len(h.most)):]...)
	}
	r.end = int32(len(x.most) / x.types)
}

// least returns sums that no host of a block goes below for one more member of a
// kind, as [roomer.least] estimates them. It reports false if none can take it.
//
// A host that makes do with n units is no better than the block: what is free there
// and what n units free is no more than the block's. So n do for the block, too.
func (x *hostBlocks) least(b int, k *kind) (low sums, ok bool) {
	r := &x.rows[b]
	free := x.free[b*x.types : (b+1)*x.types]
	most := x.most[int(r.first)*x.types : int(r.end)*x.types]
	units, count := int(r.end-r.first), 0
	for _, t := range k.types {
		lack := k.size[t] - free[t]
		if lack <= 0 {
			continue
		}
		count = max(count, 1)
		for count <= units && most[(count-1)*x.types+t] < lack {
			count++
		}
	}
	if count > 0 && count <= units {
		low.levels[victims.LevelVictims] = int64(count)
		low.levels[victims.LevelSumRanks] = int64(count) * r.sumRanks
		low.levels[victims.LevelSumPriorities] = int64(count) * r.priorities
	}
	low.rank = low.rank.plus(r.rank, 1)
	return low, count <= units
}

// rowOf returns the row of a block among the offers, and blockAt the block of a row.
func (x *offers) rowOf(b int) int32      { return int32(len(x.hosts) + b) }
func (x *offers) blockAt(row int32) int  { return int(row) - len(x.hosts) }
func (x *offers) isBlock(row int32) bool { return int(row) >= len(x.hosts) }

// firstOf returns the host that a row is, or the first of the block.
func (x *offers) firstOf(row int32) int32 {
	if x.isBlock(row) {
		return int32(x.blockAt(row) * x.blocks.size)
	}
	return row
}

// estimateBlock finds out what the hosts of a closed block ask at least.
func (x *offers) estimateBlock(b int) {
	o := &x.list[x.rowOf(b)]
	o.state, o.sums, o.left = impossible, sums{}, resources.Share{}
	if low, ok := x.blocks.least(b, x.kind); ok {
		o.state, o.sums = estimated, low
	}
}

// openBlock puts the hosts of a block into the heap in its place.
func (x *offers) openBlock(b int) {
	x.blocks.closed[b] = false
	heap.Remove((*offerHeap)(x), int(x.list[x.rowOf(b)].at))
	first, end := x.blocks.hostsOf(b)
	for h := int32(first); h < int32(end); h++ {
		x.list[h] = offer{at: int32(len(x.heap))}
		x.estimate(h)
		x.heap = append(x.heap, h)
		x.settle(h)
	}
}
