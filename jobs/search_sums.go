package jobs

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// sums are the parts of a cost that are sums, in their order: what units cost
// below a ceiling, where rank and priority do not count and are 0. Of two ways
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

// compare orders by cost, and compareLevels without the work lost and the nodes.
func (s *sums) compare(r *sums) int {
	return cmp.Or(s.compareLevels(r), cmp.Compare(s.work, r.work), s.rank.compare(r.rank))
}

func (s *sums) compareLevels(r *sums) int {
	if s.levels == r.levels {
		return 0
	}
	return slices.Compare(s.levels[:], r.levels[:])
}
