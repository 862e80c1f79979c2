package victims

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A unitOrder is the units of a node in the order in which a search decides them:
// those first that have most of what is lacking, in a mixture of all types.
type unitOrder struct {
	order  []placedUnit
	useful []int32 // the units that are in it, whatever the mixture
	// By place in the order: the least of each level from there on, and what those
	// from there on give of each type.
	least []cover.Levels
	avail []int64        // what is lacking beyond that of any type ends a search at once
	rem   []int64        // by number of units taken, and type: what is still lacking
	sums  []cover.Levels // by number of units taken: what they cost
	mix   *mixture
	// Some of them stop jobs and others do not; and the fewest victims of one that does.
	varied bool
	crewed int64
	low    cover.Levels // of any set of interest at least
	steps  int          // that are left to a search
	set    []int32      // the units of the set that a search has found
	found  bool
}

// A placedUnit is a unit at its place in the order. Sums of shares are kept by place, for
// the largest units from a place on are its neighbours: how many of them are enough is
// the difference of two sums.
type placedUnit struct {
	share int64 // of what is lacking
	sum   int64 // of the shares before it
	unit  int32
	next  int32 // the place of the first unit behind it that is not alike
}

// arrange orders the units by a mixture that is aimed at what the node lacks. Those
// that can be in no set of interest are left out, and it reports false if no set is
// left.
//
// Say that it takes n units at least, and that each has at least so much of a level. Then
// a set has n times that. If that is what the goal has, a set of interest has exactly so
// many, and nobody in it has more than the least: a unit that does, together with n-1
// times the least, is beyond the goal. Without such units it may take more than n, and so
// on, until nobody is left out any more. So one look at all levels does what a search
// finds out level by level.
func (d unitBounder) arrange(mix *mixture, short resources.Vector) bool {
	x := &d.problem.units
	open := mix.aim(short)
	x.mix, x.order = mix, x.order[:0]
	for _, i := range x.useful {
		if share := mix.of(x.amountsOf(i, d.c.types)); share > 0 {
			x.order = append(x.order, placedUnit{share: share, unit: i})
		}
	}
	d.trial.pay(arrangeWork * int64(len(x.order)))
	x.sort()
	for {
		x.sumUp()
		count := x.fewest(0, open)
		if count == noLimit {
			return false
		}
		if x.low = x.lowest(&cover.Levels{}, 0, open); !x.isLess(&x.low) {
			return false
		}
		n := len(x.order)
		x.order = slices.DeleteFunc(x.order, func(p placedUnit) bool {
			low := x.with(&x.units[p.unit], &x.least[0], count-1)
			return !x.isLess(&low)
		})
		if len(x.order) < n {
			continue
		}
		// They are in no set of interest, whatever the mixture.
		x.useful = x.useful[:0]
		for i := range x.order {
			x.useful = append(x.useful, x.order[i].unit)
		}
		return true
	}
}

// sort puts those units first that have the largest shares. Nodes have a few dozen of
// them, and then inserting them one by one takes half the time.
func (x *unitBounds) sort() {
	if len(x.order) > fewInserted {
		slices.SortFunc(x.order, func(a, b placedUnit) int {
			return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.unit, b.unit))
		})
		return
	}
	// They are in the order of their numbers, and that is kept among equals.
	for i := 1; i < len(x.order); i++ {
		p, j := x.order[i], i
		for ; j > 0 && x.order[j-1].share < p.share; j-- {
			x.order[j] = x.order[j-1]
		}
		x.order[j] = p
	}
}

// arrangeWork is what it takes to find the place of a unit, in elementary work.
const arrangeWork = 20

// amountsOf returns what a unit gives of each type.
func (x *unitBounds) amountsOf(unit int32, types int) resources.Vector {
	return rows.At(x.amounts, int(unit), types)
}

// sumUp computes what is known by place. It is made anew whenever units are left out,
// for then the others come nearer, and what is least of them may be more.
func (x *unitBounds) sumUp() {
	n := len(x.order)
	x.least = slices.Grow(x.least[:0], n+1)[:n+1]
	sum, stops := int64(0), 0
	x.crewed = noLimit
	for i := range x.order {
		p := &x.order[i]
		p.sum = sum
		sum += p.share
		if u := &x.units[p.unit]; u[LevelJobs] > 0 {
			stops++
			x.crewed = min(x.crewed, u[LevelVictims])
		}
	}
	x.varied = stops > 0 && stops < n
	for l := range x.least[n] {
		x.least[n][l] = noLimit / 4 / mostUnits // of no unit
	}
	for i := n - 1; i >= 0; i-- {
		x.least[i] = x.least[i+1]
		for l, v := range x.units[x.order[i].unit] {
			x.least[i][l] = min(x.least[i][l], v)
		}
	}
}

// fewest returns how many units from a place on it takes at least to give some amount
// of the mixture, or noLimit if all of them do not. What a unit has of a mixture is
// rounded up, and what is lacking down, so it is never too many.
func (x *unitBounds) fewest(place int, open int64) (count int64) {
	if place == len(x.order) {
		return noLimit
	}
	from := x.order[place].sum
	for i := place; i < len(x.order); i++ {
		if p := &x.order[i]; p.sum+p.share-from >= open {
			return max(int64(i-place)+1, 1)
		}
	}
	return noLimit
}

// lowest returns levels that no set goes below that has some levels so far, and gives
// some amount of the mixture more by units from a place on.
//
// The least of all units is that of a task alone, if there is one, which stops no job. So
// of jobs it says nothing, and most of what tasks alone cannot give is in gangs: those are
// counted by themselves.
func (x *unitBounds) lowest(levels *cover.Levels, place int, open int64) cover.Levels {
	count := x.fewest(place, open)
	if count == noLimit {
		return x.goal // there is no such set
	}
	low := x.with(levels, &x.least[place], count)
	if !x.varied || count == 0 {
		return low
	}
	// Even if all that stop no job go, so many others have to. Each of them has as many
	// victims as the smallest gang, and each other unit that is needed has one.
	stops := int64(0)
	for i := place; i < len(x.order); i++ {
		if p := &x.order[i]; x.units[p.unit][LevelJobs] == 0 {
			open -= p.share
		}
	}
	for i := place; i < len(x.order) && open > 0; i++ {
		if p := &x.order[i]; x.units[p.unit][LevelJobs] > 0 {
			open -= p.share
			stops++
		}
	}
	low[LevelJobs] = max(low[LevelJobs], levels[LevelJobs]+stops)
	low[LevelVictims] = max(low[LevelVictims], levels[LevelVictims]+count+stops*(x.crewed-1))
	return low
}

// excluded reports whether a unit cannot go with those that a set has so far: a gang
// goes whole, or so many of its members go one by one as it can spare. (DESIGN.md, Whole
// gangs.) Without that, what a member gives would count twice.
func (x *unitBounds) excluded(unit int32, taken int) bool {
	u := &x.kin[unit]
	if u.job == 0 {
		return false
	}
	spare := u.surplus
	for _, other := range x.set[:taken] {
		if o := &x.kin[other]; o.job == u.job {
			if spare--; spare <= 0 || x.units[unit][LevelJobs]+x.units[other][LevelJobs] > 0 {
				return true
			}
		}
	}
	return false
}

// link notes which units are alike, and what those from a place on give.
func (x *unitBounds) link(types int) {
	n := len(x.order)
	x.avail = rows.Zeros(x.avail, (n+1)*types)
	for i := n - 1; i >= 0; i-- {
		p := &x.order[i]
		p.next = int32(i + 1)
		if i+1 < n && x.alike(p, &x.order[i+1], types) {
			p.next = x.order[i+1].next
		}
		resources.Add(rows.At(x.avail, i, types), rows.At(x.avail, i+1, types), x.amountsOf(p.unit, types))
	}
}

// alike reports whether two units cost and give the same. Then a set with the second of
// them and not the first is as good as one with the first, which is looked at before. A
// unit that excludes others is like none.
func (x *unitBounds) alike(p, q *placedUnit, types int) bool {
	return p.share == q.share && x.kin[p.unit].job|x.kin[q.unit].job == 0 && x.units[p.unit] == x.units[q.unit] &&
		slices.Equal(x.amountsOf(p.unit, types), x.amountsOf(q.unit, types))
}

// So many places in the order of a node's units are looked at: fewSteps before weights are
// sought, someSteps after that, and manySteps if that was not enough. A search of all that
// counts takes longer still. They were measured over the families of bench/ratios -draws:
// with four times as few of the first a tenth of the draws of gangs end unproven, and with
// twice as many draws of all rules together take up to twice as long.
const fewSteps, someSteps, manySteps = 1 << 8, 1 << 13, 1 << 17

// unitStep is what it takes to look at a place, in elementary work, and unitVaried what it
// takes for each unit besides if the units are varied.
const unitStep, unitVaried = 30, 1

// anyLess reports whether some set of units may give what the node lacks and have
// lesser levels than the goal. It says so, too, if so many steps are too few to tell.
func (d unitBounder) anyLess(short resources.Vector, steps int) bool {
	x := &d.problem.units
	x.link(d.c.types)
	x.rem = append(x.rem[:0], short...)
	x.steps, x.set = steps, x.set[:0]
	x.sums = append(x.sums[:0], cover.Levels{})
	less := d.lessFrom(0, 0)
	x.found = less && x.steps >= 0
	return less
}

// stepWork is what it takes to look at a set of the units of a node, in elementary work.
// If units are varied, each step goes through all that are left.
func (d unitBounder) stepWork() int64 {
	x := &d.problem.units
	if x.varied {
		return unitStep + unitVaried*int64(len(x.order))
	}
	return unitStep
}

// lessFrom is anyLess for sets of some units that are taken, and others from a place on.
func (d unitBounder) lessFrom(place, taken int) bool {
	x, types := &d.problem.units, d.c.types
	x.set = x.set[:taken]
	// The caller may end a decision, however many steps are left.
	if d.trial.pay(d.stepWork()); d.trial.meter.Stopped {
		x.steps = 0
	}
	x.steps--
	if x.steps < 0 {
		return true
	}
	rem := rows.At(x.rem, taken, types)
	open, covered := x.mix.left(rem)
	if covered {
		return true
	}
	for ; place < len(x.order); place = int(x.order[place].next) {
		// Each place is as much work as a set.
		d.trial.pay(d.stepWork())
		if x.steps--; x.steps < 0 {
			return true
		}
		if !resources.Fits(rem, rows.At(x.avail, place, types)) {
			return false
		}
		// Of the units that are left the largest come first, so this rises from place to
		// place: what is too much here is too much behind.
		if low := x.lowest(&x.sums[taken], place, open); !x.isLess(&low) {
			return false
		}
		p := &x.order[place]
		if x.excluded(p.unit, taken) {
			continue
		}
		// Sums are kept here: in variables of a function that calls itself they would be
		// allocated.
		x.sums = append(x.sums[:taken+1], x.with(&x.sums[taken], &x.units[p.unit], 1))
		if x.isLess(&x.sums[taken+1]) {
			x.rem = append(x.rem[:(taken+1)*types], rem...)
			more := rows.At(x.rem, taken+1, types)
			resources.Sub(more, more, x.amountsOf(p.unit, types))
			x.set = append(x.set[:taken], p.unit)
			if d.lessFrom(place+1, taken+1) {
				return true
			}
			rem = rows.At(x.rem, taken, types)
		}
	}
	return false
}
