// SPDX-License-Identifier: Apache-2.0

package weigh

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// A Coverage says whether so many rows cover a need.
type Coverage uint8

const (
	Uncovered Coverage = 1 + iota // no so many do
	Covered                       // some do; see Bound.Picks
	Unclear                       // the search took too long
)

// fewMore is by how many the rows that are left may exceed those that are sought, if they
// are sooner tried than weighed.
const fewMore = 2

// Cover looks for as many rows as are of interest, or fewer, that cover a need. First prices
// are turned, which mostly tells, or leaves few rows; those are tried, in at most so many
// steps. A turn costs as much as a look at every amount of the rows that are left.
func (b *Bound) Cover(q Question, steps int64) Coverage {
	need, most := q.Need, q.Most
	b.picks = b.picks[:0]
	if slices.Max(need) <= 0 {
		return Covered
	}
	if b.Told(q) {
		return Uncovered
	}
	b.begin(&q)
	switch tooFew, found := b.seek(need, most, most+fewMore); {
	case tooFew:
		return Uncovered
	case found:
		return Covered
	}
	return b.search(need, most, steps)
}

// Picks returns the rows that cover the need, after [Covered]: a row that stands for several
// is there as often as it is taken. They are in no order, and good until the next question.
func (b *Bound) Picks() []int32 { return b.picks }

// search tries the rows that are kept, those that are worth most first.
//
// In that order the rows after one are worth no more than it is. So what the next few are
// worth together bounds every choice among them, and one that is too little ends the loop.
func (b *Bound) search(need []int64, most, steps int64) Coverage {
	slices.SortFunc(b.kept, func(x, y pick) int {
		return cmp.Or(cmp.Compare(y.worth, x.worth), slices.Compare(b.Row(x.row), b.Row(y.row)), cmp.Compare(x.row, y.row))
	})
	// A row that stands for several is listed as often.
	b.top = b.top[:0]
	for _, x := range b.kept {
		for range b.copies(x, most) {
			b.top = append(b.top, x)
		}
	}
	if b.greedy(need, most) {
		return Covered
	}
	b.sums = append(b.sums[:0], 0)
	for i, x := range b.top {
		b.sums = append(b.sums, b.sums[i]+x.worth)
	}
	// What is lacking when so many more may be taken has a row of its own, so that nothing
	// has to be put back.
	b.needs = rows.Zeros(b.needs, int(most+1)*b.Dims)
	copy(rows.At(b.needs, int(most), b.Dims), need)
	b.left = steps
	found := b.dig(0, int(most))
	b.Work += (steps - b.left) * int64(8*b.Dims)
	switch {
	case found:
		return Covered
	case b.left < 0:
		return Unclear
	}
	return Uncovered
}

// greedy takes the row that is worth most, then the one that is worth most of what is still
// lacking, and so on, and reports whether those cover the need. It looks at some of the best
// only.
func (b *Bound) greedy(need []int64, most int64) bool {
	rest := append(b.needs[:0], need...)
	b.needs = rest
	some := b.top[:min(int64(len(b.top)), greedyRows*most)]
	for range most {
		best, worth := -1, int64(0)
		for i := range some {
			if some[i].worth <= worth {
				break // nor is any of those after it worth more
			}
			if w := b.Worth(b.Row(some[i].row), rest); w > worth && !b.taken(i) {
				best, worth = i, w
			}
		}
		b.Work += int64(len(some) * b.Dims)
		if best < 0 {
			break
		}
		b.order = append(b.order, int32(best))
		b.picks = append(b.picks, some[best].row)
		for t, v := range b.Row(some[best].row) {
			rest[t] -= v
		}
	}
	b.order = b.order[:0]
	if slices.Max(rest) <= 0 {
		return true
	}
	b.picks = b.picks[:0]
	return false
}

// greedyRows is how many rows it looks at, for each that it takes.
const greedyRows = 8

// taken reports whether greedy has taken a row already.
func (b *Bound) taken(i int) bool { return slices.Contains(b.order, int32(i)) }

// dig takes up to so many of the rows from one on, and reports whether they cover what is
// lacking then.
//
// What is lacking becomes less in some dimensions than in others. As only that counts, the
// bound becomes the sharper the more rows were taken.
func (b *Bound) dig(from, left int) bool {
	need := rows.At(b.needs, left, b.Dims)
	rest := b.Worth(need, need)
	if rest == 0 {
		return true // every price is positive that matters
	}
	for i := from; i < len(b.top); i++ {
		// Those that come later are worth even less.
		if b.sums[min(i+left, len(b.top))]-b.sums[i] < rest {
			return false
		}
		row := b.Row(b.top[i].row)
		// Of rows that are alike the first are taken first.
		if i > from && slices.Equal(row, b.Row(b.top[i-1].row)) {
			continue
		}
		// What was not looked at is not shown either: search asks how many steps are left.
		if b.left--; b.left < 0 {
			return false
		}
		next := rows.At(b.needs, left-1, b.Dims)
		for t, v := range row {
			next[t] = need[t] - v
		}
		b.picks = append(b.picks, b.top[i].row)
		if b.dig(i+1, left-1) {
			return true
		}
		b.picks = b.picks[:len(b.picks)-1]
	}
	return false
}
