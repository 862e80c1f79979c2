// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Order is the order in which the tasks of a leaf are taken.
type Order string

const (
	// YoungestFirst is the order of [victims.Traits.Compare].
	YoungestFirst Order = ""
	// ClosestMatch takes tasks with exactly the types of the target first, then those with the fewest others,
	// then by YoungestFirst.
	ClosestMatch Order = "closest-match"
	// Pack takes the tasks of one node after another. First comes the node whose candidates have the largest
	// dominant share of what is still to be freed; ties by penalty, then node order. Inside a node it is
	// YoungestFirst.
	Pack Order = "pack"
	// Fewest has the fewest tasks of each leaf stop that free what those by YoungestFirst do, or as few as are found.
	// No more originators stop, none of a higher priority, and no more that opted out. They are larger and mostly
	// older. About a third fewer stop if a tenth is to be freed. It takes two to ten times as long.
	Fewest Order = "fewest"
	// FewestOfAll does so of each leaf and then of all together, which may give other amounts than their parts. It
	// takes some two times as long.
	FewestOfAll Order = "fewest-of-all"
)

var orders = []Order{YoungestFirst, ClosestMatch, Pack, Fewest, FewestOfAll}

// The order of tasks is that of victims.Traits, packed into two numbers that most comparisons
// decide by: order and age. In order stand, from the lowest bit on, opting out,
// priority and originators. Above them stands the place of the node, with Pack,
// or how well the types match, with ClosestMatch. An order of the caller takes
// the place of all that is below.
const (
	placeShift   = 34
	inexactShift = 41
)

// orderOf packs what the order of tasks looks at before their age.
func (x *enforcement) orderOf(t *victims.Task) (order uint64) {
	if x.e.CompareTasks == nil {
		order = uint64(int64(t.Priority) - math.MinInt32)
		if t.Originator {
			order |= 1 << 32
		}
		order <<= 1
		if t.OptedOut {
			order |= 1
		}
	}
	if x.e.Order == ClosestMatch {
		exact, others := x.match(t.Size)
		if order |= uint64(others) << placeShift; !exact {
			order |= 1 << inexactShift
		}
	}
	return order
}

// match reports whether a size has exactly the types of the target, and how
// many types it has beside them.
func (x *enforcement) match(size resources.Vector) (exact bool, others int) {
	has := resources.Positive(size)
	return has == x.wanted, bits.OnesCount64(uint64(has &^ x.wanted))
}

// ageOf returns a number that is lower for younger tasks. If it is not known when
// a task was created, it is the oldest.
func ageOf(t *victims.Task) int64 {
	if t.Created.IsZero() {
		return math.MaxInt64
	}
	return ^t.Created.UnixNano()
}

// compare orders tasks. It is negative if i is taken before j, and never 0 for two
// tasks. Mostly order and age decide: what is left is "then smaller, key".
func (x *enforcement) compare(i, j int32) int {
	a, b := x.task(i), x.task(j)
	if a.order != b.order {
		return cmp.Compare(a.order, b.order)
	}
	if a.age != b.age {
		return cmp.Compare(a.age, b.age)
	}
	if x.e.CompareTasks != nil {
		if c := x.e.CompareTasks(&x.roster.own[i], &x.roster.own[j]); c != 0 {
			return c
		}
	} else if a, b := x.size(i), x.size(j); !slices.Equal(a, b) {
		capacity := x.c.Capacity()
		if c := resources.DominantShare(a, capacity).Compare(resources.DominantShare(b, capacity)); c != 0 {
			return c
		}
	}
	return strings.Compare(x.key(i), x.key(j))
}

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
func (x *enforcement) pack(w queue.ID, open resources.Vector) {
	k, row := &x.packer, x.at(w)
	k.rows = k.rows[:0]
	for i := row.first; i < row.end; i++ {
		if !x.task(i).taken {
			k.rows = append(k.rows, i)
		}
	}
	x.meter.Pay(int64(len(k.rows)))
	x.placeNodes()
	slices.SortFunc(k.rows, func(i, j int32) int {
		return cmp.Or(cmp.Compare(k.place[x.nodeOf(i)], k.place[x.nodeOf(j)]), cmp.Compare(i, j))
	})
	x.group(open)
	// Groups are in node order, which decides between equal ones.
	slices.SortStableFunc(k.groups, func(a, b packGroup) int {
		return cmp.Or(b.share.Compare(a.share), cmp.Compare(a.rank, b.rank))
	})
	for _, g := range k.groups {
		for _, i := range k.rows[g.first:g.end] {
			x.task(i).order = x.task(i).order&(1<<placeShift-1) | uint64(row.packed)<<placeShift
		}
		row.packed++
	}
}

// group makes a group of each run of rows on one node, with its share of what
// is open.
func (x *enforcement) group(open resources.Vector) {
	k := &x.packer
	k.groups = k.groups[:0]
	k.sum = rows.Zeros(k.sum, x.types)
	sum := k.sum
	for first := 0; first < len(k.rows); {
		node, end := x.nodeOf(k.rows[first]), first
		clear(sum)
		for ; end < len(k.rows) && x.nodeOf(k.rows[end]) == node; end++ {
			size := x.size(k.rows[end])
			for _, t := range x.list {
				if open[t] > 0 {
					sum[t] += size[t]
				}
			}
		}
		k.groups = append(k.groups, packGroup{
			first: int32(first), end: int32(end),
			share: resources.DominantShare(sum, open), rank: x.c.NodeView(node).Penalty,
		})
		first = end
	}
}

// nodeOf returns the node of a task.
func (x *enforcement) nodeOf(i int32) victims.NodeID { return x.c.NodeOf(x.task(i).id) }

// placeNodes numbers the nodes in node order, once in an enforcement. Closed
// nodes are not in node order, and may have tasks: they come after it, by name.
func (x *enforcement) placeNodes() {
	k := &x.packer
	if len(k.place) > 0 {
		return
	}
	n := int32(0)
	for node := range x.c.Nodes() {
		k.set(node, n)
		n++
	}
	k.closed = x.c.ClosedNodes(k.closed[:0])
	slices.SortFunc(k.closed, func(a, b victims.NodeID) int {
		return cmp.Compare(x.c.NodeView(a).Name, x.c.NodeView(b).Name)
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
