package quota

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// packer puts nodes in order for [Pack], in memory that walks reuse.
type packer struct {
	rows   []int32 // the tasks that may be taken, node by node
	groups []packGroup
	place  []int32 // of each node in node order, by NodeID
}

// packGroup is the tasks of a leaf on one node: rows[first:end].
type packGroup struct {
	first, end int32
	share      resources.Share // of what is open
}

// packShift is where the place of a node stands in the order of a task: before
// all that DefaultOrder looks at.
const packShift = 34

// pack gives the tasks of leaf w that are not taken yet the places of their
// nodes, for the walk that comes. Places go on from those of earlier walks, so
// that the order of taking is the order of places. The cost is that of sorting
// the tasks and nodes of the leaf.
func (x *enforcement) pack(w queue.ID) {
	k, row := &x.packer, x.at(w)
	k.rows = k.rows[:0]
	for i := row.first; i < row.end; i++ {
		if !x.taken[i] {
			k.rows = append(k.rows, i)
		}
	}
	x.placeNodes()
	slices.SortFunc(k.rows, func(i, j int32) int {
		return cmp.Or(cmp.Compare(k.place[x.tasks[i].node], k.place[x.tasks[j].node]), cmp.Compare(i, j))
	})
	x.group(w)
	// Groups are in node order, which decides between equal ones.
	slices.SortStableFunc(k.groups, func(a, b packGroup) int { return b.share.Compare(a.share) })
	for _, g := range k.groups {
		for _, i := range k.rows[g.first:g.end] {
			x.tasks[i].order = x.tasks[i].order&(1<<packShift-1) | uint64(row.packed)<<packShift
		}
		row.packed++
	}
}

// group makes a group of each run of rows on one node, with its share of what
// leaf w still has to free.
func (x *enforcement) group(w queue.ID) {
	k, open := &x.packer, x.open(w)
	k.groups = k.groups[:0]
	sum := x.scratch
	for first := 0; first < len(k.rows); {
		node, end := x.tasks[k.rows[first]].node, first
		clear(sum)
		for ; end < len(k.rows) && x.tasks[k.rows[end]].node == node; end++ {
			size := x.size(k.rows[end])
			for _, t := range x.list {
				if open[t] > 0 {
					sum[t] += size[t]
				}
			}
		}
		k.groups = append(k.groups, packGroup{
			first: int32(first), end: int32(end), share: resources.DominantShare(sum, open),
		})
		first = end
	}
}

// placeNodes numbers the nodes in node order, once in an enforcement.
func (x *enforcement) placeNodes() {
	k := &x.packer
	if len(k.place) > 0 {
		return
	}
	n := 0
	for node := range x.c.Nodes() {
		for int(node) >= len(k.place) {
			k.place = append(k.place, 0)
		}
		k.place[node] = int32(n)
		n++
	}
}
