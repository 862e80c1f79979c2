package victims

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A unitKin tells of a unit that excludes others: of a gang that can spare members.
type unitKin struct {
	job     int32 // 0 if it excludes none
	surplus int64
}

// A crew is what is known of a gang as a whole: what stopping all its members costs, as
// far as each cost can be told by itself.
type crew struct {
	levels cover.Levels
	out    bool // a rule keeps some member
}

// mostUnits is up to how many units of a node are bounded. With more of them a search
// takes about as long.
const mostUnits = 1 << 10

// build makes the units of a node, and notes which of them could be in a set of lesser
// levels than the goal. It reports false if they are too many.
//
// A unit costs what all its victims cost, wherever they run, and gives what those on the
// node give. So the members of its gang are read, all over the cluster: that is most of
// what a bound takes, and why a crew is kept until the decision ends.
func (d unitBounder) build(n NodeID) bool {
	x, digest := &d.problem.units, d.digestOf(n)
	if x.stamp++; x.stamp == math.MaxInt32 {
		return false // looks are told apart by their number
	}
	x.units, x.ids, x.amounts, x.useful = x.units[:0], x.ids[:0], x.amounts[:0], x.useful[:0]
	x.kin, x.found = x.kin[:0], false
	if len(digest.ids) > mostUnits {
		return false
	}
	for i := range digest.lanes {
		size := digest.size(i, d.c.types)
		for j := digest.lanes[i].first; j < digest.lanes[i].end; j++ {
			d.buildOf(digest.ids[j], size)
		}
	}
	d.trial.pay(glanceWork*int64(len(digest.ids)) + unitWork*int64(len(x.units)))
	return true
}

// unitWork is what it takes to make a unit, in elementary work.
const unitWork = 30

// buildOf makes the units that a task is, or adds it to that of its gang.
func (d unitBounder) buildOf(id TaskID, size resources.Vector) {
	x := &d.problem.units
	kin := unitKin{}
	// It cannot go, and neither can a gang with such a member.
	if d.eligible.Veto(id) != 0 {
		return
	}
	if job := d.c.tasks[id].job; job != 0 {
		if g := d.gangs.glance(job); g.minimum > 0 {
			if g.surplus() > 0 {
				kin = unitKin{job, g.surplus()}
			}
			d.buildCrew(id, g, kin)
			if kin.job == 0 {
				return // it goes with all others
			}
		}
	}
	x.counts = x.counts[:0]
	var one cover.Levels
	d.join(&one, id)
	x.add(id, &one, kin)
	x.amounts = append(x.amounts, size...)
}

// buildCrew makes the unit that a gang is as a whole, of which a task is a member, or
// adds what the task gives: a gang with several members here is one unit that gives what
// all of them do. The number of the look tells whether another member has made it.
func (d unitBounder) buildCrew(id TaskID, g *jobGlance, kin unitKin) {
	x, size := &d.problem.units, d.c.size(id)
	if g.stamp == x.stamp {
		if g.unit >= 0 {
			all := x.amountsOf(g.unit, len(size))
			resources.Add(all, all, size)
		}
		return
	}
	g.stamp, g.unit = x.stamp, -1
	if c := d.crewOf(d.c.tasks[id].job, g); !c.out {
		g.unit = int32(len(x.units))
		x.add(id, &c.levels, kin)
		x.amounts = append(x.amounts, size...)
	}
}

// add adds a unit, but for what it gives.
func (x *unitBounds) add(id TaskID, levels *cover.Levels, kin unitKin) {
	// One that alone is as much as the goal is in no set of interest.
	if x.isLess(levels) {
		x.useful = append(x.useful, int32(len(x.units)))
	}
	x.units, x.ids, x.kin = append(x.units, *levels), append(x.ids, id), append(x.kin, kin)
}

// join adds a task to the victims of a unit. It writes sums one by one: this is the inner
// loop of all bounds by units, and a copy of all levels takes longer than the rest of it.
func (d unitBounder) join(l *cover.Levels, id TaskID) {
	base, r := &d.problem.units.base, &d.c.tasks[id]
	rank, priority := d.eligible.leaves[r.leaf].rank.Of(r.priority)-base.rank, int64(r.priority)-base.priority
	if r.flags.has(flagOptedOut) {
		l[LevelOptedOut]++
	}
	if r.flags.has(flagOriginator) {
		l[LevelOriginators]++
	}
	l[LevelOverrun] += d.overrunOf(id)
	l[LevelRank], l[LevelPriority] = max(l[LevelRank], rank), max(l[LevelPriority], priority)
	l[LevelOwn] = min(l[LevelOwn]+min(d.c.costOf(id), noLimit/4), noLimit/4)
	l[LevelVictims]++
	l[LevelSumRanks] += rank
	l[LevelSumPriorities] += priority
}

// crewOf returns what is known of the gang of a job as a whole. It is the same for all
// nodes on which it has members.
func (d unitBounder) crewOf(job int32, g *jobGlance) *crew {
	x := &d.problem.units
	if g.levels > 0 {
		return &x.crews[g.levels-1]
	}
	x.crews = append(x.crews, crew{})
	g.levels = int32(len(x.crews))
	c := &x.crews[g.levels-1]
	c.levels[LevelJobs] = 1
	x.counts = x.counts[:0]
	d.trial.pay(crewWork * int64(g.running))
	for _, id := range d.c.membersOf(job) {
		if d.c.tasks[id].state != Running {
			continue
		}
		if d.eligible.Veto(id) != 0 {
			c.out = true
			return c
		}
		d.join(&c.levels, id)
	}
	return c
}

// crewWork is what it takes to look at a member of a gang, in elementary work.
const crewWork = 15

// overrunOf returns by how much a task more overruns its budgets, after those of the
// gang that were counted. What a set of units overruns is no less than the sum of what
// each does by itself: none of them finds more left than is left now.
func (d unitBounder) overrunOf(id TaskID) (over int64) {
	x := &d.problem.units
	for _, b := range d.c.budgetsOf(id) {
		budget := &d.c.budgets[b]
		if budget.hard {
			continue
		}
		i := slices.IndexFunc(x.counts, func(c budgetCount) bool { return c.budget == b })
		if i < 0 {
			i, x.counts = len(x.counts), append(x.counts, budgetCount{budget: b})
		}
		if x.counts[i].count++; x.counts[i].count > max(budget.left, 0) {
			over++
		}
	}
	return over
}
