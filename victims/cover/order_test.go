package cover

// The order of plans, as package victims has it.
const (
	LevelOptedOut = iota
	LevelOriginators
	LevelRank
	LevelPriority
	LevelJobs
	LevelVictims
	LevelSumRanks
)

const DefaultSteps = 1 << 16

var planOrder = Order{Max: 1<<LevelRank | 1<<LevelPriority, Count: LevelVictims}
