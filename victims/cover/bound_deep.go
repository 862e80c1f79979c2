package cover

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/wide"
)

// A search that takes more than a few steps is worth bounds that cost more to
// prepare. They say no more than the others if there is one need, or if no two
// units lose different work.

// deepAfter is the number of steps after which deep bounds are prepared. Nearly all
// searches on a node end before it. It was measured once on hard and plain loads of
// package workload: with 8 and with 128, decisions take the same steps within 0.1 % and
// the same time.
const deepAfter = 32

// deepest is for how many units the least work is known. Sets of more units use the
// least of so many, which is a bound too. With 8 and with 32, decisions of the same loads
// take the same steps.
const deepest = 16

// mixOne is the whole of a need in a mix.
const mixOne = 1 << 20

// deepBounds are prepared once for a problem.
type deepBounds struct {
	ready bool
	// What all needs take together, one row of each: a unit that reduces two of
	// them counts for both, and there may be few of those. A set that meets them
	// has a mix of mixOne for each.
	// There are two mixes: of the hardest row of each need, and of all rows. If a
	// need is short of several types, the sum over all of them tells most: a
	// unit that has much of one has little of another.
	mixes [2]mix
	// least[i*(deepest+1)+m] is the least work of m units of classes i and on.
	least []wide.Uint128
	works []uint64 // scratch
}

// buildDeep prepares the deep bounds.
func (w *Worker) buildDeep() {
	w.deep.ready = true
	w.buildMixes()
	w.buildLeastWork()
}

// A mix sums rows up, each as a part of what it is short of.
type mix struct {
	rows    []int32
	amounts []int64 // what a unit of each class has at most
	falling []int32 // classes by falling amount
}

// buildMixes makes the mix of the hardest row of each need, the one that takes
// most units, and that of all rows.
func (w *Worker) buildMixes() {
	hard, all := &w.deep.mixes[0], &w.deep.mixes[1]
	hard.rows, all.rows = hard.rows[:0], all.rows[:0]
	for n := range w.p.Needs {
		hardest, most := int32(-1), int64(0)
		for r := w.rowOf[n]; r < w.rowOf[n+1]; r++ {
			if units := w.unitsFor(0, r, w.rows[r].short); units > most {
				hardest, most = r, units
			}
			all.rows = append(all.rows, r)
		}
		if hardest >= 0 {
			hard.rows = append(hard.rows, hardest)
		}
	}
	for i := range w.deep.mixes {
		w.fillMix(&w.deep.mixes[i])
	}
}

// fillMix computes what the units of each class have of a mix. Rounding up
// keeps the bound one.
func (w *Worker) fillMix(x *mix) {
	x.amounts, x.falling = x.amounts[:0], x.falling[:0]
	if len(x.rows) < 2 {
		return // it says no more than the row
	}
	for i := range w.classes {
		var amount int64
		for _, r := range x.rows {
			short := w.rows[r].short
			quo, rem := wide.MulDiv(uint64(min(w.amount(int32(i), r), short)), mixOne, uint64(short))
			if amount += int64(quo); rem > 0 {
				amount++
			}
		}
		x.amounts = append(x.amounts, amount)
		x.falling = append(x.falling, int32(i))
	}
	slices.SortStableFunc(x.falling, func(a, b int32) int { return cmp.Compare(x.amounts[b], x.amounts[a]) })
}

// buildLeastWork computes, for every class i, the least work of any number of
// units of the classes from i on.
func (w *Worker) buildLeastWork() {
	d := &w.deep
	n := len(w.classes)
	d.least = rows.Zeros(d.least, (n+1)*(deepest+1))
	d.works = d.works[:0] // the least, rising
	for i := n - 1; i >= 0; i-- {
		c := &w.classes[i]
		for _, m := range w.members[c.first : c.first+min(c.count, deepest)] {
			at, _ := slices.BinarySearch(d.works, w.p.Units[m].Work)
			if at == deepest {
				continue
			}
			d.works = slices.Insert(d.works[:min(len(d.works), deepest-1)], at, w.p.Units[m].Work)
		}
		least := d.least[i*(deepest+1):][:deepest+1]
		for m, work := range d.works {
			least[m+1] = least[m].Add(wide.Of(work))
		}
		for m := len(d.works) + 1; m <= deepest; m++ {
			least[m] = least[m-1]
		}
	}
}

// mixAtLeast returns a number of units from the classes from i on without which
// the rows of a mix together stay open.
func (w *Worker) mixAtLeast(x *mix, i int) (units int64) {
	var rem int64
	for _, r := range x.rows {
		if open := w.rem[r]; open > 0 {
			quo, _ := wide.MulDiv(uint64(open), mixOne, uint64(w.rows[r].short))
			rem += int64(quo)
		}
	}
	if rem <= 0 {
		return 0
	}
	for _, j := range x.falling {
		if int(j) < i || x.amounts[j] == 0 {
			continue
		}
		take := min((rem-1)/x.amounts[j]+1, int64(w.classes[j].count))
		units += take
		if rem -= take * x.amounts[j]; rem <= 0 {
			break
		}
	}
	return units
}

// leastWork returns a work that so many units of the classes from i on lose at
// least.
func (w *Worker) leastWork(i int, units int64) Work {
	return Work{w.deep.least[i*(deepest+1)+int(min(units, deepest))]}
}
