package jobs

import (
	"math"

	"github.com/go-preempt/preempt/victims"
)

// An effort is how hard a decision tries: the steps that it has taken and may
// take, and whether any plan will do. The engines of a decision share one.
type effort struct {
	limit  int // Planner.Steps
	steps  int // taken by the decision; it never falls
	before int // taken when the search for the members at hand began
	// Any plan will do. A refusal asks which members could be placed and when all
	// could, and for that it matters only whether there is a plan.
	eager bool
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
