// SPDX-License-Identifier: Apache-2.0

package units

import (
	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/resources"
)

// A Problem asks for the cheapest set of units that meets every need within every
// bound. The sizes of a set that keeps the bounds must not sum to more than MaxInt64
// per type.
type Problem struct {
	// A need is met if the chosen units that count for it sum to at least that, in every
	// type.
	Needs  []resources.Vector
	Bounds []Bound
	// A budget says how many units that use it may be chosen without a price; see
	// Order.Overrun. It forbids nothing. Negative counts as 0.
	Budgets []int64
	Units   []Unit

	// Order is how levels combine and which sets are cheaper.
	Order cost.Order
	// What is freed beyond Wanted is excess, as a share of Capacity.
	Wanted, Capacity resources.Vector

	// Limit is what a set found by [Worker.Least] may cost at most. nil: anything.
	Limit *cost.Total
}

// A Bound is kept if the chosen units that it binds sum to at most Room. Negative counts as
// 0.
type Bound struct {
	Room resources.Limit
}

// A Unit is chosen or left as a whole. Sizes are non-negative. A need or bound that
// the problem does not have panics.
type Unit struct {
	Key    string
	Size   resources.Vector
	Levels cost.Levels
	Work   resources.Wide // lost with it: time by weight
	Needs  []int32        // the needs that it counts for, ascending
	// Bounds bind it, the innermost first. Two units without parts that share a bound
	// share all that follow it.
	Bounds []int32
	Uses   []least.Use // by rising budget
	// More are further keys, of a unit that stands for several tasks.
	More []string

	// Parts, if any, are what the unit is made of: members on several nodes. Size is
	// their sum, and Needs and Bounds do not count.
	Parts []Part
}

// A Part is what a unit gives to some needs, and takes of some bounds.
type Part struct {
	Size   resources.Vector
	Needs  []int32
	Bounds []int32
}

// All yields the parts of a unit, or the unit itself as the only part.
func (u *Unit) All(yield func(Part) bool) {
	if len(u.Parts) == 0 {
		yield(Part{u.Size, u.Needs, u.Bounds})
		return
	}
	for _, p := range u.Parts {
		if !yield(p) {
			return
		}
	}
}

// A Selection is the answer to a Problem.
type Selection struct {
	Found bool
	Units []int32 // rows of Problem.Units, ascending
	Total cost.Total
	// Proven: no legal set is cheaper, or none exists. With Worker.OnlyLesser: none
	// has lesser levels than the limit.
	Proven bool
	// LevelsProven: no legal set has lesser levels before work and excess. If no level
	// decides first, it is Proven.
	LevelsProven bool
	Steps        int
}
