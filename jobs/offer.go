package jobs

import (
	"cmp"
	"container/heap"

	"github.com/go-preempt/preempt/resources"
)

// offer is the cheapest way for a host to take one more member of a kind.
type offer struct {
	state       offerState
	refused     bool  // by the predicate, to the member at hand
	at          int32 // its index in the heap
	sums        sums
	first, last int32           // what falls for it is grown.units[first:last]
	left        resources.Share // the largest share that the host has left, if nothing falls
}

type offerState uint8

const (
	estimated  offerState = 1 + iota // the sums are the least that there could be
	possible                         // the sums are what units cost
	impossible                       // there is none
)

// collectOffers estimates the offers of all hosts for members of a kind.
func (d *decision) collectOffers(kind int32) {
	x := &d.grown
	x.kind = kind
	x.offers = zeros(x.offers, len(d.hosts))
	x.units, x.heap = x.units[:0], x.heap[:0]
	for h := range x.offers {
		d.estimate(int32(h))
		x.offers[h].at = int32(h)
		x.heap = append(x.heap, int32(h))
	}
	heap.Init((*offerHeap)(d))
}

// estimate finds out what an offer costs at least.
func (d *decision) estimate(h int32) {
	x := &d.grown
	o := &x.offers[h]
	o.state, o.sums, o.left = impossible, sums{}, resources.Share{}
	if !d.hosts[h].takes(&d.kinds[x.kind]) {
		return
	}
	free := resources.Vector(d.row(d.stand.free, int(h)))
	if low, ok := d.leastFor(h, free, 1); ok {
		o.state, o.sums = estimated, low
		if x.tight && low.victims == 0 {
			d.sum = resources.Sub(d.sum, free, d.kinds[x.kind].size)
			o.left = resources.DominantShare(d.sum, d.c.Capacity())
		}
	}
}

// bestOffer returns the host that takes one more member the cheapest, the first
// such in node order, or -1. Of many that may be cheap only some are looked at.
func (d *decision) bestOffer() int32 {
	x := &d.grown
	for asked := 0; len(x.heap) > 0; asked++ {
		h := x.heap[0]
		if asked >= x.patience {
			if some := d.bestPossible(); some >= 0 {
				h = some
			}
		}
		switch o := &x.offers[h]; {
		case o.state == impossible || o.refused:
			return -1 // so are all others
		case o.state == possible && d.allowed(x.units[o.first:o.last]):
			return h
		}
		d.askOffer(h)
	}
	return -1
}

// bestPossible returns the host with the least offer of those that were asked,
// or -1.
func (d *decision) bestPossible() int32 {
	x := &d.grown
	best := int32(-1)
	for _, h := range x.heap {
		if x.offers[h].state == possible && !x.offers[h].refused && (best < 0 || d.comesBefore(h, best)) {
			best = h
		}
	}
	return best
}

// askOffer finds out how a host takes one more member.
func (d *decision) askOffer(h int32) {
	x := &d.grown
	d.beginPose(d.stand.rooms)
	if d.poseRoom(h, d.row(d.stand.free, int(h)), 1) {
		for _, u := range d.unitsOn(h) {
			if x.limit.admits(&d.units[u].levels) && d.stands(u) {
				d.offerWithin(u)
			}
		}
	}
	d.run(d.smallBudget())
	o := &x.offers[h]
	o.state, o.sums, o.first = impossible, sums{}, int32(len(x.units))
	if d.pose.found.Found {
		o.state = possible
		for _, i := range d.pose.found.Units {
			u := d.pose.units[i]
			x.units = append(x.units, u)
			o.sums.add(&d.units[u])
		}
	}
	o.last = int32(len(x.units))
	d.settle(h)
}

// changed estimates the offer of a host anew.
func (d *decision) changed(h int32) {
	d.estimate(h)
	d.settle(h)
}

// reconsider forgets what the predicate has refused to the member at hand.
func (d *decision) reconsider() {
	x := &d.grown
	for _, h := range x.refused {
		x.offers[h].refused = false
		d.settle(h)
	}
	x.refused = x.refused[:0]
}

// allowed reports whether units may fall beside what has fallen.
func (d *decision) allowed(units []int32) bool {
	n := 0
	for n < len(units) && d.stands(units[n]) {
		d.fall(units[n], +1)
		n++
	}
	for i := range n {
		d.fall(units[i], -1)
	}
	return n == len(units)
}

// comesBefore reports whether host g comes before h in the heap: it has the smaller
// offer, or as small a one and comes first in node order. Those that can have
// none come last.
func (d *decision) comesBefore(g, h int32) bool {
	a, b := &d.grown.offers[g], &d.grown.offers[h]
	if x, y := a.state == impossible || a.refused, b.state == impossible || b.refused; x || y {
		return x == y && g < h || y && !x
	}
	return cmp.Or(a.sums.compare(&b.sums), a.left.Compare(b.left), cmp.Compare(g, h)) < 0
}

// settle moves a host whose offer has changed to where it belongs in the heap.
func (d *decision) settle(h int32) { heap.Fix((*offerHeap)(d), int(d.grown.offers[h].at)) }

// offerHeap is the hosts of a decision as a heap, of which offers know their
// places. All hosts are in it from the start, and none leaves.
type offerHeap decision

func (x *offerHeap) Len() int { return len(x.grown.heap) }
func (x *offerHeap) Less(i, j int) bool {
	return (*decision)(x).comesBefore(x.grown.heap[i], x.grown.heap[j])
}
func (x *offerHeap) Swap(i, j int) {
	hosts, offers := x.grown.heap, x.grown.offers
	hosts[i], hosts[j] = hosts[j], hosts[i]
	offers[hosts[i]].at, offers[hosts[j]].at = int32(i), int32(j)
}
func (x *offerHeap) Push(any) { panic("jobs: a host more") }
func (x *offerHeap) Pop() any { panic("jobs: a host less") }
