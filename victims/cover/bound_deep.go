package cover

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/wide"
)

// A search that takes more than a few steps is worth bounds that cost more to
// prepare. They say no more than the others where there is one need, and where
// no two units lose different work.

// deepAfter is the number of steps after which deep bounds are prepared.
const deepAfter = 32

// deepest is for how many units the least work is known.
const deepest = 16

// mixOne is the whole of a need in a mix.
const mixOne = 1 << 20

// deepBounds are prepared once for a problem.
type deepBounds struct {
	ready bool
	// What all needs take together, one row of each: a unit that reduces two of
	// them counts for both, and there may be few of those. A set that meets them
	// has a mix of mixOne for each.
	rows  []int32
	mix   []int64 // what a unit of each class has at most
	byMix []int32 // classes by falling mix
	// least[i*(deepest+1)+m] is the least work of m units of classes i and on.
	least []wide.Uint128
	works []uint64 // scratch
}

// buildDeep prepares the deep bounds.
func (w *Worker) buildDeep() {
	w.deep.ready = true
	w.buildMix()
	w.buildLeastWork()
}

// buildMix chooses the row of each need that takes most units, and mixes them.
func (w *Worker) buildMix() {
	d := &w.deep
	d.rows, d.mix, d.byMix = d.rows[:0], d.mix[:0], d.byMix[:0]
	for n := range w.p.Needs {
		hardest, most := int32(-1), int64(0)
		for r := w.rowOf[n]; r < w.rowOf[n+1]; r++ {
			if units := w.unitsFor(0, r, w.rows[r].short); units > most {
				hardest, most = r, units
			}
		}
		if hardest >= 0 {
			d.rows = append(d.rows, hardest)
		}
	}
	for i := range w.classes {
		var mix int64
		for _, r := range d.rows {
			short := w.rows[r].short
			quo, rem := wide.MulDiv(uint64(min(w.amount(int32(i), r), short)), mixOne, uint64(short))
			if mix += int64(quo); rem > 0 {
				mix++
			}
		}
		d.mix = append(d.mix, mix)
		d.byMix = append(d.byMix, int32(i))
	}
	slices.SortStableFunc(d.byMix, func(a, b int32) int { return cmp.Compare(d.mix[b], d.mix[a]) })
}

// buildLeastWork computes, for every class i, the least work of any number of
// units of the classes from i on.
func (w *Worker) buildLeastWork() {
	d := &w.deep
	n := len(w.classes)
	d.least = zeros(d.least, (n+1)*(deepest+1))
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
// the needs together stay open.
func (w *Worker) mixAtLeast(i int) (units int64) {
	d := &w.deep
	var rem int64
	for _, r := range d.rows {
		if open := w.rem[r]; open > 0 {
			quo, _ := wide.MulDiv(uint64(open), mixOne, uint64(w.rows[r].short))
			rem += int64(quo)
		}
	}
	if rem <= 0 {
		return 0
	}
	for _, j := range d.byMix {
		if int(j) < i || d.mix[j] == 0 {
			continue
		}
		take := min((rem-1)/d.mix[j]+1, int64(w.classes[j].count))
		units += take
		if rem -= take * d.mix[j]; rem <= 0 {
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
