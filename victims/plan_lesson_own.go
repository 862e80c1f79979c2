package victims

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// With own costs a lesson shows that plans for a node cost more than the best: at its
// weights the tasks that cost least for what they have of the lacks cost more, even if
// they are cut. See [bounder.boundOwn].

// A priceBounder looks for lessons about own costs.
type priceBounder struct{ bounder }

// ownFirst reports whether own costs are the first level in which a prospect may be less
// than the best plan.
func (d priceBounder) ownFirst(p *prospect) bool {
	best := &d.best.total.Levels
	return d.best.found && len(d.c.costs) > 0 && slices.Equal(p.levels[:LevelOwn], best[:LevelOwn]) &&
		slices.Compare(p.levels[:LevelVictims], best[:LevelVictims]) < 0
}

// lessonPrices reports whether the weights of some lesson show that tasks of some lanes
// cost more than the best plan.
func (d priceBounder) lessonPrices(in laneSet, lacks resources.Vector) bool {
	l := &d.problem.lessons
	for k := range l.n { // few, and each costs as much as a bound
		if d.costsMore(&l.rows[k], in, lacks) {
			return true
		}
	}
	return false
}

// seekPrices looks for weights that show it.
func (d priceBounder) seekPrices(in laneSet, lacks resources.Vector) bool {
	draft := &d.problem.lessons.draft
	draft.reset(d.decision) // even weights, which told too little by themselves
	for range lessonRounds {
		if d.costsMore(draft, in, lacks) {
			d.problem.lessons.keep()
			return true
		}
		draft.turn(d.givenByCheapest(draft.aim(lacks), in, lacks))
	}
	return false
}

// costsMore reports whether tasks of some lanes that give what is lacking cost more than
// the best plan, by the weights of a mixture.
func (d priceBounder) costsMore(mix *mixture, in laneSet, lacks resources.Vector) bool {
	d.trial.pay(int64(len(in.lanes) * (2*len(d.types) + pricedWork)))
	b := nodeBound{node: in.node, levels: d.best.total.Levels}
	// The bound reads the mixture of the problem, so they change places for a moment.
	d.problem.mix, *mix = *mix, d.problem.mix
	less := d.boundOwn(&b, in.lanes, lacks)
	d.problem.mix, *mix = *mix, d.problem.mix
	return !less
}

// pricedWork is what it takes to sort a lane among others, in elementary work. It is not
// measured.
const pricedWork = 16

// givenByCheapest returns what those of the lanes that were priced last have of the lacks,
// the cheapest first, until they have an open amount of the mixture. The last one counts
// in full.
func (d priceBounder) givenByCheapest(open int64, in laneSet, lacks resources.Vector) resources.Vector {
	given := rows.Zeros(d.scratch.sum, d.c.types)
	for _, p := range d.scratch.priced {
		if open <= 0 {
			break
		}
		take := min((open-1)/p.share+1, p.tasks) // nobody is listed who has nothing
		open -= take * p.share
		d.give(given, laneOf{in.node, p.lane, take}, lacks)
	}
	d.scratch.sum = given
	return given
}
