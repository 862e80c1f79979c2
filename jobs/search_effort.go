package jobs

import (
	"math"
	"math/bits"

	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// An effort is how hard a decision tries: what is left of its budget of
// elementary steps, and whether any plan will do. The engines of a decision share
// one.
type effort struct {
	most        int64 // the whole budget
	cover.Meter       // what is left of it
	found       bool  // there is some plan for the members at hand
	// Any plan will do. A refusal asks which members could be placed and when all
	// could, and for that it matters only whether there is a plan.
	eager bool
}

// pace is how many choices a single search may make, and smallPace one of many
// searches. They keep one hard host from taking what is left of the budget from
// all the others. In BenchmarkTowns half of pace saves up to 47 % of the steps in
// clusters of few nodes, and leaves one cost of 144 unproven; twice takes up to 1.9
// times as many and proves no more. Half of smallPace saves up to 13 %, twice takes
// up to 11 % more, and no answer is another.
const pace, smallPace = 1 << 16, 1 << 12

// begin gives a decision about so many members its budget.
func (e *effort) begin(p *Planner, members int) {
	*e = effort{most: p.Budget}
	if e.most <= 0 {
		hi, lo := bits.Mul64(uint64(victims.DefaultBudget(p.Cluster)), uint64(max(members, 1)))
		if e.most = int64(lo); hi > 0 || e.most < 0 {
			e.most = math.MaxInt64
		}
	}
	e.Left = e.most
}

// spend takes elementary steps off the budget.
func (e *effort) spend(steps int) { e.Left -= int64(steps) }

// steps returns the elementary steps that were taken.
func (e *effort) steps() int64 { return e.most - e.Left }

// exhausted reports whether the budget is spent, so that only what must be done is
// done. Until there is a plan a decision may take as much again, or a million steps,
// for a plan is better than none.
func (e *effort) exhausted() bool {
	return e.Left <= 0 && (e.found || e.Left <= -max(e.most, 1<<20))
}
