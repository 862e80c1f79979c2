package victims

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A Cost says how much a set of victims costs, in the order of its fields: of
// two sets the cheaper one is smaller in the first field in which they differ.
// Sets of equal cost are told apart by their sorted lists of keys. (DESIGN.md,
// Cost.)
type Cost struct {
	OptedOut      int             // (a) victims that opted out; law 1
	Overrun       int64           // (a2) victims beyond what soft budgets have left
	Originators   int             // (b) victims that are originators
	MaxRank       int64           // (c) the highest rank of a victim
	MaxPriority   int64           // (d) the highest raw priority of a victim
	Jobs          int             // (d) jobs that fewer than their minimum are left of
	Own           cover.Wide      // (d2) the sum of the victims' own costs, Task.Cost
	Victims       int             // (e) victims, counted as tasks
	SumRanks      int64           // (f) the sum of their ranks
	SumPriorities int64           // (f2) the sum of their raw priorities
	Excess        resources.Share // (g) the largest share freed beyond need
	Work          cover.Work      // (h) the work lost
	NodeRank      int64           // (i) the rank of the chosen node, Node.Rank
	Node          int             // (i) its place: a number that grows along node order
}

// Compare returns a negative number, 0 or a positive one as c is cheaper than,
// as cheap as or costlier than d. The cost of no victims is the cheapest.
func (c *Cost) Compare(d *Cost) int {
	if c.Victims == 0 || d.Victims == 0 {
		return cmp.Or(cmp.Compare(c.Victims, d.Victims), c.compareNodes(d))
	}
	for level := LevelOptedOut; level <= LevelWork; level++ { // the numbers are in the order of the fields
		if order := c.compareAt(d, level); order != 0 {
			return order
		}
	}
	return c.compareNodes(d)
}

func (c *Cost) compareNodes(d *Cost) int {
	return cmp.Or(cmp.Compare(c.NodeRank, d.NodeRank), cmp.Compare(c.Node, d.Node))
}

// PlanOrder returns the order of [Cost] as levels: most are sums.
func PlanOrder() cover.Order {
	return cover.Order{
		Max: 1<<LevelRank | 1<<LevelPriority, Carry: 1 << LevelOwnLow,
		Overrun: int(LevelOverrun), Count: int(LevelVictims),
	}
}

// CostOf returns a total in the levels of plans as the cost of a plan. The
// node's part of it is left at 0.
func CostOf(t *cover.Total) Cost {
	l := &t.Levels
	return Cost{
		OptedOut:      int(l[LevelOptedOut]),
		Overrun:       l[LevelOverrun],
		Originators:   int(l[LevelOriginators]),
		MaxRank:       l[LevelRank],
		MaxPriority:   l[LevelPriority],
		Jobs:          int(l[LevelJobs]),
		Own:           cover.Join(l[LevelOwn], l[LevelOwnLow]),
		Victims:       int(l[LevelVictims]),
		SumRanks:      l[LevelSumRanks],
		SumPriorities: l[LevelSumPriorities],
		Excess:        t.Excess,
		Work:          t.Work,
	}
}

// String writes a cost for people, its parts in their order. Left out are those
// that say nothing: counts of 0, the sum of the ranks of one, and the sum of priorities,
// which with the same offset everywhere says what the ranks have said.
func (c *Cost) String() string {
	if c.Victims == 0 {
		return "no victims"
	}
	var parts []string
	add := func(wanted bool, format string, args ...any) {
		if wanted {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(c.OptedOut > 0, "%d opted out", c.OptedOut)
	add(c.Overrun > 0, "%d beyond soft budgets", c.Overrun)
	add(c.Originators > 0, "%s", counted(c.Originators, "originator"))
	add(true, "highest rank %d", c.MaxRank)
	add(true, "highest priority %d", c.MaxPriority)
	add(c.Jobs > 0, "%s stopped", counted(c.Jobs, "job"))
	add(c.Own != cover.Wide{}, "own cost %v", c.Own)
	add(true, "%s", counted(c.Victims, "victim"))
	add(c.Victims > 1, "ranks sum up to %d", c.SumRanks)
	add(c.Excess.Amount > 0, "%s freed beyond need", portion(c.Excess, "the cluster"))
	add(true, "%v of work lost", c.Work)
	return strings.Join(parts, ", ")
}
