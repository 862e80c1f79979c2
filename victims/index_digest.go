// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"math"
	"slices"
	"strings"

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
	sorted []sortedTask // scratch of refresh
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
	g.sorted = g.sorted[:0]
	for _, id := range tasks {
		if r := &x.tasks[id]; r.evictable() {
			g.sorted = append(g.sorted, sortedTask{x.newest(id), id})
			gauge.jobs = gauge.jobs || r.job != 0
			gauge.budgets = gauge.budgets || x.budgetSet.at(int(id)) != 0
		}
	}
	slices.SortFunc(g.sorted, x.compareDigested)
	count := len(g.sorted)
	d.ids, d.times, d.leaves = resized(d.ids, count), resized(d.times, count), resized(d.leaves, count)
	d.lanes, d.sizes = d.lanes[:0], d.sizes[:0]
	for i, t := range g.sorted {
		r := &x.tasks[t.id]
		if i == 0 || x.compareLanes(d.ids[i-1], t.id) != 0 {
			d.lanes = append(d.lanes, lane{first: int32(i), priority: r.priority, flags: r.flags & costFlags})
			d.sizes = append(d.sizes, x.size(t.id)...)
		}
		d.lanes[len(d.lanes)-1].end = int32(i + 1)
		d.ids[i], d.times[i], d.leaves[i] = t.id, t.newest, r.leaf
	}
	g.sumUp(n, x.types)
}

// A sortedTask is a task of a node with the instant from which its work is lost.
type sortedTask struct {
	newest int64
	id     TaskID
}

// compareDigested orders tasks of a node: lane by lane, and in a lane those first that lose the least work, then
// by key.
func (x *taskTable) compareDigested(a, b sortedTask) int {
	if c := x.compareLanes(a.id, b.id); c != 0 {
		return c
	}
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
	if c := cmp.Compare(x.costOf(a), x.costOf(b)); c != 0 {
		return c
	}
	if c := cmp.Compare(x.preempted.at(int(a)), x.preempted.at(int(b))); c != 0 {
		return c
	}
	return slices.Compare(x.size(a), x.size(b))
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
