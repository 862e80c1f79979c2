package jobs

import (
	"cmp"
	"container/heap"
	"slices"
	"sort"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// Members of several sizes are placed by two engines, of which neither is exact. A
// filler goes host by host, and a grower member by member. The filler is better if
// room is scarce, and the grower if bounds are tight.

// A filler makes a plan with few victims. A grower lets the least go for each member
// and leaves scraps: of two victims of 1 for a member of 2 nothing is left for a
// member of 1. A filler lets the largest go, two of 1.5, and completes the host like a
// bin: the largest member that is left, and with it those that fill the room best. Of
// all hosts and numbers of victims it takes what costs the fewest victims for the room
// that members take.
//
// It stays below a ceiling of rank and priority.
type filler struct {
	*search
	ceiling ceiling
	scarce  int     // the type by which room counts
	going   []int32 // units in the order in which they go, host by host
	first   []int32 // those of host h are going[first[h]:first[h+1]]
	room    []int64 // rows: what is free with nobody gone, with one, and so on, host by host
	shapes  []shape // those first that might cost the fewest for their room
	spent   []bool  // by host: it is taken, or its units may not go after all

	sizes  []int32          // kinds with members left, the largest first by the scarce type
	left   []int32          // by kind, members without a place
	free   resources.Vector // scratch of complete
	found  []int32          // kinds: what the shape at hand takes
	chosen []int32          // likewise, of the best shape so far
}

// A shape is a host and a number of units that go there.
type shape struct {
	host, gone int32
	row        int32 // of filler.room
}

// fill offers a plan below a ceiling, if it can make one. The cost is members times
// hosts.
func (x *filler) fill(l ceiling) {
	if x.asker.asks() {
		return // it would have to be asked about members in their order
	}
	p := &x.partial
	x.ceiling, x.scarce = l, x.scarcest()
	p.begin()
	// Queues first: whom they need is gone then, and hosts have the more room.
	if !p.coverQueues(l) {
		return
	}
	x.sizes, x.left = x.sizes[:0], x.left[:0]
	for k := range x.kinds {
		x.sizes, x.left = append(x.sizes, int32(k)), append(x.left, x.kinds[k].end-x.kinds[k].first)
	}
	slices.SortStableFunc(x.sizes, func(a, b int32) int { return cmp.Compare(x.kinds[b].size[x.scarce], x.kinds[a].size[x.scarce]) })
	x.measure()
	x.sortShapes()
	for n := 1; len(x.sizes) > 0; n++ {
		if !x.place() {
			return
		}
		if n%64 == 0 { // now and then, so that they are not passed over all the time
			x.shapes = slices.DeleteFunc(x.shapes, func(s shape) bool { return x.spent[s.host] })
		}
	}
	if p.finish() {
		p.polish()
	}
}

// scarcest returns the type of which the members ask for the largest share of the
// cluster's capacity.
func (x *filler) scarcest() (scarce int) {
	var largest resources.Share
	for t := range x.wants.All() {
		share := resources.Share{Amount: x.rem[t], Of: x.c.Capacity().At(t)}
		if share.Compare(largest) > 0 {
			scarce, largest = t, share
		}
	}
	return scarce
}

// measure lists the units of every host in the order in which they go, the largest
// first, and works out the room that they make.
func (x *filler) measure() {
	x.going, x.first, x.room = x.going[:0], append(x.first[:0], 0), x.room[:0]
	for h := range x.hosts {
		from := len(x.going)
		for _, u := range x.unitsOn(int32(h)) {
			if unit := &x.units[u]; !unit.whole && x.ceiling.admits(&unit.Levels) {
				x.going = append(x.going, u)
			}
		}
		slices.SortFunc(x.going[from:], func(a, b int32) int {
			u, v := &x.units[a], &x.units[b]
			return cmp.Or(cmp.Compare(v.Size.At(x.scarce), u.Size.At(x.scarce)), byCost(u, v))
		})
		// Rooms are those of real units in the order in which they go. The most that
		// so many free, type by type, may be more than any of them do together.
		x.room = append(x.room, x.row(x.partial.free, h)...)
		for _, u := range x.going[from:] {
			row := len(x.room) - x.types
			x.room = append(x.room, x.room[row:]...)
			addTo(x.room[row+x.types:], x.units[u].Size, +1)
		}
		x.first = append(x.first, int32(len(x.going)))
	}
}

// roomOf returns what is free in a shape.
func (x *filler) roomOf(s *shape) resources.Vector { return x.row(x.room, int(s.row)) }

// priceOf returns the victims of a shape for the room that members take there.
func (x *filler) priceOf(s *shape, room int64) resources.Share {
	return resources.Share{Amount: int64(s.gone), Of: room}
}

// sortShapes lists the shapes that may be of use. Those that could cost the fewest
// victims for their room come first, so that a search ends where nothing better can
// come.
func (x *filler) sortShapes() {
	x.spent = rows.Zeros(x.spent, len(x.hosts))
	x.shapes = x.shapes[:0]
	largest, smallest := x.kinds[x.sizes[0]].size[x.scarce], x.kinds[x.sizes[len(x.sizes)-1]].size[x.scarce]
	for h := range x.hosts {
		// With host h come as many rows more as there are hosts before it.
		row := x.first[h] + int32(h)
		for gone := range x.first[h+1] - x.first[h] + 1 {
			s := shape{int32(h), gone, row + gone}
			free := x.roomOf(&s)[x.scarce]
			if free >= smallest { // else nobody has room
				x.shapes = append(x.shapes, s)
			}
			if free/2 >= largest {
				break // more could go in two hosts as well
			}
		}
	}
	slices.SortFunc(x.shapes, func(a, b shape) int {
		return cmp.Or(x.compareRooms(&a, &b), cmp.Compare(x.hosts[a.host].rank, x.hosts[b.host].rank), cmp.Compare(a.host, b.host))
	})
}

// compareRooms orders shapes by what their room costs if members take all of it.
func (x *filler) compareRooms(a, b *shape) int {
	r, s := x.roomOf(a), x.roomOf(b)
	return cmp.Or(
		x.priceOf(a, r[x.scarce]).Compare(x.priceOf(b, s[x.scarce])),
		cmp.Compare(a.gone, b.gone),
		slices.Compare(s, r),
	)
}

// place gives the largest member that is left a place, and with it those that fill its
// host up. It reports whether it could.
func (x *filler) place() bool {
	// Law 2 may keep whom a host was chosen for. To try many hosts would take more
	// time than what is left of the plan is worth.
	const tries = 8
	for range tries {
		if x.exhausted() {
			return false
		}
		s := x.bestShape()
		if s == nil {
			return false
		}
		x.spent[s.host] = true
		if x.clearFor(s) {
			x.seat(s.host)
			return true
		}
	}
	return false
}

// bestShape returns the shape in which the largest member that is left costs the
// fewest victims for the room that it takes there together with others, which are then
// in x.chosen, or nil.
func (x *filler) bestShape() (best *shape) {
	// Shapes that might be best come first, and some dozens of them have one that
	// nearly is. Shapes without victims come before all others and cost nothing; of
	// these the tightest is best.
	const most = 64
	k := &x.kinds[x.sizes[0]]
	var price resources.Share
	var rest int64
	var last *shape
	asked := 0
	for i := range x.shapes {
		s := &x.shapes[i]
		// Clusters are bought by the dozen and filled by the same jobs, so many shapes
		// are as the one before them.
		if x.spent[s.host] || last != nil && x.compareRooms(last, s) == 0 {
			continue
		}
		room := x.roomOf(s)
		if !k.roomFor(room) || !x.takes(s.host, k) {
			continue
		}
		last = s
		if asked++; asked > most || best != nil && price.Compare(x.priceOf(s, room[x.scarce])) < 0 {
			break
		}
		left := x.complete(s)
		of := x.priceOf(s, room[x.scarce]-left)
		if best == nil || cmp.Or(of.Compare(price), cmp.Compare(left, rest)) < 0 {
			best, price, rest = s, of, left
			x.chosen = append(x.chosen[:0], x.found...)
		}
	}
	x.spend(len(x.shapes)/64 + asked)
	return best
}

// complete finds members for a shape: again and again the largest that has room. They
// are then in x.found, and it returns what is left of the scarce type.
func (x *filler) complete(s *shape) (left int64) {
	// A type that is not the scarce one may keep some out.
	const misses = 16
	x.free, x.found = append(x.free[:0], x.roomOf(s)...), x.found[:0]
	for i, missed := 0, 0; i < len(x.sizes) && missed < misses; {
		k := &x.kinds[x.sizes[i]]
		some := x.left[x.sizes[i]] > 0
		if some && k.roomFor(x.free) && x.takes(s.host, k) {
			addTo(x.free, k.size, -1)
			x.left[x.sizes[i]]--
			x.found = append(x.found, x.sizes[i])
			continue
		}
		if some && k.size[x.scarce] <= x.free[x.scarce] {
			missed++
		}
		i = max(i+1, sort.Search(len(x.sizes), func(i int) bool { return x.kinds[x.sizes[i]].size[x.scarce] <= x.free[x.scarce] }))
	}
	// They were found, not taken: another shape may be better.
	for _, k := range x.found {
		x.left[k]++
	}
	x.spend(len(x.found))
	return x.free[x.scarce]
}

// clearFor lets units of a shape go until its host has room for x.chosen. It reports
// whether it could, and changes nothing if not.
func (x *filler) clearFor(s *shape) bool {
	p, free := &x.partial, x.row(x.partial.free, int(s.host))
	x.free = rows.Zeros(x.free, x.types)
	for _, k := range x.chosen {
		addTo(x.free, x.kinds[k].size, +1)
	}
	room := func() bool { return fitsTypes(x.free, free, resources.Positive(x.free)) }
	// If law 2 keeps one of them the next largest goes in its place. That may make
	// more victims than were counted on, and is better than no plan.
	before := len(p.chosen)
	for _, u := range x.going[x.first[s.host]:x.first[s.host+1]] {
		if room() {
			break
		}
		if p.mayGo(u) {
			p.choose(u)
		}
	}
	if !room() {
		p.takeBack(before)
		return false
	}
	return true
}

// seat places x.chosen on a host.
func (x *filler) seat(h int32) {
	for _, k := range x.chosen {
		x.partial.seat(x.sorted[x.kinds[k].end-x.left[k]], h)
		x.left[k]--
	}
	x.sizes = slices.DeleteFunc(x.sizes, func(k int32) bool { return x.left[k] == 0 })
}

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
	if x.needs.open() && !(found && x.eager) {
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
	if x.eager {
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
		if x.growBelow(l, order) && x.partial.finish() {
			x.partial.polish()
			return
		}
	}
}

// growAt is grow below a ceiling that is known to be the lowest.
func (x *grower) growAt(l ceiling) {
	x.queuesFirst = true
	x.growBest(l, x.sorted)
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
			if h := x.cands[i].host; h >= 0 {
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
	x.chosen, x.worked, x.heap = x.chosen[:0], x.worked[:0], x.heap[:0]
	for h := range x.hosts {
		x.list[h].at, x.heap = int32(h), append(x.heap, int32(h))
		x.estimate(int32(h))
	}
	heap.Init((*offerHeap)(x))
	x.spend(len(x.hosts))
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
	found := c.onHost(h, x.lack, p.boundsLeft(), p.budgetsLeft(), func(u int32) bool {
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
