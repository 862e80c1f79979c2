// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/wide"
)

// build turns a problem into rows and classes. It reports false if even
// all units together do not meet the needs.
func (w *Worker) build(p *Problem) bool {
	w.p = p
	w.steps = 0
	w.types = len(p.Capacity)
	for i := range p.Units {
		w.types = max(w.types, len(p.Units[i].Size))
	}
	w.buildRows()
	w.buildPacks()
	w.buildBudgets()
	if !w.enough() {
		return false
	}
	w.buildClasses()
	w.buildAmounts()
	w.buildSuffixes()
	w.buildAvail()
	w.ordered = false
	w.reset()
	return true
}

// glance is what it takes to look at a unit while a problem is made, and sorting what it
// takes for each of n units to be sorted into classes. Both were measured once.
func (w *Worker) glance(u *Unit) int64 { return 4 * int64(1+len(w.rows)) * int64(1+len(u.Parts)) }

func (w *Worker) sorting(n int) int64 { return 20 * int64(bits.Len(uint(n))+len(w.rows)) }

// StatingWork returns about how many steps it takes to state a problem of so many units,
// each of which may count in so many types of needs: glance and sorting for each.
func StatingWork(units, types int) int64 {
	return int64(units) * int64(20*bits.Len(uint(units))+24*types)
}

// spend pays for elementary work.
func (w *Worker) spend(work int64) {
	if w.Meter != nil {
		w.Meter.Pay(work)
	}
}

// spent reports whether nothing is left to pay with, or the caller ends the search.
func (w *Worker) spent() bool {
	if w.Meter == nil {
		return false
	}
	if w.steps == 0 {
		w.Meter.Ask() // many searches are shorter than what it asks after
	}
	return w.Meter.Over()
}

// buildRows makes a row of every type of a need that is short.
func (w *Worker) buildRows() {
	w.rows, w.rowOf = w.rows[:0], w.rowOf[:0]
	for n, need := range w.p.Needs {
		w.rowOf = append(w.rowOf, int32(len(w.rows)))
		for t, short := range need {
			if short > 0 {
				w.rows = append(w.rows, coverRow{int32(n), int32(t), short})
			}
		}
	}
	w.rowOf = append(w.rowOf, int32(len(w.rows)))
}

// buildPacks makes a row of every type of a bound that some unit has, and finds
// out which of them can bind at all. A problem may state many more bounds.
func (w *Worker) buildPacks() {
	w.packs, w.tight = w.packs[:0], w.tight[:0]
	// Spans are not cleared between problems: the number of the build says
	// which of them are of this one. A caller may state a bound per queue, and
	// few of them concern any unit.
	if w.builds++; w.builds == 0 || len(w.spans) < len(w.p.Bounds) {
		w.spans, w.builds = rows.Zeros(w.spans, len(w.p.Bounds)), 1
	}
	for i := range w.p.Units {
		w.spend(w.glance(&w.p.Units[i]))
		for part := range w.p.Units[i].All {
			for _, b := range part.Bounds {
				span := w.span(b)
				for k := span.first; k < span.end; k++ {
					w.packs[k].sum = addCapped(w.packs[k].sum, part.Size.At(int(w.packs[k].typ)))
				}
			}
		}
	}
	for k := range w.packs {
		pack := &w.packs[k]
		pack.tight = -1
		// If all units together keep a bound, no choice of them breaks it, and
		// the search need not count it.
		if pack.sum > pack.room {
			pack.tight = int32(len(w.tight))
			w.tight = append(w.tight, *pack)
		}
	}
}

// buildBudgets finds out which budgets can be overrun at all. The others make
// no difference between units.
func (w *Worker) buildBudgets() {
	w.soft.used = rows.Zeros(w.soft.used, len(w.p.Budgets))
	w.soft.scarce = rows.Zeros(w.soft.scarce, len(w.p.Budgets))
	if len(w.p.Budgets) == 0 {
		return
	}
	for i := range w.p.Units {
		for _, use := range w.p.Units[i].Uses {
			w.soft.used[use.Budget] = addCapped(w.soft.used[use.Budget], use.Count)
			// A budget that not even all units overrun costs nothing in any
			// choice.
			w.soft.scarce[use.Budget] = w.soft.used[use.Budget] > w.left(use.Budget)
		}
	}
}

// left returns what a budget has left before anything is chosen.
func (w *Worker) left(b int32) int64 { return max(w.p.Budgets[b], 0) }

// compareUses orders units by what they take of the budgets that can be overrun.
func (w *Worker) compareUses(u, v []Use) int {
	// The common case: no unit is in a budget.
	if len(u)+len(v) == 0 {
		return 0
	}
	for i, j := 0, 0; ; i, j = i+1, j+1 {
		// Budgets that make no difference must not keep units apart: fewer
		// classes make a smaller search.
		for i < len(u) && !w.soft.scarce[u[i].Budget] {
			i++
		}
		for j < len(v) && !w.soft.scarce[v[j].Budget] {
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

// span returns where the rows of a bound are, which it makes if there are
// none yet.
func (w *Worker) span(b int32) packSpan {
	span := &w.spans[b]
	// Only a bound that some unit has gets rows.
	if span.build != w.builds {
		span.build, span.first = w.builds, int32(len(w.packs))
		limit := &w.p.Bounds[b].Room
		for t := range limit.Defined.All() {
			room, _ := limit.Bound(t)
			// A room below zero is none: the bound was broken before, and no
			// unit with that type may go.
			w.packs = append(w.packs, packRow{typ: int32(t), room: max(room, 0)})
		}
		span.end = int32(len(w.packs))
	}
	return *span
}

// enough reports whether all units together would meet every need.
func (w *Worker) enough() bool {
	w.sums = rows.Zeros(w.sums, len(w.rows))
	for i := range w.p.Units {
		for part := range w.p.Units[i].All {
			for _, n := range part.Needs {
				for r := w.rowOf[n]; r < w.rowOf[n+1]; r++ {
					w.sums[r] = addCapped(w.sums[r], part.Size.At(int(w.rows[r].typ)))
				}
			}
		}
	}
	for r, row := range w.rows {
		// Then no choice will do, and no search needs to find that out step by
		// step.
		if w.sums[r] < row.short {
			return false
		}
	}
	return true
}

// packsOf returns the rows of a bound that some unit has.
func (w *Worker) packsOf(b int32) []packRow { return w.packs[w.spans[b].first:w.spans[b].end] }

// chain returns the first bound of a unit that can bind it, or -1. Since
// bounds are chains, those that follow are the same for all units that have it.
func (w *Worker) chain(u *Unit) int32 {
	if len(w.tight) == 0 {
		return -1
	}
	for _, b := range u.Bounds {
		// Of the chain only the first bound that may bind this unit tells it
		// apart from others.
		for _, pack := range w.packsOf(b) {
			if pack.tight >= 0 && u.Size.At(int(pack.typ)) > 0 {
				return b
			}
		}
	}
	return -1
}

// alike orders units by what makes a class, the costliest first, so that those
// of a class are neighbours.
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
	// Units of a class may differ in work: then those that lose less come
	// first, and are taken first. A caller's own comparison may want more than
	// that, so that units of different work are no class.
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

// buildClasses groups the units that can help. Classes are ordered by falling
// levels, and among equals by rising use: a search that decides class by class
// then looks at few and useful units first.
func (w *Worker) buildClasses() {
	p := w.p
	w.members = w.members[:0]
	each := w.sorting(len(p.Units))
	for i := range p.Units {
		w.spend(each) // before they are sorted
		if w.helps(&p.Units[i]) {
			w.members = append(w.members, int32(i))
		}
	}
	byWork := p.Order.Counts(cost.ByWork)
	slices.SortFunc(w.members, func(i, j int32) int {
		u, v := &p.Units[i], &p.Units[j]
		if c := w.alike(u, v); c != 0 {
			return c
		}
		if byWork && u.Work != v.Work {
			return u.Work.Compare(v.Work)
		}
		// Keys are different, so the order is total and the answer depends on
		// no order of units.
		return strings.Compare(u.Key, v.Key)
	})
	w.classes, w.terms, w.soft.uses = w.classes[:0], w.terms[:0], w.soft.uses[:0]
	for at, i := range w.members {
		u := &p.Units[i]
		if at > 0 && w.alike(&p.Units[w.members[at-1]], u) == 0 {
			w.classes[len(w.classes)-1].count++
			continue
		}
		w.classes = append(w.classes, w.classOf(u, int32(at)))
	}
	w.sortClasses()
}

// sortClasses orders classes. They are large, and so moved once.
func (w *Worker) sortClasses() {
	w.natural = w.natural[:0]
	for i := range w.classes {
		w.natural = append(w.natural, int32(i))
	}
	slices.SortFunc(w.natural, func(i, j int32) int {
		a, b := &w.classes[i], &w.classes[j]
		if a.levels != b.levels {
			if c := w.p.Order.CompareUnits(&b.levels, &a.levels); c != 0 {
				return c
			}
		}
		// The place decides last: the sort need not be stable.
		return cmp.Or(cmp.Compare(a.use, b.use), cmp.Compare(i, j))
	})
	w.unsorted = append(w.unsorted[:0], w.classes...)
	for at, i := range w.natural {
		w.classes[at] = w.unsorted[i]
		w.natural[at] = int32(at)
	}
}

// helps reports whether a unit reduces an open need.
func (w *Worker) helps(u *Unit) bool {
	for part := range u.All {
		for _, n := range part.Needs {
			for r := w.rowOf[n]; r < w.rowOf[n+1]; r++ {
				if part.Size.At(int(w.rows[r].typ)) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// classOf returns the class that begins with unit u at members[first].
func (w *Worker) classOf(u *Unit, first int32) class {
	c := class{levels: u.Levels, size: u.Size, first: first, count: 1, parted: len(u.Parts) > 0, uses: w.scarceUses(u)}
	from := len(w.terms)
	for part := range u.All {
		for _, n := range part.Needs {
			for r := w.rowOf[n]; r < w.rowOf[n+1]; r++ {
				if v := part.Size.At(int(w.rows[r].typ)); v > 0 {
					w.addTerm(from, term{row: r, amount: v})
				}
			}
		}
	}
	c.cover = w.terms[from:len(w.terms):len(w.terms)]
	for _, t := range c.cover {
		// Only an order of trial, so it need not be exact.
		c.use += share16(t.amount, w.rows[t.row].short)
	}
	from = len(w.terms)
	for part := range u.All {
		for _, b := range part.Bounds {
			for _, pack := range w.packsOf(b) {
				if v := part.Size.At(int(pack.typ)); v > 0 && pack.tight >= 0 {
					w.addTerm(from, term{row: pack.tight, amount: v})
				}
			}
		}
	}
	c.pack = w.terms[from:len(w.terms):len(w.terms)]
	return c
}

// scarceUses returns what a unit takes of the budgets that can be overrun. In
// the others the units of a class may differ.
func (w *Worker) scarceUses(u *Unit) []Use {
	from := len(w.soft.uses)
	for _, use := range u.Uses {
		if w.soft.scarce[use.Budget] {
			w.soft.uses = append(w.soft.uses, use)
		}
	}
	return w.soft.uses[from:len(w.soft.uses):len(w.soft.uses)]
}

// addTerm adds a term to those from the given one on, in which each row is once.
func (w *Worker) addTerm(from int, t term) {
	for i := from; i < len(w.terms); i++ {
		if w.terms[i].row == t.row {
			w.terms[i].amount += t.amount
			return
		}
	}
	w.terms = append(w.terms, t)
}

// share16 returns the part of need that v covers, in units of 2^-16.
func share16(v, need int64) int64 {
	quo, _ := wide.MulDiv(uint64(min(v, need)), 1<<16, uint64(need))
	return int64(quo)
}

// reset prepares the state of a search.
func (w *Worker) reset() {
	w.rem = w.rem[:0]
	for _, r := range w.rows {
		w.rem = append(w.rem, r.short)
	}
	w.room = w.room[:0]
	for _, pack := range w.tight {
		w.room = append(w.room, pack.room)
	}
	w.freed = rows.Zeros(w.freed, w.types)
	w.sure = rows.Zeros(w.sure, w.types)
	w.soft.used = rows.Zeros(w.soft.used, len(w.p.Budgets))
	w.soft.over = 0
	w.taken = rows.Zeros(w.taken, len(w.classes))
	w.total = cost.Total{}
	w.top.found, w.levels = false, false
	w.works.ready, w.stages.ready = false, false
}

// addCapped returns a + b for non-negative amounts; sums of units are
// range-checked if they come from a cluster, and capped if they do not.
func addCapped(a, b int64) int64 {
	if s := a + b; s >= 0 {
		return s
	}
	return noLimit
}
