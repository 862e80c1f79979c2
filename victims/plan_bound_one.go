package victims

import (
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// If asks are about as large as tasks, one victim is enough on many nodes, and its
// excess decides. Then one look at each lane says all that there is to know, and
// sums are not asked for anything.

// A oneBounder bounds nodes on which one victim may be enough.
type oneBounder struct{ bounder }

// isSingle reports whether levels are those of one plain victim.
func isSingle(l *cover.Levels) bool {
	return *l == cover.Levels{
		LevelRank: l[LevelRank], LevelPriority: l[LevelPriority], LevelVictims: 1,
		LevelSumRanks: l[LevelRank], LevelSumPriorities: l[LevelPriority],
	}
}

// tells reports whether it is certain that no plan for a node is cheaper than the
// best, which has one plain victim of the least rank and priority of the node.
func (d oneBounder) tells(n NodeID, short resources.Vector) bool {
	l, priority := &d.best.total.Levels, d.c.digest.gauges[n].minPriority
	if !d.best.found || !d.best.single || l[LevelRank] != d.eligible.leastRank(priority) || l[LevelPriority] != int64(priority) {
		return false
	}
	// Headroom counts for the excess, too. And a search that was broken off may have
	// left sets of smaller keys on the best node.
	if d.needs.open() || n == d.best.node {
		return false
	}
	// So any plan that is no worse has one victim here, of that priority, and plain.
	digest := &d.c.digest.nodes[n]
	missing := d.scratch.sum
	// What the newest task loses is at hand, and mostly tells.
	newest := cover.Work{}.AddNanos(d.since(d.c.digest.latest[int(n)*numLatest]), 1)
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if l.flags != 0 || l.priority != priority {
			break // lanes are in that order
		}
		d.trial.pay(int64(len(d.types)))
		size := digest.size(i, d.c.types)
		if !resources.Fits(short, size) {
			continue
		}
		for t, v := range size {
			missing[t] = short[t] - v
		}
		if !d.mayBeat(n, setSoFar{missing, newest}, nil) {
			continue
		}
		// Of a lane those go first that lose the least work.
		if j := d.firstFree(digest, l); j < l.end && d.mayBeat(n, setSoFar{missing: missing}, digest.times[j:j+1]) {
			return false
		}
	}
	return true
}

// mayBeat reports whether victims on a node are cheaper than the best plan, or as cheap
// on a node that comes first.
func (d oneBounder) mayBeat(n NodeID, set setSoFar, last []int64) bool {
	c := d.best.compare(d.bounder, set, last)
	return c < 0 || c == 0 && d.c.comesBefore(n, d.best.node)
}

// firstFree returns the first task of a lane that no law keeps, or its end.
func (d oneBounder) firstFree(digest *nodeDigest, l *lane) int32 {
	j := l.first
	// While Explain tries a rule, nobody knows what the others keep.
	for d.without.Rule == 0 && j < l.end && d.keeps(digest, j, l.priority) {
		j++
	}
	return j
}
