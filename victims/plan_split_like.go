package victims

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// If tasks come in few kinds, nodes are often alike, but for how many they have of each.
// Of those that count for headroom few do, so that it matters how many there are. Of the
// others there are mostly enough. So a node is split as if it had as many of those as a
// plan may have. If that shows that it has no lesser plan, then no node has one that
// lacks as much, and has no other kinds, and no more of those that make headroom.

// Unlike a [kindLesson] it counts, and so tells of nodes of which a few tasks more would
// make a plan.

// A splitKind is a size and a level, or noLevel.
type splitKind struct {
	size  resources.Vector
	level int32
}

// A splitLesson is what a node had that has no lesser plan.
type splitLesson struct {
	short  resources.Vector
	most   int64   // victims
	counts []int32 // by kind
}

// splitLikes are the kinds and lessons of a decision.
type splitLikes struct {
	kinds   []splitKind
	counts  []int32 // by kind: how many tasks of it the node has that is looked at
	lessons []splitLesson
	vain    int // how many were none
}

const (
	// splitKinds is how many kinds there are at most, and splitVain how many lessons are
	// tried in vain before they are given up. Neither is measured.
	splitKinds = 4 * 8
	splitVain  = 16
)

// reset forgets all kinds and lessons.
func (x *splitLikes) reset() {
	x.kinds, x.lessons, x.vain = x.kinds[:0], x.lessons[:0], 0
}

// kind returns the number of a kind, which it may add, or -1 if there are too many.
func (x *splitLikes) kind(size resources.Vector, level int32) int {
	i := slices.IndexFunc(x.kinds, func(k splitKind) bool { return k.level == level && slices.Equal(k.size, size) })
	if i < 0 && len(x.kinds) < splitKinds {
		i = len(x.kinds)
		x.kinds = rows.Next(x.kinds)
		x.kinds[i].size, x.kinds[i].level = append(x.kinds[i].size[:0], size...), level
	}
	return i
}

// count counts the tasks on a node by kind, and reports false if there are too many of
// those. Neighbours in a lane are of one size, and mostly of one level, so that few kinds
// are looked up.
func (d splitSearch) count(n NodeID) bool {
	x, digest := &d.pool.joint.split.likes, &d.c.digest.nodes[n]
	x.counts = rows.Zeros(x.counts, splitKinds)
	if len(digest.lanes) > 8 {
		return false
	}
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if !d.allows(l.flags, l.priority) {
			continue
		}
		last, kind := int32(math.MinInt32), 0 // no level is that
		for k := l.first; k < l.end; k++ {
			level := d.pool.joint.band.levels[digest.leaves[k]]
			// Whoever may not go counts as well: that only makes lessons tell less.
			if level != last {
				last, kind = level, x.kind(digest.size(i, d.c.types), level)
			}
			if kind < 0 {
				return false
			}
			x.counts[kind]++
		}
	}
	return true
}

// knows reports whether a lesson shows that a node has no plan of lesser levels than the
// best.
func (d splitSearch) knows(p *prospect) bool {
	most, ok := d.most(p)
	return ok && d.count(p.node) && d.refutedByLikes(p.node, most)
}

// refutedByLikes reports whether a lesson shows that a node has no plan of lesser levels
// with so many victims. The tasks on it were counted.
//
// It lacks as much as the node of the lesson, or more, and has nobody whom that had not:
// so whatever plan it had would be one for that node.
func (d splitSearch) refutedByLikes(n NodeID, most int64) bool {
	x, short := &d.pool.joint.split.likes, d.scratch.short
	d.nodeNeed(short, n)
	d.trial.pay(int64(len(d.c.digest.nodes[n].ids) + len(x.lessons)*len(x.kinds)))
	return slices.ContainsFunc(x.lessons, func(l splitLesson) bool {
		if most > l.most || !within(l.short, short) {
			return false
		}
		for i, n := range x.counts[:len(x.kinds)] {
			// Kinds that came up later were none of the node's.
			if n > 0 && (i >= len(l.counts) || n > l.counts[i]) {
				return false
			}
		}
		return true
	})
}

// learnLikes looks for a lesson about a node that was collected, and reports whether
// there is one.
func (d splitSearch) learnLikes(p *prospect, most int64) bool {
	j, x := &d.pool.joint, &d.pool.joint.split
	if x.likes.vain >= splitVain {
		return false
	}
	x.others.reset(len(x.rough[0]))
	for i := range x.likes.kinds {
		kind := &x.likes.kinds[i]
		if kind.level != noLevel || x.likes.counts[i] == 0 {
			continue
		}
		// No plan has more victims than that, and so the lesson tells of any number of them.
		x.likes.counts[i] = math.MaxInt32
		for range min(most, mostTops) {
			x.others.sizes = d.amounts(x.others.sizes, 0, jointItem{size: kind.size})
		}
	}
	d.weighOthers()
	x.plenty = true
	shown := d.sets(p)
	// In vain: with more tasks of a kind than there are it has a plan, or it took too long.
	if x.plenty = false; !shown {
		x.likes.vain++
		return false
	}
	x.likes.lessons = rows.Next(x.likes.lessons)
	l := &x.likes.lessons[len(x.likes.lessons)-1]
	l.short, l.most = append(l.short[:0], j.short...), most
	l.counts = append(l.counts[:0], x.likes.counts[:len(x.likes.kinds)]...)
	return true
}
