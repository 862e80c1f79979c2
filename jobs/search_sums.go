package jobs

import (
	"cmp"

	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// sums are the parts of a cost that are sums, in their order: what units cost
// below a ceiling, under which rank and priority do not count and are 0. Of two ways
// to do one part of a plan the cheaper is then the better one, whatever the rest
// is.
type sums struct {
	levels cover.Levels
	work   uint64
	rank   rankSum // of the members' nodes
}

// add adds what a unit costs.
func (s *sums) add(order *cover.Order, u *unit) {
	levels := u.Levels
	levels[victims.LevelRank], levels[victims.LevelPriority] = 0, 0
	s.levels = order.Join(&s.levels, 1, &levels)
	s.work = addWork(s.work, u.Work)
}

// plus returns what both cost together.
func (s *sums) plus(order *cover.Order, r *sums) sums {
	return sums{order.Join(&s.levels, 1, &r.levels), addWork(s.work, r.work), s.rank.add(r.rank)}
}

// comparePlus compares the sum of s and r with t. Mostly a level decides before all
// of them are summed up.
func (s *sums) comparePlus(order *cover.Order, r, t *sums) int {
	// The lower half of a wide level carries into the one before it. Levels that are
	// maxima are 0 in sums.
	if s.levels[victims.LevelOwnLow]|r.levels[victims.LevelOwnLow] == 0 {
		for i, v := range &s.levels {
			if c := cmp.Compare(v+r.levels[i], t.levels[i]); c != 0 {
				return c
			}
		}
	}
	sum := s.plus(order, r)
	return sum.compare(t)
}

// compare orders by cost, and compareLevels without the work lost and the nodes.
// Heaps of offers compare all the time, and levels decide nearly always: nothing
// after them is looked at before that is known.
func (s *sums) compare(r *sums) int {
	if order := s.compareLevels(r); order != 0 {
		return order
	}
	if order := cmp.Compare(s.work, r.work); order != 0 {
		return order
	}
	return s.rank.compare(r.rank)
}

func (s *sums) compareLevels(r *sums) int {
	for i, v := range &s.levels {
		if w := r.levels[i]; v != w {
			if v < w {
				return -1
			}
			return +1
		}
	}
	return 0
}
