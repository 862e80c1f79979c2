// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"sync"
	"sync/atomic"

	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A digest sums up, node by node, the tasks that may be victims of some ask, so
// that a decision can tell most nodes apart without looking at their tasks.
//
// It does so at two depths. The sums and extremes are dense blocks, a few
// numbers per node next to those of the next node: the pass over all nodes reads
// them alone. The lanes are for the few nodes that are left. Tasks of one lane
// differ in nothing that decides before their work, and real nodes run many
// tasks of few kinds. So a node with forty tasks has three or four lanes, and a
// bound, a count or a refusal costs as many steps instead of forty. Leaves are no
// part of a lane: whom law 2 and fences keep depends on the ask, and the digest
// serves all asks.
//
// A change of a task only takes note that its node has changed. The digests of
// those nodes are made anew when a decision next needs digests: between two
// decisions few nodes change. See settle.
type digest struct {
	digestRows
	dealt [][]dealtTask // by lane; scratch of refresh
	// By node, a number that tells its digest from all that it had before, and the
	// largest one given so far: what is derived from a digest can be kept with it.
	made  []uint64
	stamp uint64
	settling
}

// digestRows are what a digest knows, a row per node.
type digestRows struct {
	// Blocks of one amount per node and type, over the node's evictable tasks. The
	// first is over those alone that have the least priority, did not opt out and
	// are no originators.
	lowest  []int64 // the sum over those
	all     []int64 // the sum over all
	largest []int64
	least   []int64

	gauges []gauge
	latest []int64 // when the last of the tasks were scheduled, the last first: numLatest instants
	nodes  []nodeDigest
}

// A gauge is what tells of most nodes that they need no closer look.
type gauge struct {
	fresh                    bool // false for a node of settling.stale
	minPriority, maxPriority int32
	evictable                int32 // so many of its tasks are
	// Some of its evictable tasks are in a job, or in a budget.
	jobs, budgets bool
	// None of its evictable tasks opted out or is an originator, and all are of one priority.
	uniform bool
}

// nodeDigest is what a digest knows of a node besides sums.
type nodeDigest struct {
	// The evictable tasks, lane by lane, and for each when it was scheduled and
	// its leaf.
	ids    []TaskID
	times  []int64
	leaves []queue.ID
	lanes  []lane
	sizes  []int64 // one amount per lane and type
}

// size returns the size of the tasks of lane i, of so many types. It is that of
// the table of tasks, copied to lie next to those of the other lanes.
func (d *nodeDigest) size(i, types int) resources.Vector {
	return rows.At(d.sizes, i, types)
}

// A lane is a number of tasks of a node that are alike in size, priority, own
// cost and flags: ids[first:end]. Of them those that lose the least work come first,
// then those of the smallest key. Lanes are in the order in which their tasks
// cost more and more.
type lane struct {
	first, end int32
	priority   int32
	flags      flags // flagOptedOut and flagOriginator
}

// tasks returns the number of its tasks.
func (l *lane) tasks() int64 { return int64(l.end - l.first) }

// blocks are the amounts per node and type.
func (g *digestRows) blocks() [4]*[]int64 {
	return [...]*[]int64{&g.lowest, &g.all, &g.largest, &g.least}
}

func (g *digestRows) addNode(types int) {
	g.addSums(types)
	g.nodes = append(g.nodes, nodeDigest{})
}

// addSums adds the row of a node, but for its lanes.
func (g *digestRows) addSums(types int) {
	for _, block := range g.blocks() {
		*block = rows.More(*block, types)
	}
	g.gauges = append(g.gauges, gauge{})
	g.latest = append(g.latest, make([]int64, numLatest)...)
}

// refresh makes the digest of a node anew from the list of its tasks. The cost is
// that of sorting them.
func (g *digest) refresh(n NodeID, tasks []TaskID, x *taskTable) {
	gauge, d := &g.gauges[n], &g.nodes[n]
	gauge.fresh, gauge.jobs, gauge.budgets = true, false, false
	// Whoever kept something of the digest before sees by this that it is void.
	g.stamp++
	g.made[n] = g.stamp
	g.dealt = g.dealt[:0]
	count := 0
	for _, id := range tasks {
		if r := &x.tasks[id]; r.evictable() {
			count++
			g.deal(id, x)
			gauge.jobs = gauge.jobs || r.job != 0
			gauge.budgets = gauge.budgets || x.budgetSet.at(int(id)) != 0
		}
	}
	g.sortLanes(x)
	d.ids, d.times, d.leaves = slices.Grow(d.ids[:0], count), slices.Grow(d.times[:0], count), slices.Grow(d.leaves[:0], count)
	d.lanes, d.sizes = slices.Grow(d.lanes[:0], len(g.dealt)), slices.Grow(d.sizes[:0], len(g.dealt)*x.types)
	for _, dealt := range g.dealt {
		first, r := int32(len(d.ids)), &x.tasks[dealt[0].id]
		for _, t := range dealt {
			d.ids, d.times, d.leaves = append(d.ids, t.id), append(d.times, t.newest), append(d.leaves, x.tasks[t.id].leaf)
		}
		d.lanes = append(d.lanes, lane{first, int32(len(d.ids)), r.priority, r.flags & costFlags})
		d.sizes = append(d.sizes, x.size(dealt[0].id)...)
	}
	g.sumUp(n, x.types)
}

// A dealtTask is a task of a node with the instant from which its work is lost.
type dealtTask struct {
	newest int64
	id     TaskID
}

// mostDealt is up to how many lanes tasks are dealt out.
const mostDealt = 16

// deal adds a task to its lane. Nodes mostly run tasks of few kinds: to look for the lane
// takes fewer comparisons than to sort tasks one by one. If there are many lanes already,
// each further task begins one, and sortLanes joins them.
func (g *digest) deal(id TaskID, x *taskTable) {
	at := len(g.dealt)
	if at <= mostDealt {
		for at = 0; at < len(g.dealt) && !x.areAlike(g.dealt[at][0].id, id); at++ {
		}
	}
	if at == len(g.dealt) {
		g.dealt = rows.Next(g.dealt)
		g.dealt[at] = g.dealt[at][:0]
	}
	g.dealt[at] = append(g.dealt[at], dealtTask{x.newest(id), id})
}

// sortLanes sorts lanes, joins those that are one, and sorts the tasks of each.
func (g *digest) sortLanes(x *taskTable) {
	slices.SortFunc(g.dealt, func(a, b []dealtTask) int { return x.compareLanes(a[0].id, b[0].id) })
	lanes := 0
	for i, dealt := range g.dealt {
		if last := lanes - 1; i > 0 && x.compareLanes(g.dealt[last][0].id, dealt[0].id) == 0 {
			g.dealt[last] = append(g.dealt[last], dealt...)
			continue
		}
		g.dealt[lanes], g.dealt[i] = dealt, g.dealt[lanes] // its memory stays
		lanes++
	}
	g.dealt = g.dealt[:lanes]
	for _, dealt := range g.dealt {
		slices.SortFunc(dealt, x.compareInLane)
	}
}

// compareInLane orders tasks of a lane: those first that lose the least work, then by key.
func (x *taskTable) compareInLane(a, b dealtTask) int {
	if a.newest != b.newest {
		return cmp.Compare(b.newest, a.newest)
	}
	return strings.Compare(x.tasks[a.id].key, x.tasks[b.id].key)
}

// costFlags are the flags that are part of the cost of a task.
const costFlags = flagOptedOut | flagOriginator

// compareLanes orders tasks of a node by what makes a lane.
func (x *taskTable) compareLanes(a, b TaskID) int {
	s, t := &x.tasks[a], &x.tasks[b]
	if s.flags&costFlags != t.flags&costFlags {
		return cmp.Or(falseFirst(s.flags.has(flagOptedOut), t.flags.has(flagOptedOut)), falseFirst(s.flags.has(flagOriginator), t.flags.has(flagOriginator)))
	}
	if s.priority != t.priority {
		return cmp.Compare(s.priority, t.priority)
	}
	if v, w := x.lossOf(a), x.lossOf(b); v != w {
		l, m := v.Levels(), w.Levels()
		return slices.Compare(l[:], m[:])
	}
	return slices.Compare(x.size(a), x.size(b))
}

// areAlike reports whether two tasks of a node are of one lane. Sizes tell most of them apart.
func (x *taskTable) areAlike(a, b TaskID) bool {
	return slices.Equal(x.size(a), x.size(b)) && x.compareLanes(a, b) == 0
}

// sumUp computes the sums and extremes of a node from its lanes.
func (g *digestRows) sumUp(n NodeID, types int) {
	d, row := &g.nodes[n], int(n)
	lowest, all := rows.At(g.lowest, row, types), rows.At(g.all, row, types)
	largest, least := rows.At(g.largest, row, types), rows.At(g.least, row, types)
	for _, block := range []resources.Vector{lowest, all, largest, least} {
		clear(block)
	}
	gauge := &g.gauges[n]
	gauge.minPriority, gauge.maxPriority, gauge.evictable = math.MaxInt32, math.MinInt32, int32(len(d.ids))
	latest := g.latest[row*numLatest : row*numLatest : (row+1)*numLatest]
	for i := range d.lanes {
		l := &d.lanes[i]
		gauge.minPriority = min(gauge.minPriority, l.priority)
		gauge.maxPriority = max(gauge.maxPriority, l.priority)
		latest = rows.InsertFalling(latest, numLatest, d.times[l.first:l.end])
		for t, v := range d.size(i, types) {
			all[t] += v * l.tasks()
			largest[t] = max(largest[t], v)
			if i == 0 || v < least[t] {
				least[t] = v
			}
		}
	}
	for len(latest) < numLatest {
		latest = append(latest, math.MinInt64)
	}
	gauge.uniform = true
	for i := range d.lanes {
		l := &d.lanes[i]
		if l.flags != 0 || l.priority != gauge.minPriority {
			gauge.uniform = false
			break // lanes of the others come after them
		}
		for t, v := range d.size(i, types) {
			lowest[t] += v * l.tasks()
		}
	}
}

// numLatest is how many instants a row of digestRows.latest has. If the node has
// fewer tasks, the others are the farthest past. Any value between 1 and 16 leads
// to the same searches on the plain load of bench. With more of them, more nodes
// are passed over before their lanes are read.
const numLatest = 12

// settling is what makes the digests of nodes anew once for all planners that
// decide at the same time. Decisions write nothing else of a cluster.
type settling struct {
	// settled is true if staleNodes is empty. It is false only if a change, of
	// which there is one at a time, or the holder of the lock has made it so.
	settled    atomic.Bool
	mu         sync.Mutex
	staleNodes []NodeID // the nodes whose gauge is not fresh, each once
}

// stale notes a node whose gauge has just become stale. It is part of a change.
//
// Only changes call it, and no decision runs beside a change: no lock is needed
// here.
func (g *digest) stale(n NodeID) {
	g.staleNodes = append(g.staleNodes, n)
	g.settled.Store(false)
}

// touch notes that the tasks of a node have changed. Its digest is made anew when a
// decision next needs it; see settle.
func (g *digest) touch(n NodeID) {
	// Each node is in the list once, however often its tasks change before the
	// next decision.
	if gauge := &g.gauges[n]; gauge.fresh {
		gauge.fresh = false
		g.stale(n)
	}
}

// settle makes the digests of all nodes anew that have changed; see
// index.settle.
func (g *digest) settle(nodes *nodeTable, tasks *taskTable) {
	// Planners may come here at the same time. The flag alone is read by all
	// but those that come first after a change.
	if g.settled.Load() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	// Another planner may have done it while this one waited: then none is stale.
	for _, n := range g.staleNodes {
		g.refresh(n, nodes.nodes[n].tasks, tasks)
	}
	g.staleNodes = g.staleNodes[:0]
	g.settled.Store(true)
}

// newNode adds a node, which has no digest yet.
func (g *digest) newNode(types int) {
	g.addNode(types)
	g.made = append(g.made, 0)
}

// reset makes all digests anew when a decision next needs them, for so many nodes
// and types.
func (g *digest) reset(nodes, types int) {
	for _, block := range g.blocks() {
		*block = nil
	}
	g.gauges, g.latest, g.nodes, g.made = nil, nil, nil, nil
	g.staleNodes = g.staleNodes[:0]
	for n := range nodes {
		g.newNode(types)
		g.stale(NodeID(n))
	}
}

// copyFrom makes g a copy of h. For a node that g has no memory for it leaves
// the work to the next decision: many copies are never decided over. Decisions
// over what h sums up may run at the same time.
func (g *digest) copyFrom(h *digest) {
	// Another planner may be settling what is copied.
	h.mu.Lock()
	defer h.mu.Unlock()
	to, from := g.blocks(), h.blocks()
	for i := range from {
		*to[i] = reuse(*to[i], *from[i])
	}
	g.gauges = reuse(g.gauges, h.gauges)
	g.latest = reuse(g.latest, h.latest)
	g.nodes = resized(g.nodes, len(h.nodes))
	g.made = resized(g.made, len(h.nodes))
	g.stamp++ // whatever was derived from what was here is void
	g.staleNodes = g.staleNodes[:0]
	for n := range g.nodes {
		gauge := &g.gauges[n]
		g.made[n] = g.stamp
		// A copy that is to be decided over makes its digests then. To allocate
		// them here would cost as much as all the rest of a copy.
		gauge.fresh = gauge.fresh && g.nodes[n].copyFrom(&h.nodes[n])
		if !gauge.fresh {
			g.staleNodes = append(g.staleNodes, NodeID(n))
		}
	}
	g.settled.Store(len(g.staleNodes) == 0)
}

// copyFrom makes d a copy of e if it has the memory, and reports whether it has.
func (d *nodeDigest) copyFrom(e *nodeDigest) bool {
	if cap(d.ids) < len(e.ids) || cap(d.times) < len(e.times) || cap(d.leaves) < len(e.leaves) ||
		cap(d.lanes) < len(e.lanes) || cap(d.sizes) < len(e.sizes) {
		return false
	}
	d.ids, d.times, d.leaves = reuse(d.ids, e.ids), reuse(d.times, e.times), reuse(d.leaves, e.leaves)
	d.lanes, d.sizes = reuse(d.lanes, e.lanes), reuse(d.sizes, e.sizes)
	return true
}

// lawful tells of nodes without the tasks that laws keep from being victims of this ask:
// those of its own application, of leaves that give nothing, and those that rank too high.
// A digest serves all asks, so it has them all. A queue that grows has tasks of its own on
// more and more nodes, and by their amounts each of those nodes would look like one on
// which few victims are enough.
//
// What was found out of a node is kept from one decision to the next: a queue that asks again
// and again looks through the same nodes each time, and few of them have changed. What a
// decision finds does not depend on it.
type lawful struct {
	d      *decision
	needed bool       // laws keep some tasks of the cluster
	apps   bool       // the ask's application has tasks in leaves that give some
	laws   []leafLaw  // by queue
	node   NodeID     // whose lanes are left, or noNode
	left   digestRows // of that node
	kept   keptLawful
}

// A leafLaw is what keeps tasks of a leaf.
type leafLaw struct {
	veto    bool // it gives nothing
	ceiling int64
	rank    eligible.Lift
}

// keptLawful has the sums that are kept. They hold for one cluster as long as laws keep the same
// tasks, and of a node as long as its digest is the same one.
type keptLawful struct {
	of    keptFor
	epoch uint64 // the number of times that laws kept others: what was found before is void
	at    []keptNode
	rows  digestRows // without lanes, which few nodes need
	types int
}

// A keptFor is whose tasks laws keep, besides those that they keep by leaf.
type keptFor struct {
	c   *Cluster
	app int32 // the application, or -1
}

// A keptNode is what is kept of a node, and for what it holds.
type keptNode struct {
	made, epoch uint64
	row         int32 // of the sums in rows, and one; 0 if it has none yet
	known       known
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
	same := len(s.laws) == len(e.Leaves)
	s.laws, s.needed = resized(s.laws, len(e.Leaves)), !e.EvenRanks || e.OwnLeaf()
	for w := range e.Leaves {
		law := leafLaw{e.Leaves[w].Veto != 0, e.Leaves[w].Ceiling, e.Leaves[w].Rank}
		same = same && law == s.laws[w]
		s.laws[w] = law
		s.needed = s.needed || law.veto && d.c.evictable[w] > 0
	}
	// An application is mostly in one leaf. If that gives nothing anyway, no row has
	// to be read for its tasks.
	if s.apps = e.hasApp; s.apps {
		home := d.c.homes[e.app]
		s.apps = home == noLeaf || !s.laws[home].veto
	}
	s.needed = s.needed || s.apps
	if s.left.nodes == nil || len(s.left.all) != d.c.types {
		s.left = digestRows{}
		s.left.addNode(d.c.types)
	}
	of := keptFor{c: d.c, app: -1}
	if s.apps {
		of.app = e.app
	}
	if s.kept.reset(d.c); !same || of != s.kept.of {
		s.kept.of = of
		s.kept.epoch++
	}
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
	return !s.needed || !slices.ContainsFunc(digest.leaves, func(w queue.ID) bool { return s.laws[w].veto })
}

// keeps reports whether a law keeps task j of a digest, of some priority, whatever it
// frees. It is Veto for tasks that are evictable.
func (s *lawful) keeps(digest *nodeDigest, j, priority int32) bool {
	law := &s.laws[digest.leaves[j]]
	return law.veto || law.rank.Of(priority) > law.ceiling ||
		s.apps && s.d.c.tasks[digest.ids[j]].app == s.d.eligible.app
}

// reset makes room for the nodes of a cluster.
func (k *keptLawful) reset(c *Cluster) {
	if k.types != c.types {
		k.rows, k.at, k.types = digestRows{}, nil, c.types // rows of another width
	}
	k.at = append(k.at, make([]keptNode, max(0, len(c.nodes)-len(k.at)))...)
}

// note notes what was found out of the tasks of a node.
func (k *keptLawful) note(n NodeID, what known) *keptNode {
	at := &k.at[n]
	at.made, at.epoch, at.known = k.of.c.digest.made[n], k.epoch, what
	return at
}

// find returns what was found out of the tasks of a node.
func (k *keptLawful) find(n NodeID) known {
	if at := &k.at[n]; at.epoch == k.epoch && at.made == k.of.c.digest.made[n] {
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
