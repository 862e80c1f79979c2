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

// Of the tasks that make headroom elsewhere than on the node of a plan, few are of
// interest. Say that a task is above another if it is as large in every type that is
// short, helps at as many queues, and costs no more. A plan with e victims elsewhere
// needs none of them that has others above it on more than e nodes: but for the node of
// the plan there are e of those, and one of them is not taken yet and does as well.
//
// Once it is taken, the plan is as large in every need and costs no more. If others are
// above that task in turn, this can go on, but not for ever: it goes up.
//
// Laws over sums play no part in this. So a band is enough to show that there is no
// plan, and it is only a good choice to look for one.

// A band is the tasks that make headroom and have few others above them. Which they
// are depends on no order of rows. Memory is reused.
type band struct {
	depth  int   // tasks with others above them on so many nodes are left out
	types  []int // in which headroom is short
	rows   []bandRow
	order  []int32  // of rows; those that were above many come first
	sizes  []int64  // by row and type of types; no more than the most that is lacking counts
	old    bandRows // scratch
	levels []int32  // by leaf: the level of its tasks, or noLevel
	draft  []int64
	seen   []NodeID // scratch: nodes with tasks above another
	met    int      // how many tasks it has looked at
	strong int64    // the largest sum of a sample
	sums   [2]int64 // tasks whose sum is not from the first and below the second wait
	floor  int64    // what is left of the budget when it has taken its part
	enough int      // from how many rows on it leaves out those that it can

	leastRank, leastPriority int64 // of all tasks that it could have
}

// bandRows are rows with their sizes.
type bandRows struct {
	rows  []bandRow
	sizes []int64
}

// A bandRow is a task of a band.
type bandRow struct {
	id       TaskID
	node     NodeID
	level    int32 // see shortage
	priority int32
	flags    flags
	rank     int64
	own      int64 // cost
	began    int64 // when its work began
	sum      int64 // of what counts of its size, roughly
}

// noLevel is that of leaves whose tasks make no headroom, or may not go.
const noLevel = math.MaxInt32

// widestBand is how many tasks a band has at most. It is not measured.
const widestBand = 1 << 11

// strongFrom is how many tasks a sample has at least if the largest are to come first. One
// in so many of them is as large as those, or larger. It was measured once, over the
// families of bench/ratios -draws with headroom short.
const strongFrom = 32

// bandShare is one part in so many of the budget that a band may take. It is not measured.
const bandShare = 2

// bandPiece is how many rows are paid for at once: few enough for the caller to be asked
// in time whether the decision is to end.
const bandPiece = 64

// reset makes an empty band.
func (b *band) reset(d *decision, depth int) {
	b.sums = [2]int64{0, math.MaxInt64}
	b.depth, b.types, b.met, b.enough = depth, b.types[:0], 0, 16*depth
	b.floor = d.trial.meter.Left - d.trial.meter.Left/bandShare
	b.rows, b.order, b.sizes = b.rows[:0], b.order[:0], b.sizes[:0]
	// Until it is filled, nobody knows whom it will have: so of all tasks.
	least := int32(math.MaxInt32)
	for n := range d.c.digest.gauges {
		least = min(least, d.c.digest.gauges[n].minPriority)
	}
	b.leastRank, b.leastPriority = d.eligible.leastRank(least), int64(least)
	for t, short := range d.needs.most {
		if short > 0 {
			b.types = append(b.types, t)
		}
	}
	b.draft = rows.Zeros(b.draft, len(b.types))
	b.levels = rows.Zeros(b.levels, d.tree.Len())
	for w := range d.tree.Leaves(queue.Root) {
		leaf := &d.eligible.leaves[w]
		if b.levels[w] = leaf.level; leaf.veto != 0 || int(leaf.level) > d.needs.widest {
			b.levels[w] = noLevel
		}
	}
}

// tellsOf reports whether a plan with so many victims elsewhere needs no others than
// those of the band.
func (b *band) tellsOf(elsewhere int64) bool { return elsewhere < int64(b.depth) }

// fill takes the tasks of all nodes in. It reports false if too many of them have
// few others above them.
//
// The cost is linear in tasks, times the number of rows for those that are kept, and
// some for the others: what was above many is asked first.
func (b *band) fill(d *decision) bool {
	// The few largest come first: they are above nearly all others, which then take little
	// time.
	for _, sums := range [...][2]int64{{b.strong, math.MaxInt64}, {0, b.strong}} {
		if b.sums = sums; sums[1] == 0 {
			break
		}
		for n := range d.c.nodes {
			if b.addNode(d, NodeID(n)); b.ends(d) {
				return false
			}
		}
		b.compact(d)
	}
	if b.ends(d) {
		return false
	}
	b.leastRank, b.leastPriority = math.MaxInt64, math.MaxInt64
	for i := range b.rows {
		// Nobody of the least rank or priority has others above that have more.
		b.leastRank, b.leastPriority = min(b.leastRank, b.rows[i].rank), min(b.leastPriority, int64(b.rows[i].priority))
	}
	return true
}

// ends reports whether it has too many rows, or has taken its part of the budget.
func (b *band) ends(d *decision) bool {
	return len(b.rows) > widestBand || d.trial.meter.Left <= b.floor || d.trial.meter.Stopped
}

// sample is fill for some of the nodes. It takes more of them in, between those that it
// has, until it has seen many tasks: they may be scarce.
func (b *band) sample(d *decision) {
	b.reset(d, sampleDepth)
	for step, from := sampleStride, 0; step > 0 && b.met < sampleTasks; {
		for i := from; i < len(d.c.order) && !b.ends(d); i += step {
			b.addNode(d, d.c.order[i])
		}
		// The second half of the first steps, then that of steps half as long, and so on.
		if from > 0 {
			step /= 2
		}
		from = step / 2
		if from == 0 {
			break
		}
	}
	b.compact(d)
	// If few are kept, nearly all are told by those in any order.
	if b.strong = 0; len(b.rows) >= strongFrom {
		b.strong = b.rows[len(b.rows)/strongFrom].sum
	}
}

// addNode takes the tasks of a node in that have few others above them.
func (b *band) addNode(d *decision, n NodeID) {
	digest := &d.c.digest.nodes[n]
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if d.trial.pay(int64(2 * (l.end - l.first))); b.ends(d) {
			return
		}
		drafted, enough := false, int32(noLevel)
		for k := l.first; k < l.end; k++ {
			level := b.levels[digest.leaves[k]]
			// Of a lane those come first that are above the others.
			if level >= enough || level == noLevel {
				continue
			}
			b.met++
			x := bandRow{
				id: digest.ids[k], node: n, level: level, priority: l.priority, flags: l.flags,
				rank: d.eligible.leaves[digest.leaves[k]].rank.Of(l.priority), began: digest.times[k],
			}
			if len(d.c.costs) > 0 {
				x.own = d.c.costOf(x.id)
			}
			// Most tasks of most lanes are never looked at more closely than that.
			if !drafted {
				b.cut(d, digest.size(i, d.c.types))
				if sum := b.draftSum(); sum < b.sums[0] || sum >= b.sums[1] {
					break // the other time
				}
				drafted = true
			}
			if !b.add(d, &x) && d.eligible.evenRanks {
				enough = level
			}
			// Early rows are no better than others, and most have enough above them
			// later. So they are looked through again whenever there are twice as many.
			if len(b.rows) > b.enough {
				b.compact(d)
				b.enough = 2*len(b.rows) + 16
			}
		}
	}
}

// cut sets the draft to what counts of a size.
func (b *band) cut(d *decision, size resources.Vector) {
	for k, t := range b.types {
		b.draft[k] = min(size[t], d.needs.most[t])
	}
}

// add takes a task in whose size is the draft, and reports whether it has few others
// above it.
func (b *band) add(d *decision, x *bandRow) bool {
	b.seen = b.seen[:0]
	types, first := len(b.types), b.draft[0]
	for k, i := range b.order {
		if k%bandPiece == 0 {
			if d.trial.pay(int64(min(bandPiece, len(b.order)-k) * (1 + types/2))); b.ends(d) {
				return false
			}
		}
		// The first type tells of half of them.
		if b.sizes[int(i)*types] < first {
			continue
		}
		if size := b.size(int(i)); within(b.draft, size) && b.isAbove(d, &b.rows[i], x, !slices.Equal(size, b.draft)) && b.see(b.rows[i].node) {
			// What was above one task is above many.
			b.order[k], b.order[k/2] = b.order[k/2], b.order[k]
			return false
		}
	}
	// The caller and most rules are asked about those only that have come so far.
	s := d.elsewhere()
	if !d.candidate(x.id, &s) {
		return true
	}
	x.sum = b.draftSum()
	b.sizes = append(b.sizes, b.draft...)
	b.order = append(b.order, int32(len(b.rows)))
	b.rows = append(b.rows, *x)
	return true
}

// draftSum returns the sum of the draft, so rough that those of 64 types stay in range.
func (b *band) draftSum() (sum int64) {
	for _, v := range b.draft {
		sum += v >> 6
	}
	return sum
}

// within reports whether no amount is more than that beside it.
func within(a, b []int64) bool {
	for k, v := range a {
		if v > b[k] {
			return false
		}
	}
	return true
}

// see, while others above a task are counted, notes the node of one of them, and reports
// whether those are enough.
func (b *band) see(n NodeID) bool {
	if !slices.Contains(b.seen, n) {
		b.seen = append(b.seen, n)
	}
	return len(b.seen) >= b.depth
}

// size returns what counts of the size of row i.
func (b *band) size(i int) []int64 { return rows.At(b.sizes, i, len(b.types)) }

// isAbove reports whether a task x, which is as large as y or larger, is above it.
func (b *band) isAbove(d *decision, x, y *bandRow, larger bool) bool {
	if x.level > y.level || x.flags&^y.flags != 0 || x.rank > y.rank || x.priority > y.priority || x.own > y.own {
		return false
	}
	// Any difference is in favor of x by now.
	if larger || x.level < y.level || x.flags != y.flags || x.rank < y.rank || x.priority < y.priority || x.own < y.own {
		return true
	}
	// Of tasks that are alike those that lose least come first, as in plans.
	return b.compareAlike(d, x, y) < 0
}

// compareAlike orders tasks that are alike: those that lose least first, then by key.
func (b *band) compareAlike(d *decision, x, y *bandRow) int {
	if x.began != y.began {
		return cmp.Compare(y.began, x.began)
	}
	return strings.Compare(d.c.tasks[x.id].key, d.c.tasks[y.id].key) // far away in memory
}

// compact leaves out those that have enough others above them by now, and puts the
// others in an order that does not depend on rows.
func (b *band) compact(d *decision) {
	// The largest first, by and large, for they are above most.
	slices.SortFunc(b.order, func(i, j int32) int {
		x, y := &b.rows[i], &b.rows[j]
		if x.sum != y.sum {
			return cmp.Compare(y.sum, x.sum)
		}
		return b.compareAlike(d, x, y)
	})
	// Rows change places with those of the last time, so that nothing is allocated.
	old := b.old
	old.rows, b.rows = b.rows, old.rows[:0]
	old.sizes, b.sizes = b.sizes, old.sizes[:0]
	b.old = old
	for _, i := range b.order {
		if !b.enoughAbove(d, int(i)) {
			b.rows = append(b.rows, old.rows[i])
			b.sizes = append(b.sizes, rows.At(old.sizes, int(i), len(b.types))...)
		}
	}
	b.order = b.order[:0]
	for i := range b.rows {
		b.order = append(b.order, int32(i))
	}
}

// enoughAbove reports whether an old row has others above it on enough nodes.
func (b *band) enoughAbove(d *decision, i int) bool {
	y, size := &b.old.rows[i], rows.At(b.old.sizes, i, len(b.types))
	b.seen = b.seen[:0]
	// Whoever is above another has no smaller sum.
	for k, j := range b.order {
		x := &b.old.rows[j]
		if x.sum < y.sum {
			break
		}
		if k%bandPiece == 0 {
			if d.trial.pay(int64(min(bandPiece, len(b.order)-k) * (1 + len(b.types)/2))); b.ends(d) {
				return false
			}
		}
		mine := rows.At(b.old.sizes, int(j), len(b.types))
		if int(j) != i && within(size, mine) && b.isAbove(d, x, y, !slices.Equal(size, mine)) && b.see(x.node) {
			return true
		}
	}
	return false
}
