package jobs

import (
	"cmp"

	"github.com/go-preempt/preempt/victims"
)

// sums are the parts of a cost that are sums, in their order: what units cost
// within a limit, where rank and priority do not count. Of two ways to do one
// part of a plan the cheaper is then the better one, whatever the rest is.
type sums struct {
	optedOut, originators, jobs, victims, ranks int64
	work                                        uint64
}

// add adds what a unit costs.
func (s *sums) add(u *unit) {
	s.optedOut += u.levels[victims.LevelOptedOut]
	s.originators += u.levels[victims.LevelOriginators]
	s.jobs += u.levels[victims.LevelJobs]
	s.victims += u.levels[victims.LevelVictims]
	s.ranks += u.levels[victims.LevelSumRanks]
	s.work = addWork(s.work, u.work)
}

// plus returns what both cost together.
func (s *sums) plus(r *sums) sums {
	return sums{
		s.optedOut + r.optedOut, s.originators + r.originators, s.jobs + r.jobs,
		s.victims + r.victims, s.ranks + r.ranks, addWork(s.work, r.work),
	}
}

// compare orders by cost, and compareLevels without the work lost.
func (s *sums) compare(r *sums) int {
	return cmp.Or(s.compareLevels(r), cmp.Compare(s.work, r.work))
}

func (s *sums) compareLevels(r *sums) int {
	switch {
	case s.optedOut != r.optedOut:
		return cmp.Compare(s.optedOut, r.optedOut)
	case s.originators != r.originators:
		return cmp.Compare(s.originators, r.originators)
	case s.jobs != r.jobs:
		return cmp.Compare(s.jobs, r.jobs)
	case s.victims != r.victims:
		return cmp.Compare(s.victims, r.victims)
	}
	return cmp.Compare(s.ranks, r.ranks)
}
