package jobs

import (
	"container/heap"
	"math"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// hostBlocks are runs of hosts in node order. Each has an estimate that is no more
// than that of any of its hosts, and so stands for all of them until it comes up.
//
// A job of a thousand different members asks every host a thousand times, and of
// most all that matters is that others are cheaper. Asked by blocks, 5,000 hosts
// are 79 questions, and some dozens for each block that is opened.
type hostBlocks struct {
	size   int // of a block, in hosts; 0 means blockHosts
	hosts  int
	types  int
	rows   []hostBlock
	free   []int64 // by block: the most that is free on any of its hosts
	most   []int64 // rows as host.most has them, block by block
	closed []bool
}

// A hostBlock is the least that hosts ask, and the most that they have.
type hostBlock struct {
	first, end int32 // its rows of hostBlocks.most
	rank       int64 // the lowest of a node
	sumRanks   int64 // the lowest rank of a unit, and its lowest priority
	priorities int64
}

// blockHosts is how many hosts make a block: about the root of some thousands, so
// that to ask all blocks and to open one cost as much.
const blockHosts = 64

func (x *hostBlocks) len() int { return (x.hosts + x.size - 1) / x.size }

// of returns the block of a host.
func (x *hostBlocks) of(h int32) int { return int(h) / x.size }

// hostsOf returns the hosts of a block: those from first to end.
func (x *hostBlocks) hostsOf(b int) (first, end int) {
	return b * x.size, min((b+1)*x.size, x.hosts)
}

// measure works the rows of all blocks out.
func (x *hostBlocks) measure(c *jobCase, free []int64) {
	if x.size == 0 {
		x.size = blockHosts
	}
	x.hosts, x.types = len(c.hosts), c.types
	n := x.len()
	x.rows, x.closed = rows.Zeros(x.rows, n), rows.Zeros(x.closed, n)
	x.free, x.most = rows.Zeros(x.free, n*x.types), x.most[:0]
	for b := range n {
		x.measureFree(c, free, b)
		x.measureUnits(c, b)
	}
}

// measureFree works out the most that is free on a host of a block.
func (x *hostBlocks) measureFree(c *jobCase, free []int64, b int) {
	first, end := x.hostsOf(b)
	most := c.row(x.free, b)
	copy(most, c.row(free, first))
	for h := first + 1; h < end; h++ {
		for t, v := range c.row(free, h) {
			most[t] = max(most[t], v)
		}
	}
}

// measureUnits works out what units of a block free at most and cost at least.
func (x *hostBlocks) measureUnits(c *jobCase, b int) {
	r := &x.rows[b]
	*r = hostBlock{rank: math.MaxInt64, sumRanks: math.MaxInt64, priorities: math.MaxInt64}
	r.first = int32(len(x.most) / x.types)
	first, end := x.hostsOf(b)
	for i := first; i < end; i++ {
		h := &c.hosts[i]
		r.rank = min(r.rank, h.rank)
		if h.first == h.end {
			continue
		}
		r.sumRanks = min(r.sumRanks, h.least[victims.LevelRank])
		r.priorities = min(r.priorities, h.least[victims.LevelPriority])
		have := x.most[int(r.first)*x.types:]
		for at, v := range h.most[:min(len(have), len(h.most))] {
			have[at] = max(have[at], v)
		}
		x.most = append(x.most, h.most[min(len(have), len(h.most)):]...)
	}
	r.end = int32(len(x.most) / x.types)
}

// least returns sums that no host of a block goes below for one more member of a
// kind, as [roomer.least] estimates them. It reports false if none can take it.
//
// A host that makes do with n units is no better than the block: what is free there
// and what n units free is no more than the block's. So n do for the block, too.
func (x *hostBlocks) least(b int, k *kind) (low sums, ok bool) {
	r := &x.rows[b]
	free := x.free[b*x.types : (b+1)*x.types]
	most := x.most[int(r.first)*x.types : int(r.end)*x.types]
	units, count := int(r.end-r.first), 0
	for _, t := range k.types {
		lack := k.size[t] - free[t]
		if lack <= 0 {
			continue
		}
		count = max(count, 1)
		for count <= units && most[(count-1)*x.types+t] < lack {
			count++
		}
	}
	if count > 0 && count <= units {
		low.levels[victims.LevelVictims] = int64(count)
		low.levels[victims.LevelSumRanks] = int64(count) * r.sumRanks
		low.levels[victims.LevelSumPriorities] = int64(count) * r.priorities
	}
	low.rank = low.rank.plus(r.rank, 1)
	return low, count <= units
}

// rowOf returns the row of a block among the offers, and blockAt the block of a row.
func (x *offers) rowOf(b int) int32      { return int32(len(x.hosts) + b) }
func (x *offers) blockAt(row int32) int  { return int(row) - len(x.hosts) }
func (x *offers) isBlock(row int32) bool { return int(row) >= len(x.hosts) }

// firstOf returns the host that a row is, or the first of the block.
func (x *offers) firstOf(row int32) int32 {
	if x.isBlock(row) {
		return int32(x.blockAt(row) * x.blocks.size)
	}
	return row
}

// estimateBlock finds out what the hosts of a closed block ask at least.
func (x *offers) estimateBlock(b int) {
	o := &x.list[x.rowOf(b)]
	o.state, o.sums, o.left = impossible, sums{}, resources.Share{}
	if low, ok := x.blocks.least(b, x.kind); ok {
		o.state, o.sums = estimated, low
	}
}

// openBlock puts the hosts of a block into the heap in its place.
func (x *offers) openBlock(b int) {
	x.blocks.closed[b] = false
	heap.Remove((*offerHeap)(x), int(x.list[x.rowOf(b)].at))
	first, end := x.blocks.hostsOf(b)
	for h := int32(first); h < int32(end); h++ {
		x.list[h] = offer{at: int32(len(x.heap))}
		x.estimate(h)
		x.heap = append(x.heap, h)
		x.settle(h)
	}
}
