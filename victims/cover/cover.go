// SPDX-License-Identifier: Apache-2.0

package cover

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/units"
	"github.com/go-preempt/preempt/resources"
)

// maxLevels is how many levels a cost may have; there is one more, the number of units.
const maxLevels = 10

// A Unit is chosen or left as a whole: a task, or a gang.
type Unit struct {
	Key  string           // breaks ties
	Size resources.Vector // what it frees, at least 0
	// Cost has a value for each level, the most important first, all units as many, at most
	// 10. A set costs their sums, or maxima in the first levels; see [Problem.Maxima].
	Cost []int64
	// Bounds are indices of the Problem.Bounds that hold it.
	Bounds []int
	// Draws is what the unit adds to each of its bounds, at least 0; nil is Size. A gang frees more in its queue
	// than on the node in question.
	Draws resources.Vector
}

// A Problem asks for the cheapest set of units whose sizes sum to at least Need in every type.
// Of sets that cost the same the one of fewer units is the cheaper one.
type Problem struct {
	Need  resources.Vector
	Units []Unit
	// Bounds: the chosen units that one holds sum to at most that. Guarantees are such bounds.
	Bounds []resources.Limit
	// Maxima is how many levels of the cost, from the first, are the largest of the chosen
	// units, as with the highest priority. The others are summed, and no unit is below 0 there.
	Maxima int
}

// A Selection is the answer to a Problem.
type Selection struct {
	Units  []int // indices of Problem.Units, ascending; each is needed
	Cost   []int64
	Proven bool // no set is cheaper, or none exists
}

// defaultSteps is what Solver.Steps is if the caller sets none.
const defaultSteps = 3_000_000

// A Solver solves problems. The zero value is ready; its memory is reused. It serves one
// goroutine at a time.
type Solver struct {
	// Steps bounds each call, which is exponential at worst; 0 is 3,000,000, some ten milliseconds. Then it ends with
	// the best set that it has.
	Steps int

	worker    units.Worker
	meter     least.Meter
	problem   units.Problem
	best, set units.Selection
	limit     cost.Total
	bounds    []int32 // of the units, one after another
	parts     []units.Part
	none      [resources.MaxTypes]int64 // zeros, always
	sequence  []int8
}

// need is the only one that problems have.
var need = []int32{0}

// Solve sets dst to the cheapest set, and reports whether it found one. Ties go by sorted
// keys. A problem that breaks what its fields say panics, and so does one whose sums are
// beyond int64.
func (s *Solver) Solve(dst *Selection, p *Problem) bool {
	s.begin()
	s.state(p, levelsOf(p))
	s.worker.Least(&s.best, &s.problem, math.MaxInt)
	s.tell(dst, p, s.best.Found, s.best.Proven)
	return s.best.Found
}

// Fit sets dst to the cheapest set of all groups, which are nodes as a rule, and returns its group; ties go to the
// first. Units of all groups have as many levels and as many maxima. It panics as Solve does.
func (s *Solver) Fit(dst *Selection, groups []Problem) (group int, ok bool) {
	s.begin()
	levels := levelsOfAll(groups)
	free := slices.IndexFunc(groups, func(p Problem) bool { return resources.Positive(p.Need) == 0 })
	if free >= 0 {
		groups = groups[:free+1] // no set is cheaper than none
	}
	proven := true
	for g := max(free, 0); g < len(groups); g++ {
		s.state(&groups[g], levels)
		if ok {
			// Whether there is a cheaper set at all is asked first: mostly there is none.
			s.limit = s.best.Total
			s.problem.Limit, s.worker.OnlyLesser = &s.limit, true
			s.worker.Least(&s.set, &s.problem, math.MaxInt)
			s.worker.OnlyLesser = false
			proven = proven && s.set.Proven
			if !s.set.Found {
				continue
			}
			s.best, s.set = s.set, s.best
			s.limit, group = s.best.Total, g
		}
		s.worker.Least(&s.set, &s.problem, math.MaxInt) // and then for the smallest keys
		proven = proven && s.set.Proven
		if s.set.Found {
			s.best, s.set = s.set, s.best
			group, ok = g, true
		}
	}
	if !ok {
		s.tell(dst, nil, false, proven)
		return -1, false
	}
	s.tell(dst, &groups[group], true, proven)
	return group, true
}

func (s *Solver) begin() {
	s.meter = least.Meter{Left: int64(s.Steps)}
	if s.Steps == 0 {
		s.meter.Left = defaultSteps
	}
	s.worker.Meter = &s.meter
}

// state states a problem for the worker. Behind the levels of the caller comes the number of
// units.
func (s *Solver) state(p *Problem, levels int) {
	check(p, levels)
	q := &s.problem
	q.Needs, q.Bounds, q.Units, q.Limit = append(q.Needs[:0], p.Need), q.Bounds[:0], q.Units[:0], nil
	for _, b := range p.Bounds {
		q.Bounds = append(q.Bounds, units.Bound{Room: b})
	}
	s.sequence = s.sequence[:0]
	for level := range int8(levels + 1) {
		s.sequence = append(s.sequence, level)
	}
	q.Order = cost.Order{Max: 1<<min(p.Maxima, levels) - 1, Count: levels, Sequence: s.sequence}
	n, types := 0, 0
	for i := range p.Units {
		n, types = n+len(p.Units[i].Bounds), max(types, len(p.Units[i].Draws))
	}
	q.Capacity = s.none[:types] // so that all types count
	s.bounds, s.parts = slices.Grow(s.bounds[:0], n), slices.Grow(s.parts[:0], 2*len(p.Units))
	for i := range p.Units {
		u := &p.Units[i]
		x := units.Unit{Key: u.Key, Size: u.Size, Needs: need}
		copy(x.Levels[:], u.Cost)
		x.Levels[levels] = 1
		from := len(s.bounds)
		for _, b := range u.Bounds {
			s.bounds = append(s.bounds, int32(b))
		}
		x.Bounds = s.bounds[from:len(s.bounds):len(s.bounds)]
		// Bounds of parts need not be nested, and one that gives nothing may take.
		switch at := len(s.parts); {
		case u.Draws != nil:
			s.parts = append(s.parts, units.Part{Size: x.Size, Needs: need}, units.Part{Size: u.Draws, Bounds: x.Bounds})
			x.Parts = s.parts[at:]
		case len(x.Bounds) > 1:
			s.parts = append(s.parts, units.Part{Size: x.Size, Needs: need, Bounds: x.Bounds})
			x.Parts = s.parts[at:]
		}
		q.Units = append(q.Units, x)
	}
}

// levelsOf returns how many levels the costs of units have.
func levelsOf(p *Problem) int {
	if len(p.Units) == 0 {
		return 0
	}
	return len(p.Units[0].Cost)
}

// levelsOfAll returns how many levels the costs of all groups have, and panics if those of two
// groups cannot be compared. A group without units may be anything.
func levelsOfAll(groups []Problem) int {
	first := slices.IndexFunc(groups, func(p Problem) bool { return len(p.Units) > 0 })
	if first < 0 {
		return 0
	}
	levels, maxima := levelsOf(&groups[first]), groups[first].Maxima
	for g := range groups {
		p := &groups[g]
		if n := levelsOf(p); len(p.Units) > 0 && (n != levels || p.Maxima != maxima) {
			panic(fmt.Sprintf("cover: group %d: %d levels, %d of them maxima, and group %d has %d and %d", g, n, p.Maxima, first, levels, maxima))
		}
	}
	return levels
}

// check panics if a problem breaks a rule.
func check(p *Problem, levels int) {
	if len(p.Units) == 0 {
		return
	}
	if levels > maxLevels {
		panic(fmt.Sprintf("cover: unit %q: a cost of %d levels, at most %d", p.Units[0].Key, levels, maxLevels))
	}
	if p.Maxima < 0 || p.Maxima > levels {
		panic(fmt.Sprintf("cover: %d maxima of %d levels", p.Maxima, levels))
	}
	var sums [maxLevels]int64
	var size, draws [resources.MaxTypes]int64
	for i := range p.Units {
		u := &p.Units[i]
		if len(u.Cost) != levels {
			panic(fmt.Sprintf("cover: unit %q: a cost of %d levels, and %q has %d", u.Key, len(u.Cost), p.Units[0].Key, levels))
		}
		for level := p.Maxima; level < levels; level++ {
			if sums[level] += u.Cost[level]; u.Cost[level] < 0 || sums[level] < 0 {
				panic(fmt.Sprintf("cover: unit %q: level %d: %d is negative or too much", u.Key, level, u.Cost[level]))
			}
		}
		for t, v := range u.Size {
			if size[t] += v; v < 0 || size[t] < 0 {
				panic(fmt.Sprintf("cover: unit %q: type %d: a size of %d is negative or too much", u.Key, t, v))
			}
		}
		for t, v := range u.Draws {
			if draws[t] += v; v < 0 || draws[t] < 0 {
				panic(fmt.Sprintf("cover: unit %q: type %d: a draw of %d is negative or too much", u.Key, t, v))
			}
		}
		for _, b := range u.Bounds {
			if b < 0 || b >= len(p.Bounds) {
				panic(fmt.Sprintf("cover: unit %q: bound %d of %d", u.Key, b, len(p.Bounds)))
			}
		}
	}
}

// tell sets dst to the best set.
func (s *Solver) tell(dst *Selection, p *Problem, found, proven bool) {
	*dst = Selection{Units: dst.Units[:0], Cost: dst.Cost[:0], Proven: proven}
	if !found {
		return
	}
	for _, i := range s.best.Units {
		dst.Units = append(dst.Units, int(i))
	}
	if len(p.Units) > 0 {
		dst.Cost = append(dst.Cost, s.best.Total.Levels[:len(p.Units[0].Cost)]...)
	}
}
