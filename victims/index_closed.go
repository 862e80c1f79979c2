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
func (x *nodeTable) Closed(id NodeID) bool { return x.nodeOf(id).closed() }

// ClosedNodes appends the closed nodes to dst, in the order of their rows.
func (x *nodeTable) ClosedNodes(dst []NodeID) []NodeID {
	// Mostly there is none, and then no node is looked at.
	if len(x.order)+len(x.freeNodes) == len(x.nodes) {
		return dst
	}
	for id := range x.nodes {
		if n := &x.nodes[id]; n.live && n.closed() {
			dst = append(dst, NodeID(id))
		}
	}
	return dst
}

// UnknownUsage sets dst to what is used on a node by tasks that the cluster could
// not take, and returns it; see [Cluster.SyncNode].
func (x *nodeTable) UnknownUsage(dst resources.Vector, id NodeID) resources.Vector {
	dst = resources.Copy(dst, x.row(x.capacity, id)) // for its length
	clear(dst)
	copy(dst, x.nodeOf(id).unknown)
	return dst
}

// hide takes a node that is about to be closed out of what planners see.
//
// Its capacity moves to the hidden sum, for the range of all capacities is
// checked over both.
func (x *nodeTable) hide(id NodeID) {
	i := x.orderIndex(id)
	x.order = slices.Delete(x.order, i, i+1)
	x.open[id] = false
	for t, v := range x.row(x.capacity, id) {
		x.total[t] -= v
		x.hidden[t] += v
	}
}

// show puts a node that is not closed any more back in its place in node order.
func (x *nodeTable) show(id NodeID) {
	x.order = slices.Insert(x.order, x.orderIndex(id), id)
	x.open[id] = x.nodes[id].isOpen()
	for t, v := range x.row(x.capacity, id) {
		x.total[t] += v
		x.hidden[t] -= v
	}
}

// orderIndex returns where in node order a node is, or belongs.
func (x *nodeTable) orderIndex(id NodeID) int {
	// Numbers grow with the order of adding and are never given twice, so a
	// node that opens again is where it was.
	i, _ := slices.BinarySearchFunc(x.order, x.nodes[id].seq, func(n NodeID, seq uint64) int {
		return cmp.Compare(x.nodes[n].seq, seq)
	})
	return i
}

// leaveNode forgets a node that is not there once nothing is left on it.
func (x *nodeTable) leaveNode(id NodeID) {
	n := &x.nodes[id]
	// What is still there needs the row: tasks name it, and unknown usage
	// belongs to tasks that may come back.
	if !n.absent || len(n.tasks) > 0 || n.blind || n.unknown != nil {
		return
	}
	delete(x.nodeIDs, n.name)
	*n = nodeRow{tasks: n.tasks}
	x.freeNodes = append(x.freeNodes, id)
}

// setUnknown replaces the unknown usage of a node. The new one is kept, and nil
// if there is none.
func (x *nodeTable) setUnknown(id NodeID, v resources.Vector) {
	n := &x.nodes[id]
	present, coming := x.row(x.present, id), x.row(x.coming, id)
	for t := range present {
		// Nobody may plan into what is used by tasks that could not be told.
		more := v.At(t) - n.unknown.At(t)
		x.unknown[t] += more
		present[t] -= more
		coming[t] -= more
	}
	n.unknown = v
}
