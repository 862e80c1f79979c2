package victims

import (
	"container/heap"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
)

// If few tasks of a node make headroom, a plan for it falls into three parts: those of
// them that go, the other victims on the node, and those elsewhere. Once the first are
// given, neither of the others has to do with the other any more: each is a cover of
// what is still lacking on its side. So a node with n such tasks is 2ⁿ pairs of covers,
// and the sum of what these take at least, each a whole number, says far more than one
// mixture of all needs.
//
// Say that a node takes seven victims, and headroom as many, and that four tasks on the
// node count for both: then a plan has ten victims at least. And if those four are small,
// six do not make up for what is missing on either side, which only a look at the pair
// tells. Both are found within some microseconds, for each cover is a search of its own in
// few dimensions.
//
// As elsewhere in a joint search this speaks of the number of victims, of plans that are
// as good as the best in the levels before that.

// A splitSearch looks at nodes in that way.
type splitSearch struct{ jointSearch }

// split is what such a search knows.
type split struct {
	heads  coverSet // what all tasks have that make headroom
	tasks  []splitTask
	rough  [2][]roughness // by dimension of others and of heads
	on     []int32        // by node: how many of its tasks make headroom
	sums   []int64        // by node and dimension of heads: what those give
	lacks  []int64        // of headroom, in all
	fewest int64          // no plan has fewer that make headroom
	gaps   []splitGap     // needs that so many heads do not cover
	like   []int32        // by hash: a row of heads, and one; 0: none
	likes  splitLikes
	plenty bool // the others are not those of a node; see learnLikes
	sifted bool // all heads are candidates
	foul   bool // some head was found to be none
	closed []NodeID

	// Of the node that is looked at:
	others coverSet
	ids    []TaskID // of the rows of others
	both   []jointItem
	out    int        // of both: one that was found to be none, or -1
	gives  [2][]int64 // by task of both and dimension: what it gives to others and heads
	short  [2][]int64 // what others and heads lack, the tasks of a pair taken off
	least  [2]int64   // how many it takes of each at least
}

// A splitTask is a task of a row of heads.
type splitTask struct {
	id           TaskID
	node         NodeID
	copy, copies int32 // how many of those before it are alike, and after the first
}

// A splitGap is a need for which so many heads are not enough.
type splitGap struct {
	need  []int64
	count int64
}

const (
	// splitMost is how many tasks of a node may make headroom for it to be split, and
	// how many a node of the sample has at most on average. With eight there are 256 pairs
	// of covers, each of which takes some ten steps if its bounds tell.
	splitMost, splitMean = 8, 4
	// splitTries is how many nodes are split as soon as their lanes were read. It is not
	// measured.
	splitTries = 16
	// splitHeads is how many tasks that make headroom are gathered at most.
	splitHeads = 1 << 14
)

// headsApply reports whether it is worth the time to gather all that make headroom: a
// look at a sample of nodes shows few of them.
//
// If they are many, most nodes have so many that there would be too many sets, and those
// on the node make headroom by themselves, so that mixtures tell.
func (d splitSearch) headsApply() bool {
	b, nodes, heads := &d.pool.joint.band, 0, 0
	for i := 0; i < len(d.c.order); i += sampleStride {
		nodes++
		for _, w := range d.c.digest.nodes[d.c.order[i]].leaves {
			if b.levels[w] != noLevel {
				heads++
			}
		}
	}
	return heads <= splitMean*nodes
}

// gather gathers the tasks that make headroom in plans that are as good as the best in
// the levels before the number of victims. It reports false if there are too many of them.
//
// Only a few rules are asked about them. If somebody is found to be no candidate, all are
// gathered anew and asked about.
func (d splitSearch) gather() bool {
	x := &d.pool.joint.split
	d.dimensions()
	x.foul, d.pool.joint.tied = false, true
	x.on, x.sums = rows.Zeros(x.on, len(d.c.nodes)), rows.Zeros(x.sums, len(d.c.nodes)*len(x.rough[1]))
	x.like = rows.Zeros(x.like, 2*splitHeads)
	for _, n := range d.c.order {
		if !d.gatherNode(n) {
			return false
		}
	}
	// Tasks on closed nodes count as well.
	x.closed = d.c.ClosedNodes(x.closed[:0])
	slices.SortFunc(x.closed, func(a, b NodeID) int { return strings.Compare(d.c.nodes[a].name, d.c.nodes[b].name) })
	for _, n := range x.closed {
		if !d.gatherNode(n) {
			return false
		}
	}
	d.trial.pay(int64(len(d.c.order) + len(x.heads.sizes)))
	// The first lesson is of even weights. It serves all nodes before there are others.
	x.heads.even(x.lacks)
	x.heads.keep()
	d.pay()
	x.fewest = x.heads.fewest(x.lacks)
	return true
}

// dimensions sets the dimensions of covers: what a node may lack, and what queues do.
func (d splitSearch) dimensions() {
	x := &d.pool.joint.split
	x.gaps, x.tasks, x.lacks = x.gaps[:0], x.tasks[:0], x.lacks[:0]
	x.likes.reset()
	for side := range x.rough {
		x.rough[side] = x.rough[side][:0]
	}
	for _, t := range d.types {
		x.rough[0] = append(x.rough[0], roughnessOf(t, -1, d.size[t]))
	}
	for i, lacks := range d.needs.short {
		for t, lack := range lacks {
			if lack > 0 && !d.needs.ruled[i] {
				r := roughnessOf(t, i, lack)
				x.rough[1], x.lacks = append(x.rough[1], r), append(x.lacks, r.lack(lack))
			}
		}
	}
	x.heads.reset(len(x.rough[1]))
}

// gatherNode gathers those of a node, and reports false if there are too many of all by
// now. Of those that are alike no more are kept than a plan may have.
func (d splitSearch) gatherNode(n NodeID) bool {
	x, digest := &d.pool.joint.split, &d.c.digest.nodes[n]
	levels, there := d.pool.joint.band.levels, d.elsewhere()
	// Most nodes have none, and leaves lie next to each other.
	if !slices.ContainsFunc(digest.leaves, func(w queue.ID) bool { return levels[w] != noLevel }) {
		return true
	}
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if !d.allows(l.flags, l.priority) {
			continue
		}
		for k := l.first; k < l.end && len(x.tasks) <= splitHeads; k++ {
			level := levels[digest.leaves[k]]
			if level == noLevel || x.sifted && !d.candidate(digest.ids[k], &there) {
				continue
			}
			d.addHead(n, jointItem{id: digest.ids[k], size: digest.size(i, d.c.types), level: level})
		}
	}
	return len(x.tasks) <= splitHeads
}

// addHead adds a task on a node that makes headroom.
func (d splitSearch) addHead(n NodeID, item jointItem) {
	x := &d.pool.joint.split
	x.on[n]++
	from, sum := len(x.heads.sizes), rows.At(x.sums, int(n), len(x.rough[1]))
	x.heads.sizes = d.amounts(x.heads.sizes, 1, item)
	// What all of them give together is a bound that a node is looked at for first.
	for k, v := range x.heads.sizes[from:] {
		sum[k] += v
	}
	if copy := x.copies(); copy < mostTops+splitMost {
		x.tasks = append(x.tasks, splitTask{id: item.id, node: n, copy: copy})
	} else {
		x.heads.sizes = x.heads.sizes[:from]
	}
}

// copies returns how many rows are like the last one, and notes that it is there.
//
// If tasks come in a few shapes, thousands of rows would be alike, and each search would
// look at all of them. The table is so large that it never is more than half full.
func (x *split) copies() (copies int32) {
	last := int32(x.heads.len() - 1)
	row := x.heads.row(last)
	h := uint64(14695981039346656037) // FNV-1a by words
	for _, v := range row {
		h = (h ^ uint64(v)) * 1099511628211
		h ^= h >> 29
	}
	for i := h % uint64(len(x.like)); ; i = (i + 1) % uint64(len(x.like)) {
		first := x.like[i] - 1
		switch {
		case first < 0:
			x.like[i] = last + 1
			return 0
		case slices.Equal(x.heads.row(first), row):
			x.tasks[first].copies++
			return x.tasks[first].copies
		}
	}
}

// amounts appends what a task gives to one side: to queues above its own level, and to a
// node whatever its level is.
func (d splitSearch) amounts(dst []int64, side int, item jointItem) []int64 {
	for k := range d.pool.joint.split.rough[side] {
		r := &d.pool.joint.split.rough[side][k]
		if int32(r.head) >= 0 && item.level > int32(r.head) {
			dst = append(dst, 0)
		} else {
			dst = append(dst, r.of(item.size[r.typ]))
		}
	}
	return dst
}

// findFront is [jointSearch.findFront] for a split. It lists the nodes that may have a plan of lesser levels than the best, by how
// many tasks make room on a node and how many make headroom that is lacking when all
// go that are on it.
func (d splitSearch) findFront() {
	j, roomy := &d.pool.joint, false
	j.front = j.front[:0]
	for _, n := range d.nodes {
		if !d.usable(n) {
			continue
		}
		// The filter is asked when the node's turn comes: most never have one.
		p := prospect{node: n, here: d.fewestOn(n), rough: true}
		if d.bound(&p); !d.best.losesTo(&p.levels) {
			continue
		}
		if p.here == 0 {
			// All nodes with room have the same plans.
			if roomy || !d.passes(n) {
				continue
			}
			roomy, p.rough = true, false
		}
		j.front = append(j.front, p)
	}
	d.trial.pay(int64(len(d.nodes) * len(d.types)))
}

// bound raises the bound of a node by how many victims are on it at least, and by how many
// more it takes elsewhere.
func (d splitSearch) bound(p *prospect) {
	levels := &p.levels
	rank, priority := d.leastRank(p.node)
	if p.rough || p.here == 0 {
		levels[LevelRank], levels[LevelPriority] = rank, priority
	}
	count := levels[LevelVictims]
	// How many make headroom is known of plans that are as good as the best before that.
	if d.tie(p) {
		least, spare := d.sum(p.node, p.here)
		count, p.spare = max(count, least), p.spare+spare
	}
	levels[LevelVictims], levels[LevelSumRanks], levels[LevelSumPriorities] = count, count*rank, count*priority
}

// sum returns how many victims a plan has at least of which so many are on the node:
// elsewhere it takes what headroom lacks if all of the node go that make it. It also
// returns by how much those elsewhere may exceed that.
//
// Two bounds speak of those elsewhere. One counts: so many make headroom in any plan, and
// no more of them than there are can be on the node. The other knows what these have.
func (d splitSearch) sum(n NodeID, here int64) (least, spare int64) {
	x, short := &d.pool.joint.split, d.pool.joint.split.short[1][:0]
	for k, v := range rows.At(x.sums, int(n), len(x.lacks)) {
		short = append(short, x.lacks[k]-v)
	}
	x.short[1] = short
	elsewhere := x.heads.fewest(short)
	if first := &x.heads.lessons[0]; int(elsewhere) < len(first.sums) {
		spare = first.sums[elsewhere] - weighed(first.weights, short)
	}
	return max(x.fewest, here+max(x.fewest-int64(x.on[n]), elsewhere)), spare
}

// fewestOn returns a number of tasks below which none make room on a node, by its
// largest sizes. It is 0 if there is room.
//
// It reads two rows of blocks that lie next to each other, and no lane.
func (d splitSearch) fewestOn(n NodeID) (count int64) {
	free, largest := d.c.row(d.c.coming, n), d.c.row(d.c.digest.largest, n)
	for _, t := range d.types {
		if lack := d.size[t] - free[t]; lack > 0 && !reaches(count, largest[t], lack) {
			if largest[t] == 0 {
				return noCover
			}
			count = (lack-1)/largest[t] + 1
		}
	}
	return count
}

// search goes along the nodes of the front, and takes those off of which it shows that
// they have no plan of lesser levels than the best.
func (d splitSearch) search() {
	j, f := &d.pool.joint, &d.problem.front
	f.d, f.rows = d.decision, append(f.rows[:0], j.front...)
	j.front = j.front[:0]
	heap.Init(f)
	for tries := 0; len(f.rows) > 0; {
		p := f.rows[0]
		if !d.best.losesTo(&p.levels) {
			break // as do all others
		}
		if d.exhausted() {
			j.front = append(j.front, f.rows...)
			break
		}
		heap.Pop(f)
		// Bounds come in two steps, and a node waits again for the second: what decides in
		// the end is mostly the sum of both parts.
		if p.rough {
			// Most nodes never come so far that their lanes are read.
			if d.knows(&p) {
				continue
			}
			q, ok := d.prospect(p.node)
			if !ok {
				continue
			}
			// The first are not put back: the sooner there is a better plan, the fewer others
			// come so far.
			d.bound(&q)
			if tries++; tries > splitTries {
				j.again = q
				heap.Push(f, &j.again)
				continue
			}
			p = q
		}
		if !d.best.losesTo(&p.levels) || !d.passes(p.node) || d.node(&p) {
			continue
		}
		// Whom more rules keep is out from now on. That is rare, and takes a second pass.
		if x := &j.split; x.foul && !x.sifted {
			x.sifted = true
			d.gather() // they are no more than before
			if d.node(&p) {
				continue
			}
		}
		j.front = append(j.front, p)
	}
}
