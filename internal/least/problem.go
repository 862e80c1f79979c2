// SPDX-License-Identifier: Apache-2.0

package least

import (
	"math"

	"github.com/go-preempt/preempt/internal/cost"
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

// A Use is how much a unit takes of a budget: its number of tasks in it.
type Use struct {
	Budget int32
	Count  int64
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
	Uses   []Use // by rising budget
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

// pace is the steps that a search has taken, and those after which it ends.
type pace struct {
	steps, budget int
}

// A Worker solves problems. Its zero value is ready; its memory is reused. It serves
// one goroutine at a time.
type Worker struct {
	// Meter, if set, pays for every search, which ends with what it has once nothing
	// is left; the greedy set is found in any case.
	Meter *Meter
	// OnlyLesser looks for sets of lesser levels than the Limit only.
	OnlyLesser bool

	p     *Problem
	types int // of which units have amounts

	rows    []coverRow // what must be covered: open types of needs
	packs   []packRow  // types of the bounds that units have
	tight   []packRow  // those of them that can bind
	classes []class
	members []int32    // units, class by class, each in the order of taking
	rowOf   []int32    // first row of each need
	spans   []packSpan // the packs of each bound
	builds  uint32     // problems built, to tell spans of this one from older ones
	sums    []int64    // scratch: one amount per row or pack
	terms   []term

	// What the classes from i on can give: one row of each per class.
	avail    []int64       // per cover row
	rowOrder []int32       // cover rows, the scarcest first; see greedyByRow
	lowest   []cost.Levels // the least of each level
	least    []int64       // the least size, per type
	works    workBounds
	soft     soft
	stages   stages
	eager    bool // bounds on work, and levels by themselves, from the first step on: for tests

	listing
	partial
	whole  []int32 // taken, while a part of it is considered
	top    top     // the best set found
	levels bool    // sets of the same levels as the best one are of no interest
	pace
	keys [2][]string
}

// listing is the classes once more, in other orders.
type listing struct {
	amounts  []int64 // what a unit of each class covers of each row
	natural  []int32 // all classes in their order
	byRow    []int32 // all classes by falling amount, row by row, if ordered is set
	ordered  bool
	unsorted []class // scratch
}

// partial is how far a search has come: what it has taken, and what that leaves.
type partial struct {
	rem   []int64    // of each cover row
	room  []int64    // of each pack row
	freed []int64    // per type
	sure  []int64    // what every completion frees at least, per type
	taken []int32    // per class
	total cost.Total // without its excess
	now   cost.Total // with it, for comparisons
}

// top is the best set that a search has found.
type top struct {
	found bool
	taken []int32 // per class
	total cost.Total
}

// soft is what a search knows of budgets.
type soft struct {
	scarce []bool  // the budgets that all units together would overrun
	uses   []Use   // of classes
	used   []int64 // of each budget, by what is taken
	over   int64   // the overrun of what is taken
}

// coverRow is one type of one need.
type coverRow struct {
	need, typ int32
	short     int64
}

// packRow is one type of one bound.
type packRow struct {
	typ, tight int32 // tight is its index in Worker.tight, or -1
	room, sum  int64 // what all units together may take, and what they have
}

// packSpan is packs[first:end], if the bound was seen in the build.
type packSpan struct {
	build      uint32
	first, end int32
}

// term is an amount in a row.
type term struct {
	row    int32
	amount int64
}

// class is a number of units that are alike but for work and key: the same
// levels, size, needs and bounds that can bind. Of them those with the least
// work go first, then those with the smallest key; so a set is told by how
// many it takes of each class. A caller's order may want the most work, so
// that with one a class has the same work, too.
type class struct {
	levels       cost.Levels
	size         resources.Vector
	first, count int32 // its units are members[first : first+count]
	cover        []term
	pack         []term
	parted       bool  // its units have parts
	uses         []Use // of a unit, of the budgets that can be overrun
	use          int64 // how much of the needs a unit covers, for ordering only
}

const noLimit = math.MaxInt64
