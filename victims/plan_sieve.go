package victims

import "slices"

// A sieve is the digest of one node without the tasks that the laws keep from
// being victims of this ask: those of its own application, of leaves that give
// nothing, and those that rank too high. A digest serves all asks, so it has them
// all. A queue that grows has tasks of its own on more and more nodes, and by their
// amounts each of those nodes would look like one on which few victims are enough.
//
// Bounds read the sieve for its node, and the digest of the cluster for all others:
// see [bounder.digestAt].
type sieve struct {
	node   NodeID     // whose tasks are sifted, or -1
	needed bool       // laws keep some tasks of the cluster
	apps   bool       // the ask's application has tasks in leaves that give some
	vetoes []bool     // by queue: the leaf gives nothing
	sifted digestRows // of the node
	rows   *digestRows
	row    NodeID // of rows, which tells of the node
	kept   keptSieves
	origin []uint8 // by lane of the sieve, its number in the digest
}

// reset forgets the node, and finds out whether laws keep any tasks.
func (s *sieve) reset(d *decision) {
	if s.node, s.needed = -1, false; d.without.Rule != 0 {
		return // a trial of Explain: which laws hold is not known yet
	}
	e := &d.eligible
	s.vetoes, s.needed = slices.Grow(s.vetoes[:0], len(e.leaves)), !e.evenRanks
	for w := range e.leaves {
		s.vetoes = append(s.vetoes, e.leaves[w].veto != 0)
		s.needed = s.needed || s.vetoes[w] && d.c.evictable[w] > 0
	}
	// An application is mostly in one leaf. If that gives nothing anyway, no row has
	// to be read for its tasks.
	if s.apps = e.hasApp; s.apps {
		home := d.c.homes[e.app]
		s.apps = home == noLeaf || !s.vetoes[home]
	}
	s.needed = s.needed || s.apps
	if s.sifted.nodes == nil || len(s.sifted.plain) != d.c.types {
		s.sifted = digestRows{}
		s.sifted.addNode(d.c.types)
	}
	s.kept.reset(d)
}

// digestAt returns the rows and the number of the row that tell of a node.
func (d bounder) digestAt(n NodeID) (rows *digestRows, row NodeID) {
	if n == d.sieve.node {
		return d.sieve.rows, d.sieve.row
	}
	return &d.c.digest.digestRows, n
}

// digestOf returns the lanes of a node.
func (d bounder) digestOf(n NodeID) *nodeDigest {
	rows, row := d.digestAt(n)
	return &rows.nodes[row]
}

// sift makes the sieve that of a node, and reports whether it keeps fewer tasks than
// the digest has.
func (d bounder) sift(n NodeID) bool {
	if n == d.sieve.node {
		return true
	}
	from, to := &d.c.digest.nodes[n], &d.sieve.sifted.nodes[0]
	kept := &d.sieve.kept
	switch {
	case d.without.Rule != 0:
		return false
	// Of most nodes it is known from the decision before.
	case kept.find(n) == keepsNone:
		return false
	case kept.find(n) == notSifted && d.letsAll(from, d.c.digest.gauges[n].maxPriority):
		kept.keepNone(n)
		return false
	}
	// In the order of the digest, so that lanes stay sorted.
	to.ids, to.times, to.leaves = to.ids[:0], to.times[:0], to.leaves[:0]
	to.lanes, to.sizes = to.lanes[:0], to.sizes[:0]
	d.sieve.origin = d.sieve.origin[:0]
	d.sieve.node = -1
	for i := range from.lanes {
		l := from.lanes[i]
		first := int32(len(to.ids))
		for j := l.first; j < l.end; j++ {
			if !d.keeps(from, j, l.priority) {
				to.ids, to.times, to.leaves = append(to.ids, from.ids[j]), append(to.times, from.times[j]), append(to.leaves, from.leaves[j])
			}
		}
		if l.first, l.end = first, int32(len(to.ids)); l.end > first {
			to.lanes = append(to.lanes, l)
			d.sieve.origin = append(d.sieve.origin, laneByte(i))
			to.sizes = append(to.sizes, from.size(i, d.c.types)...)
		}
	}
	if len(to.ids) == len(from.ids) {
		kept.keepNone(n)
		return false // it was no more than possible
	}
	d.sieve.sifted.sumUp(0, d.c.types)
	d.sieve.nameLanes()
	kept.keep(n, &d.sieve.sifted)
	d.sieve.node, d.sieve.rows, d.sieve.row = n, &d.sieve.sifted, 0
	return true
}

// nameLanes gives the lanes of the newest tasks the numbers that they have in the digest.
func (s *sieve) nameLanes() {
	for i, lane := range s.sifted.lanes {
		if lane != farLane {
			s.sifted.lanes[i] = s.origin[lane]
		}
	}
}

// recall makes the sieve that of a node by the sums alone, and reports whether laws
// keep some of its tasks. Forget it before anything reads its lanes.
func (d bounder) recall(n NodeID) bool {
	s := &d.sieve
	if d.without.Rule != 0 || s.kept.find(n) != keepsSome {
		return false
	}
	s.node, s.rows, s.row = n, &s.kept.rows, NodeID(s.kept.at[n].row-1)
	return true
}

// forget forgets the node.
func (s *sieve) forget() { s.node = -1 }

// siftedBeaten is quicklyBeaten for a node that was sifted before, and known is false if
// it was not.
func (d bounder) siftedBeaten(n NodeID) (known, beaten bool) {
	if !d.sieve.needed || !d.recall(n) {
		return false, false
	}
	g, row := d.digestAt(n)
	rank := d.eligible.leastRank(g.gauges[row].minPriority)
	beaten = rank > d.eligible.ceiling || d.quicklyBeaten(n, rank, digestRow{g, row})
	d.sieve.forget()
	return true, beaten
}

// siftedNoLess reports whether the tasks of a node that the laws let go have no lesser
// levels than the best plan, as far as their sums tell.
//
// It sifts a node of which nothing is kept: what it says, and with it what a search
// spends, must not depend on the decisions before.
func (d bounder) siftedNoLess(n NodeID) bool {
	defer d.sieve.forget()
	if d.sieve.kept.find(n) == notSifted && !d.sift(n) || !d.recall(n) {
		return false
	}
	g, row := d.digestAt(n)
	rank := d.eligible.leastRank(g.gauges[row].minPriority)
	return rank > d.eligible.ceiling || d.compareQuickly(n, rank, digestRow{g, row}) >= 0
}

// letsAll reports whether it is certain that laws let all tasks of a node go, the
// highest of which has some priority.
func (d bounder) letsAll(digest *nodeDigest, highest int32) bool {
	s, e := &d.sieve, &d.eligible
	// An equal one is kept in the own leaf.
	if s.apps || !e.evenRanks || e.leastLift+int64(highest) > e.ceiling || e.who.OwnLeaf {
		return false
	}
	if s.needed {
		// One look at each task, and nothing is copied: most nodes have none that are
		// kept.
		for _, w := range digest.leaves {
			if s.vetoes[w] {
				return false
			}
		}
	}
	return true
}

// keeps reports whether a law keeps task j of a digest, of some priority, whatever it
// frees. It is Veto for tasks that are evictable.
func (d bounder) keeps(digest *nodeDigest, j, priority int32) bool {
	w, e := digest.leaves[j], &d.eligible
	return d.sieve.vetoes[w] || e.leaves[w].rank.Of(priority) > e.leaves[w].ceiling ||
		d.sieve.apps && d.c.tasks[digest.ids[j]].app == e.app
}

// boundClosely bounds a node as boundNode does, and if the best plan is not cheaper
// than that, once more by the tasks that the laws let go.
func (d bounder) boundClosely(b *nodeBound, short []int64) bool {
	if !d.boundNode(b, short) || d.best.found && d.beaten(b) {
		return false
	}
	if !d.sift(b.node) {
		return true
	}
	// Fewer tasks never make a bound lower.
	*b = nodeBound{node: b.node}
	return d.boundNode(b, short)
}
