package victims

import (
	"sync"
	"sync/atomic"
)

// settling is what makes the digests of nodes anew once for all planners that
// decide at the same time. Decisions write nothing else of a cluster.
type settling struct {
	// settled is true if stale is empty. It is false only if a change, of
	// which there is one at a time, or the holder of the lock has made it so.
	settled atomic.Bool
	mu      sync.Mutex
	stale   []NodeID // the nodes whose gauge is not fresh, each once
}

// stale notes a node whose gauge has just become stale. It is part of a change.
func (c *Cluster) stale(n NodeID) {
	c.settling.stale = append(c.settling.stale, n)
	c.settling.settled.Store(false)
}

// settle makes the digests of all nodes anew that have changed since. Each
// decision calls it before it looks at a digest. For all but the first one after
// a change it costs the look at a flag.
func (c *Cluster) settle() {
	s := &c.settling
	if s.settled.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.stale {
		c.refresh(n)
	}
	s.stale = s.stale[:0]
	s.settled.Store(true)
}

// copyDigest makes the digests of c a copy of those of from. For a node that c
// has no memory for it leaves the work to the next decision: many copies are
// never decided over. Decisions over from may run at the same time.
func (c *Cluster) copyDigest(from *Cluster) {
	from.settling.mu.Lock()
	defer from.settling.mu.Unlock()
	to, g := c.digest.blocks(), from.digest.blocks()
	for i := range g {
		*to[i] = reuse(*to[i], *g[i])
	}
	c.digest.gauges = reuse(c.digest.gauges, from.digest.gauges)
	c.digest.latest = reuse(c.digest.latest, from.digest.latest)
	c.digest.nodes = resized(c.digest.nodes, len(from.digest.nodes))
	c.settling.stale = c.settling.stale[:0]
	for n := range c.digest.nodes {
		gauge := &c.digest.gauges[n]
		gauge.fresh = gauge.fresh && c.digest.nodes[n].copyFrom(&from.digest.nodes[n])
		if !gauge.fresh {
			c.settling.stale = append(c.settling.stale, NodeID(n))
		}
	}
	c.settling.settled.Store(len(c.settling.stale) == 0)
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
