package jobs

import (
	"math"
	"math/bits"

	"github.com/go-preempt/preempt/victims"
)

// An effort is how hard a decision tries: the steps that it has taken and may
// take, and whether any plan will do. The engines of a decision share one.
type effort struct {
	limit  int // Planner.Steps
	steps  int // taken by the decision
	before int // taken when the search for the members at hand began
	eager  bool
}

// budget returns the steps that a search may take.
func (e *effort) budget() int {
	if e.limit > 0 {
		return min(e.limit, math.MaxInt/64)
	}
	return victims.DefaultSteps
}

// smallBudget is the steps that one of many searches may take.
func (e *effort) smallBudget() int { return max(e.budget()/16, 1) }

// exhausted reports whether a decision has taken so many steps that only what
// must be done is done.
func (e *effort) exhausted() bool { return (e.steps-e.before)/64 > e.budget() }

// How large a case is: the ways to place the members, times what one of them
// takes to look at. Small cases are searched completely in about a millisecond,
// medium ones in some ten. Nothing but time depends on the exact numbers.
const (
	small  = 1 << 14
	medium = 1 << 19
)

// within reports whether a case is below a size.
func (c *jobCase) within(size uint64) bool {
	ways, each := c.ways(), uint64(len(c.units)+8)
	return ways < size && ways*each < size
}

// ways returns how many ways there are to place the members if every host takes
// all of them, or the most there is: for each kind the multisets of hosts.
func (c *jobCase) ways() uint64 {
	ways := uint64(1)
	for i := range c.kinds {
		k := &c.kinds[i]
		for n := range uint64(k.end - k.first) {
			// Multisets of n+1 hosts from those of n, times hosts+n, divided
			// by n+1: exact at every step, for each kind by itself.
			hi, lo := bits.Mul64(ways, uint64(len(c.hosts))+n)
			if hi > n {
				return 1<<64 - 1
			}
			ways, _ = bits.Div64(hi, lo, n+1)
		}
	}
	return ways
}
