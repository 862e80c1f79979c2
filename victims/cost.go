package victims

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
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
	Work        Work            // (h) the work lost
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
func PlanOrder() Order { return planOrder }

var planOrder = Order{Max: 1<<LevelRank | 1<<LevelPriority, Count: LevelVictims}

// Cost returns a total in the levels of plans as the cost of a plan with the
// node at a place.
func (t *Total) Cost(place int) Cost {
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

// Excess returns the largest share of a capacity, over all types of freed, that
// is freed beyond what is wanted.
func Excess(freed, wanted, capacity resources.Vector) resources.Share {
	var most resources.Share
	for t, v := range freed {
		share := resources.Share{Amount: max(v-wanted.At(t), 0), Of: capacity.At(t)}
		if t == 0 || share.Compare(most) > 0 {
			most = share
		}
	}
	return most
}

// Work is an amount of running time: that of all victims together since each
// was scheduled. It holds 128 bits of nanoseconds and never wraps.
type Work struct {
	ns wide.Uint128
}

// WorkOf returns a duration as work; a negative one is none.
func WorkOf(d time.Duration) Work { return WorkOfNanos(uint64(max(d, 0))) }

// WorkOfNanos returns nanoseconds as work: as many of them as the Work of a
// [Unit], which may be more than a duration holds.
func WorkOfNanos(ns uint64) Work { return Work{wide.Of(ns)} }

// Add returns the work of both.
func (w Work) Add(x Work) Work { return Work{w.ns.Add(x.ns)} }

// Compare returns -1, 0 or +1 as w is less than, equal to or more than x.
func (w Work) Compare(x Work) int { return w.ns.Cmp(x.ns) }

// Duration returns the work as a duration, and false where it is too long for one.
func (w Work) Duration() (time.Duration, bool) {
	return time.Duration(w.ns.Lo), w.ns.Hi == 0 && int64(w.ns.Lo) >= 0
}

// String writes the work as a duration.
func (w Work) String() string {
	if d, ok := w.Duration(); ok {
		return d.String()
	}
	return "centuries"
}
