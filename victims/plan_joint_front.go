package victims

import "container/heap"

// The front of a joint search are the nodes that may have a plan of lesser levels than
// the best, by what they lack themselves.

// mostMissed is by how many more a look at sums may tell nothing before it is given up.
const mostMissed = 16

// findFront lists all nodes that may have a plan of lesser levels than the best.
func (d jointSearch) findFront() {
	j, roomy := &d.pool.joint, false
	j.front = j.front[:0]
	var told, missed int
	for _, n := range d.nodes {
		// That what a node takes itself is no less is mostly seen soon, or of no node.
		// One with room takes all it needs elsewhere.
		if missed <= told+mostMissed && d.nodeNeed(d.scratch.short, n) != 0 {
			if d.skipsLesser(n) {
				told++
				continue
			}
			missed++
		}
		p, ok := d.prospect(n)
		if !ok {
			continue
		}
		if p.levels == leastLevels {
			// All nodes with room have the same plans.
			if roomy || !d.passes(n) {
				continue
			}
			roomy = true
		}
		j.front = append(j.front, p)
	}
}

// elsewhereAtMost returns how many victims elsewhere a plan of lesser levels has at
// most, and takes the nodes off the front that have no such plan.
func (d jointSearch) elsewhereAtMost() (elsewhere int64) {
	j := &d.pool.joint
	front := j.front[:0]
	for i := range j.front {
		p := &j.front[i]
		if !d.best.losesTo(&p.levels) {
			continue
		}
		front = append(front, *p)
		most, ok := d.most(p)
		if !ok {
			// How many a plan has that is better before that, nobody knows.
			most = p.here + sampleDepth // for a first look
		}
		elsewhere = max(elsewhere, most-p.here)
	}
	j.front = front
	return elsewhere
}

// prospect returns a node with a bound on levels by what it lacks itself. It reports
// false if it has no plan, or none of lesser levels than the best.
func (d jointSearch) prospect(n NodeID) (p prospect, ok bool) {
	if !d.usable(n) {
		return p, false
	}
	if d.nodeNeed(d.scratch.short, n) == 0 {
		// What makes headroom may be anywhere, and is bounded with that.
		return prospect{levels: leastLevels, node: n}, true
	}
	d.engine.Lesser = true
	levels, _, ok := d.engine.Bound(int32(n))
	if d.engine.Lesser = false; !ok || !d.best.losesTo(&levels) {
		return p, false
	}
	return prospect{levels: levels, node: n, here: levels[LevelVictims]}, true
}

// tryFew looks for good plans on a few nodes of the frontier, those of the least bounds
// first. What it learns on them may tell of others. Nothing is shown, so that every
// search may end early.
func (d jointSearch) tryFew() {
	f := &d.problem.front
	heap.Init(f)
	for tries := 0; len(f.rows) > 0 && (tries < jointTries || !d.best.Found) && !d.exhausted(); {
		p := f.rows[0]
		heap.Pop(f)
		if !d.best.losesTo(&p.levels) {
			break
		}
		if d.passes(p.node) && !d.refuted(&p) {
			d.engine.Within(d.trial.meter.Left/32, func() bool { return d.examine(&p) })
			tries++
		}
	}
}

// sampleFront makes a frontier of every n-th node of the front, and tries a few of
// those. So lessons are learned, and a better plan is found, before all are raised.
func (d jointSearch) sampleFront(every int) {
	j, f := &d.pool.joint, &d.problem.front
	f.rows = f.rows[:0]
	for i := 0; i < len(j.front); i += every {
		p := j.front[i] // bounds by a sample hold for nothing, so the front keeps its own
		if !d.best.losesTo(&p.levels) || d.refutedSoon(&p) {
			continue
		}
		if d.raise(&p); d.best.losesTo(&p.levels) {
			f.rows = append(f.rows, p)
		}
	}
	d.tryFew()
}
