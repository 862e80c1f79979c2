package victims

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// If tasks go with their whole jobs, a bound that takes each for itself says little:
// of the victims most are on other nodes, and which levels a plan has is decided by
// them as well. So nodes with jobs are bounded by units: a task that may go by itself,
// or a gang with all that stopping it costs and what its members here give. Laws over
// sums, blockers and exemptions keep nobody.
//
// A unitBounder shows of a node that no set of units that gives what it lacks has
// lesser levels than the best plan. It asks this, from the cheapest way to the
// dearest:
//
//  1. count: if each gang has one task here and nobody may go alone, then as many jobs
//     are stopped as tasks go, and those are bounded by lanes.
//  2. arrange: the fewest units that are enough, times the least that any of them has
//     of each level. See plan_bound_unit_set.go.
//  3. refuted: the same with the weights that lessons have left, and then a search
//     over sets of units.
//
// If that finds a set, improve tries whether it is lawful. See plan_bound_unit_try.go.
type unitBounder struct{ bounder }

// unitBounds is what such a bounder knows of a node, and the memory for it.
//
// Levels are counted from the least that there is, so that none is negative: see
// levelBase. The own cost is one number, in LevelOwn, and no more of it counts than
// what is too much.
type unitBounds struct {
	base  levelBase
	goal  cover.Levels // of the best plan
	stamp int32
	units []cover.Levels // what each costs
	ids   []TaskID       // by unit: a task, which goes alone if the unit stops no job
	kin   []unitKin
	// By unit and type: what its members here give.
	amounts []int64
	crews   []crew
	counts  []budgetCount
	unitOrder
	lanes  laneSearch
	sought attempts // at weights that tell
	looked attempts // at a few sets of a node
}

// A levelBase is the least rank and the least priority of all tasks.
type levelBase struct{ rank, priority int64 }

// reset begins a search over all nodes.
func (x *unitBounds) reset(d *decision) {
	x.crews, x.stamp, x.sought, x.looked = x.crews[:0], 0, attempts{}, attempts{}
	if d.p.Minimum == nil {
		return
	}
	least := int32(math.MaxInt32)
	for n := range d.c.digest.gauges {
		least = min(least, d.c.digest.gauges[n].minPriority)
	}
	x.base = levelBase{d.eligible.leastRank(least), int64(least)}
}

// serves reports whether a node is bounded by units. Until there is a plan there is no
// goal, and an order of the caller's has bounds of its own.
func (d unitBounder) serves(n NodeID) bool {
	return d.p.Minimum != nil && d.c.digest.gauges[n].jobs && d.best.found && d.problem.order.Sequence == nil
}

// aim sets the goal: the levels of the best plan. It reports false if they are too
// much to tell. The best plan changes while nodes are looked at, so each look begins
// with this.
func (d unitBounder) aim() bool {
	x, best := &d.problem.units, &d.best.total.Levels
	own, ok := cover.Join(best[LevelOwn], best[LevelOwnLow]).Int64()
	x.goal = *best
	x.goal[LevelOwn], x.goal[LevelOwnLow] = own, 0
	x.goal[LevelRank] -= x.base.rank
	x.goal[LevelPriority] -= x.base.priority
	x.goal[LevelSumRanks] -= x.base.rank * best[LevelVictims]
	x.goal[LevelSumPriorities] -= x.base.priority * best[LevelVictims]
	return ok && own < noLimit>>16
}

// isLess reports whether levels are less than the goal. As none is negative, levels of
// which none is less than that of others are no less than those: what is true of a part
// of a set is true of all of it.
func (x *unitBounds) isLess(levels *cover.Levels) bool {
	return slices.Compare(levels[:], x.goal[:]) < 0
}

// with returns levels with those of so many units more that have some levels at least.
func (x *unitBounds) with(levels, more *cover.Levels, units int64) (sum cover.Levels) {
	for l, v := range more {
		if l == int(LevelRank) || l == int(LevelPriority) {
			sum[l] = max(levels[l], v)
		} else {
			sum[l] = levels[l] + units*v
		}
	}
	// Beyond the goal it is too much, however much it is.
	sum[LevelOwn] = min(sum[LevelOwn], x.goal[LevelOwn]+1)
	return sum
}

// single sets the levels of each unit of a node, at least, if each of its tasks is of
// another gang and goes with it. It reads what is known of jobs, and reports false if
// the node is another one.
//
// That is what gangs mostly are: their members are spread over the cluster so that a node
// that fails stops one of each.
func (d unitBounder) single(n NodeID, one *cover.Levels) bool {
	x, members := &d.problem.units, d.fewestMembers(n)
	if members == 0 {
		return false
	}
	g, row := d.digestAt(n)
	priority := g.gauges[row].minPriority
	*one = cover.Levels{
		LevelRank: d.eligible.leastRank(priority) - x.base.rank, LevelPriority: int64(priority) - x.base.priority,
		LevelJobs: 1, LevelVictims: members,
	}
	// At least of the member here: nothing is known of the others.
	one[LevelSumRanks], one[LevelSumPriorities] = one[LevelRank], one[LevelPriority]
	return true
}

// jobsFirst reports whether the goal has nothing of the levels that are summed up before
// the number of jobs: what gangs have of those is not known until units are made.
func (x *unitBounds) jobsFirst() bool {
	return x.goal[LevelOptedOut]|x.goal[LevelOverrun]|x.goal[LevelOriginators] == 0
}

// count bounds such a node by how many of its tasks it takes, in a mixture: so many jobs
// are stopped. It reports false if they are too many.
func (d unitBounder) count(b *nodeBound, one *cover.Levels, mix *mixture) bool {
	x, in, short := &d.problem.units, laneSet{b.node, d.digestOf(b.node).lanes}, d.scratch.short
	d.trial.pay(int64(len(in.lanes) * len(d.types)))
	count, spare := d.fewestOfAll(mix, in, lackOfAll{short, x.most(one)})
	x.low, b.spare = x.with(&cover.Levels{}, one, count), spare
	return x.isLess(&x.low)
}

// most returns how many units of some levels at least a set of interest has at most, as
// far as that matters.
func (x *unitBounds) most(one *cover.Levels) int64 {
	// As many jobs as the best plan stops, or one more: which of both, other levels tell.
	for count := max(x.goal[LevelJobs], 1); count <= x.goal[LevelJobs]+1; count++ {
		if low := x.with(&cover.Levels{}, one, count); !x.isLess(&low) {
			return count - 1
		}
	}
	return mixMost
}

// fewestMembers returns how many members the smallest gang has that has a task on a
// node, or 0 if some task may go alone or two are of one gang.
func (d unitBounder) fewestMembers(n NodeID) (members int64) {
	x, ids := &d.problem.units, d.digestOf(n).ids
	if x.stamp++; x.stamp == math.MaxInt32 {
		return 0 // looks are told apart by their number
	}
	d.trial.pay(glanceWork * int64(len(ids)))
	members = noLimit
	for _, id := range ids {
		job := d.c.tasks[id].job
		if job == 0 {
			return 0
		}
		g := d.gangs.glance(job)
		if g.minimum == 0 || g.surplus() > 0 || g.stamp == x.stamp {
			return 0
		}
		g.stamp, g.unit = x.stamp, -1
		members = min(members, int64(g.running))
	}
	return members
}

// glanceWork is what it takes to look up the gang of a task, in elementary work.
const glanceWork = 5

// bound bounds a node, and reports whether a look tells that it has no plan of lesser
// levels than the best. If headroom is short, too, it is no less true: what a plan has
// elsewhere only adds to that.
func (d unitBounder) bound(b *nodeBound, short resources.Vector) (tells bool) {
	x := &d.problem.units
	var one cover.Levels
	known := d.aim()
	// If units are made in any case, the laws are asked then.
	if !known || x.jobsFirst() {
		if !d.boundClosely(b, short) {
			return true
		}
	}
	switch {
	case !known:
		return false
	case x.jobsFirst() && d.single(b.node, &one):
		tells = !d.count(b, &one, &d.problem.mix)
	case !d.build(b.node):
		return !d.boundClosely(b, short)
	default:
		tells = d.lessonsTell(short) || !d.arrange(&d.problem.mix, short) || d.noneLess(short)
	}
	b.levels = x.low
	b.levels[LevelRank] += x.base.rank
	b.levels[LevelPriority] += x.base.priority
	b.levels[LevelSumRanks] += x.base.rank * x.low[LevelVictims]
	b.levels[LevelSumPriorities] += x.base.priority * x.low[LevelVictims]
	b.levels[LevelOwn], b.levels[LevelOwnLow] = cover.WideOf(x.low[LevelOwn]).Split()
	return tells
}

// noneLess reports whether a look at a few sets tells that none has lesser levels than
// the best plan. If looks mostly tell nothing there are none: a node that is searched
// gets a closer one.
func (d unitBounder) noneLess(short resources.Vector) bool {
	x := &d.problem.units
	if x.looked.vain() {
		return false
	}
	tells := !d.anyLess(short, fewSteps)
	x.looked.note(tells)
	return tells
}
