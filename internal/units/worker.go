// SPDX-License-Identifier: Apache-2.0

package units

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// A Worker solves problems. Its zero value is ready; its memory is reused. It serves
// one goroutine at a time.
type Worker struct {
	// Meter, if set, pays for every search, which ends with what it has once nothing
	// is left; the greedy set is found in any case.
	Meter *least.Meter
	// OnlyLesser looks for sets of lesser levels than the Limit only.
	OnlyLesser bool

	p        *Problem
	types    int     // of which units have amounts
	needs    []need  // what must be met
	needOf   []int32 // the first of each need of the problem, and the end
	packs    []pack  // types of the bounds that units have
	spans    []span  // the packs of each bound
	builds   uint32  // problems stated, to tell spans of this one from older ones
	scarce   []bool  // the budgets that all units together would overrun
	sums     []int64 // scratch: by need or budget
	members  []int32 // units, row by row, each in the order in which they go
	first    []int32 // by row: its first member
	wanted   []int64 // of all types
	capacity []int64

	search  least.Search
	problem least.Problem // in the memory that follows
	amounts []int64
	takes   []least.Take
	uses    []least.Use
	works   []resources.Wide
	own     least.Meter
	best    least.Best // none
}

// Least finds the cheapest set by branch and bound. After so many steps it ends with the
// best set found, of which no unit can be given back. Steps can grow exponentially with
// the number of different units. With 0 steps it is greedy: it takes units, the cheapest first
// and among equals those that cover most, and gives back what is not needed.
func (w *Worker) Least(dst *Selection, p *Problem, steps int) {
	s := &w.search
	if s.Meter = w.Meter; s.Meter == nil {
		w.own = least.Meter{Left: math.MaxInt64 / 2}
		s.Meter = &w.own
	}
	*dst = Selection{Units: dst.Units[:0]}
	if !w.state(p) {
		dst.Proven, dst.LevelsProven = true, true
		return
	}
	s.Keys, s.Order, s.Budgets, s.Best, s.Capacity = w, &p.Order, p.Budgets, &w.best, w.capacity
	s.Meter.Ask() // many searches are shorter than what it asks after
	s.Pose(&w.problem)
	s.Lesser = w.OnlyLesser && p.Limit != nil
	a := s.Solve(&w.problem, p.Limit, nil, steps)
	dst.Found, dst.Proven, dst.LevelsProven, dst.Steps = a.Found, a.Proven, a.Levels, s.Steps()
	if !a.Found {
		return
	}
	dst.Total = a.Total
	for i, n := range a.Taken {
		dst.Units = append(dst.Units, w.members[w.first[i]:w.first[i]+n]...)
	}
	slices.Sort(dst.Units)
}

// Keys appends the keys of a unit of a row.
func (w *Worker) Keys(dst []string, _ *least.Problem, row, unit int32) []string {
	u := &w.p.Units[w.members[w.first[row]+unit]]
	return append(append(dst, u.Key), u.More...)
}

// A need is one type of a need of the problem.
type need struct {
	typ   int32
	short int64
}

// A pack is one type of one bound.
type pack struct {
	typ   int32
	limit int32 // its limit in rows, or -1
	room  int64
	sum   int64 // what all units together take of it
}

// A span is packs[first:end], if the bound was seen in the build.
type span struct {
	build      uint32
	first, end int32
}

// StatingWork returns about how many steps it takes to state a problem of so many units,
// each of which may count in so many types of needs.
func StatingWork(units, types int) int64 { return int64(units) * each(units, types) }

// full returns a vector of all types.
func full(dst []int64, v resources.Vector, types int) []int64 {
	dst = rows.Zeros(dst, types)
	copy(dst, v)
	return dst
}
