package victims

import (
	"cmp"
	"container/heap"
)

// If a search over all nodes takes long, it is first shown which levels are the least:
// they say who is stopped. Of levels more can be said at a look than of all that
// costs, and a search for lesser ones on a node ends much sooner.

// A lesserBounder looks for plans of lesser levels than the best.
type lesserBounder struct{ bounder }

// search looks for plans of lesser levels than the best, and reports whether
// it has shown that there are none besides what it leaves as the best. Nodes that a
// scan has looked at have none, if it has shown their levels.
//
// It begins with a quick look at a few nodes from everywhere. What they have is mostly
// as good as it gets, and what is learnt on them tells of most others at once.
func (d lesserBounder) search(s *scan) (shown bool) {
	if !d.trial.levels || d.p.Predicate != nil {
		s = new(scan) // or it went through nodes in another order
	}
	d.problem.tops.reset(d.c)
	d.worker.OnlyLesser = true
	proven, levels := d.trial.proven, d.trial.levels
	if !d.needs.open() && len(d.nodes) > fewNodes {
		part := d.trial.meter.Left / sampleShare
		if d.p.Minimum != nil {
			part *= dearSample
		}
		d.within(part, func() bool { return d.searchSample(s) })
	}
	shown = d.findProspects(s, 1) && d.searchFront()
	d.worker.OnlyLesser = false
	d.trial.proven, d.trial.levels = proven, levels
	return shown
}

// fewNodes is up to how many nodes a sample of them is not worth a look by itself.
const fewNodes = 4 * stride

// dearSample is by how much the sample has a larger share if gangs go as a whole: to
// bound a node by units costs more.
const dearSample = 3

// searchSample looks for plans of lesser levels on a few nodes from everywhere.
func (d lesserBounder) searchSample(s *scan) bool {
	part := d.trial.meter.Left / sampleSearches
	d.findProspects(s, stride)
	for len(d.problem.front.rows) > 0 && d.trial.meter.Left > 0 {
		d.within(part, d.searchProspect)
	}
	return true
}

// findProspects makes a heap of nodes that may have a plan of lesser levels than the
// best, the least bounds first. Of those that the scan has not looked at it looks at
// every n-th node.
// It reports false if the budget is spent before it has come to the end.
func (d lesserBounder) findProspects(s *scan, every int) bool {
	f := &d.problem.front
	f.d, f.rows = d.decision, f.rows[:0]
	for i := 0; i < len(d.nodes); i += every {
		if d.exhausted() {
			f.rows = f.rows[:0]
			return false
		}
		n := d.nodes[i]
		if s.has(i) || d.best.found && d.quicklyNoLess(n) {
			continue
		}
		units := unitBounder(d)
		if units.serves(n) && !d.passes(n) {
			continue // units are dear, and the filter is asked in any case
		}
		b := nodeBound{node: n}
		short := d.scratch.short
		if !d.usable(n) || d.nodeNeed(short, n) == 0 {
			continue
		}
		if units.serves(n) {
			if units.bound(&b, short) {
				continue
			}
		} else if !d.boundClosely(&b, short) {
			continue
		} else if d.refineLevels(&b, short) != nil {
			d.headroomBeats(&b)
		}
		p := prospect{levels: b.levels, node: n, spare: b.spare}
		if d.best.losesTo(&p.levels) {
			f.rows = append(f.rows, p)
		}
	}
	heap.Init(f)
	return true
}

// searchFront searches all prospects, and reports whether it did so to the end.
//
// One node may take more than all others, and a better plan from elsewhere would have
// told of it in no time. So a node whose search takes long waits until the others are
// done, and then it gets a larger part of the budget.
func (d lesserBounder) searchFront() (shown bool) {
	f := &d.problem.front
	shown = true
	for _, share := range [...]int64{16, 4, 1} {
		part := d.trial.meter.Left / share
		f.waiting = f.waiting[:0]
		for len(f.rows) > 0 {
			if d.trial.meter.Left <= 0 {
				return false
			}
			p, spent, all := f.rows[0], false, part >= d.trial.meter.Left
			done := d.within(min(part, d.trial.meter.Left), func() bool {
				done := d.searchProspect()
				spent = d.trial.meter.Left <= 0
				return done
			})
			switch {
			case done:
			case spent && !all:
				f.waiting = append(f.waiting, p)
			default:
				shown = false
			}
		}
		if len(f.waiting) == 0 {
			break
		}
		f.rows, f.waiting = f.waiting, f.rows
		heap.Init(f)
	}
	return shown
}

// searchProspect searches the first of the prospects for plans of lesser levels than
// the best, and reports whether it did so to the end. If its bound is no less,
// none of the others is.
func (d lesserBounder) searchProspect() bool {
	f := &d.problem.front
	p := f.rows[0]
	if !d.best.losesTo(&p.levels) {
		f.rows = f.rows[:0]
		return true
	}
	done := d.isRefuted(&p) || !d.hearing.admits(p.node) || d.searchForLesser(&p)
	heap.Pop(f)
	return done
}

// isRefuted reports whether it is shown that a node has no plan of lesser levels than
// the best, and nothing is searched for that.
func (d lesserBounder) isRefuted(p *prospect) bool {
	if units := unitBounder(d); units.serves(p.node) {
		return units.refuted(&nodeBound{node: p.node})
	}
	return d.refuted(p) || d.learn(p) || unitBounder(d).fewTell(p)
}

// quicklyNoLess reports whether it is seen soon that a node has no plan of lesser
// levels than the best. It is the inner loop of the search for lesser levels.
func (d lesserBounder) quicklyNoLess(n NodeID) bool {
	rank := d.eligible.leastRank(d.c.digest.gauges[n].minPriority)
	if rank > d.eligible.ceiling || d.compareQuickly(n, rank, digestRow{&d.c.digest.digestRows, n}) >= 0 {
		return true
	}
	if d.siftedNoLess(n) {
		return true
	}
	// The node of the best plan gets a closer look anyway.
	if n == d.best.node || !d.plainAndLeast(n) {
		return false
	}
	need := siteNeed{short: d.scratch.short}
	need.mask = d.nodeNeed(need.short, n)
	d.trial.pay(int64(len(d.types)))
	return d.problem.tops.tooFew(n, d.best.total.Levels[LevelVictims]-1, need)
}

// plainAndLeast reports whether the victims of the best plan are plain and have the
// least rank and priority that any on a node can have. Then a plan of lesser levels for
// the node has fewer victims, which are like that too.
func (d lesserBounder) plainAndLeast(n NodeID) bool {
	best, priority := &d.best.total.Levels, int64(d.c.digest.gauges[n].minPriority)
	rank := d.eligible.leastRank(int32(priority))
	// One by one: this is asked of every node.
	if rank != best[LevelRank] || priority != best[LevelPriority] {
		return false
	}
	if best[LevelOptedOut]|best[LevelOverrun]|best[LevelOriginators]|best[LevelJobs]|best[LevelOwn]|best[LevelOwnLow] != 0 {
		return false
	}
	count := best[LevelVictims]
	return cmp.Or(cmp.Compare(count*rank, best[LevelSumRanks]), cmp.Compare(count*priority, best[LevelSumPriorities])) >= 0
}

// searchForLesser searches a node for plans of lesser levels, and reports whether
// it did so to the end.
func (d lesserBounder) searchForLesser(p *prospect) bool {
	d.trial.proven = true
	if units := unitBounder(d); units.serves(p.node) && !d.needs.open() && units.improve(p.node) {
		return !d.trial.meter.Stopped
	}
	d.searchNode(p.node)
	return d.trial.proven && d.trial.meter.Left > 0 && !d.trial.meter.Stopped
}
