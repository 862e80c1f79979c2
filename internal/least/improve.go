// SPDX-License-Identifier: Apache-2.0

package least

// Large neighbourhoods: most units of the best set are kept, and branch and bound decides the
// rest anew.

// A neighbourhood leaves a third of the units open, up to mostOpen, and gets eachSteps steps: a few
// units for one fewer are found or are not there. Which are open is drawn, the same each time.
const (
	mostOpen  = 8
	eachSteps = 64
)

// Exact states a node with all of its units; nil if there is no plan for it.
func (s *Search) Exact(n int32) *Problem {
	if !s.state(&s.exact, n, All) {
		return nil
	}
	return &s.exact
}

// Improve looks for a cheaper set near one that meets a problem and costs no more than the best
// plan, within so many steps, and offers what it finds. Taken says how many units of each row there
// are. Half of the steps are for lesser levels alone.
func (s *Search) Improve(p *Problem, taken []int32, steps int) {
	x := &s.solver
	x.reset(s, p, &s.Best.Total, nil)
	a := &x.answer
	a.Proven, a.Levels = false, false
	for i, n := range taken {
		for range n {
			x.move(int32(i), 1)
		}
	}
	x.sortCostly()
	if x.now = x.sum(); !x.covered() || !x.beats(&x.now) {
		return
	}
	x.keep()
	x.untakeAll()
	x.begun = a.Total
	if !x.tighten() {
		return
	}
	x.levels = s.Order.LevelsFirst()
	x.improve(steps / 2)
	x.levels = false
	x.improve(steps)
	if s.Order.CompareTotals(&a.Total, &x.begun) < 0 {
		s.Host.Offer(p, a)
	}
}

// improve looks for cheaper sets near the best one, until so many steps of the search are taken.
func (x *solver) improve(steps int) {
	a, drawn := &x.answer, uint64(1)
	for a.Total.Units > 1 && x.steps < steps && !x.s.Meter.Over() {
		left := uint64(a.Total.Units)
		open := min(max(left/3, 2), mostOpen)
		x.kept = x.kept[:0]
		for i, n := range a.Taken {
			for ; n > 0; n-- {
				drawn = drawn*6364136223846793005 + 1442695040888963407 // Knuth's linear congruence
				if drawn>>33%left < open {
					open--
				} else {
					x.kept = append(x.kept, int32(i))
				}
				left--
			}
		}
		for _, i := range x.kept {
			x.take(i)
		}
		x.steps++
		x.budget = min(x.steps+eachSteps, steps)
		x.branch(0)
		for n := len(x.kept) - 1; n >= 0; n-- {
			x.putBack(x.kept[n])
		}
	}
}
