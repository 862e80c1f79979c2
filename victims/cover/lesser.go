package cover

import (
	"cmp"
	"slices"
)

// Which levels are the least is often shown long before a search over all that
// costs is done, for these say who is stopped. So it has a search of its own. It
// decides the classes in another order than the search for the whole cost does:
// the costliest first, which it first leaves out, and among equals those that
// cover most, which it first takes. Its bounds are tables, so that a step costs
// a few lookups per row, however many classes there are.

// lesserWork is what a step of it costs beside its rows, in elementary work. It
// was measured once.
const lesserWork = 100

// largestTable is how many entries the tables of a search may have. A problem
// that needs more of them is searched without.
const largestTable = 1 << 19

// A lesserSearch is what the search for the least levels knows of a problem.
type lesserSearch struct {
	w      *Worker
	ready  bool
	order  []int32 // the classes in the order of deciding
	first  []bool  // by place in the order: a unit is first taken, and left out later
	avail  []int64 // by place and row, as Worker.avail
	lowest []Levels
	per    []Levels // as lowest, for each that a class counts
	most   []int64  // by place: what a unit of the classes from there on counts at most
	tops   tops
}

// prepare makes the tables. It reports false if the order of levels is another
// than theirs, or if they would be too large.
func (x *lesserSearch) prepare(w *Worker) bool {
	x.w = w
	if x.ready {
		return true
	}
	if w.p.Order.Compare != nil || w.p.Order.Sequence != nil || !x.fillTops() {
		return false
	}
	x.ready = true
	w.fillAvail(&x.avail, x.order)
	x.fillLowest()
	return true
}

// sort orders the classes for the search of the least levels.
func (x *lesserSearch) sort() {
	w := x.w
	x.order = x.order[:0]
	for i := range w.classes {
		x.order = append(x.order, int32(i))
	}
	count := w.p.Order.Count
	slices.SortStableFunc(x.order, func(a, b int32) int {
		u, v := &w.classes[a], &w.classes[b]
		return cmp.Or(slices.Compare(v.levels[:count], u.levels[:count]), cmp.Compare(v.use, u.use))
	})
	x.first = x.first[:0]
	for _, i := range x.order {
		cheapest := w.classes[x.order[len(x.order)-1]].levels
		x.first = append(x.first, slices.Equal(w.classes[i].levels[:count], cheapest[:count]))
	}
}

// fillLowest computes, for every place, what the classes from there on cost at
// least.
func (x *lesserSearch) fillLowest() {
	w := x.w
	n, count := len(x.order), w.p.Order.Count
	x.lowest, x.per, x.most = zeros(x.lowest, n+1), zeros(x.per, n+1), zeros(x.most, n+1)
	for at := n - 1; at >= 0; at-- {
		levels := &w.classes[x.order[at]].levels
		x.lowest[at], x.most[at] = *levels, max(levels[count], x.most[at+1])
		for l, v := range levels {
			x.per[at][l] = floorDiv(v, levels[count])
		}
		if at+1 == n {
			continue
		}
		for l := range levels {
			x.lowest[at][l] = min(x.lowest[at][l], x.lowest[at+1][l])
			x.per[at][l] = min(x.per[at][l], x.per[at+1][l])
		}
	}
}

// floorDiv returns the largest integer that is not above a ÷ b, for positive b.
func floorDiv(a, b int64) int64 {
	quo := a / b
	if a%b < 0 {
		quo--
	}
	return quo
}

// branch decides the classes from a place in the order on, and reports
// whether it looked at all sets of lesser levels than the best.
//
// Invariant: as for [Worker.branch], for the order of lesserSearch, and some
// units of the class at the place may be taken already.
func (x *lesserSearch) branch(at int) bool {
	w := x.w
	if w.covered() {
		w.consider()
		return true
	}
	if w.steps >= w.budget || w.spent() {
		return false
	}
	w.steps++
	w.spend(lesserWork + 4*int64(len(w.rows)))
	if at == len(x.order) || !x.inReach(at) || x.beaten(at) {
		return true
	}
	if x.first[at] {
		return x.takeOne(at) && x.branch(at+1)
	}
	return x.branch(at+1) && x.takeOne(at)
}

// takeOne goes on with one more unit of the class at a place, if that is of use.
func (x *lesserSearch) takeOne(at int) (done bool) {
	w := x.w
	i := int(x.order[at])
	if w.useful(i) == 0 {
		return true
	}
	c := &w.classes[i]
	saved := w.total
	w.total.Levels = w.p.Order.Join(&w.total.Levels, w.total.Units, &c.levels)
	w.total.Work = w.total.Work.Add(WorkOfNanos(w.p.Units[w.members[c.first+w.taken[i]]].Work))
	w.total.Units++
	w.take(i)
	w.noteOverrun(&w.total.Levels)
	done = x.branch(at)
	w.untake(i)
	w.total = saved
	return done
}

// inReach reports whether the classes from a place on could meet every need, if
// units could be split.
func (x *lesserSearch) inReach(at int) bool {
	w := x.w
	avail := x.avail[at*len(w.rows):]
	for r, rem := range w.rem {
		if rem > avail[r] {
			return false
		}
	}
	return true
}

// beaten reports whether no set that completes the present one with
// classes from a place on has lesser levels than the best.
func (x *lesserSearch) beaten(at int) bool {
	w := x.w
	var best *Levels
	switch {
	case w.top.found:
		best = &w.top.total.Levels
	case w.limit != nil:
		best = &w.limit.Levels
	default:
		return false
	}
	o := &w.p.Order
	more := x.countsAtLeast(at)
	low := w.total.Levels
	for l := range low {
		next := x.lowest[at][l]
		switch {
		case l == o.Count:
			low[l] += more
		case o.isMax(l):
			if w.total.Units == 0 || next > low[l] {
				low[l] = next
			}
		case l < o.Count:
			low[l] += ((more-1)/x.most[at] + 1) * next
		default:
			low[l] += more * x.per[at][l] // it is exactly so many, or the count decides
		}
	}
	o.settle(&low)
	c := slices.Compare(low[:], best[:])
	return c > 0 || c == 0 && (w.top.found || w.OnlyLesser)
}
