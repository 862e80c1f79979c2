package victims

import (
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// A coverSet is rows of amounts, of which a few are to give a need together. It tells
// how many that takes at least, and finds as many if it can.
//
// Amounts are rough: they have few bits, rounded up for the rows and down for needs. So
// what no rows cover is covered by no tasks. What they cover has to be seen to.
//
// A bound is a weight for each dimension. Who covers a need has as much of the weighted
// sum as that, and no m rows have more than the m rows that have most. The weights are
// sought as in [jointSearch.learn], and those that have told are kept.
//
// Sets are of two kinds. That of the tasks elsewhere has thousands of rows and is the same
// for all nodes, so that what was learned about one need is worth keeping for the next.
// That of the tasks on a node has some thirty, and is soon forgotten.
type coverSet struct {
	dims  int
	sizes []int64 // by row and dimension

	// Lessons are a ring: the next one takes the place of the oldest.
	lessons [mostLessons]coverMix
	learned int // how many lessons there ever were

	// Scratch of a search for one need.
	weights []int64
	kept    []coverRow
	top     []coverRow // those of them that have most, the largest first
	sums    []int64    // of the first rows that are kept
	given   []int64
	needs   []int64 // by how many rows may still be taken, and dimension
	picks   []int32 // the rows that were found
	limit   int64   // how many rows a search may take; 0 is coverSteps
	left    int64   // of the steps of the search
	work    int64   // elementary steps, until they are paid for
}

// A coverMix is weights, and what the rows that have most have of the weighted sum. They
// are of all rows, whoever may be left out of a search: then a bound is too low at worst.
type coverMix struct {
	weights []int64
	sums    []int64 // of the first 0, 1, … of them
}

// A coverRow is a row and its share of a weighted sum.
type coverRow struct {
	share int64
	row   int32
}

// A coverage says whether so many rows cover a need.
type coverage uint8

const (
	uncovered coverage = iota
	covered
	unclear // the search took too long
)

const (
	// roughBits is how many bits an amount has that is lacking. A millionth of what is
	// lacking hardly ever decides, and with so few bits weights can be fine.
	roughBits = 20
	// noCover is how many rows it takes if all of them are not enough.
	noCover = 1 << 30
	// heaviestRough is what a need of one dimension weighs at first, and the most that an
	// amount of 1 weighs, so that sums of all dimensions and many rows stay in range.
	heaviestRough = 1 << 30
	// coverRounds is how often weights are changed for one need, and coverSteps how
	// many rows a search for it takes. Neither is measured.
	coverRounds = 24
	coverSteps  = 1 << 10
	// fewMore is by how many the rows that are left may exceed those that are sought, when
	// they are tried and no longer weighed.
	fewMore = 2
)

// A roughness is how an amount becomes rough. No more counts than may be lacking at most:
// a task that has more than that does not help the more for it.
type roughness struct {
	typ   int
	head  int // of which of the queues that lack headroom; -1 for a node
	most  int64
	shift uint8
}

// roughnessOf returns how amounts of a type become rough of which so much may be
// lacking.
func roughnessOf(typ, head int, most int64) roughness {
	return roughness{typ, head, most, uint8(max(bits.Len64(uint64(most))-roughBits, 0))}
}

// of makes an amount rough that a task has.
func (r *roughness) of(v int64) int64 { return (min(v, r.most) + 1<<r.shift - 1) >> r.shift }

// lack makes an amount rough that is lacking.
func (r *roughness) lack(v int64) int64 { return min(max(v, 0), r.most) >> r.shift }

// reset makes an empty set.
func (s *coverSet) reset(dims int) {
	s.dims, s.sizes, s.learned = dims, s.sizes[:0], 0
	s.weights = rows.Zeros(s.weights, dims)
}

// len returns the number of rows.
func (s *coverSet) len() int {
	if s.dims == 0 {
		return 0
	}
	return len(s.sizes) / s.dims
}

// row returns the amounts of a row.
func (s *coverSet) row(i int32) []int64 { return rows.At(s.sizes, int(i), s.dims) }

// even gives each dimension of a need the same weight as a part of it.
//
// Of what is not lacking nothing counts. That makes bounds sharper than a weight of 1.
func (s *coverSet) even(need []int64) {
	for t, v := range need {
		s.weights[t] = 0
		if v > 0 {
			s.weights[t] = heaviestRough / v
		}
	}
}

// weighed returns the weighted sum of what is lacking. Of what is there already no more
// than is lacking counts, so that plenty of one type does not make up for another.
func weighed(weights, need []int64) (sum int64) {
	for t, v := range need {
		if v > 0 {
			sum += v * weights[t]
		}
	}
	return sum
}

// keep keeps the weights, in place of the oldest lesson if there are many. It looks at all
// rows, so that it costs as much as a round of a search; a lesson then tells of any need
// in a few steps.
func (s *coverSet) keep() {
	mix := &s.lessons[s.learned%mostLessons]
	s.learned++
	mix.weights = append(mix.weights[:0], s.weights...)
	top := s.top[:0]
	for i := range s.len() {
		share := int64(0)
		for t, v := range s.row(int32(i)) {
			share += v * mix.weights[t]
		}
		top = insertRow(top, mostTops, coverRow{share, int32(i)})
	}
	s.work += int64(len(s.sizes))
	mix.sums = append(mix.sums[:0], 0)
	for i := range top {
		mix.sums = append(mix.sums, mix.sums[i]+top[i].share)
	}
	s.top = top
}

// insertRow inserts a row into a list that falls and keeps the most largest.
func insertRow(list []coverRow, most int, x coverRow) []coverRow {
	if len(list) == most {
		if most == 0 || list[most-1].share >= x.share {
			return list
		}
		list = list[:most-1]
	}
	i := len(list)
	list = append(list, x)
	for ; i > 0 && list[i-1].share < x.share; i-- {
		list[i] = list[i-1]
	}
	list[i] = x
	return list
}

// fewest returns a number of rows below which none cover a need, as far as lessons
// tell. If it is more than mostTops, it says no more than that.
//
// Each lesson goes on where the one before it was, for the largest bound counts.
func (s *coverSet) fewest(need []int64) (count int64) {
	if s.len() == 0 && slices.Max(need) > 0 {
		return noCover
	}
	for k := range min(s.learned, mostLessons) {
		mix := &s.lessons[k]
		rest := weighed(mix.weights, need)
		for mix.sums[count] < rest {
			if count++; int(count) < len(mix.sums) {
				continue
			}
			// With all rows listed there is nobody else.
			if s.len() < len(mix.sums) {
				return noCover
			}
			return count
		}
	}
	return count
}
