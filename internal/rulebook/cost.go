// SPDX-License-Identifier: Apache-2.0

package rulebook

import (
	"math/bits"
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

// Variants returns costs that have one more than c of one level each, of those that are one number.
func (c *Cost) Variants() (all []Cost) {
	for l := range levelTable {
		if d, l := *c, Level(l); !levelTable[l].wide {
			d.set(l, c.at(l)+1)
			all = append(all, d)
		}
	}
	return all
}

// field returns where a cost has a level that is one number; nil for any other.
func (c *Cost) field(l Level) (small *int, large *int64) {
	switch l {
	case LevelOptedOut:
		return &c.OptedOut, nil
	case LevelOriginators:
		return &c.Originators, nil
	case LevelJobs:
		return &c.Jobs, nil
	case LevelVictims:
		return &c.Victims, nil
	case LevelOverrun:
		return nil, &c.Overrun
	case LevelRank:
		return nil, &c.MaxRank
	case LevelPriority:
		return nil, &c.MaxPriority
	case LevelPreemptions:
		return nil, &c.Preemptions
	case LevelSumRanks:
		return nil, &c.SumRanks
	case LevelSumPriorities:
		return nil, &c.SumPriorities
	}
	return nil, nil
}

// at returns what a cost has of a level that is one number.
func (c *Cost) at(l Level) (v int64) {
	small, large := c.field(l)
	switch {
	case small != nil:
		v = int64(*small)
	case large != nil:
		v = *large
	}
	return v
}

// Drop makes levels 0, each of which is one number.
func (c *Cost) Drop(off uint16) {
	for ; off != 0; off &= off - 1 {
		c.set(Level(bits.TrailingZeros16(off)), 0)
	}
}

// set sets it.
func (c *Cost) set(l Level, v int64) {
	if small, large := c.field(l); small != nil {
		*small = int(v)
	} else {
		*large = v
	}
}
