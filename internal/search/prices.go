// SPDX-License-Identifier: Apache-2.0

package search

import (
	"math"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// Prices are surrogate multipliers: they make one amount of all types that a node lacks,
// the worth, so that whoever gives what is lacking is worth at least as much as that.
// Any whole prices make a right bound. They are changed by subgradient steps: what the
// cheapest rows that are worth enough leave open becomes dearer. Prices that have told of
// one node are tried first on the next, for nodes are alike.

const (
	roughBits = 30             // that an amount has at most, without those that play no part
	evenWorth = 1 << 34        // what all that is wanted of a type is worth at first
	mostWorth = evenWorth << 8 // and at most, so that sums over types and units stay in range
	mostUnits = 1 << 10        // how many units a bound tells of
	// lessons is how many prices are kept for a level. With 4 or 16 of them as many nodes
	// are searched. And priceRounds is how often prices are changed until they tell, or
	// are given up.
	lessons     = 2
	priceRounds = 16
)

const noLimit = math.MaxInt64

// A dimension is a type of which anything is wanted.
type dimension struct {
	typ   int
	shift uint8 // how many bits of an amount play no part
	whole int64 // what is wanted, without those bits
}

// prices are the dimensions, and the prices that are known, by dimension.
type prices struct {
	dims    []dimension
	even    []int64 // all that is wanted of each dimension is worth the same
	draft   []int64 // that are being changed
	given   []int64 // by dimension, what the cheapest rows gave
	learned [cost.NumLevels]lesson
}

// A lesson is the prices that have told of a level.
type lesson struct {
	n, next int
	rows    [lessons][]int64
	sought  attempts
}

// reset begins with even prices for what is wanted.
func (p *prices) reset(size []int64, types []int) {
	p.dims, p.even = p.dims[:0], p.even[:0]
	for _, t := range types {
		shift := max(bits.Len64(uint64(size[t]))-roughBits, 0)
		x := dimension{typ: t, shift: uint8(shift), whole: max(size[t]>>shift, 1)}
		p.dims, p.even = append(p.dims, x), append(p.even, evenWorth/x.whole)
	}
	for l := range p.learned {
		p.learned[l].n, p.learned[l].next, p.learned[l].sought = 0, 0, attempts{}
	}
}

// keep keeps the draft as a lesson of a level, in place of the oldest if there are many.
func (p *prices) keep(level int) {
	l := &p.learned[level]
	l.rows[l.next] = append(l.rows[l.next][:0], p.draft...)
	l.next = (l.next + 1) % lessons
	l.n = min(l.n+1, lessons)
}

// turn raises the prices of what was given too little, and lowers the others, by less in
// each round. None becomes zero, for then it would stay so.
func (p *prices) turn(need []int64, round int64) {
	for k, lack := range need {
		if lack <= 0 {
			continue
		}
		missing := min(max(lack-p.given[k], -lack/2), lack/2)
		w := p.draft[k]
		w += w * (missing << 10 / lack) * 12 / (6 + round) >> 10
		p.draft[k] = min(max(w, 1), mostWorth/p.dims[k].whole)
	}
}

// state makes the amounts of a site rough: the rows' are rounded up, and what is lacking
// is rounded down. No more counts than is lacking, and no more of that than is wanted in
// all.
func (l *ladder) state(s *Site, p *prices) {
	l.need = l.need[:0]
	for i := range p.dims {
		d := &p.dims[i]
		l.need = append(l.need, min(s.Need[d.typ]>>d.shift, d.whole))
	}
	n := len(p.dims)
	l.rough = rows.Zeros(l.rough, len(s.Rows)*n)
	l.worth = slices.Grow(l.worth[:0], len(s.Rows))[:len(s.Rows)]
	for i := range s.Rows {
		size, rough := s.Rows[i].Size, l.rough[i*n:(i+1)*n]
		for k := range p.dims {
			d := &p.dims[k]
			// Beyond what is lacking nothing counts, and an amount of all bits may wrap.
			v := size[d.typ] >> d.shift
			if v < l.need[k] {
				v = (size[d.typ] + 1<<d.shift - 1) >> d.shift
			}
			rough[k] = min(v, l.need[k])
		}
	}
}

// weigh works out what rows are worth at some prices, and returns what is lacking.
func (l *ladder) weigh(prices []int64) (need int64) {
	n := len(prices)
	for k, v := range l.need {
		need += v * prices[k]
	}
	for _, i := range l.kept {
		worth := int64(0)
		for k, v := range l.rough[int(i)*n:][:n] {
			worth += v * prices[k]
		}
		l.worth[i] = worth
	}
	return need
}

// asMuchAs returns the least amount of a capacity that is no smaller a share
// than the given one, or noLimit if that is more than there can be.
func asMuchAs(share resources.Share, capacity int64) int64 {
	amount, of := uint64(max(share.Amount, 0)), uint64(max(share.Of, 1))
	if wide.Mul(amount, uint64(capacity)).Hi >= of {
		return noLimit // the quotient has more than 64 bits
	}
	quo, rem := wide.MulDiv(amount, uint64(capacity), of)
	if quo >= noLimit {
		return noLimit
	}
	if rem > 0 {
		quo++
	}
	return int64(quo)
}
