// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
)

// lawful tells of nodes without the tasks that laws keep from being victims of this ask:
// those of its own application, of leaves that give nothing, and those that rank too high.
// A digest serves all asks, so it has them all. A queue that grows has tasks of its own on
// more and more nodes, and by their amounts each of those nodes would look like one on
// which few victims are enough.
//
// What was found out of a node is kept as long as the same tasks are candidates.
type lawful struct {
	d      *decision
	needed bool       // laws keep some tasks of the cluster
	apps   bool       // the ask's application has tasks in leaves that give some
	vetoes []bool     // by queue: the leaf gives nothing
	node   NodeID     // whose lanes are left, or noNode
	left   digestRows // of that node
	kept   keptLawful
}

// keptLawful has the sums that are kept.
type keptLawful struct {
	epoch uint64 // the number of times that candidates were others: what was found before is void
	at    []keptNode
	rows  digestRows // without lanes, which few nodes need
	types int
}

// A keptNode is what is kept of a node, and for what it holds.
type keptNode struct {
	epoch uint64
	row   int32 // of the sums in rows, and one; 0 if it has none yet
	known known
}

// A known says what was found out of the tasks of a node.
type known uint8

const (
	notKnown  known = iota
	keepsNone       // the digest tells all
	keepsSome       // there are sums of those that the laws let go
)

// reset forgets the node, and finds out whether laws keep any tasks.
func (s *lawful) reset(d *decision) {
	s.d, s.node, s.needed = d, noNode, false
	if d.without.Rule != "" {
		return // a trial of Explain: which laws hold is not known yet
	}
	e := &d.eligible
	s.vetoes, s.needed = slices.Grow(s.vetoes[:0], len(e.Leaves)), !e.EvenRanks || e.OwnLeaf()
	for w := range e.Leaves {
		s.vetoes = append(s.vetoes, e.Leaves[w].Veto != 0)
		s.needed = s.needed || s.vetoes[w] && d.c.evictable[w] > 0
	}
	// An application is mostly in one leaf. If that gives nothing anyway, no row has
	// to be read for its tasks.
	if s.apps = e.hasApp; s.apps {
		home := d.c.homes[e.app]
		s.apps = home == noLeaf || !s.vetoes[home]
	}
	s.needed = s.needed || s.apps
	if s.left.nodes == nil || len(s.left.all) != d.c.types {
		s.left = digestRows{}
		s.left.addNode(d.c.types)
	}
	s.kept.reset(d.c)
}

// sums returns the rows and the number of the row that have the sums of a node. They have
// no lanes.
func (s *lawful) sums(n NodeID) (of *digestRows, row NodeID) {
	digest := &s.d.c.digest.digestRows
	if s.d.without.Rule != "" || !s.needed && s.letsHighest(n) {
		return digest, n
	}
	known := s.kept.find(n)
	if known == notKnown {
		if known = keepsNone; s.restrict(n) {
			known = keepsSome
		}
	}
	if known == keepsSome {
		return &s.kept.rows, NodeID(s.kept.at[n].row - 1)
	}
	return digest, n
}

// lanes returns the lanes of a node.
func (s *lawful) lanes(n NodeID) *nodeDigest {
	if s.d.without.Rule == "" && s.restrict(n) {
		return &s.left.nodes[0]
	}
	return &s.d.c.digest.nodes[n]
}

// letsHighest reports whether law 6 lets the tasks of the highest priority of a node go.
func (s *lawful) letsHighest(n NodeID) bool {
	e := &s.d.eligible
	return e.EvenRanks && e.LeastRank(s.d.c.digest.gauges[n].maxPriority) <= e.Ceiling
}

// restrict makes what is left that of a node, and reports whether it has fewer tasks than the
// digest.
func (s *lawful) restrict(n NodeID) bool {
	if n == s.node {
		return true
	}
	from, to := &s.d.c.digest.nodes[n], &s.left.nodes[0]
	switch s.kept.find(n) {
	case keepsNone:
		return false
	case notKnown:
		if s.letsAll(n, from) {
			s.kept.note(n, keepsNone)
			return false
		}
	}
	// In the order of the digest, so that lanes stay sorted.
	to.ids, to.times, to.leaves = to.ids[:0], to.times[:0], to.leaves[:0]
	to.lanes, to.sizes = to.lanes[:0], to.sizes[:0]
	s.node = noNode
	for i := range from.lanes {
		l := from.lanes[i]
		first := int32(len(to.ids))
		for j := l.first; j < l.end; j++ {
			if !s.keeps(from, j, l.priority) {
				to.ids, to.times, to.leaves = append(to.ids, from.ids[j]), append(to.times, from.times[j]), append(to.leaves, from.leaves[j])
			}
		}
		if l.first, l.end = first, int32(len(to.ids)); l.end > first {
			to.lanes = append(to.lanes, l)
			to.sizes = append(to.sizes, from.size(i, s.d.c.types)...)
		}
	}
	if len(to.ids) == len(from.ids) {
		s.kept.note(n, keepsNone)
		return false // it was no more than possible
	}
	s.left.sumUp(0, s.d.c.types)
	s.kept.keep(n, &s.left)
	s.node = n
	return true
}

// letsAll reports whether it is certain that laws let all tasks of a node go.
func (s *lawful) letsAll(n NodeID, digest *nodeDigest) bool {
	// An equal one is kept in the own leaf.
	if s.apps || s.d.eligible.OwnLeaf() || !s.letsHighest(n) {
		return false
	}
	// One look at each task, and nothing is copied: most nodes have none that are kept.
	return !s.needed || !slices.ContainsFunc(digest.leaves, func(w queue.ID) bool { return s.vetoes[w] })
}

// keeps reports whether a law keeps task j of a digest, of some priority, whatever it
// frees. It is Veto for tasks that are evictable.
func (s *lawful) keeps(digest *nodeDigest, j, priority int32) bool {
	w, e := digest.leaves[j], &s.d.eligible
	return s.vetoes[w] || e.Leaves[w].Rank.Of(priority) > e.Leaves[w].Ceiling ||
		s.apps && s.d.c.tasks[digest.ids[j]].app == e.app
}

// reset forgets what was found.
func (k *keptLawful) reset(c *Cluster) {
	if k.types != c.types {
		k.rows, k.at, k.types = digestRows{}, nil, c.types // rows of another width
	}
	k.epoch++
	k.at = append(k.at, make([]keptNode, max(0, len(c.nodes)-len(k.at)))...)
}

// note notes what was found out of the tasks of a node.
func (k *keptLawful) note(n NodeID, what known) *keptNode {
	at := &k.at[n]
	at.epoch, at.known = k.epoch, what
	return at
}

// find returns what was found out of the tasks of a node.
func (k *keptLawful) find(n NodeID) known {
	if at := &k.at[n]; at.epoch == k.epoch {
		return at.known
	}
	return notKnown
}

// keep keeps the sums of a node that has just been looked through.
func (k *keptLawful) keep(n NodeID, from *digestRows) {
	at := k.note(n, keepsSome)
	// A node that is looked through again, under whatever laws, has its row again: a planner
	// at work for long allocates no more.
	if at.row == 0 {
		k.rows.addSums(k.types)
		at.row = int32(len(k.rows.gauges))
	}
	row, blocks := int(at.row-1), from.blocks()
	for i, block := range k.rows.blocks() {
		copy(rows.At(*block, row, k.types), *blocks[i])
	}
	k.rows.gauges[row] = from.gauges[0]
	copy(k.rows.latest[row*numLatest:][:numLatest], from.latest)
}
