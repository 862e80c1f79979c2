// SPDX-License-Identifier: Apache-2.0

// Package rulebook has what the rules of asks, jobs and quotas share, and what no
// caller of theirs needs to name.
package rulebook

import (
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
)

// A Level is one part of the cost of a plan: its number as a level of package cost.
type Level uint8

// The levels, in the order and with the letters of victims.Cost.
const (
	LevelOptedOut      Level                  = iota // (a)
	LevelOverrun                                     // (a2)
	LevelOriginators                                 // (b)
	LevelRank                                        // (c) the highest
	LevelPriority                                    // (d) the highest
	LevelJobs                                        // (d)
	LevelOwn                                         // (d2)
	LevelOwnLow                                      // its low half, which has no word
	LevelVictims                                     // (e)
	LevelSumRanks                                    // (f)
	LevelSumPriorities                               // (f2)
	LevelWork          = Level(cost.ByWork)          // (g)
	LevelExcess        = Level(cost.ByExcess)        // (h)
)

// words are the stable words, by level.
var words = [...]string{
	LevelOptedOut:      "opted-out",
	LevelOverrun:       "overrun",
	LevelOriginators:   "originators",
	LevelRank:          "rank",
	LevelPriority:      "priority",
	LevelJobs:          "jobs",
	LevelOwn:           "own-cost",
	LevelVictims:       "victims",
	LevelSumRanks:      "sum-ranks",
	LevelSumPriorities: "sum-priorities",
	LevelWork:          "work",
	LevelExcess:        "excess",
}

// Words returns the words of all levels, in their order.
func Words() (all []string) {
	return slices.DeleteFunc(append(all, words[:]...), func(word string) bool { return word == "" })
}

// LevelOf returns the level of a word, and whether there is one.
func LevelOf(word string) (Level, bool) {
	at := slices.Index(words[:], word)
	return Level(at), at >= 0 && word != ""
}

// PlanOrder returns the order of victims.Cost as levels of package cost.
func PlanOrder() cost.Order {
	return cost.Order{
		Max: 1<<LevelRank | 1<<LevelPriority, Carry: 1 << LevelOwnLow,
		Overrun: int(LevelOverrun), Count: int(LevelVictims),
	}
}
