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

// A levelRow is how one level of the cost is summed up and told. To add one, add
// a [Level] with its word, a row to this table, a field to [Cost] with a line each
// in CostOf, Compare and compareAt, and the twin in internal/oracle.
type levelRow struct {
	combine combination
	// text returns what the level says of a cost, "" if that is nothing.
	text func(c *Cost) string
}

// A combination says how the level of a set follows from those of its victims.
type combination uint8

const (
	summed     combination = iota
	largest                // the maximum
	low                    // summed, and carried into the level before it
	overrun                // counted per budget
	atLeastOne             // summed, at least 1 each: a set costs more than its parts
)

var levelRows = [cover.NumLevels]levelRow{
	LevelOptedOut: {
		text: func(c *Cost) string { return textIf(c.OptedOut > 0, "%d opted out", c.OptedOut) },
	},
	LevelOverrun: {
		combine: overrun,
		text:    func(c *Cost) string { return textIf(c.Overrun > 0, "%d beyond soft budgets", c.Overrun) },
	},
	LevelOriginators: {
		text: func(c *Cost) string {
			return textIf(c.Originators > 0, "%s", counted(c.Originators, "originator"))
		},
	},
	LevelRank: {
		combine: largest,
		text:    func(c *Cost) string { return textIf(true, "highest rank %d", c.MaxRank) },
	},
	LevelPriority: {
		combine: largest,
		text:    func(c *Cost) string { return textIf(true, "highest priority %d", c.MaxPriority) },
	},
	LevelJobs: {
		text: func(c *Cost) string { return textIf(c.Jobs > 0, "%s stopped", counted(c.Jobs, "job")) },
	},
	LevelOwn: {
		text: func(c *Cost) string { return textIf(c.Own != cover.Wide{}, "own cost %v", c.Own) },
	},
	LevelOwnLow: {
		combine: low,
	},
	LevelVictims: {
		combine: atLeastOne,
		text:    func(c *Cost) string { return counted(c.Victims, "victim") },
	},
	LevelSumRanks: {
		text: func(c *Cost) string { return textIf(c.Victims > 1, "ranks sum up to %d", c.SumRanks) },
	},
	LevelSumPriorities: {
		// With the same offset everywhere it says what the ranks have said.
		text: func(c *Cost) string { return "" },
	},
}

// Compare returns a negative number, 0 or a positive one as c is cheaper than,
// as cheap as or costlier than d. The cost of no victims is the cheapest.
func (c *Cost) Compare(d *Cost) int {
	if c.Victims == 0 || d.Victims == 0 {
		return cmp.Or(cmp.Compare(c.Victims, d.Victims), c.compareNodes(d))
	}
	return cmp.Or(
		cmp.Compare(c.OptedOut, d.OptedOut),
		cmp.Compare(c.Overrun, d.Overrun),
		cmp.Compare(c.Originators, d.Originators),
		cmp.Compare(c.MaxRank, d.MaxRank),
		cmp.Compare(c.MaxPriority, d.MaxPriority),
		cmp.Compare(c.Jobs, d.Jobs),
		c.Own.Compare(d.Own),
		cmp.Compare(c.Victims, d.Victims),
		cmp.Compare(c.SumRanks, d.SumRanks),
		cmp.Compare(c.SumPriorities, d.SumPriorities),
		c.Excess.Compare(d.Excess),
		c.Work.Compare(d.Work),
		c.compareNodes(d),
	)
}

func (c *Cost) compareNodes(d *Cost) int {
	return cmp.Or(cmp.Compare(c.NodeRank, d.NodeRank), cmp.Compare(c.Node, d.Node))
}

// PlanOrder returns the order of [Cost] as levels.
func PlanOrder() (o cover.Order) {
	for l := range levelRows {
		switch levelRows[l].combine {
		case largest:
			o.Max |= 1 << l
		case low:
			o.Carry |= 1 << l
		case overrun:
			o.Overrun = l
		case atLeastOne:
			o.Count = l
		}
	}
	return o
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
// that say nothing: counts of 0, and the sum of the ranks of one.
func (c *Cost) String() string {
	if c.Victims == 0 {
		return "no victims"
	}
	var parts []string
	for i := range levelRows {
		if text := levelRows[i].text; text != nil {
			if s := text(c); s != "" {
				parts = append(parts, s)
			}
		}
	}
	if c.Excess.Amount > 0 {
		parts = append(parts, portion(c.Excess, "the cluster")+" freed beyond need")
	}
	parts = append(parts, fmt.Sprintf("%v of work lost", c.Work))
	return strings.Join(parts, ", ")
}

// textIf returns a formatted text, or "" if it is not wanted.
func textIf(wanted bool, format string, args ...any) string {
	if !wanted {
		return ""
	}
	return fmt.Sprintf(format, args...)
}
