package victims

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A Cost says how much a set of victims costs, in the order of its fields:
// one set is cheaper than another where the first field in which they differ
// is smaller. Sets of equal cost are told apart by their sorted lists of keys.
// (Section 5, "The decision", step 4.)
type Cost struct {
	OptedOut    int             // (a) victims that opted out; law 1
	Originators int             // (b) victims that are originators
	MaxRank     int64           // (c) the highest rank of a victim
	MaxPriority int64           // (d) the highest raw priority of a victim
	Jobs        int             // (d) jobs stopped as a whole
	Victims     int             // (e) victims, counted as tasks
	SumRanks    int64           // (f) the sum of their ranks
	Excess      resources.Share // (g) the largest share freed beyond need
	Work        cover.Work      // (h) the work lost
	Node        int             // (i) the place of the chosen node: a number that grows along node order
}

// Compare returns a negative number, 0 or a positive one as c is cheaper than,
// as cheap as or costlier than d. The cost of no victims is the cheapest.
func (c *Cost) Compare(d *Cost) int {
	if c.Victims == 0 || d.Victims == 0 {
		return cmp.Or(cmp.Compare(c.Victims, d.Victims), cmp.Compare(c.Node, d.Node))
	}
	return cmp.Or(
		cmp.Compare(c.OptedOut, d.OptedOut),
		cmp.Compare(c.Originators, d.Originators),
		cmp.Compare(c.MaxRank, d.MaxRank),
		cmp.Compare(c.MaxPriority, d.MaxPriority),
		cmp.Compare(c.Jobs, d.Jobs),
		cmp.Compare(c.Victims, d.Victims),
		cmp.Compare(c.SumRanks, d.SumRanks),
		c.Excess.Compare(d.Excess),
		c.Work.Compare(d.Work),
		cmp.Compare(c.Node, d.Node),
	)
}

// The levels of the cost of a plan, in the order of [Cost]. An opted-out victim
// has 1 at LevelOptedOut (law 1), an originator at LevelOriginators, and a job
// that falls as a whole at LevelJobs.
const (
	LevelOptedOut = iota
	LevelOriginators
	LevelRank
	LevelPriority
	LevelJobs
	LevelVictims
	LevelSumRanks
)

// PlanOrder returns the order of [Cost] as levels.
func PlanOrder() cover.Order { return planOrder }

var planOrder = cover.Order{Max: 1<<LevelRank | 1<<LevelPriority, Count: LevelVictims}

// CostOf returns a total in the levels of plans as the cost of a plan with the
// node at a place.
func CostOf(t *cover.Total, place int) Cost {
	return Cost{
		OptedOut:    int(t.Levels[LevelOptedOut]),
		Originators: int(t.Levels[LevelOriginators]),
		MaxRank:     t.Levels[LevelRank],
		MaxPriority: t.Levels[LevelPriority],
		Jobs:        int(t.Levels[LevelJobs]),
		Victims:     int(t.Levels[LevelVictims]),
		SumRanks:    t.Levels[LevelSumRanks],
		Excess:      t.Excess,
		Work:        t.Work,
		Node:        place,
	}
}

// String writes a cost for people, its parts in their order. Left out are those
// that say nothing: counts of 0, and the sum of the ranks of one.
func (c *Cost) String() string {
	if c.Victims == 0 {
		return "no victims"
	}
	var parts []string
	part := func(on bool, format string, args ...any) {
		if on {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	part(c.OptedOut > 0, "%d opted out", c.OptedOut)
	part(c.Originators > 0, "%s", counted(c.Originators, "originator"))
	part(true, "highest rank %d", c.MaxRank)
	part(true, "highest priority %d", c.MaxPriority)
	part(c.Jobs > 0, "%s stopped", counted(c.Jobs, "job"))
	part(true, "%s", counted(c.Victims, "victim"))
	part(c.Victims > 1, "ranks sum up to %d", c.SumRanks)
	part(c.Excess.Amount > 0, "%s freed beyond need", portion(c.Excess, "the cluster"))
	part(true, "%v of work lost", c.Work)
	return strings.Join(parts, ", ")
}
