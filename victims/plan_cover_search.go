package victims

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// A search for a cover is one for weights first. Every round either shows that there is
// none, or finds one by chance, or leaves out rows that no cover has. After some rounds few
// rows are left, and these are tried.

// cover looks for so many rows, but for those that are left out, that cover a need. It
// leaves them in s.picks. Fewer rows are as good.
func (s *coverSet) cover(need []int64, count int, out func(row int32) bool) coverage {
	s.picks, s.kept = s.picks[:0], s.kept[:0]
	if slices.Max(need) <= 0 {
		return covered
	}
	s.sharpest(need, count)
	for i := range s.len() {
		if out == nil || !out(int32(i)) {
			s.kept = append(s.kept, coverRow{0, int32(i)})
		}
	}
	for round := range int64(coverRounds) {
		spare := s.weigh(need, count)
		// Even those that have most have too little.
		if spare < 0 {
			s.keep()
			return uncovered
		}
		if s.enough(need) {
			return covered
		}
		// Whoever is in a cover takes the place of one of those that have most, and
		// loses no more than they have to spare.
		// If there is room for more of them, everybody may be in it.
		if len(s.top) == count {
			least, kept := s.top[count-1].share-spare, s.kept[:0]
			for _, x := range s.kept {
				if x.share >= least {
					kept = append(kept, x)
				}
			}
			s.kept = kept
		}
		if len(s.kept) <= count+fewMore {
			break // the few are sooner tried than weighed
		}
		// The last weights are those by which rows are tried.
		if round < coverRounds-1 {
			s.turn(need, round)
		}
	}
	return s.search(need, count)
}

// sharpest sets the weights to those of the lesson by which so many rows have least of
// what is lacking, or to even ones.
func (s *coverSet) sharpest(need []int64, count int) {
	s.even(need)
	if s.len() <= mostTops {
		return // a few rounds take no more time
	}
	best, sharpest := int64(0), -1
	for k := range min(s.learned, mostLessons) {
		mix := &s.lessons[k]
		if part := weighed(mix.weights, need) << roughBits / max(mix.sums[min(count, len(mix.sums)-1)], 1); part > best {
			best, sharpest = part, k
		}
	}
	if sharpest < 0 {
		return
	}
	// A weight of nothing was for a need that did not lack the type. It would never grow.
	for t, w := range s.lessons[sharpest].weights {
		if need[t] > 0 && w > 0 {
			s.weights[t] = w
		}
	}
}

// weigh works out what the rows have that are kept, and which have most. It returns by
// how much those exceed what is lacking.
//
// Lessons count a row's whole amounts, so that they serve all needs. Here there is one,
// and no more counts than it lacks: that tells more if few rows are to cover it.
func (s *coverSet) weigh(need []int64, count int) (spare int64) {
	s.top = s.top[:0]
	for i := range s.kept {
		x, share := &s.kept[i], int64(0)
		for t, v := range s.row(x.row) {
			// No more of a dimension counts than is lacking of it.
			if v = min(v, need[t]); v > 0 {
				share += v * s.weights[t]
			}
		}
		x.share = share
		s.top = insertRow(s.top, count, *x)
	}
	s.work += int64(len(s.kept) * (4 + s.dims))
	spare = -weighed(s.weights, need)
	for i := range s.top {
		spare += s.top[i].share
	}
	return spare
}

// enough reports whether the rows that have most cover the need. If so they are picked.
// It leaves in s.given what they give, each no more than is lacking: that tells which
// weights are too low.
func (s *coverSet) enough(need []int64) bool {
	s.given = rows.Zeros(s.given, s.dims)
	enough := true
	for t, lack := range need {
		for i := range s.top {
			s.given[t] += min(s.row(s.top[i].row)[t], max(lack, 0))
		}
		enough = enough && s.given[t] >= lack
	}
	// The list is used again by the next round, so it is copied.
	for i := range s.top {
		if enough {
			s.picks = append(s.picks, s.top[i].row)
		}
	}
	return enough
}

// turn raises the weights of what was given too little, and lowers the others, by less
// in each round, as [mixture.turnBy] does. None becomes zero, for then it would stay so, and
// none so large that sums leave their range.
func (s *coverSet) turn(need []int64, round int64) {
	for t, lack := range need {
		if lack <= 0 {
			continue
		}
		missing := min(max(lack-s.given[t], -lack/2), lack/2)
		w := s.weights[t]
		w += w * (missing << 10 / lack) * 12 / (6 + round) >> 10
		s.weights[t] = min(max(w, 1), heaviestRough, 16*heaviestRough/lack)
	}
}

// search tries the rows that are kept, those that have most first.
//
// In that order the rows after one have no more than it has. So what the next few have
// together bounds every choice among them, and one that is too little ends the loop.
func (s *coverSet) search(need []int64, count int) coverage {
	slices.SortFunc(s.kept, func(a, b coverRow) int {
		return cmp.Or(cmp.Compare(b.share, a.share), slices.Compare(s.row(a.row), s.row(b.row)), cmp.Compare(a.row, b.row))
	})
	s.sums = append(s.sums[:0], 0)
	for i := range s.kept {
		s.sums = append(s.sums, s.sums[i]+s.kept[i].share)
	}
	// What is lacking when so many more may be taken has a row of its own, so that nothing
	// has to be put back.
	s.needs = rows.Zeros(s.needs, (count+1)*s.dims)
	copy(rows.At(s.needs, count, s.dims), need)
	steps := int64(coverSteps)
	if s.limit > 0 {
		steps = s.limit
	}
	s.left = steps
	found := s.dig(0, count)
	s.work += (steps - s.left) * int64(8*s.dims)
	switch {
	case found:
		return covered
	case s.left < 0:
		return unclear
	}
	return uncovered
}

// dig takes up to so many of the rows from one on, and reports whether they cover what
// is lacking then.
//
// What is lacking becomes less of some dimensions than of others. As only that counts, the
// bound becomes the sharper the more rows were taken.
func (s *coverSet) dig(from, left int) bool {
	need := rows.At(s.needs, left, s.dims)
	rest := weighed(s.weights, need)
	if rest == 0 {
		return true // every weight is positive that matters
	}
	for i := from; i < len(s.kept); i++ {
		// Those that come later have even less.
		if s.sums[min(i+left, len(s.kept))]-s.sums[i] < rest {
			return false
		}
		row := s.row(s.kept[i].row)
		// Of rows that are alike the first are taken first.
		if i > from && slices.Equal(row, s.row(s.kept[i-1].row)) {
			continue
		}
		// What was not looked at is not shown either: search asks how many steps are left.
		if s.left--; s.left < 0 {
			return false
		}
		next := rows.At(s.needs, left-1, s.dims)
		for t, v := range row {
			next[t] = need[t] - v
		}
		s.picks = append(s.picks, s.kept[i].row)
		if s.dig(i+1, left-1) {
			return true
		}
		s.picks = s.picks[:len(s.picks)-1]
	}
	return false
}
