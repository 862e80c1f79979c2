package victims

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// A digest sums up, node by node, the tasks that may be victims at all, so that
// a decision can tell most nodes apart without looking at their tasks. It is
// kept current as tasks come, change and go.
type digest struct {
	// Blocks of one amount per node and type.
	plain   []int64 // the sum over tasks that neither opted out nor are originators
	optedIn []int64 // the sum over tasks that did not opt out
	all     []int64 // the sum over all
	largest []int64
	least   []int64

	nodes []nodeDigest
}

// nodeDigest is what a digest knows of a node besides amounts.
type nodeDigest struct {
	tasks       int32
	minPriority int32
	loose       bool // a task has left: newest and the like may be beyond the truth

	// newest is when the last of the tasks was scheduled, and MaxInt64 where one
	// of them is not scheduled yet: that one loses no work.
	newest int64
}

func (g *digest) addNode(types int) {
	zeros := make([]int64, types)
	for _, block := range []*[]int64{&g.plain, &g.optedIn, &g.all, &g.largest, &g.least} {
		*block = append(*block, zeros...)
	}
	g.nodes = append(g.nodes, nodeDigest{})
}

func (g *digest) clone() digest {
	return digest{
		plain:   slices.Clone(g.plain),
		optedIn: slices.Clone(g.optedIn),
		all:     slices.Clone(g.all),
		largest: slices.Clone(g.largest),
		least:   slices.Clone(g.least),
		nodes:   slices.Clone(g.nodes),
	}
}

// evictable reports whether a task may be a victim of some ask at all.
func (r *taskRow) evictable() bool {
	return r.state == Running && !r.flags.has(flagRequiredNode)
}

// newest returns when a task was scheduled as nodeDigest.newest has it.
func (r *taskRow) newest() int64 {
	if !r.flags.has(flagScheduled) {
		return math.MaxInt64
	}
	return r.scheduled
}

// enter takes a task that is evictable from now on into the digest of its node.
func (c *Cluster) enter(id TaskID) {
	r := &c.tasks[id]
	size := c.size(id)
	c.sumUp(r, size, 1)
	n := &c.digest.nodes[r.node]
	n.tasks++
	c.widenDigest(r, size)
}

// leave takes a task that is evictable no longer out of the digest. The
// extremes of its node still hold, and are made exact when next they are read.
func (c *Cluster) leave(id TaskID) {
	r := &c.tasks[id]
	c.sumUp(r, c.size(id), -1)
	n := &c.digest.nodes[r.node]
	n.tasks--
	n.loose = true
}

// tighten makes the extremes of a node exact.
func (c *Cluster) tighten(node NodeID) {
	n := &c.digest.nodes[node]
	if !n.loose {
		return
	}
	*n = nodeDigest{}
	clear(c.row(c.digest.largest, node))
	clear(c.row(c.digest.least, node))
	for _, id := range c.nodes[node].tasks {
		if r := &c.tasks[id]; r.evictable() {
			n.tasks++
			c.widenDigest(r, c.size(id))
		}
	}
}

// sumUp adds a task to the sums of its node, or takes it away.
func (c *Cluster) sumUp(r *taskRow, size resources.Vector, sign int64) {
	g := &c.digest
	plain, optedIn, all := c.row(g.plain, r.node), c.row(g.optedIn, r.node), c.row(g.all, r.node)
	for t, v := range size {
		all[t] += sign * v
		if r.flags.has(flagOptedOut) {
			continue
		}
		optedIn[t] += sign * v
		if !r.flags.has(flagOriginator) {
			plain[t] += sign * v
		}
	}
}

// widenDigest makes the extremes of a node include a task, which is counted.
func (c *Cluster) widenDigest(r *taskRow, size resources.Vector) {
	n := &c.digest.nodes[r.node]
	largest, least := c.row(c.digest.largest, r.node), c.row(c.digest.least, r.node)
	if n.tasks == 1 {
		n.minPriority, n.newest = r.priority, r.newest()
		copy(largest, size)
		copy(least, size)
		return
	}
	n.minPriority = min(n.minPriority, r.priority)
	n.newest = max(n.newest, r.newest())
	for t, v := range size {
		largest[t] = max(largest[t], v)
		least[t] = min(least[t], v)
	}
}
