// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"container/heap"
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/weigh"
	"github.com/go-preempt/preempt/resources"
)

// In any but a small cluster, what makes headroom is too much to search node by node. So the least
// levels are looked for first, by the bound of package weigh: the tasks of a node and those
// elsewhere are rows, and what the node and the queues lack is one need.
//
// What queues lack is the same for all nodes, and so are the tasks elsewhere. What those are
// worth at some prices is worked out once, and one price vector mostly tells of nearly every
// node that it has no plan with fewer victims than the best.
//
//  1. A few nodes are searched, with tasks elsewhere of some nodes only. That mostly gives a
//     plan with as few victims as any, or one more.
//  2. The frontier is all nodes that may have a plan of lesser levels, by sums of their own.
//     The tasks elsewhere are those that are worth most at the prices found so far; see
//     [outsiders].
//  3. examineAll goes along the frontier, those of the least bounds first. If carried prices
//     do not tell, they are turned; if that does not tell, few tasks are left, and a cover
//     by them is looked for. If there is one, it is tried as a plan.
//
// All this speaks of the number of victims. So it holds only for plans that are as good as
// the best in all levels before that. If a node may be better there, it is searched, and
// nothing is shown.

// A jointSearch looks for the least levels if a node and headroom are short. It owns what
// it has found out about the nodes and the tasks elsewhere; memory is reused.
type jointSearch struct {
	d       *decision
	outside outsiders

	dims   []jointDim
	bound  weigh.Bound // the tasks elsewhere, and those of a node
	prices []int64     // by which those elsewhere were gathered
	node   NodeID      // whose tasks are not among those elsewhere, or noNode
	need   []int64
	ids    []TaskID // by row of the bound, of those on the node that is looked at
	tied   bool     // see tie
	out    func(row int32) bool
	front  []prospect
	again  prospect // that is put back

	rest      []int32  // scratch: rows
	elsewhere []TaskID // scratch
}

// jointSearch returns that of a decision.
func (d *decision) jointSearch() *jointSearch {
	d.pool.joint.d = d
	return &d.pool.joint
}

// A jointDim is a dimension of the bound: a type of the node, or of a queue that lacks it.
type jointDim struct {
	typ   int
	head  int // of which of the queues that lack headroom; -1 for the node
	scale weigh.Scale
}

const (
	// jointStride is how far apart the nodes are that a search begins with, and jointTries
	// is how many of them are searched. Neither is measured: a good plan makes the second
	// step shorter, and what this step misses is found there.
	jointStride = 32
	jointTries  = 3
	// The tasks elsewhere are of fewer nodes at first, or of more of them if these have few.
	// What that misses is found later.
	sampleStride = 4 * jointStride
	sampleTasks  = 256
	// mostJoint is how many victims it looks for at most.
	mostJoint = 1 << 8
)

// leastLevels bound every plan: ranks and priorities may be negative, all else not.
var leastLevels = cost.Levels{
	rulebook.LevelRank: math.MinInt64, rulebook.LevelPriority: math.MinInt64,
	rulebook.LevelSumRanks: math.MinInt64, rulebook.LevelSumPriorities: math.MinInt64,
}

// applies reports whether the search is made.
//
// It is for clusters in which answers are not to be exact, and for what bounds know of:
// they take victims for single tasks, and levels for compared in their own order.
func (j *jointSearch) applies() bool {
	d := j.d
	return d.needs.open() && (d.trial.brief || d.c.TaskLen() > smallTasks) && d.pruning() && d.p.Minimum == nil && d.p.Blockers == nil &&
		d.p.Predicate == nil && d.problem.order.Sequence == nil && !d.required()
}

// search looks for a plan of the least levels, and reports whether it is shown that
// the best has them.
func (j *jointSearch) search() (shown bool) {
	d := j.d
	trial := d.trial // what the searches below show is not about all nodes
	d.problem.tops.reset(d.c)
	d.worker.OnlyLesser = true
	j.dimensions()
	j.tied = false
	j.needOf(d.size, 1)
	j.gather(j.bound.Even(j.need), sampleStride, sampleOutsiders)
	j.sampleNodes()
	if d.best.Found {
		shown = j.showLeast()
	}
	d.worker.OnlyLesser = false
	d.trial.proven, d.trial.levels = trial.proven, trial.levels
	return shown && !d.trial.meter.Stopped
}

// dimensions sets the dimensions: what a node may lack, and what queues do. One more counts
// the victims on the node, so that those elsewhere are no more than a lesser plan has.
func (j *jointSearch) dimensions() {
	d := j.d
	j.dims = j.dims[:0]
	for _, t := range d.types {
		j.dims = append(j.dims, jointDim{t, -1, weigh.ScaleOf(d.size[t])})
	}
	for i, lacks := range d.needs.short {
		for t, lack := range lacks {
			if lack > 0 && !d.needs.ruled[i] {
				j.dims = append(j.dims, jointDim{t, i, weigh.ScaleOf(lack)})
			}
		}
	}
}

// A jointTask is the level of a task, see shortage, and whether it is on the node.
type jointTask struct {
	level int32
	on    bool
}

// fill fills in what a task gives: to queues above its own level, and to the node that it
// is on.
func (j *jointSearch) fill(row []int64, size resources.Vector, x jointTask) {
	for k := range j.dims {
		if r := &j.dims[k]; r.head < 0 && x.on || r.head >= 0 && x.level <= int32(r.head) {
			row[k] = r.scale.Has(size[r.typ])
		}
	}
	if x.on {
		row[len(j.dims)] = 1
	}
}

// needOf sets the need of a node that lacks some amounts and has so many victims at least.
func (j *jointSearch) needOf(short resources.Vector, here int64) {
	j.need = j.need[:0]
	for k := range j.dims {
		r := &j.dims[k]
		lack := short[r.typ]
		if r.head >= 0 {
			lack = j.d.needs.short[r.head][r.typ]
		}
		j.need = append(j.need, r.scale.Needs(lack))
	}
	j.need = append(j.need, here)
}

// pay takes the work of bounds off the budget.
func (j *jointSearch) pay() {
	j.d.trial.pay(j.bound.Work / 2)
	j.bound.Work = 0
}

// sampleNodes looks for a good plan on nodes from everywhere.
func (j *jointSearch) sampleNodes() {
	d, f := j.d, &j.d.problem.front
	f.d, f.rows = d, f.rows[:0]
	for i := 0; i < len(d.nodes); i += jointStride {
		if p, ok := j.prospect(d.nodes[i]); ok {
			f.rows = append(f.rows, p)
		}
	}
	j.tryFew()
}

// showLeast looks at all nodes that may have a plan of lesser levels than the best,
// and reports whether it has shown that there are none besides what it leaves as the
// best.
func (j *jointSearch) showLeast() bool {
	j.findFront()
	// A hard node must not take what the others need. So it gets little at first.
	for pass, part := range [...]int64{64, 16, 8, 2} {
		prices, ok := j.bound.Carried()
		if !ok {
			prices = j.prices
		}
		j.tied = true
		j.gather(prices, 1, fewOutsiders<<pass)
		if pass == 0 {
			j.sampleFront() // what a few nodes teach often tells of all others
		}
		if !j.examineAll(part) {
			return false
		}
		if len(j.front) == 0 {
			return true
		}
	}
	return false
}

// findFront lists all nodes that may have a plan of lesser levels than the best, by what
// they lack themselves.
func (j *jointSearch) findFront() {
	d, roomy := j.d, false
	j.front = j.front[:0]
	for _, n := range d.nodes {
		if !d.usable(n) {
			continue
		}
		p := prospect{node: n, here: d.fewestAlone(n, digestRow{&d.c.digest.digestRows, n})}
		if p.here == 0 {
			// All nodes with room have the same plans.
			if roomy || !d.passes(n) {
				continue
			}
			roomy = true
		}
		if p.here == noLimit {
			continue
		}
		if j.least(&p, p.here); !d.best.losesTo(&p.levels) {
			continue
		}
		// With somebody opted out, or with own costs, sums do not tell of those levels.
		if !j.tie(&p) && p.here > 0 && !j.closely(&p) {
			continue
		}
		j.front = append(j.front, p)
	}
	d.trial.pay(int64(len(d.nodes) * len(d.types)))
}

// tryFew looks for good plans on a few nodes of the frontier, those of the least bounds
// first. What it learns on them may tell of others. Nothing is shown, so that every
// search may end early.
func (j *jointSearch) tryFew() {
	d, f := j.d, &j.d.problem.front
	heap.Init(f)
	for tries := 0; len(f.rows) > 0 && (tries < jointTries || !d.best.Found) && !d.exhausted(); {
		p := f.rows[0]
		heap.Pop(f)
		if !d.best.losesTo(&p.levels) {
			break
		}
		if d.passes(p.node) && !j.refuted(&p) {
			d.engine.Within(d.trial.meter.Left/32, func() bool { return j.examine(&p) })
			tries++
		}
	}
}

// sampleFront tries a few of every n-th node of the front. So prices are learnt, and a
// better plan is found, before all others are bounded.
func (j *jointSearch) sampleFront() {
	d, f := j.d, &j.d.problem.front
	f.rows = f.rows[:0]
	for i := 0; i < len(j.front); i += jointStride {
		if p := j.front[i]; !j.refuted(&p) && d.best.losesTo(&p.levels) {
			f.rows = append(f.rows, p)
		}
	}
	j.tryFew()
}

// examineAll looks at the nodes of the front, those of the least bounds first. Each
// gets a part of what is left of the budget; it is put off if that is not enough. It
// reports false if the budget is spent. Those that were put off are the front then.
func (j *jointSearch) examineAll(part int64) bool {
	d, f := j.d, &j.d.problem.front
	f.rows = f.rows[:0]
	// The best plan may have become better since the last part.
	for i := range j.front {
		if p := &j.front[i]; d.best.losesTo(&p.levels) && !j.refuted(p) && d.best.losesTo(&p.levels) {
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
		if !d.passes(p.node) || j.refuted(&p) {
			continue
		}
		// A better plan may have made an end of the node as well, so it waits again.
		best := d.best.Total.Levels
		switch done := d.engine.Within(d.trial.meter.Left/part, func() bool { return j.examine(&p) }); {
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

// prospect returns a node with a bound on levels by all that is lacking. It reports
// false if it has no plan, or none of lesser levels than the best.
func (j *jointSearch) prospect(n NodeID) (p prospect, ok bool) {
	d := j.d
	if !d.usable(n) {
		return p, false
	}
	p = prospect{node: n, levels: leastLevels}
	if d.nodeNeed(d.scratch.short, n) != 0 && !j.closely(&p) {
		return p, false
	}
	j.raise(&p)
	return p, d.best.losesTo(&p.levels)
}

// closely sets the bound of a node that lacks room to what its lanes say. It reports false
// if the node has no plan, or none of lesser levels than the best.
func (j *jointSearch) closely(p *prospect) bool {
	d := j.d
	lesser := d.engine.Lesser
	d.engine.Lesser = true
	levels, _, ok := d.engine.Bound(int32(p.node))
	if d.engine.Lesser = lesser; !ok || !d.best.losesTo(&levels) {
		return false
	}
	p.levels, p.here = levels, levels[rulebook.LevelVictims]
	return true
}

// least sets the levels of a plan for a node with so many victims to the least there can be.
func (j *jointSearch) least(p *prospect, count int64) {
	rank, priority := j.leastRank(p.node)
	if p.levels == leastLevels || p.levels == (cost.Levels{}) {
		p.levels[rulebook.LevelRank], p.levels[rulebook.LevelPriority] = rank, priority
	}
	p.levels[rulebook.LevelVictims], p.levels[rulebook.LevelSumRanks], p.levels[rulebook.LevelSumPriorities] = count, count*rank, count*priority
}

// leastRank returns the least rank and priority of any victim of a plan for a node.
func (j *jointSearch) leastRank(n NodeID) (rank, priority int64) {
	least := j.d.c.digest.gauges[n].minPriority
	least = min(least, j.outside.leastPriority)
	return j.d.eligible.LeastRank(least), int64(least)
}

// tie notes whether no plan for the node beats the best before the number of victims; it is
// what allows goes by.
func (j *jointSearch) tie(p *prospect) (tied bool) {
	best := &j.d.best
	j.tied = best.Found && slices.Compare(p.levels[:rulebook.LevelVictims], best.Total.Levels[:rulebook.LevelVictims]) >= 0
	return j.tied
}

// allows reports whether such plans may have tasks of a lane or of a row of those elsewhere.
func (j *jointSearch) allows(f flags, priority int32) bool {
	if !j.tied {
		return true
	}
	// Of the highest priority, and of levels that count few, one task tells. Ranks and
	// own costs play no part: whom they would keep out only makes bounds lower.
	best := &j.d.best.Total.Levels
	return int64(priority) <= best[rulebook.LevelPriority] &&
		(!f.has(flagOptedOut) || best[rulebook.LevelOptedOut] > 0) && (!f.has(flagOriginator) || best[rulebook.LevelOriginators] > 0)
}

// most returns how many victims a plan has at most that is of lesser levels than the
// best. It reports false if such a plan may be better in levels before the number of
// victims.
//
// It is what makes bounds on the number of victims say something: a node that takes more
// than that is out.
func (j *jointSearch) most(p *prospect) (most int64, ok bool) {
	best, levels := &j.d.best.Total.Levels, p.levels
	if !j.tie(p) {
		return 0, false
	}
	// With as many victims as the best, a plan may still be less in the sums of ranks
	// and priorities.
	most = best[rulebook.LevelVictims]
	rank, priority := j.leastRank(p.node)
	levels[rulebook.LevelVictims], levels[rulebook.LevelSumRanks], levels[rulebook.LevelSumPriorities] = most, most*rank, most*priority
	// If not even the least sums are less, only fewer victims are.
	if slices.Compare(levels[:], best[:]) >= 0 {
		most--
	}
	return most, true
}

// A frontier is a heap of the nodes that may still have a better plan than the best,
// those of the least bound first.
type frontier struct {
	d    *decision
	rows []prospect
}

// A prospect is a node with a bound on what a plan for it costs.
type prospect struct {
	levels cost.Levels
	node   NodeID
	spare  int64 // by how much its tasks exceed what the bound takes
	here   int64 // how many victims are on the node at least; see jointSearch
}

func (f *frontier) Len() int      { return len(f.rows) }
func (f *frontier) Swap(i, j int) { f.rows[i], f.rows[j] = f.rows[j], f.rows[i] }
func (f *frontier) Push(x any)    { f.rows = append(f.rows, *x.(*prospect)) }
func (f *frontier) Pop() any {
	f.rows = f.rows[:len(f.rows)-1]
	return nil // the caller has read it
}

// Less orders prospects by their bounds.
func (f *frontier) Less(i, j int) bool {
	a, b := &f.rows[i], &f.rows[j]
	if c := slices.Compare(a.levels[:], b.levels[:]); c != 0 {
		return c < 0
	}
	if a.spare != b.spare {
		return a.spare > b.spare // it is more likely to have a plan as good as the bound
	}
	return f.d.c.comesBefore(a.node, b.node)
}
