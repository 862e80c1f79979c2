// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A Cost says how much a set of victims costs. Of two sets the cheaper one is smaller
// in the first field in which they differ; equal ones are told apart by their sorted
// keys. The letters are those of DESIGN.md, Cost.
type Cost struct {
	OptedOut      int             // (a) victims that opted out; law 1
	Overrun       int64           // (a2) victims beyond what soft budgets have left
	Originators   int             // (b) victims that are originators
	MaxRank       int64           // (c) the highest rank of a victim
	MaxPriority   int64           // (d) the highest raw priority of a victim
	Jobs          int             // (d) jobs stopped altogether, because too few members would remain
	Own           cover.Wide      // (d2) the sum of the victims' own costs, Task.Cost
	Victims       int             // (e) victims, counted as tasks
	SumRanks      int64           // (f) the sum of their ranks
	SumPriorities int64           // (f2) the sum of their raw priorities
	Excess        resources.Share // (g) the largest share freed beyond need
	Work          cover.Work      // (h) the work lost
	NodePenalty   int64           // (i) the rank of the chosen node, Node.Penalty
	Node          int             // (i) its place: a number that grows along node order
}

// Compare returns a negative number, 0 or a positive one as c is cheaper than, as
// cheap as or costlier than d. No victims are cheapest.
func (c *Cost) Compare(d *Cost) int {
	return compareInSequence(nil, c, d)
}

// PlanOrder returns the order of [Cost] as levels of package cover.
func PlanOrder() cover.Order {
	return cover.Order{
		Max: 1<<LevelRank | 1<<LevelPriority, Carry: 1 << LevelOwnLow,
		Overrun: int(LevelOverrun), Count: int(LevelVictims),
	}
}

// CostOf returns a total of package cover as the cost of a plan, without the node's
// part.
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

// String writes a cost for people.
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

// A Level is one part of the [Cost] of a plan.
type Level uint8

// The levels, in the order and with the letters of [Cost].
const (
	LevelOptedOut      Level                   = iota // (a)
	LevelOverrun                                      // (a2)
	LevelOriginators                                  // (b)
	LevelRank                                         // (c) the highest
	LevelPriority                                     // (d) the highest
	LevelJobs                                         // (d)
	LevelOwn                                          // (d2)
	LevelOwnLow                                       // of no use to callers
	LevelVictims                                      // (e)
	LevelSumRanks                                     // (f)
	LevelSumPriorities                                // (f2)
	LevelExcess        = Level(cover.ByExcess)        // (g)
	LevelWork          = Level(cover.ByWork)          // (h)
)

var levelWords = word.Table{Of: "victims.Level", Words: []string{
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
	LevelExcess:        "excess",
	LevelWork:          "work",
}}

// String returns the stable word for the level.
func (l Level) String() string { return levelWords.Word(uint8(l)) }

// Levels decide between plans, the most important first. The zero Levels are all, in
// the order of [Cost].
//
// A level that is left out does not count; plans that are equal in all are told apart
// by penalty, node order and keys. The number of victims always counts: last if it is
// not named, and right before a sum that stands before it.
type Levels []Level

// DefaultLevels returns all levels in the order of [Cost].
func DefaultLevels() Levels {
	return Levels{
		LevelOptedOut, LevelOverrun, LevelOriginators, LevelRank, LevelPriority, LevelJobs, LevelOwn,
		LevelVictims, LevelSumRanks, LevelSumPriorities, LevelExcess, LevelWork,
	}
}

// Check returns an error for a level that is none ([ErrUnknown]) or stands twice
// ([ErrDuplicate]).
func (l Levels) Check() error {
	for i, level := range l {
		if !levelWords.Has(uint8(level)) {
			return fmt.Errorf("victims: Levels[%d]: %v: %w", i, level, ErrUnknown)
		}
		if at := slices.Index(l[:i], level); at >= 0 {
			return fmt.Errorf("victims: Levels[%d]: %v, as Levels[%d]: %w", i, level, at, ErrDuplicate)
		}
	}
	return nil
}

// Compare is [Cost.Compare] by these levels, which must pass Check.
func (l Levels) Compare(a, b *Cost) int {
	if len(l) == 0 {
		return a.Compare(b)
	}
	var memory [cover.ByWork + 1]int8
	return compareInSequence(l.sequence(memory[:0]), a, b)
}

// sequence appends the levels to dst as a search knows them.
func (l Levels) sequence(dst []int8) []int8 {
	counted := false
	for _, level := range l {
		// Sums may be negative, and then a set has less of it than its parts. Among
		// sets of one number they cannot mislead.
		sum := level == LevelSumRanks || level == LevelSumPriorities
		if sum && !counted || level == LevelVictims {
			if counted {
				continue // it was needed before a sum
			}
			dst, counted = append(dst, int8(LevelVictims)), true
		}
		switch level {
		case LevelVictims:
		case LevelOwn:
			dst = append(dst, int8(LevelOwn), int8(LevelOwnLow))
		default:
			dst = append(dst, int8(level))
		}
	}
	// A set is never as cheap as a part of it, then.
	if !counted {
		dst = append(dst, int8(LevelVictims))
	}
	return dst
}

// keepsLaw1 reports whether opted-out victims decide before all else, so that law
// 1 holds as it stands.
func (l Levels) keepsLaw1() bool { return len(l) == 0 || l[0] == LevelOptedOut }

// compareInSequence is [Cost.Compare] for a sequence of levels; without one it is that
// itself.
func compareInSequence(sequence []int8, a, b *Cost) (order int) {
	if a.Victims == 0 || b.Victims == 0 {
		order = cmp.Compare(a.Victims, b.Victims)
	} else {
		for i := 0; order == 0 && i < len(sequence); i++ {
			order = a.compareAt(b, Level(sequence[i]))
		}
		for level := LevelOptedOut; order == 0 && sequence == nil && level <= LevelWork; level++ {
			order = a.compareAt(b, level) // the numbers are in the order of the fields
		}
	}
	return cmp.Or(order, cmp.Compare(a.NodePenalty, b.NodePenalty), cmp.Compare(a.Node, b.Node))
}

// compareAt compares costs at one level. Of own costs the high half stands for
// both.
func (c *Cost) compareAt(d *Cost, level Level) int {
	switch level {
	case LevelOptedOut:
		return cmp.Compare(c.OptedOut, d.OptedOut)
	case LevelOverrun:
		return cmp.Compare(c.Overrun, d.Overrun)
	case LevelOriginators:
		return cmp.Compare(c.Originators, d.Originators)
	case LevelRank:
		return cmp.Compare(c.MaxRank, d.MaxRank)
	case LevelPriority:
		return cmp.Compare(c.MaxPriority, d.MaxPriority)
	case LevelJobs:
		return cmp.Compare(c.Jobs, d.Jobs)
	case LevelOwn:
		return c.Own.Compare(d.Own)
	case LevelVictims:
		return cmp.Compare(c.Victims, d.Victims)
	case LevelSumRanks:
		return cmp.Compare(c.SumRanks, d.SumRanks)
	case LevelSumPriorities:
		return cmp.Compare(c.SumPriorities, d.SumPriorities)
	case LevelExcess:
		return c.Excess.Compare(d.Excess)
	case LevelWork:
		return c.Work.Compare(d.Work)
	}
	return 0
}

// A ranking is the order of sets of victims in a decision.
type ranking struct {
	cover.Order
	memory []int8 // of its sequence
	byWork bool   // work counts
}

// set makes the ranking what the planner's options say.
func (r *ranking) set(d *decision) {
	p := d.p
	r.Order, r.byWork = PlanOrder(), true
	switch {
	case p.Compare != nil:
		if d.problem.comparer == nil {
			d.problem.comparer = d.compareTotals // bound once, not for every decision
		}
		r.Compare = d.problem.comparer
	case len(p.Levels) > 0:
		r.memory = p.Levels.sequence(r.memory[:0])
		r.Sequence, r.byWork = r.memory, slices.Contains(r.memory, int8(LevelWork))
	}
}
