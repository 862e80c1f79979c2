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
	Preemptions   int64
	Victims       int
	SumRanks      int64
	SumPriorities int64
	Work          resources.Wide
	Excess        resources.Share
	NodePenalty   int64
	Node          int
	Moves         int
	LostTime      time.Duration
	LostType      string
	LostAmount    resources.Wide
}

// wideOf returns high·2^32 + low.
func wideOf(high, low int64) resources.Wide {
	return resources.Wide{Hi: uint64(high) >> 32, Lo: uint64(high)<<32 | uint64(low)}
}

// CostOf returns a total of package cost as the cost of a plan, without the node's
// part.
func CostOf(t *cost.Total) Cost {
	c := Cost{Own: wideOf(t.Levels[LevelOwn], t.Levels[LevelOwnLow]), Work: t.Work, Excess: t.Excess}
	for l := range levelTable {
		if !levelTable[l].wide {
			c.set(Level(l), t.Levels[l])
		}
	}
	return c
}

// at returns what a cost has of a level that is one number.
func (c *Cost) at(l Level) int64 {
	switch l {
	case LevelOptedOut:
		return int64(c.OptedOut)
	case LevelOverrun:
		return c.Overrun
	case LevelOriginators:
		return int64(c.Originators)
	case LevelRank:
		return c.MaxRank
	case LevelPriority:
		return c.MaxPriority
	case LevelJobs:
		return int64(c.Jobs)
	case LevelPreemptions:
		return c.Preemptions
	case LevelVictims:
		return int64(c.Victims)
	case LevelSumRanks:
		return c.SumRanks
	case LevelSumPriorities:
		return c.SumPriorities
	}
	return 0
}

// set sets it.
func (c *Cost) set(l Level, v int64) {
	switch l {
	case LevelOptedOut:
		c.OptedOut = int(v)
	case LevelOverrun:
		c.Overrun = v
	case LevelOriginators:
		c.Originators = int(v)
	case LevelRank:
		c.MaxRank = v
	case LevelPriority:
		c.MaxPriority = v
	case LevelJobs:
		c.Jobs = int(v)
	case LevelPreemptions:
		c.Preemptions = v
	case LevelVictims:
		c.Victims = int(v)
	case LevelSumRanks:
		c.SumRanks = v
	case LevelSumPriorities:
		c.SumPriorities = v
	}
}
