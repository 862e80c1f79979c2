package victims

import (
	"sync"
	"sync/atomic"
)

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

// touch notes that the tasks of a node have changed.
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
	if len(g.staleNodes) >= manyNew {
		g.room.atOnce = min(taskRoom, len(tasks.tasks))
	}
	for _, n := range g.staleNodes {
		g.refresh(n, nodes.nodes[n].tasks, tasks)
	}
	g.room = digestRoom{}
	g.staleNodes = g.staleNodes[:0]
	g.settled.Store(true)
}

// manyNew is for how many nodes there is memory made for several at once. For fewer, each
// makes its own.
const manyNew = 16

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
