package victims

import (
	"container/heap"
	"math"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// In a large cluster, what makes headroom is too much to search node by node. So the
// least levels are looked for first, by bounds on all needs at once: they tell of
// nearly every node that it has no plan with fewer victims, and of the others which
// few tasks such a plan could have.
//
// The search has four steps.
//
//  1. begin searches a few nodes, with tasks elsewhere of some nodes only. That mostly
//     gives a plan with as few victims as any, or one more.
//  2. If tasks that make headroom are scarce, nodes are split; see [splitSearch]. Mostly
//     that leaves none, and is the end.
//  3. showLeast passes over the nodes that cannot have a plan of lesser levels, by what
//     they lack themselves, and searches a few of the others. What those that are left
//     may take elsewhere decides how deep the band has to be, and it is filled if anybody
//     takes any.
//  4. examineAll goes along the nodes that are left, those of the least bounds first. A
//     bound is a mixture of all needs. If no lesson tells that a node has no lesser
//     plan, weights are sought that do; and if there are none, the few tasks that are
//     left of the node and the band are searched.
//
// All bounds speak of the number of victims. So they hold only for plans that are as
// good as the best in all levels before that. If a node may be better there, it is
// searched, and nothing is shown.

// A jointSearch looks for the least levels if a node and headroom are short.
type jointSearch struct{ *decision }

// joint is what such a search knows.
type joint struct {
	band    band
	short   resources.Vector // of the node that is looked at
	items   []jointItem      // that a plan for it may have
	shares  []int64          // by item
	picks   [2][]jointPick   // the items elsewhere and on the node that have most
	given   jointGiven
	mix     jointMix
	lessons [mostLessons]jointMix
	tied    bool // see jointSearch.tie
	learned int  // how many lessons there ever were
	kinds   kindLessons
	kind    bandRow // that is looked at
	front   []prospect
	split   split
	cover   coverSet // see coverItems
	needs   []int64
	aside   []jointItem
	again   prospect // that is put back
}

const (
	// jointStride is how far apart the nodes are that a search begins with, and
	// jointTries is how many of them are searched.
	// Neither is measured: a good plan makes the second step shorter, and what this step
	// misses is found there.
	jointStride = 32
	jointTries  = 3
	// The band that it begins with is of fewer nodes, and of this depth. What it misses
	// is found later, if it matters.
	sampleStride = 4 * jointStride
	sampleDepth  = 2
	// If they have fewer tasks than that, it takes more nodes in.
	sampleTasks = 256
)

// leastLevels bound every plan: ranks and priorities may be negative, all else not.
var leastLevels = cover.Levels{
	LevelRank: math.MinInt64, LevelPriority: math.MinInt64,
	LevelSumRanks: math.MinInt64, LevelSumPriorities: math.MinInt64,
}

// applies reports whether the search is made.
//
// It is for large clusters, and for what bounds know of: they take victims for single
// tasks, and levels for compared in their own order.
func (d jointSearch) applies() bool {
	return d.needs.open() && d.trial.brief && d.pruning() && d.p.Minimum == nil && d.p.Blockers == nil &&
		d.p.Predicate == nil && d.problem.order.Sequence == nil && !d.required()
}

// search looks for a plan of the least levels, and reports whether it is shown that
// the best has them.
func (d jointSearch) search() (shown bool) {
	trial := d.trial // what the searches below show is not about all nodes
	d.forget()
	d.problem.tops.reset(d.c)
	splitSearch{d}.dimensions()
	d.worker.OnlyLesser = true
	d.begin()
	if d.best.Found {
		shown = d.showLeast()
	}
	d.worker.OnlyLesser = false
	d.trial.proven, d.trial.levels = trial.proven, trial.levels
	return shown && !d.trial.meter.Stopped
}

// begin looks for a good plan on nodes from everywhere.
func (d jointSearch) begin() {
	j, f := &d.pool.joint, &d.problem.front
	j.band.sample(d.decision)
	// The tops of a sample are no bound. They only tell which nodes look best.
	j.mix.even(d.decision)
	j.mix.list(d.decision, &j.band)
	f.d, f.rows = d.decision, f.rows[:0]
	for i := 0; i < len(d.nodes); i += jointStride {
		if p, ok := d.prospect(d.nodes[i]); ok {
			d.raise(&p)
			f.rows = append(f.rows, p)
		}
	}
	d.tryFew()
}

// forget forgets all lessons: they hold for one band.
func (d jointSearch) forget() {
	j := &d.pool.joint
	j.learned, j.kinds.vain, j.kinds.rows = 0, 0, j.kinds.rows[:0]
}

// showLeast looks at all nodes that may have a plan of lesser levels than the best,
// and reports whether it has shown that there are none besides what it leaves as the
// best.
func (d jointSearch) showLeast() bool {
	j, parts := &d.pool.joint, splitSearch{d}
	if j.split.sifted = false; parts.headsApply() && parts.gather() {
		parts.findFront()
		if parts.search(); len(j.front) == 0 {
			return true
		}
	} else {
		d.findFront()
	}
	// A better plan makes the front shorter, and the band less deep. So it is worth
	// another look before that is filled.
	d.sampleFront(jointStride)
	elsewhere := d.elsewhereAtMost()
	d.forget()
	j.band.reset(d.decision, int(min(elsewhere, widestBand))+1)
	if elsewhere > 0 && !j.band.fill(d.decision) {
		return false
	}
	j.mix.even(d.decision)
	j.mix.list(d.decision, &j.band)
	// What a few nodes teach often tells of all others, and a better plan that is found
	// among some more.
	d.sampleFront(jointStride)
	d.sampleFront(jointStride / 4)
	// A hard node must not take what the others need. So it gets little at first.
	for _, part := range [...]int64{64, 8, 2} {
		if !d.examineAll(part) {
			return false
		}
		if len(j.front) == 0 {
			return true
		}
	}
	return false
}

// examineAll looks at the nodes of the front, those of the least bounds first. Each
// gets a part of what is left of the budget; it is put off if that is not enough. It
// reports false if the budget is spent. Those that were put off are the front then.
func (d jointSearch) examineAll(part int64) bool {
	j, f := &d.pool.joint, &d.problem.front
	f.rows = f.rows[:0]
	// The best plan may have become better since the last part.
	for i := range j.front {
		p := &j.front[i]
		if !d.best.losesTo(&p.levels) || d.refutedSoon(p) {
			continue
		}
		if d.raise(p); d.best.losesTo(&p.levels) {
			f.rows = append(f.rows, *p)
		}
	}
	j.front = j.front[:0]
	heap.Init(f)
	for len(f.rows) > 0 && d.trial.meter.Left > 0 && !d.trial.meter.Stopped {
		p := f.rows[0]
		// No bound of the others is less than that of the first.
		if !d.best.losesTo(&p.levels) {
			return true
		}
		heap.Pop(f)
		if !d.passes(p.node) || d.refuted(&p) {
			continue
		}
		// A better plan may have made an end of the node as well, so it waits again.
		best := d.best.Total.Levels
		switch done := d.engine.Within(d.trial.meter.Left/part, func() bool { return d.examine(&p) }); {
		case done:
		case d.best.Total.Levels != best:
			j.again = p
			heap.Push(f, &j.again)
		default:
			j.front = append(j.front, p)
		}
	}
	return len(f.rows) == 0
}
