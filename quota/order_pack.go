package quota

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// packer puts nodes in order for [Pack], in memory that walks reuse.
type packer struct {
	rows   []int32 // the tasks that may be taken, node by node
	groups []packGroup
	place  []int32 // of each node, by NodeID
	closed []victims.NodeID
	sum    resources.Vector
}

// packGroup is the tasks of a leaf on one node: rows[first:end].
type packGroup struct {
	first, end int32
	share      resources.Share // of what is open
	rank       int64           // of the node
}

// pack gives the tasks of leaf w that are not taken yet the places of their
// nodes, for the walk that comes and frees what is open. Places go on from those
// of earlier walks, so that the order of taking is the order of places. The cost
// is that of sorting the tasks and nodes of the leaf. (DESIGN.md, Quota: orders.)
func (r *roster) pack(w queue.ID, open resources.Vector) {
	k, row := &r.packer, r.at(w)
	k.rows = k.rows[:0]
	for i := row.first; i < row.end; i++ {
		if !r.taken[i] {
			k.rows = append(k.rows, i)
		}
	}
	r.placeNodes()
	slices.SortFunc(k.rows, func(i, j int32) int {
		return cmp.Or(cmp.Compare(k.place[r.nodeOf(i)], k.place[r.nodeOf(j)]), cmp.Compare(i, j))
	})
	r.group(open)
	// Groups are in node order, which decides between equal ones.
	slices.SortStableFunc(k.groups, func(a, b packGroup) int {
		return cmp.Or(b.share.Compare(a.share), cmp.Compare(a.rank, b.rank))
	})
	for _, g := range k.groups {
		for _, i := range k.rows[g.first:g.end] {
			r.tasks[i].order = r.tasks[i].order&(1<<placeShift-1) | uint64(row.packed)<<placeShift
		}
		row.packed++
	}
}

// group makes a group of each run of rows on one node, with its share of what
// is open.
func (r *roster) group(open resources.Vector) {
	k := &r.packer
	k.groups = k.groups[:0]
	k.sum = rows.Zeros(k.sum, r.types)
	sum := k.sum
	for first := 0; first < len(k.rows); {
		node, end := r.nodeOf(k.rows[first]), first
		clear(sum)
		for ; end < len(k.rows) && r.nodeOf(k.rows[end]) == node; end++ {
			size := r.size(k.rows[end])
			for _, t := range r.list {
				if open[t] > 0 {
					sum[t] += size[t]
				}
			}
		}
		k.groups = append(k.groups, packGroup{
			first: int32(first), end: int32(end),
			share: resources.DominantShare(sum, open), rank: r.c.NodeView(node).Rank,
		})
		first = end
	}
}

// nodeOf returns the node of a task.
func (r *roster) nodeOf(i int32) victims.NodeID { return r.c.NodeOf(r.tasks[i].id) }

// placeNodes numbers the nodes in node order, once in an enforcement. Closed
// nodes are not in node order, and may have tasks: they come after it, by name.
func (r *roster) placeNodes() {
	k := &r.packer
	if len(k.place) > 0 {
		return
	}
	n := int32(0)
	for node := range r.c.Nodes() {
		k.set(node, n)
		n++
	}
	k.closed = r.c.ClosedNodes(k.closed[:0])
	slices.SortFunc(k.closed, func(a, b victims.NodeID) int {
		return cmp.Compare(r.c.NodeView(a).Name, r.c.NodeView(b).Name)
	})
	for _, node := range k.closed {
		k.set(node, n)
		n++
	}
}

func (k *packer) set(node victims.NodeID, place int32) {
	for int(node) >= len(k.place) {
		k.place = append(k.place, 0)
	}
	k.place[node] = place
}
