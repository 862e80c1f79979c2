// SPDX-License-Identifier: Apache-2.0

package units

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/resources"
)

// state states a problem as rows. It reports false if even all units together do not meet
// the needs.
func (w *Worker) state(p *Problem) bool {
	w.p, w.types = p, len(p.Capacity)
	for i := range p.Units {
		w.types = max(w.types, len(p.Units[i].Size))
	}
	w.stateNeeds()
	w.stateLimits()
	w.findScarce()
	if !w.findMembers() {
		return false
	}
	w.stateRows()
	w.wanted, w.capacity = full(w.wanted, p.Wanted, w.types), full(w.capacity, p.Capacity, w.types)
	w.problem.Wanted = w.wanted
	return true
}

// each is what it takes to look at one of n units while a problem is made, and to sort it
// into rows. It was measured once.
func each(n, types int) int64 { return int64(20*bits.Len(uint(n)) + 24*types) }

// stateNeeds makes a dimension of every type of a need that is short.
func (w *Worker) stateNeeds() {
	q := &w.problem
	w.needs, w.needOf, q.Need, q.Typ = w.needs[:0], w.needOf[:0], q.Need[:0], q.Typ[:0]
	for _, short := range w.p.Needs {
		w.needOf = append(w.needOf, int32(len(w.needs)))
		for t, v := range short {
			if v > 0 {
				w.needs = append(w.needs, need{int32(t), v})
				q.Need, q.Typ = append(q.Need, v), append(q.Typ, int32(t))
			}
		}
	}
	w.needOf = append(w.needOf, int32(len(w.needs)))
}

// stateLimits makes a pack of every type of a bound that some unit has, and a limit of
// those that can bind at all. A problem may state many more bounds.
func (w *Worker) stateLimits() {
	q := &w.problem
	w.packs, q.Room, q.Types = w.packs[:0], q.Room[:0], q.Types[:0]
	// Spans are not cleared between problems: the number of the build says which of them
	// are of this one. A caller may state a bound per queue, and few of them concern any
	// unit.
	if w.builds++; w.builds == 0 || len(w.spans) < len(w.p.Bounds) {
		w.spans, w.builds = rows.Zeros(w.spans, len(w.p.Bounds)), 1
	}
	price := each(len(w.p.Units), len(w.needs))
	for i := range w.p.Units {
		u := &w.p.Units[i]
		w.search.Meter.Pay(price + int64(4*len(u.Parts)*(1+len(w.needs))))
		for part := range u.All {
			for _, b := range part.Bounds {
				span := w.span(b)
				for k := span.first; k < span.end; k++ {
					w.packs[k].sum = sat.Add(w.packs[k].sum, part.Size.At(int(w.packs[k].typ)))
				}
			}
		}
	}
	for k := range w.packs {
		x := &w.packs[k]
		// If all units together keep a bound, no choice of them breaks it.
		if x.limit = -1; x.sum > x.room {
			x.limit = int32(len(q.Room))
			q.Room, q.Types = append(q.Room, x.room), append(q.Types, x.typ)
		}
	}
}

// span returns where the packs of a bound are, which it makes if there are none yet.
func (w *Worker) span(b int32) span {
	x := &w.spans[b]
	if x.build != w.builds {
		x.build, x.first = w.builds, int32(len(w.packs))
		limit := &w.p.Bounds[b].Room
		for t := range limit.Defined.All() {
			room, _ := limit.Bound(t)
			// A room below zero is none: the bound was broken before, and no unit with
			// that type may go.
			w.packs = append(w.packs, pack{typ: int32(t), room: max(room, 0)})
		}
		x.end = int32(len(w.packs))
	}
	return *x
}

// packsOf returns the packs of a bound that some unit has.
func (w *Worker) packsOf(b int32) []pack { return w.packs[w.spans[b].first:w.spans[b].end] }

// findScarce finds out which budgets can be overrun at all. The others make no difference
// between units.
func (w *Worker) findScarce() {
	w.sums, w.scarce = rows.Zeros(w.sums, len(w.p.Budgets)), rows.Zeros(w.scarce, len(w.p.Budgets))
	if len(w.p.Budgets) == 0 {
		return
	}
	for i := range w.p.Units {
		for _, use := range w.p.Units[i].Uses {
			b := use.Budget
			w.sums[b] = sat.Add(w.sums[b], use.Count)
			w.scarce[b] = w.sums[b] > max(w.p.Budgets[b], 0)
		}
	}
}

// findMembers lists the units that can help, and reports whether all of them together would
// meet every need. If not no choice will do.
func (w *Worker) findMembers() bool {
	w.members, w.sums = w.members[:0], rows.Zeros(w.sums, len(w.needs))
	for i := range w.p.Units {
		if w.gives(w.sums, &w.p.Units[i]) {
			w.members = append(w.members, int32(i))
		}
	}
	return resources.Fits(w.problem.Need, w.sums)
}

// gives adds what a unit gives to needs, and reports whether that is anything.
func (w *Worker) gives(sums []int64, u *Unit) (any bool) {
	for part := range u.All {
		for _, n := range part.Needs {
			for k := w.needOf[n]; k < w.needOf[n+1]; k++ {
				if v := part.Size.At(int(w.needs[k].typ)); v > 0 {
					sums[k], any = sat.Add(sums[k], v), true
				}
			}
		}
	}
	return any
}

// stateRows groups the units that can help.
func (w *Worker) stateRows() {
	p, q := w.p, &w.problem
	byWork := p.Order.Counts(cost.ByWork)
	slices.SortFunc(w.members, func(i, j int32) int {
		u, v := &p.Units[i], &p.Units[j]
		if c := w.alike(u, v); c != 0 {
			return c
		}
		if byWork && u.Work != v.Work {
			return u.Work.Compare(v.Work)
		}
		// Keys are different, so the order is total and the answer depends on no order of
		// units.
		return strings.Compare(u.Key, v.Key)
	})
	// Rows are views of this memory, which is as large as it gets before the first is made.
	w.works, w.amounts = slices.Grow(w.works[:0], len(w.members)), w.amounts[:0]
	w.amounts = slices.Grow(w.amounts, len(w.members)*(len(w.needs)+w.types))
	w.takes, w.uses, w.first, q.Rows = w.takes[:0], w.uses[:0], w.first[:0], q.Rows[:0]
	for at, i := range w.members {
		u := &p.Units[i]
		w.works = append(w.works, u.Work)
		if at > 0 && w.alike(&p.Units[w.members[at-1]], u) == 0 {
			r := &q.Rows[len(q.Rows)-1]
			r.Count++
			r.Works = w.works[at+1-int(r.Count):]
			continue
		}
		w.first = append(w.first, int32(at))
		q.Rows = append(q.Rows, least.Row{
			Levels: u.Levels, Size: w.sizeOf(u), Gives: w.givesOf(u), Takes: w.takesOf(u), Uses: w.scarceUses(u),
			Count: 1, Works: w.works[at:], Gang: len(u.Parts) > 0,
		})
	}
}

func (w *Worker) sizeOf(u *Unit) []int64 {
	if len(u.Size) == w.types {
		return u.Size
	}
	size := w.block(w.types)
	copy(size, u.Size)
	return size
}

func (w *Worker) givesOf(u *Unit) []int64 {
	gives := w.block(len(w.needs))
	w.gives(gives, u)
	return gives
}

// block returns n zeros.
func (w *Worker) block(n int) []int64 {
	from := len(w.amounts)
	w.amounts = rows.More(w.amounts, n)
	return w.amounts[from : from+n : from+n]
}

// takesOf returns what a unit takes of limits.
func (w *Worker) takesOf(u *Unit) []least.Take {
	from := len(w.takes)
	for part := range u.All {
		for _, b := range part.Bounds {
			for _, x := range w.packsOf(b) {
				if v := part.Size.At(int(x.typ)); v > 0 && x.limit >= 0 {
					w.take(from, least.Take{Limit: x.limit, Amount: v})
				}
			}
		}
	}
	return w.takes[from:len(w.takes):len(w.takes)]
}

// take adds to those from the given one on, in which each limit is once.
func (w *Worker) take(from int, t least.Take) {
	for i := from; i < len(w.takes); i++ {
		if w.takes[i].Limit == t.Limit {
			w.takes[i].Amount += t.Amount
			return
		}
	}
	w.takes = append(w.takes, t)
}

// scarceUses returns what a unit takes of the budgets that can be overrun. In
// the others the units of a row may differ.
func (w *Worker) scarceUses(u *Unit) []least.Use {
	from := len(w.uses)
	for _, use := range u.Uses {
		if w.scarce[use.Budget] {
			w.uses = append(w.uses, use)
		}
	}
	return w.uses[from:len(w.uses):len(w.uses)]
}

// alike orders units by what makes a row, the costliest first, so that those
// of a row are neighbours.
func (w *Worker) alike(u, v *Unit) int {
	// One after another, for this is asked often and the first ones mostly tell.
	// Arrays are compared whole, which is faster than looking for the first
	// difference.
	if u.Levels != v.Levels {
		return slices.Compare(v.Levels[:], u.Levels[:])
	}
	if c := slices.Compare(u.Size, v.Size); c != 0 {
		return c
	}
	if c := slices.Compare(u.Needs, v.Needs); c != 0 {
		return c
	}
	if c := cmp.Compare(w.chain(u), w.chain(v)); c != 0 {
		return c
	}
	if c := w.compareUses(u.Uses, v.Uses); c != 0 {
		return c
	}
	if c := cmp.Compare(len(u.More), len(v.More)); c != 0 {
		return c
	}
	if len(u.Parts)+len(v.Parts) > 0 {
		if c := slices.CompareFunc(u.Parts, v.Parts, comparePart); c != 0 {
			return c
		}
	}
	// Units of a row may differ in work: then those that lose less come
	// first, and are taken first. A caller's own comparison may want more than
	// that, so that units of different work are no row.
	if w.p.Order.Compare == nil {
		return 0
	}
	return u.Work.Compare(v.Work)
}

// comparePart orders parts by all that they are.
func comparePart(p, q Part) int {
	return cmp.Or(
		slices.Compare(p.Size, q.Size), slices.Compare(p.Needs, q.Needs), slices.Compare(p.Bounds, q.Bounds),
	)
}

// chain returns the first bound of a unit that can bind it, or -1. Since
// bounds are chains, those that follow are the same for all units that have it.
func (w *Worker) chain(u *Unit) int32 {
	if len(w.problem.Room) == 0 {
		return -1
	}
	for _, b := range u.Bounds {
		// Of the chain only the first bound that may bind this unit tells it
		// apart from others.
		for _, x := range w.packsOf(b) {
			if x.limit >= 0 && u.Size.At(int(x.typ)) > 0 {
				return b
			}
		}
	}
	return -1
}

// compareUses orders units by what they take of the budgets that can be overrun.
func (w *Worker) compareUses(u, v []least.Use) int {
	// The common case: no unit is in a budget.
	if len(u)+len(v) == 0 {
		return 0
	}
	for i, j := 0, 0; ; i, j = i+1, j+1 {
		// Budgets that make no difference must not keep units apart: fewer
		// classes make a smaller search.
		for i < len(u) && !w.scarce[u[i].Budget] {
			i++
		}
		for j < len(v) && !w.scarce[v[j].Budget] {
			j++
		}
		if i == len(u) || j == len(v) {
			return cmp.Compare(len(u)-i, len(v)-j)
		}
		if c := cmp.Or(cmp.Compare(u[i].Budget, v[j].Budget), cmp.Compare(u[i].Count, v[j].Count)); c != 0 {
			return c
		}
	}
}
