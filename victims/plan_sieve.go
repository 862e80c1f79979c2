package victims

// A sieve is the digest of one node without the tasks that the laws keep from
// being victims of this ask: those of its own application, of leaves that give
// nothing, and those that rank too high. A digest serves all asks, so it has them
// all. A queue that grows has tasks of its own on more and more nodes, and by their
// amounts each of those nodes would look like one on which few victims are enough.
//
// Bounds read the sieve for its node, and the digest of the cluster for all others:
// see [bounder.digestAt].
type sieve struct {
	node   NodeID // whose tasks are sifted, or -1
	needed bool   // laws keep some tasks of the cluster
	rows   digestRows
}

// reset forgets the node, and finds out whether laws keep any tasks.
func (s *sieve) reset(d *decision) {
	if s.node, s.needed = -1, false; d.without.Rule != 0 {
		return // a trial of Explain: which laws hold is not known yet
	}
	e := &d.eligible
	s.needed = e.hasApp || !e.evenRanks
	for w := range e.leaves {
		s.needed = s.needed || e.leaves[w].veto != 0 && d.c.evictable[w] > 0
	}
	if s.rows.nodes == nil || len(s.rows.plain) != d.c.types {
		s.rows = digestRows{}
		s.rows.addNode(d.c.types)
	}
}

// digestAt returns the rows and the number of the row that tell of a node.
func (d bounder) digestAt(n NodeID) (rows *digestRows, row NodeID) {
	if n == d.sieve.node {
		return &d.sieve.rows, 0
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
	gauge := &d.c.digest.gauges[n]
	if e := &d.eligible; !d.sieve.needed && e.leastLift+int64(gauge.maxPriority) <= e.ceiling || d.without.Rule != 0 {
		return false
	}
	from, to := &d.c.digest.nodes[n], &d.sieve.rows.nodes[0]
	to.ids, to.times, to.leaves = to.ids[:0], to.times[:0], to.leaves[:0]
	to.lanes, to.sizes = to.lanes[:0], to.sizes[:0]
	d.sieve.node = -1
	for i := range from.lanes {
		l := from.lanes[i]
		first := int32(len(to.ids))
		for j := l.first; j < l.end; j++ {
			if !d.eligible.keeps(from, j, l.priority) {
				to.ids, to.times, to.leaves = append(to.ids, from.ids[j]), append(to.times, from.times[j]), append(to.leaves, from.leaves[j])
			}
		}
		if l.first, l.end = first, int32(len(to.ids)); l.end > first {
			to.lanes = append(to.lanes, l)
			to.sizes = append(to.sizes, from.size(i, d.c.types)...)
		}
	}
	if len(to.ids) == len(from.ids) {
		return false
	}
	d.sieve.rows.sumUp(0, d.c.types)
	d.sieve.node = n
	return true
}

// keeps reports whether a law keeps task j of a digest, of some priority, whatever it
// frees. It is Veto for tasks that are evictable.
func (e *Eligible) keeps(digest *nodeDigest, j, priority int32) bool {
	leaf := &e.leaves[digest.leaves[j]]
	return leaf.veto != 0 || leaf.rank.Of(priority) > leaf.ceiling || e.hasApp && e.c.tasks[digest.ids[j]].app == e.app
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
	*b = nodeBound{node: b.node}
	return d.boundNode(b, short)
}
