package jobs

import (
	"container/heap"
	"slices"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

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
