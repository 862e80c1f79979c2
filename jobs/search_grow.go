// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"container/heap"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// A grower makes plans member by member, each where the least must go for it. It
// is quick and not exact: it never takes a decision back. It is also the engine for
// cases in which bounds keep the spreader from its plan, or with a predicate in the
// loop.
type grower struct {
	*search
	ceiling     ceiling // of who may go
	patience    int     // how many offers to work out, for a member
	queuesFirst bool    // queues are covered before members are placed, else after

	kind    *kind   // that the offers are for
	list    []offer // of hosts
	heap    []int32 // hosts, the one with the least offer first
	worked  []int32 // hosts whose offers were worked out, some of them long ago
	chosen  []int32 // the units of the offers
	refused []int32 // hosts that the predicate has refused to the member at hand
	inOrder []int32 // places in todo
}

// An offer is the cheapest way for a host to take one more member of a kind. Most are
// estimates, which never ask too much; those that may be cheapest are worked out.
type offer struct {
	state       offerState
	refused     bool  // by the predicate, to the member at hand
	worked      bool  // the host is in grower.worked
	at          int32 // its index in the heap
	sums        sums
	first, last int32 // who goes for it is grower.chosen[first:last]
}

type offerState uint8

const (
	estimated  offerState = 1 + iota // the sums are the least that there could be
	possible                         // the sums are what units cost
	impossible                       // there is none
)

// grow makes plans with the largest members first, and covers queues before and
// after them.
func (x *grower) grow() {
	x.queuesFirst = true
	found := x.growFrom(x.sorted)
	if x.needs.open() && !(found && x.eager) && !x.search.spent() {
		x.queuesFirst = false
		x.growFrom(x.sorted)
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
	x.partial.finish()
	if x.eager || x.search.spent() {
		return true
	}
	// That a ceiling works for this engine is not monotone, for it takes no step
	// back. The search by halves may miss the lowest one, and what it ends with
	// may not work with more patience: then the less patient way is kept.
	x.growBest(x.bounds.lowest(l, func(l ceiling) bool { return x.growBelow(l, order) }), order)
	return true
}

// growBest offers a plan below a ceiling, made with patience if that works.
func (x *grower) growBest(l ceiling, order []int32) {
	for _, x.patience = range [...]int{patient, hasty} {
		if x.search.spent() {
			return
		}
		if x.growBelow(l, order) && x.partial.finish() {
			return
		}
	}
}

// growPatiently makes one plan in the order of the job, without a ceiling, for a
// predicate that is in the loop.
func (x *grower) growPatiently() {
	x.patience, x.queuesFirst = patient, true
	x.inOrder = append(x.inOrder[:0], x.sorted...)
	slices.Sort(x.inOrder)
	if x.growBelow(noCeiling(), x.inOrder) {
		x.partial.finish()
	}
}

// growBelow places members one after another, each where the least must go for
// it below a ceiling, beside those who have gone before. It reports whether all
// members have a place and all queues what they need.
//
// The cost is members times hosts, and a few searches on one host for each
// member.
func (x *grower) growBelow(l ceiling, order []int32) bool {
	if x.exhausted() {
		return false
	}
	p := &x.partial
	p.begin()
	x.ceiling, x.kind = l, nil
	if x.queuesFirst && !p.coverQueues(l) {
		return false
	}
	for _, m := range order {
		// Members of a kind follow each other, so offers are collected anew for each
		// kind and not for each member.
		if k := x.kindAt(m); k != x.kind {
			x.collect(k)
		}
		if x.exhausted() || !x.growOne(m) {
			return false
		}
	}
	return p.coverQueues(l)
}

// growOne places a member and reports whether it could.
func (x *grower) growOne(m int32) bool {
	p := &x.partial
	defer x.reconsider()
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
		// If a predicate is in the loop, members are placed in their order.
		if !x.asker.asks() || x.asker.accepts(p.at[:m+1], p.chosen) {
			x.changed(before, h)
			return true
		}
		// The offers of other hosts were not touched, so they need no new estimate:
		// all is as it was before.
		p.takeBack(before)
		p.unseat(m)
		x.refuse(h)
	}
}

// refuse passes over a host for the member at hand, and reconsider forgets what was
// refused to it.
func (x *grower) refuse(h int32) {
	x.list[h].refused = true
	x.refused = append(x.refused, h)
	x.settle(h)
}

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
	x.estimate(h)
	x.settle(h)
	for _, u := range x.partial.chosen[before:] {
		for _, i := range x.tasksOf(u) {
			if h := x.cands[i].host; x.inArea(h) {
				x.estimate(h)
				x.settle(h)
			}
		}
	}
}

// collect estimates the offers of all hosts for members of a kind.
func (x *grower) collect(k *kind) {
	x.kind = k
	x.list = rows.Zeros(x.list, len(x.hosts))
	x.chosen, x.worked, x.heap = x.chosen[:0], x.worked[:0], append(x.heap[:0], x.area.hosts...)
	for i, h := range x.heap {
		x.list[h].at = int32(i)
		x.estimate(h)
	}
	heap.Init((*offerHeap)(x))
	x.spend(len(x.heap))
}

// unitsOf returns the units of the offer of a host.
func (x *grower) unitsOf(h int32) []int32 { return x.chosen[x.list[h].first:x.list[h].last] }

// estimate finds out what an offer costs at least.
func (x *grower) estimate(h int32) {
	o := &x.list[h]
	o.state = impossible
	if !x.takes(h, x.kind) {
		return
	}
	x.lacks(x.kind.size, x.row(x.partial.free, int(h)))
	low, ok := x.least(h, x.lack)
	if !ok {
		return
	}
	o.state, o.sums = estimated, low
	o.sums.rank = o.sums.rank.plus(x.hosts[h].rank, 1)
}

// cheapest returns the host that takes one more member the cheapest, the first
// such in node order, or -1. Of many that may be cheap only some are looked at.
func (x *grower) cheapest() int32 {
	// Estimates are never too high. So if the host at the top has been worked out,
	// every other asks for as much at least, whatever its estimate says.
	for asked := 0; len(x.heap) > 0; asked++ {
		h := x.heap[0]
		if asked >= x.patience {
			if some := x.cheapestPossible(); some >= 0 {
				h = some
			}
		}
		switch o := &x.list[h]; {
		case o.out():
			return -1 // so are all others
		case o.state == possible && x.partial.mayGoTogether(x.unitsOf(h)):
			return h
		}
		// It is an estimate, or was worked out before others took what bounds left.
		x.workOut(h)
	}
	return -1
}

// cheapestPossible returns the host with the least offer of those that were
// worked out, or -1. Hosts whose offers were estimated anew since then leave the
// list here: of a thousand hosts it has some dozens.
func (x *grower) cheapestPossible() int32 {
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
func (x *grower) workOut(h int32) {
	p, c, o := &x.partial, &x.cover, &x.list[h]
	x.lacks(x.kind.size, x.row(p.free, int(h)))
	found := c.onHost(h, x.lack, p.left, p.budgetsLeft(), func(u int32) bool {
		return x.ceiling.admits(&x.units[u].Levels) && p.mayGo(u)
	})
	o.state, o.first = impossible, int32(len(x.chosen))
	if found {
		x.chosen = c.appendFound(x.chosen)
		// A search on one host knows what bounds leave, but not what of that is in use
		// already: members of the own leaf may not take that away from others.
		if p.mayGoTogether(x.chosen[o.first:]) {
			o.state, o.sums = possible, c.sums(h, 1)
			if !o.worked {
				o.worked, x.worked = true, append(x.worked, h)
			}
		}
	}
	o.last = int32(len(x.chosen))
	x.settle(h)
}

// comesBefore reports whether host g has a smaller offer than h, or as small a one and
// comes first in node order. Hosts that have none come last.
func (x *grower) comesBefore(g, h int32) bool {
	a, b := &x.list[g], &x.list[h]
	if a.out() || b.out() {
		return !a.out() || b.out() && g < h
	}
	if order := a.sums.compare(&b.sums); order != 0 {
		return order < 0
	}
	return g < h
}

// out reports whether there is nothing to offer.
func (o *offer) out() bool { return o.state == impossible || o.refused }

// settle moves a host whose offer has changed to where it belongs in the heap.
func (x *grower) settle(h int32) { heap.Fix((*offerHeap)(x), int(x.list[h].at)) }

// offerHeap is the hosts as a heap, of which offers know their places.
type offerHeap grower

func (x *offerHeap) Len() int           { return len(x.heap) }
func (x *offerHeap) Less(i, j int) bool { return (*grower)(x).comesBefore(x.heap[i], x.heap[j]) }
func (x *offerHeap) Swap(i, j int) {
	x.heap[i], x.heap[j] = x.heap[j], x.heap[i]
	x.list[x.heap[i]].at, x.list[x.heap[j]].at = int32(i), int32(j)
}
func (x *offerHeap) Push(any) { panic("jobs: all hosts are in the heap") }
func (x *offerHeap) Pop() any { panic("jobs: all hosts are in the heap") }
