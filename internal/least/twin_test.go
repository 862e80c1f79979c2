// SPDX-License-Identifier: Apache-2.0

package least

import (
	"slices"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// The slow twin goes through all sets of units.

// A set is units of a problem, of each row the first ones.
type set struct {
	taken []int32
	total cost.Total
	keys  []string
}

// sets returns all sets that give what is needed within all limits.
func (f *field) sets(p *Problem) (all []set) {
	for taken := make([]int32, len(p.Rows)); ; {
		if gives(p, taken) && lawful(p, taken) {
			all = append(all, f.set(p, taken))
		}
		i := 0
		for ; i < len(taken) && int64(taken[i]) == p.Rows[i].Count; i++ {
			taken[i] = 0
		}
		if i == len(taken) {
			return all
		}
		taken[i]++
	}
}

// minimal returns the sets of which no unit can be given back.
func (f *field) minimal(p *Problem) []set {
	return slices.DeleteFunc(f.sets(p), func(s set) bool { return !minimal(p, s.taken) })
}

func gives(p *Problem, taken []int32) bool {
	for k, need := range p.Need {
		for i, n := range taken {
			need -= int64(n) * p.Rows[i].Gives[k]
		}
		if need > 0 {
			return false
		}
	}
	return true
}

func lawful(p *Problem, taken []int32) bool {
	for l, room := range p.Room {
		sum := int64(0)
		for i, n := range taken {
			for _, t := range p.Rows[i].Takes {
				if int(t.Limit) == l {
					sum += int64(n) * t.Amount
				}
			}
		}
		if sum > max(room, 0) {
			return false
		}
	}
	return true
}

func minimal(p *Problem, taken []int32) bool {
	for i := range taken {
		if taken[i] > 0 {
			less := slices.Clone(taken)
			if less[i]--; gives(p, less) {
				return false
			}
		}
	}
	return true
}

// set returns what a set costs, and its keys.
func (f *field) set(p *Problem, taken []int32) set {
	s, o, t := f.search, f.search.Order, cost.Total{}
	used, freed, keys := make([]int64, len(s.Budgets)), make([]int64, len(s.Capacity)), []string(nil)
	for i, n := range taken {
		r := &p.Rows[i]
		for k := range int(n) {
			for l, v := range r.Levels {
				switch {
				case !o.IsMax(l):
					t.Levels[l] += v
				case t.Units == 0:
					t.Levels[l] = v
				default:
					t.Levels[l] = max(t.Levels[l], v)
				}
			}
			if r.Works != nil {
				t.Work = t.Work.Add(r.Works[k])
			} else if r.Times != nil && r.Times[k] < s.Now {
				t.Work = t.Work.Add(resources.Wide(wide.Mul(uint64(s.Now)-uint64(r.Times[k]), r.Weight)))
			}
			for _, use := range r.Uses {
				used[use.Budget] += use.Count
			}
			for typ, v := range r.Size {
				freed[typ] += v
			}
			keys = append(keys, f.nodes[p.Node].keys[i][k]...)
			t.Units++
		}
	}
	for l := 1; l < cost.NumLevels; l++ {
		if o.Carry>>l&1 != 0 {
			t.Levels[l-1] += t.Levels[l] >> cost.HalfBits
			t.Levels[l] &= 1<<cost.HalfBits - 1
		}
	}
	if o.Overrun > 0 {
		for b, n := range used {
			t.Levels[o.Overrun] += max(n-max(s.Budgets[b], 0), 0)
		}
	}
	t.Excess = cost.Excess(freed, p.Wanted, s.Capacity)
	slices.Sort(keys)
	return set{slices.Clone(taken), t, keys}
}

// cheapest returns the cheapest set, by keys if several are, or nil.
func (f *field) cheapest(sets []set) (best *set) {
	for i := range sets {
		s := &sets[i]
		if best != nil {
			if c := f.search.Order.CompareTotals(&s.total, &best.total); c > 0 || c == 0 && slices.Compare(s.keys, best.keys) > 0 {
				continue
			}
		}
		best = s
	}
	return best
}

// matters reports whether a set for a node is better than the incumbent.
func (f *field) matters(n int32, t *cost.Total) bool {
	s, b := f.search, &f.best
	if !b.Found {
		return true
	}
	if s.Lesser {
		return s.Order.CompareLevels(&t.Levels, &b.Total.Levels) < 0
	}
	c := s.Order.CompareTotals(t, &b.Total)
	return c < 0 || c == 0 && (f.ties || n < b.Node)
}

// comparePrefix compares a bound with a total by the first of what decides, as far as excess.
func (f *field) comparePrefix(levels *cost.Levels, work resources.Wide, t *cost.Total, first int) int {
	part := *f.search.Order
	part.Compare, part.Sequence = nil, f.search.Sequence[:first]
	if at := slices.Index(part.Sequence, cost.ByExcess); at >= 0 {
		part.Sequence = part.Sequence[:at]
	}
	return part.CompareTotals(&cost.Total{Levels: *levels, Work: work}, t)
}
