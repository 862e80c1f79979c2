// SPDX-License-Identifier: Apache-2.0

package rulebook

import (
	"time"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/resources"
)

// A Cost has the fields of victims.Cost, to which it converts.
type Cost struct {
	OptedOut      int
	Overrun       int64
	Originators   int
	MaxRank       int64
	MaxPriority   int64
	Jobs          int
	Own           resources.Wide
	Victims       int
	SumRanks      int64
	SumPriorities int64
	Work          resources.Wide
	Excess        resources.Share
	NodePenalty   int64
	Node          int
	LostTime      time.Duration
	LostType      string
	LostAmount    resources.Wide
}

// CostOf returns a total of package cost as the cost of a plan, without the node's
// part.
func CostOf(t *cost.Total) Cost {
	l := &t.Levels
	return Cost{
		OptedOut:      int(l[LevelOptedOut]),
		Overrun:       l[LevelOverrun],
		Originators:   int(l[LevelOriginators]),
		MaxRank:       l[LevelRank],
		MaxPriority:   l[LevelPriority],
		Jobs:          int(l[LevelJobs]),
		Own:           resources.WideOfHalves(l[LevelOwn], l[LevelOwnLow]),
		Victims:       int(l[LevelVictims]),
		SumRanks:      l[LevelSumRanks],
		SumPriorities: l[LevelSumPriorities],
		Work:          t.Work,
		Excess:        t.Excess,
	}
}
