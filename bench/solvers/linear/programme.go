// SPDX-License-Identifier: Apache-2.0

// Package linear has linear programmes, some of whose columns are whole numbers, and asks GLPK
// and CBC about them. Without the build tag "solvers" programmes can be made and not solved.
package linear

import "time"

// Inf is no bound.
const Inf = 1e30

// An Answer is what a solver says of a programme.
type Answer int

const (
	Open       Answer = 1 + iota // it ran into its limit
	Infeasible                   // there is no solution
	Feasible                     // a solution, perhaps not the least
	Optimal                      // the least solution
)

// A Solution has the values of the columns, unless the answer is Open or Infeasible.
type Solution struct {
	Answer Answer
	Value  float64 // of the objective
	X      []float64
	Took   time.Duration // CPU time
}

// A Programme is minimised over columns from 0 to their upper bounds. The zero value has no
// column and no row.
type Programme struct {
	cost, upper []float64
	whole       []bool
	low, high   []float64
	entries     []entry
}

type entry struct {
	row, col int
	value    float64
}

// Reset takes all columns and rows away.
func (p *Programme) Reset() {
	*p = Programme{p.cost[:0], p.upper[:0], p.whole[:0], p.low[:0], p.high[:0], p.entries[:0]}
}

// SetCost sets what one of a column costs.
func (p *Programme) SetCost(col int, cost float64) { p.cost[col] = cost }

// Column adds a column that is any number from 0 to upper, and returns its number.
func (p *Programme) Column(cost, upper float64) int {
	p.cost, p.upper, p.whole = append(p.cost, cost), append(p.upper, upper), append(p.whole, false)
	return len(p.cost) - 1
}

// Whole adds a column that is a whole number.
func (p *Programme) Whole(cost, upper float64) int {
	col := p.Column(cost, upper)
	p.whole[col] = true
	return col
}

// Forbid keeps a column at 0.
func (p *Programme) Forbid(col int) { p.upper[col] = 0 }

// Row adds a row that is from low to high, and returns its number.
func (p *Programme) Row(low, high float64) int {
	p.low, p.high = append(p.low, low), append(p.high, high)
	return len(p.low) - 1
}

// AtMost adds a row that is high at most.
func (p *Programme) AtMost(high float64) int { return p.Row(-Inf, high) }

// AtLeast adds a row that is low at least.
func (p *Programme) AtLeast(low float64) int { return p.Row(low, Inf) }

// Set sets what a column counts in a row. It is called once for each pair.
func (p *Programme) Set(row, col int, value float64) {
	if value != 0 {
		p.entries = append(p.entries, entry{row, col, value})
	}
}

// Empty reports whether the programme has no columns, and whether 0 meets all of its rows.
func (p *Programme) Empty() (empty, met bool) {
	met = true
	for k := range p.low {
		met = met && p.low[k] <= 0 && p.high[k] >= 0
	}
	return len(p.cost) == 0, met
}
