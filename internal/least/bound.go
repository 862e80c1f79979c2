// SPDX-License-Identifier: Apache-2.0

package least

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// Classes are decided one after another, so what a search can still hope for
// is what the classes from some on can give. That is computed here, once.

// buildSuffixes computes, for every class i, what the classes from i on have at
// least: bounds for the search.
func (w *Worker) buildSuffixes() {
	n, types := len(w.classes), w.types
	w.least = rows.Zeros(w.least, (n+1)*types)
	w.lowest = rows.Zeros(w.lowest, n+1)
	for i := n - 1; i >= 0; i-- {
		c := &w.classes[i]
		w.lowest[i] = c.levels
		least := w.least[i*types : (i+1)*types]
		for t := range least {
			least[t] = c.size.At(t)
		}
		if i+1 == n {
			continue
		}
		for l := range c.levels {
			w.lowest[i][l] = min(c.levels[l], w.lowest[i+1][l])
		}
		for t := range least {
			least[t] = min(least[t], w.least[(i+1)*types+t])
		}
	}
}

// buildAvail computes, for every class i and every row, how much of the row the
// classes from i on can cover at most, if units could be split.
func (w *Worker) buildAvail() {
	w.fillAvail(&w.avail, w.natural)
}

// fillAvail is buildAvail for classes in some order.
func (w *Worker) fillAvail(dst *[]int64, order []int32) {
	n, height := len(order), len(w.rows)
	avail := rows.Zeros(*dst, (n+1)*height)
	*dst = avail
	for r := range height {
		// What later classes leave of each pack. Only those that cover the row
		// take from it: no others need be chosen.
		w.sums = w.sums[:0]
		for _, pack := range w.tight {
			w.sums = append(w.sums, pack.room)
		}
		w.spend(int64(len(w.tight)))
		for at := n - 1; at >= 0; at-- {
			c := &w.classes[order[at]]
			w.spend(int64(1 + len(c.pack)))
			all := int64(c.count) * w.amount(order[at], int32(r))
			avail[at*height+r] = addCapped(avail[(at+1)*height+r], w.through(c, w.rows[r].typ, all))
		}
	}
}

// through returns how much of an amount that class c has of a type the packs
// that bind it let through, and takes that from what they leave. Since bounds
// are chains, the sum over classes is the largest there is, in whatever order
// they come. Parts are of many packs: what units of them have counts in full.
func (w *Worker) through(c *class, typ int32, amount int64) int64 {
	if c.parted {
		return amount
	}
	for _, t := range c.pack {
		if w.tight[t.row].typ == typ && t.amount > 0 {
			amount = min(amount, w.sums[t.row])
		}
	}
	for _, t := range c.pack {
		if w.tight[t.row].typ == typ && t.amount > 0 {
			w.sums[t.row] -= amount
		}
	}
	return amount
}

// buildByRow orders the classes that cover each row by falling amount.
func (w *Worker) buildByRow() {
	n := len(w.classes)
	w.ordered = true
	w.byRow = w.byRow[:0]
	for r := range int32(len(w.rows)) {
		from := len(w.byRow)
		for i := range n {
			w.byRow = append(w.byRow, int32(i))
		}
		slices.SortFunc(w.byRow[from:], func(a, b int32) int {
			return cmp.Or(cmp.Compare(w.amount(b, r), w.amount(a, r)), cmp.Compare(a, b))
		})
	}
	w.spend(int64(n) * int64(len(w.rows)) * int64(bits.Len(uint(n))))
}

// buildAmounts tells what a unit of each class covers of each row.
func (w *Worker) buildAmounts() {
	w.amounts = rows.Zeros(w.amounts, len(w.classes)*len(w.rows))
	for i := range w.classes {
		for _, t := range w.classes[i].cover {
			w.amounts[i*len(w.rows)+int(t.row)] = t.amount
		}
	}
}

// amount returns what a unit of class i covers of row r.
func (w *Worker) amount(i, r int32) int64 { return w.amounts[int(i)*len(w.rows)+int(r)] }

// A search that takes more than a few steps is worth a bound on work, which costs more to
// prepare. It says nothing if no two units lose different work.

// boundWorkAfter is the number of steps after which the bound on work is prepared. Nearly all
// searches on a node end before it. It was measured once on hard and plain loads of
// package workload: with 8 and with 128, decisions take the same steps within 0.1 % and
// the same time.
const boundWorkAfter = 32

// mostWorks is for how many units the least work is known. Sets of more units use the
// least of so many, which is a bound too. With 8 and with 32, decisions of the same loads
// take the same steps.
const mostWorks = 16

// workBounds are prepared once for a problem.
type workBounds struct {
	ready bool
	// least[i*(mostWorks+1)+m] is the least work of m units of classes i and on.
	least  []resources.Wide
	rising []resources.Wide // scratch
}

// buildLeastWork computes, for every class i, the least work of any number of
// units of the classes from i on.
func (w *Worker) buildLeastWork() {
	d := &w.works
	d.ready = true
	n := len(w.classes)
	d.least = rows.Zeros(d.least, (n+1)*(mostWorks+1))
	d.rising = d.rising[:0] // the least, rising
	for i := n - 1; i >= 0; i-- {
		c := &w.classes[i]
		for _, m := range w.members[c.first : c.first+min(c.count, mostWorks)] {
			at, _ := slices.BinarySearchFunc(d.rising, w.p.Units[m].Work, resources.Wide.Compare)
			if at == mostWorks {
				continue
			}
			d.rising = slices.Insert(d.rising[:min(len(d.rising), mostWorks-1)], at, w.p.Units[m].Work)
		}
		least := d.least[i*(mostWorks+1):][:mostWorks+1]
		for m, work := range d.rising {
			least[m+1] = least[m].Add(work)
		}
		for m := len(d.rising) + 1; m <= mostWorks; m++ {
			least[m] = least[m-1]
		}
	}
}

// leastWork returns a work that so many units of the classes from i on lose at
// least.
func (w *Worker) leastWork(i int, units int64) resources.Wide {
	return w.works.least[i*(mostWorks+1)+int(min(units, mostWorks))]
}

// workAtLeast returns the work that the present set loses at least with so many more units
// of the classes from i on. The bound takes time to build, and so only long searches have
// it.
func (w *Worker) workAtLeast(i int, more int64) resources.Wide {
	if !w.works.ready {
		return w.total.Work
	}
	return w.total.Work.Add(w.leastWork(i, more))
}
