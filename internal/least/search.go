// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/resources"
)

// Least finds the cheapest set by branch and bound. After so many steps it ends with the
// best set found, of which no unit can be given back. Steps can grow exponentially with
// the number of different units. A step costs classes of alike units times types of
// needs.
func (w *Worker) Least(dst *Selection, p *Problem, steps int) {
	if !w.build(p) {
		w.impossible(dst)
		return
	}
	w.greedy()
	if w.top.found && !w.beats(&w.top.total) {
		w.top.found = false
	}
	g := whole
	if w.reachable() {
		g = w.search(steps)
	}
	w.answer(dst, g)
}

// grade says how much a search has shown of the best set that it found.
type grade uint8

const (
	nothing     grade = iota
	leastLevels       // none has lesser levels
	whole             // none is cheaper
)

// short is how many steps a search may take before it looks for the least
// levels by themselves. Nearly all searches on a node end within a few.
const short = 256

// search looks for the cheapest set within a number of steps. If that is a long
// search, it first shows which levels are the least, for these say who is
// stopped, and spends what is left of its steps on work, excess and keys.
func (w *Worker) search(steps int) grade {
	if w.OnlyLesser && w.stages.prepare(w) {
		w.budget = steps
		if w.stages.search() {
			return whole
		}
		return nothing
	}
	// Most searches end here, and showing the levels first would cost them more
	// than they take.
	w.budget = min(short, steps)
	if w.eager {
		w.budget = min(1, steps)
	}
	if w.branch(0) {
		return whole
	}
	// In such an order the least levels say nothing of who is stopped.
	if !w.p.Order.LevelsFirst() {
		w.budget = steps
		if w.branch(0) {
			return whole
		}
		return nothing
	}
	// Half of what is left for the levels, so that there is something left for
	// the rest if they take long.
	w.budget, w.levels = w.steps+(steps-w.steps)/2, true
	proven := w.searchLevels()
	w.budget, w.levels = steps, false
	switch {
	case w.branch(0):
		return whole
	case proven:
		return leastLevels
	}
	return nothing
}

// searchLevels looks for the least levels, and reports whether it has looked at
// all that could have them.
func (w *Worker) searchLevels() bool {
	if w.stages.prepare(w) {
		return w.stages.search()
	}
	return w.branch(0)
}

// reachable reports whether all classes together could meet every need, type by
// type, of what the bounds let through.
func (w *Worker) reachable() bool {
	for r, rem := range w.rem {
		// A need that all units together cannot meet ends the search before it
		// begins.
		if rem > w.avail[r] {
			return false
		}
	}
	return true
}

// branch decides classes i and on, of which none is taken yet, and reports
// whether it looked at all that could matter.
//
// Invariant: the sums of rem, room, freed and total are those of the classes
// before i as taken, no bound is passed, and the classes from i on could meet
// what is still open, if units could be split.
func (w *Worker) branch(i int) bool {
	if w.covered() {
		w.consider()
		return true
	}
	// Covered sets are noted even with no step left: they cost none.
	if w.steps >= w.budget || w.spent() {
		return false
	}
	w.spend(4 * (int64(len(w.rows)*(len(w.classes)-i)) + cost.NumLevels)) // bounds look at each class four times or so
	if w.steps++; !w.works.ready && (w.steps > boundWorkAfter || w.eager) {
		w.buildLeastWork()
	}
	// Bounds come before the numbers to try: they may make an end of all of
	// them.
	if w.beaten(i) {
		return true
	}
	fewest, most := w.fewest(i), w.useful(i)
	if fewest > most {
		return true
	}
	c := &w.classes[i]
	// Sums that cannot be subtracted, as maxima, are put back whole.
	saved := w.total
	done, n := true, 0
	for ; ; n++ {
		// Few units first. So the cheapest completions of a costly class are
		// seen before those that take more of it.
		if n >= fewest {
			done = w.branch(i + 1)
		}
		if n == most || !done {
			break
		}
		w.total.Levels = w.p.Order.Join(&w.total.Levels, w.total.Units, &c.levels)
		w.total.Work = w.total.Work.Add(w.p.Units[w.members[c.first+int32(n)]].Work)
		w.total.Units++
		w.take(i)
		w.noteOverrun(&w.total.Levels)
		w.spend(cost.NumLevels)
	}
	for ; n > 0; n-- {
		w.untake(i)
	}
	w.total = saved
	return done
}

// fewest returns the number of units of class i without which the classes
// after it could not meet what is still open.
func (w *Worker) fewest(i int) int {
	var fewest int64
	avail := w.avail[(i+1)*len(w.rows):]
	for r, rem := range w.rem {
		if lack := rem - avail[r]; lack > 0 {
			// The class covers the row, by the invariant of branch.
			fewest = max(fewest, (lack-1)/w.amount(int32(i), int32(r))+1)
		}
	}
	return int(fewest)
}

// beaten reports whether no set that completes the present one with classes
// from i on can matter: each costs more than the best one.
func (w *Worker) beaten(i int) bool {
	best := w.goal()
	if best == nil {
		return false
	}
	o := &w.p.Order
	// Nothing is known of a caller's order but that a set costs no less than
	// its parts.
	if o.Compare != nil {
		w.now = w.total
		w.now.Excess = cost.Excess(w.freed, w.p.Wanted, w.p.Capacity)
		return w.total.Units > 0 && o.Compare(&w.now, best) > 0
	}

	more := w.atLeast(i)
	low := w.floor(i, more)
	if o.Sequence != nil {
		return w.beatenInSequence(i, &low, more)
	}
	if c := slices.Compare(low[:o.Count+1], best.Levels[:o.Count+1]); c != 0 {
		return c > 0
	}
	// As many units as the best: then exactly `more` units are still to come.
	for l := o.Count + 1; l < cost.NumLevels; l++ {
		if low[l] != best.Levels[l] {
			return low[l] > best.Levels[l]
		}
	}
	// As cheap in the levels, and that is all that counts now: no set below can
	// be better.
	if w.levels && w.top.found || w.OnlyLesser {
		return true
	}
	work := w.workAtLeast(i, more)
	if c := work.Compare(best.Work); c != 0 {
		return c > 0
	}
	excess := w.leastExcess(i, more)
	return excess.Compare(best.Excess) > 0
}

// beatenInSequence is beaten for a sequence: low has levels that no set goes
// below that takes at least so many more units of the classes from i on.
//
// A level that may be negative comes after the one that counts. If that is the
// same, exactly so many more units are to come, and low is right for it too.
func (w *Worker) beatenInSequence(i int, low *cost.Levels, more int64) bool {
	best := w.goal()
	for _, what := range w.p.Order.Sequence {
		var c int
		if what >= cost.NumLevels && (w.levels && w.top.found || w.OnlyLesser) {
			return true
		}
		switch what {
		case cost.ByExcess:
			excess := w.leastExcess(i, more)
			c = excess.Compare(best.Excess)
		case cost.ByWork:
			work := w.workAtLeast(i, more)
			c = work.Compare(best.Work)
		default:
			c = cmp.Compare(low[what], best.Levels[what])
		}
		if c != 0 {
			return c > 0
		}
	}
	return w.levels && w.top.found || w.OnlyLesser
}

// goal returns what a set must not cost more than, nil if that may be anything.
func (w *Worker) goal() *cost.Total {
	if w.top.found {
		return &w.top.total
	}
	return w.p.Limit
}

// leastExcess returns the excess that the present set has at least with so many
// more units of the classes from i on.
func (w *Worker) leastExcess(i int, more int64) resources.Share {
	least := w.least[i*w.types:]
	// Each further unit frees at least the least amount that any of the classes
	// left has.
	for t := range w.freed {
		w.sure[t] = w.freed[t] + more*least[t]
	}
	return cost.Excess(w.sure, w.p.Wanted, w.p.Capacity)
}

// floor returns levels that no completion of the present set by at least more
// units from the classes from i on goes below: up to the level that counts,
// and beyond it if it is exactly that many.
func (w *Worker) floor(i int, more int64) cost.Levels {
	o := &w.p.Order
	low := w.total.Levels
	for l := range low {
		switch next := w.lowest[i][l]; {
		case !o.IsMax(l):
			low[l] += more * next
		// Of a maximum only one unit is certain to count: the least one that is
		// still to come.
		case w.total.Units == 0 || next > low[l]:
			low[l] = next
		}
	}
	o.Settle(&low)
	return low
}

// atLeast returns a number of units from the classes from i on without which
// some need stays open.
func (w *Worker) atLeast(i int) int64 {
	var most int64
	for r, rem := range w.rem {
		if rem > 0 {
			most = max(most, w.unitsFor(i, int32(r), rem))
		}
	}
	return most
}

// unitsFor is atLeast for one row that is reachable and lacks rem: the largest
// amounts that cover it are taken first.
func (w *Worker) unitsFor(i int, r int32, rem int64) (units int64) {
	if !w.ordered {
		w.buildByRow()
	}
	n := len(w.classes)
	for _, j := range w.byRow[int(r)*n : (int(r)+1)*n] {
		// Classes before i are decided.
		if int(j) < i {
			continue
		}
		amount := w.amount(j, r)
		take := min((rem-1)/amount+1, int64(w.classes[j].count))
		units += take
		if rem -= take * amount; rem <= 0 {
			break
		}
	}
	return units
}

// consider takes note of the present set, which meets every need, or rather of
// what is left of it when all that is not needed is given back.
func (w *Worker) consider() {
	w.now = w.total
	w.now.Excess = cost.Excess(w.freed, w.p.Wanted, w.p.Capacity)
	if !w.better() {
		return
	}
	// The search goes on from the whole set, so that is noted before anything
	// is given back.
	w.whole = append(w.whole[:0], w.taken...)
	w.spend(int64(w.total.Units) * cost.NumLevels) // each is looked at once more, or twice
	w.giveBack()
	w.now = w.sum()
	// A caller's order may call the whole as cheap as the part, whose keys may
	// come later: then the whole was better, and the part is not.
	if w.better() {
		w.keep()
	}
	for i, n := range w.whole {
		for w.taken[i] < n {
			w.take(i)
		}
	}
}

// better reports whether the present set, which costs w.now, comes before the
// best one and is within the limit.
func (w *Worker) better() bool {
	if !w.beats(&w.now) {
		return false
	}
	if !w.top.found {
		return true
	}
	c := w.p.Order.CompareTotals(&w.now, &w.top.total)
	return c < 0 || c == 0 && w.smallerKeys()
}

// beats reports whether a set of total t is within the limit.
func (w *Worker) beats(t *cost.Total) bool {
	if w.OnlyLesser && w.p.Limit != nil {
		return w.p.Order.CompareLevels(&t.Levels, &w.p.Limit.Levels) < 0
	}
	return w.p.Limit == nil || w.p.Order.CompareTotals(t, w.p.Limit) <= 0
}

// smallerKeys reports whether the sorted keys of the present set come before
// those of the best one.
func (w *Worker) smallerKeys() bool {
	w.keys[0] = w.sortedKeys(w.keys[0][:0], w.taken)
	w.keys[1] = w.sortedKeys(w.keys[1][:0], w.top.taken)
	return slices.Compare(w.keys[0], w.keys[1]) < 0
}

func (w *Worker) sortedKeys(dst []string, taken []int32) []string {
	for i := range w.classes {
		first := w.classes[i].first
		for _, m := range w.members[first : first+taken[i]] {
			dst = append(dst, w.p.Units[m].Key)
			dst = append(dst, w.p.Units[m].More...)
		}
	}
	slices.Sort(dst)
	return dst
}
