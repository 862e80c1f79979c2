// SPDX-License-Identifier: Apache-2.0

package units

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/resources"
)

// slowProblem is the slow twin of the worker: it goes through every set of
// units and takes each sentence of the definitions by its word.
type slowProblem struct {
	*Problem
	compare func(a, b *slowSet) int // nil: by levels, work and excess
}

// slowSet is a set of units and what it costs.
type slowSet struct {
	units  []int32
	keys   []string // sorted
	levels cost.Levels
	excess *big.Rat
	work   *big.Int
}

// least returns the cheapest of the sets that are legal, meet every need and
// have nothing to give back, or nil.
func (p slowProblem) least() (best *slowSet) {
	for bits := range 1 << len(p.Units) {
		var units []int32
		for i := range p.Units {
			if bits>>i&1 != 0 {
				units = append(units, int32(i))
			}
		}
		if !p.legal(units) || !p.minimal(units) {
			continue
		}
		if s := p.set(units); best == nil || p.cheaper(s, best) {
			best = s
		}
	}
	return best
}

// cheaper reports whether a comes before b, keys included.
func (p slowProblem) cheaper(a, b *slowSet) bool {
	c := p.compareSets(a, b)
	return c < 0 || c == 0 && slices.Compare(a.keys, b.keys) < 0
}

func (p slowProblem) compareSets(a, b *slowSet) int {
	if p.compare != nil {
		return p.compare(a, b)
	}
	if p.Order.Sequence != nil {
		for _, what := range p.Order.Sequence {
			var c int
			switch what {
			case cost.ByExcess:
				c = a.excess.Cmp(b.excess)
			case cost.ByWork:
				c = a.work.Cmp(b.work)
			default:
				c = cmp.Compare(a.levels[what], b.levels[what])
			}
			if c != 0 {
				return c
			}
		}
		return 0
	}
	return cmp.Or(slices.Compare(a.levels[:], b.levels[:]), a.work.Cmp(b.work), a.excess.Cmp(b.excess))
}

// legal reports whether every bound is kept.
func (p slowProblem) legal(units []int32) bool {
	for b, bound := range p.Bounds {
		for t := range resources.MaxTypes {
			room, ok := bound.Room.Bound(t)
			if !ok {
				continue
			}
			if p.sum(units, t, func(p Part) bool { return slices.Contains(p.Bounds, int32(b)) }) > max(room, 0) {
				return false
			}
		}
	}
	return true
}

// covers reports whether every need is met.
func (p slowProblem) covers(units []int32) bool {
	for n, need := range p.Needs {
		for t, short := range need {
			if short > p.sum(units, t, func(p Part) bool { return slices.Contains(p.Needs, int32(n)) }) {
				return false
			}
		}
	}
	return true
}

// minimal reports whether every need is met, and not without any one unit.
func (p slowProblem) minimal(units []int32) bool {
	if !p.covers(units) {
		return false
	}
	for i := range units {
		if p.covers(slices.Delete(slices.Clone(units), i, i+1)) {
			return false
		}
	}
	return true
}

// sum returns the amount of type t in the parts of the units that count.
func (p slowProblem) sum(units []int32, t int, counts func(Part) bool) (sum int64) {
	for _, i := range units {
		u := &p.Units[i]
		parts := u.Parts
		if len(parts) == 0 {
			parts = []Part{{u.Size, u.Needs, u.Bounds}}
		}
		for _, part := range parts {
			if t < len(part.Size) && counts(part) {
				sum += part.Size[t]
			}
		}
	}
	return sum
}

// freed returns the amount of type t in the units.
func (p slowProblem) freed(units []int32, t int) (sum int64) {
	for _, i := range units {
		if u := &p.Units[i]; t < len(u.Size) {
			sum += u.Size[t]
		}
	}
	return sum
}

// set returns the units with what they cost.
func (p slowProblem) set(units []int32) *slowSet {
	s := &slowSet{units: units, excess: new(big.Rat), work: new(big.Int)}
	for n, i := range units {
		u := &p.Units[i]
		s.keys = append(append(s.keys, u.Key), u.More...)
		s.work.Add(s.work, bigOf(u.Work))
		for l, v := range u.Levels {
			switch {
			case p.Order.Max&(1<<l) == 0:
				s.levels[l] += v
			case n == 0:
				s.levels[l] = v
			default:
				s.levels[l] = max(s.levels[l], v)
			}
		}
	}
	slices.Sort(s.keys)
	for l := cost.NumLevels - 1; l > 0; l-- {
		if p.Order.Carry&(1<<l) != 0 {
			s.levels[l-1] += s.levels[l] / (1 << 32)
			s.levels[l] %= 1 << 32
		}
	}
	if p.Order.Overrun > 0 {
		s.levels[p.Order.Overrun] = p.overrun(units)
	}
	for t := range resources.MaxTypes {
		over := p.freed(units, t)
		capacity := int64(1) // where there is none
		if t < len(p.Capacity) && p.Capacity[t] > 0 {
			capacity = p.Capacity[t]
		}
		if t < len(p.Wanted) {
			over -= p.Wanted[t]
		}
		if share := big.NewRat(max(over, 0), capacity); share.Cmp(s.excess) > 0 {
			s.excess = share
		}
	}
	return s
}

// bigOf returns an amount.
func bigOf(w resources.Wide) *big.Int {
	z, _ := new(big.Int).SetString(w.String(), 10)
	return z
}

// overrun returns what the units use of the budgets beyond what is left.
func (p slowProblem) overrun(units []int32) (over int64) {
	for b, budget := range p.Budgets {
		used := int64(0)
		for _, i := range units {
			for _, use := range p.Units[i].Uses {
				if int(use.Budget) == b {
					used += use.Count
				}
			}
		}
		over += max(0, used-max(0, budget))
	}
	return over
}

// total returns the cost of a set for the worker.
func (s *slowSet) total() *cost.Total {
	t := &cost.Total{Units: len(s.units), Levels: s.levels}
	t.Excess = resources.Share{Amount: s.excess.Num().Int64(), Of: s.excess.Denom().Int64()}
	high := new(big.Int).Rsh(s.work, 64).Uint64()
	low := new(big.Int).And(s.work, new(big.Int).SetUint64(1<<64-1)).Uint64()
	t.Work = t.Work.Add(resources.Wide{Hi: high, Lo: low})
	return t
}

// equal reports whether a total is that of the set.
func (s *slowSet) equal(t *cost.Total) bool {
	want := s.total()
	return t.Units == want.Units && t.Levels == want.Levels &&
		t.Excess.Compare(want.Excess) == 0 && t.Work == want.Work
}
