// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
)

// A Cost says what a set of victims costs. The cheaper set is smaller in the first field that differs; ties go
// by sorted keys. Letters are those of DESIGN.md, Cost.
type Cost struct {
	OptedOut      int             // (a) victims that opted out
	Overrun       int64           // (a2) victims beyond what soft budgets have left
	Originators   int             // (b) victims that are originators
	MaxRank       int64           // (c) the highest rank of a victim
	MaxPriority   int64           // (d) the highest raw priority
	Jobs          int             // (d) jobs stopped altogether
	Own           resources.Wide  // (d2) the sum of Task.Cost
	Preemptions   int64           // (d3) the sum of Task.Preemptions, if it may count; else 0
	Victims       int             // (e) tasks
	SumRanks      int64           // (f)
	SumPriorities int64           // (f2) raw
	Work          resources.Wide  // (g) the work lost: nanoseconds by weight
	Excess        resources.Share // (h) the largest share freed beyond need
	NodePenalty   int64           // (i) Node.Penalty
	Node          int             // (i) a number that grows along node order

	// For people, not compared. LostTime is the plain time of Work. LostAmount is amounts by nanoseconds of the
	// type that decides most of Work; none if no victim weighs more than 1.
	LostTime   time.Duration
	LostType   string
	LostAmount resources.Wide
}

// Compare returns a negative number, 0 or a positive one as c is cheaper than, equal to or costlier than d.
func (c *Cost) Compare(d *Cost) int {
	return compareInSequence(nil, c, d)
}

// String writes the levels that are not 0.
func (c Cost) String() string { return c.text(0) }

// text writes it with how many tasks move.
func (c *Cost) text(moves int) string {
	var parts []string
	add := func(wanted bool, format string, args ...any) {
		if wanted {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	if c.Victims == 0 {
		add(true, "no victims")
		add(moves > 0, "%s", counted(moves, "move"))
		return strings.Join(parts, ", ")
	}
	add(c.OptedOut > 0, "%d opted out", c.OptedOut)
	add(c.Overrun > 0, "%d beyond soft budgets", c.Overrun)
	add(c.Originators > 0, "%s", counted(c.Originators, "originator"))
	add(c.MaxRank != 0, "highest rank %d", c.MaxRank)
	add(c.MaxPriority != 0, "highest priority %d", c.MaxPriority)
	add(c.Jobs > 0, "%s stopped", counted(c.Jobs, "job"))
	add(c.Own != resources.Wide{}, "own cost %v", c.Own)
	add(c.Preemptions > 0, "preempted %s before", counted(c.Preemptions, "time"))
	add(true, "%s", counted(c.Victims, "victim"))
	add(moves > 0, "%s", counted(moves, "move"))
	add(c.Victims > 1 && c.SumRanks != 0, "ranks sum up to %d", c.SumRanks)
	add(c.LostTime > 0, "%s of work lost", plain.Duration(c.LostTime)) // a bound knows no times
	add(c.LostAmount != resources.Wide{}, "%s", c.lostAmount())
	add(c.Excess.Amount > 0, "%s freed beyond need", portion(c.Excess, "the cluster"))
	return strings.Join(parts, ", ")
}

// lostAmount writes amounts by time, as in "24 gpu-hours".
func (c *Cost) lostAmount() string {
	base, err := resources.ParseQuantity(c.LostType, "1")
	suffix := ""
	if giga := resources.FormatQuantity(c.LostType, 1<<30); giga == "1Gi" {
		base, suffix = 1<<30, "Gi"
	}
	if c.LostType == "" || err != nil {
		return ""
	}
	seconds, _ := new(big.Rat).SetString(c.LostAmount.String())
	seconds.Quo(seconds, big.NewRat(int64(time.Second), 1)).Quo(seconds, big.NewRat(base, 1))
	lost, unit := seconds, "seconds"
	if seconds.Sign() == 0 || seconds.Cmp(big.NewRat(360, 1)) >= 0 {
		lost, unit = seconds.Quo(seconds, big.NewRat(3600, 1)), "hours"
	}
	digits := 3
	switch {
	case lost.Cmp(big.NewRat(math.MaxInt64/1000, 1)) > 0:
		return "centuries of " + plain.Name(c.LostType)
	case lost.Cmp(big.NewRat(10, 1)) >= 0:
		digits = 1
	}
	text := strings.TrimRight(strings.TrimRight(lost.FloatString(digits), "0"), ".")
	return fmt.Sprintf("%s%s %s-%s", text, suffix, plain.Name(c.LostType), unit)
}

// levels are those of Options.Levels.
type levels []string

// DefaultLevels returns the levels that count by default, in the order of [Cost].
func DefaultLevels() []string { return rulebook.Words() }

// check reports a word that is no level, or stands twice.
func (l levels) check() error {
	for i, word := range l {
		if _, ok := rulebook.LevelOf(word); !ok {
			return fmt.Errorf("victims: Levels[%d]: %q: %w", i, word, ErrUnknown)
		}
		if at := slices.Index(l[:i], word); at >= 0 {
			return fmt.Errorf("victims: Levels[%d]: %q, as Levels[%d]: %w", i, word, at, ErrDuplicate)
		}
	}
	return nil
}

// sequence appends the levels to dst as a search knows them.
func (l levels) sequence(dst []int8) []int8 {
	counted := false
	for _, word := range l {
		level, _ := rulebook.LevelOf(word)
		if level.NegativeSum() && !counted || level == rulebook.LevelVictims {
			if counted {
				continue // it was needed before a sum
			}
			dst, counted = append(dst, int8(rulebook.LevelVictims)), true
		}
		switch level {
		case rulebook.LevelVictims:
		case rulebook.LevelOwn:
			dst = append(dst, int8(rulebook.LevelOwn), int8(rulebook.LevelOwnLow))
		default:
			dst = append(dst, int8(level))
		}
	}
	// A set is never as cheap as a part of it, then.
	if !counted {
		dst = append(dst, int8(rulebook.LevelVictims))
	}
	return dst
}

// keepsLaw1 reports whether opted-out victims decide before all else, so that law
// 1 holds as it stands.
func (l levels) keepsLaw1() bool { return len(l) == 0 || l[0] == "opted-out" }

// compareInSequence is [Cost.Compare] for a sequence of levels; without one it is that
// itself.
func compareInSequence(sequence []int8, a, b *Cost) (order int) {
	if a.Victims == 0 || b.Victims == 0 {
		order = cmp.Compare(a.Victims, b.Victims)
	} else {
		for i := 0; order == 0 && i < len(sequence); i++ {
			order = rulebook.CompareAt((*rulebook.Cost)(a), (*rulebook.Cost)(b), rulebook.Level(sequence[i]))
		}
		for level := rulebook.LevelOptedOut; order == 0 && sequence == nil && level <= rulebook.LevelExcess; level++ {
			if !level.Off() { // the numbers are in the order of the fields
				order = rulebook.CompareAt((*rulebook.Cost)(a), (*rulebook.Cost)(b), level)
			}
		}
	}
	return cmp.Or(order, cmp.Compare(a.NodePenalty, b.NodePenalty), cmp.Compare(a.Node, b.Node))
}

// A ranking is the order of sets of victims in a decision.
type ranking struct {
	cost.Order
	memory []int8 // of its sequence
	byWork bool   // work counts
}

// set makes the ranking what the planner's options say.
func (r *ranking) set(d *decision) {
	p := d.p
	r.Order, r.byWork = rulebook.PlanOrder(), true
	switch {
	case p.Compare != nil:
		if d.comparer == nil {
			d.comparer = d.compareTotals // bound once, not for every decision
		}
		r.Compare = d.comparer
	case len(p.Levels) > 0:
		r.memory = levels(p.Levels).sequence(r.memory[:0])
		r.Sequence, r.byWork = r.memory, slices.Contains(r.memory, int8(rulebook.LevelWork))
	}
}
