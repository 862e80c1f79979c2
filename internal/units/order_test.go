// SPDX-License-Identifier: Apache-2.0

package units

import (
	"github.com/go-preempt/preempt/internal/cost"
)

// The order of plans, as package victims has it.
const (
	LevelOptedOut = iota
	LevelOverrun
	LevelOriginators
	LevelRank
	LevelPriority
	LevelJobs
	LevelOwnHigh
	LevelOwnLow
	LevelVictims
	LevelSumRanks
	LevelSumPriorities
)

const DefaultSteps = 1 << 16

var planOrder = cost.Order{
	Max: 1<<LevelRank | 1<<LevelPriority, Carry: 1 << LevelOwnLow,
	Overrun: LevelOverrun, Count: LevelVictims,
}
