// SPDX-License-Identifier: Apache-2.0

package least

import (
	"math"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/resources"
)

const noLimit = math.MaxInt64

// A Use is how much a unit takes of a budget: its number of tasks in it.
type Use struct {
	Budget int32
	Count  int64
}

// A Take is how much a unit takes of a limit.
type Take struct {
	Limit  int32
	Amount int64
}

// A Row is a number of units that are alike in all but work and key. A unit is a task, or
// a gang as a whole. Its slices may be views of memory that others own: nothing here writes
// to them.
type Row struct {
	Levels cost.Levels // of each
	Size   []int64     // what each frees, per type
	Gives  []int64     // what each gives, per dimension
	Takes  []Take      // each limit once; see Problem.Types
	Uses   []Use       // of soft budgets, by rising budget
	Count  int64

	// What each loses. Units go in this order, in which none loses less than those before
	// it: Times, that fall, say when their work began, and work is time by Weight; or Works
	// are given. If both are nil nothing is known, and it counts as none. Units that lose the
	// same go by their keys, and all do if work does not decide.
	Times  []int64
	Weight uint64
	Works  []resources.Wide

	Gang bool // a unit may be more than one task; it may take less of a limit than it gives of its type
}

// A Problem asks for the cheapest units that give what is needed within all limits. What all
// rows together give of a dimension, free of a type and take of a limit is below 2^63.
type Problem struct {
	Node int32
	Need []int64 // per dimension; nothing if it is not positive
	Typ  []int32 // per dimension: the type that is needed, or -1
	Rows []Row
	Room []int64 // per limit: no more may be taken; nothing if it is negative
	// Types has the type that each limit is of, or -1 if it is of none. Two rows that share a
	// limit of a type share all later ones of that type: limits of a type are chains. Unless it
	// is a gang, a row takes of a limit of a type at least what it gives to dimensions of it.
	Types  []int32
	Wanted []int64 // per type: what is freed beyond that is excess
	Shared [2]int  // the dimensions that units elsewhere may give, from one to before another
}

// An Answer is a set of units.
type Answer struct {
	Found  bool
	Taken  []int32 // by row: how many units of it, the first ones
	Total  cost.Total
	Proven bool // no set is cheaper, or there is none
	Levels bool // none has lesser levels before work and excess
}

// An Extent says which rows a problem has.
type Extent uint8

const (
	Rough Extent = iota // no dearer than units of the node are, and they give no less; sooner stated
	Near                // the units of the node
	All                 // and those elsewhere
)

// A Host poses the problems of nodes. It knows what laws say.
type Host interface {
	// Skip reports whether sums tell that a node has no plan that matters.
	Skip(n int32) bool
	// State states a node. It reports false if it has no plan, whatever the best plan is.
	// Rough problems need nothing of what units elsewhere may give. There is no bound for a
	// node that needs nothing else: State reports false for its rough problem, and the node is
	// searched by [Search.Try].
	State(p *Problem, n int32, how Extent) bool
	// Elsewhere reports whether units that are not on the node may be part of a plan.
	Elsewhere() bool
	// Few reports whether those are known and few, so that they are stated in any case.
	Few() bool
	// Admits reports whether a node is to be searched. It may take long.
	Admits(n int32) bool
	// Offer offers a set for the node of a problem.
	Offer(p *Problem, a *Answer)
	// Before reports whether node n is preferred to m if all else is equal.
	Before(n, m int32) bool
}

// A Keyer knows the keys of units.
type Keyer interface {
	// Keys appends the keys of a unit of a row.
	Keys(dst []string, p *Problem, row, unit int32) []string
}
