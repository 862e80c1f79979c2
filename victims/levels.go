package victims

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/victims/cover"
)

// A Level is one part of the [Cost] of a plan. Its String is a stable word. As a
// number it is the place of the level in [cover.Levels], but for LevelExcess and
// LevelWork, which are compared on their own.
type Level uint8

// The levels in the order of [Cost].
const (
	LevelOptedOut      Level                   = iota // (a) victims that opted out; law 1
	LevelOverrun                                      // (a2) victims beyond what soft budgets have left
	LevelOriginators                                  // (b) victims that are originators
	LevelRank                                         // (c) the highest rank of a victim
	LevelPriority                                     // (d) the highest raw priority of a victim
	LevelJobs                                         // (d) jobs stopped
	LevelOwn                                          // (d2) the sum of own costs: its high half
	LevelOwnLow                                       // its low half, which nobody names
	LevelVictims                                      // (e) victims, counted as tasks
	LevelSumRanks                                     // (f) the sum of their ranks
	LevelSumPriorities                                // (f2) the sum of their raw priorities
	LevelExcess        = Level(cover.ByExcess)        // (g) the largest share freed beyond need
	LevelWork          = Level(cover.ByWork)          // (h) the work lost
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

// MarshalText returns the stable word for the level. A number that has no word is
// an error.
func (l Level) MarshalText() ([]byte, error) { return levelWords.Text(uint8(l)) }

// UnmarshalText sets the level whose text is given. Any other text is an error
// and changes nothing.
func (l *Level) UnmarshalText(text []byte) error { return word.Set(l, levelWords, text) }

// Levels are what decides between plans, the most important first. The zero
// Levels are all levels in the order of [Cost].
//
// A level that is left out does not count: two plans that differ in it alone are
// equal. Plans that are equal in all levels are told apart by the rank of their
// nodes, node order, and keys, as always.
//
// The number of victims is never left out, for without it a needless victim
// would be as good as none. If it is not named, it comes last. The two sums are
// sums over so many victims, and say nothing of sets of different number. So if a
// sum comes before LevelVictims, the number of victims is compared right before
// that sum.
type Levels []Level

// DefaultLevels returns all levels in the order of [Cost]: a start for an order of
// one's own.
func DefaultLevels() Levels {
	return Levels{
		LevelOptedOut, LevelOverrun, LevelOriginators, LevelRank, LevelPriority, LevelJobs, LevelOwn,
		LevelVictims, LevelSumRanks, LevelSumPriorities, LevelExcess, LevelWork,
	}
}

// Check returns an error that names the first level that is none, which wraps
// [ErrUnknown], or that stands twice, which wraps [ErrDuplicate].
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

// Compare returns a negative number, 0 or a positive one as a is cheaper than, as
// cheap as or costlier than b by these levels, which must pass Check. The cost of
// no victims is the cheapest.
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

// compareInSequence is [Cost.Compare] for a sequence.
func compareInSequence(sequence []int8, a, b *Cost) int {
	if a.Victims == 0 || b.Victims == 0 {
		return cmp.Or(cmp.Compare(a.Victims, b.Victims), a.compareNodes(b))
	}
	for _, what := range sequence {
		if c := a.compareAt(b, Level(what)); c != 0 {
			return c
		}
	}
	return a.compareNodes(b)
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
