package victims

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// A laneSearch looks for so many tasks of a node, or fewer, that give what it lacks. It
// is for nodes whose tasks differ in size only, so that lanes are all there is to know:
// if there are few of them, a look at sets of those ends sooner than one at units.
type laneSearch struct {
	order []laneShare // the lanes, those first whose tasks have most of what is lacking
	rem   []int64     // by number of tasks taken, and type: what is still lacking
	steps int
}

// mostLaneSteps is how many sets are looked at. If tasks are of a few sizes, weights often
// cannot tell that three of them are too few, and a few dozen sets can. If there are many
// sizes, it is the other way round.
const mostLaneSteps = 1 << 7

// A look at sets of up to fewVictims tasks is worth fewLaneSteps steps before a node is
// searched: a search takes as much before it begins. On 30 shapes of tasks, asks for ten
// take a third less with 12 than with 4, and the same with twice as many steps.
const fewVictims, fewLaneSteps = 12, 1 << 9

// laneStep is what it takes to look at a set, in elementary work.
const laneStep = 25

// tasksGive reports whether as many tasks of the lanes as are of interest may give what a
// node lacks. The lanes were weighed last by the even mixture. It says so, too, if so many steps
// are too few to tell.
func (d unitBounder) tasksGive(in laneSet, lacks lackOfAll, steps int) bool {
	x := &d.problem.units.lanes
	x.order, x.steps = x.order[:0], steps
	for i, share := range d.scratch.weights {
		x.order = append(x.order, laneShare{share, in.lanes[i].tasks(), int32(i)})
	}
	slices.SortFunc(x.order, func(a, b laneShare) int { return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.lane, b.lane)) })
	x.rem = append(x.rem[:0], lacks.amounts...)
	give := d.tasksGiveFrom(in, laneSoFar{most: lacks.most})
	d.trial.pay(laneStep*int64(steps-x.steps) + int64(8*len(x.order)))
	return give
}

// fewTell reports whether sets of a few tasks show that a node has no plan of lesser levels
// than the best. Of three or four tasks weights often cannot tell that they are too few.
func (d unitBounder) fewTell(p *prospect) bool {
	l := &d.problem.lessons
	in, ok := d.cheapLanes(p)
	if !ok || l.sets.vain() || priceBounder(d).ownFirst(p) {
		return false
	}
	most, ok := d.mostOfLesser(p)
	if !ok || most > fewVictims {
		return false
	}
	lacks := lackOfAll{d.scratch.short, most}
	d.nodeNeed(lacks.amounts, p.node)
	d.weigh(&d.problem.mix, in, lacks)
	told := !d.tasksGive(in, lacks, fewLaneSteps)
	l.sets.note(told)
	return told
}

// laneSoFar is the tasks of some lanes that are taken.
type laneSoFar struct {
	place int   // of the lane that is looked at
	here  int64 // how many are taken of that
	taken int   // in all
	most  int64 // how many more may be taken
}

// tasksGiveFrom is tasksGive for what is still lacking after some tasks.
func (d unitBounder) tasksGiveFrom(in laneSet, s laneSoFar) bool {
	x, types, mix := &d.problem.units.lanes, d.c.types, &d.problem.mix
	open, nothing := mix.left(rows.At(x.rem, s.taken, types))
	if x.steps--; nothing || x.steps < 0 {
		return true
	}
	// More of the lane that the last task was of, or one of a lane behind it: so each set is
	// looked at once, whatever the order of its tasks.
	for ; s.place < len(x.order); s.place, s.here = s.place+1, 0 {
		l := &x.order[s.place]
		// Those that come later have less.
		if s.most*l.share < open || s.most == 0 {
			return false
		}
		if s.here == l.tasks {
			continue
		}
		x.rem = append(x.rem[:(s.taken+1)*types], x.rem[s.taken*types:(s.taken+1)*types]...)
		size := d.digestOf(in.node).size(int(l.lane), types)
		for t, v := range rows.At(x.rem, s.taken+1, types) {
			x.rem[(s.taken+1)*types+t] = v - size[t]
		}
		if d.tasksGiveFrom(in, laneSoFar{s.place, s.here + 1, s.taken + 1, s.most - 1}) {
			return true
		}
	}
	return false
}
