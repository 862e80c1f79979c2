package victims

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// A closed node takes nothing: it is not in node order, its capacity is not part
// of the cluster's, and no ask can require it. Its tasks are counted in their
// queues all the same, and may go for headroom. DESIGN.md, Changes.

func (n *nodeRow) closed() bool { return n.absent || n.blind }

func (n *nodeRow) isOpen() bool {
	return !n.closed() && !n.unschedulable && n.reservedFor == ""
}

// Closed reports whether a node is closed. There are two reasons: it was removed
// before its tasks were, or is named by tasks and was not added yet; or
// [Cluster.SyncNode] met a task on it whose size is no amount.
func (c *Cluster) Closed(id NodeID) bool { return c.nodeOf(id).closed() }

// ClosedNodes appends the closed nodes to dst, in the order of their rows.
func (c *Cluster) ClosedNodes(dst []NodeID) []NodeID {
	if len(c.order)+len(c.freeNodes) == len(c.nodes) {
		return dst
	}
	for id := range c.nodes {
		if n := &c.nodes[id]; n.live && n.closed() {
			dst = append(dst, NodeID(id))
		}
	}
	return dst
}

// UnknownUsage sets dst to what is used on a node by tasks that the cluster could
// not take, and returns it; see [Cluster.SyncNode].
func (c *Cluster) UnknownUsage(dst resources.Vector, id NodeID) resources.Vector {
	dst = resources.Copy(dst, c.row(c.capacity, id)) // for its length
	clear(dst)
	copy(dst, c.nodeOf(id).unknown)
	return dst
}

// hide takes a node that is about to be closed out of what planners see.
func (c *Cluster) hide(id NodeID) {
	i := c.orderIndex(id)
	c.order = slices.Delete(c.order, i, i+1)
	c.open[id] = false
	for t, v := range c.row(c.capacity, id) {
		c.total[t] -= v
		c.hidden[t] += v
	}
}

// show puts a node that is not closed any more back in its place in node order.
func (c *Cluster) show(id NodeID) {
	c.order = slices.Insert(c.order, c.orderIndex(id), id)
	c.open[id] = c.nodes[id].isOpen()
	for t, v := range c.row(c.capacity, id) {
		c.total[t] += v
		c.hidden[t] -= v
	}
}

// orderIndex returns where in node order a node is, or belongs.
func (c *Cluster) orderIndex(id NodeID) int {
	i, _ := slices.BinarySearchFunc(c.order, c.nodes[id].seq, func(n NodeID, seq uint64) int {
		return cmp.Compare(c.nodes[n].seq, seq)
	})
	return i
}

// leaveNode forgets a node that is not there once nothing is left on it.
func (c *Cluster) leaveNode(id NodeID) {
	n := &c.nodes[id]
	if !n.absent || len(n.tasks) > 0 || n.blind || n.unknown != nil {
		return
	}
	delete(c.nodeIDs, n.name)
	*n = nodeRow{tasks: n.tasks}
	c.freeNodes = append(c.freeNodes, id)
}

// setUnknown replaces the unknown usage of a node. The new one is kept, and nil
// if there is none.
func (c *Cluster) setUnknown(id NodeID, v resources.Vector) {
	n := &c.nodes[id]
	present, coming := c.row(c.present, id), c.row(c.coming, id)
	for t := range present {
		more := v.At(t) - n.unknown.At(t)
		c.unknown[t] += more
		present[t] -= more
		coming[t] -= more
	}
	n.unknown = v
}
