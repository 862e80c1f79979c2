// SPDX-License-Identifier: Apache-2.0

package gangs

import "math/bits"

// Tolls are prices for what is used of rows that bind: so much for all of a row's room, and its
// part of that for what a set or a whole uses. Where members go, and which labels a programme
// keeps, is decided by prices with tolls; or who comes first spends what a row has left. What a
// plan costs has no tolls in it. Rates are those for which the bound is highest: the dual of
// Lagrange (Fisher, 1981).

// tollBits is how many bits rates have that costs as the guide counts them have not.
const tollBits = 10

// toll returns the toll for a use.
func (s *Solver) toll(use *Use) Price {
	sum := int64(0)
	for r, rate := range s.rates {
		if rate > 0 && use[r] > 0 {
			most := int64(1) << (costBits + tollBits)
			hi, lo := bits.Mul64(uint64(rate), uint64(use[r]))
			if room := uint64(max(s.Rows[r].Room, 1)); hi < room {
				q, _ := bits.Div64(hi, lo, room)
				most = int64(min(q, uint64(most)))
			}
			sum += most
		}
	}
	low := min(s.guide.coarse, tollBits)
	return Price{lo: uint64(sum) >> (tollBits - low)}.left(s.guide.coarse - low)
}

// charge sets the tolls of all sets to what the rates say.
func (s *Solver) charge() {
	if s.rates == ([MostRows]int64{}) && !s.tolled {
		return
	}
	for e := range s.sets {
		s.sets[e].toll = s.toll(&s.sets[e].use)
	}
	for i := range s.sites {
		s.sites[i].stale = true
	}
	s.tolled, s.guide.ready = s.rates != ([MostRows]int64{}), false
	s.pay(int64(len(s.sites)+len(s.sets)) / looksPerStep)
}

// chargeNone takes all tolls away, and chargeLittle has tolls that decide among what costs
// about the same.
func (s *Solver) chargeNone() {
	s.rates = [MostRows]int64{}
	s.charge()
}

func (s *Solver) chargeLittle() {
	const part = 6
	for r := range s.Rows {
		if s.tolls(r) {
			s.rates[r] = s.guide.scalar(s.worth()) << tollBits >> part
		}
	}
	s.charge()
}

// tolls reports whether a row could have a toll.
func (s *Solver) tolls(r int) bool { return s.Rows[r].Room >= 0 && s.Rows[r].Over == (Price{}) }

// An answer to rates is what plans cost at least, with tolls, that may pass rows, and what is
// used of rows in such a plan. Amounts change by a 2^step-th from one answer to the next.
type answer func(step uint) (cost int64, use Use)

// ascend looks for the rates for which the bound is highest, from those that there are. Those
// of rows that an answer passes go up from first, and the others down, by ever less.
func (s *Solver) ascend(first int64, rounds int, answer answer) {
	const steps = 6
	best, bound := s.rates, int64(-1)<<62
	for n := range rounds {
		step := uint(1 + n*steps/rounds)
		cost, use := answer(step)
		passed := false
		for r, rate := range s.rates {
			cost -= rate >> tollBits
			passed = passed || r < len(s.Rows) && s.tolls(r) && use[r] > s.Rows[r].Room
		}
		if cost > bound {
			best, bound = s.rates, cost
		}
		if n == 0 && !passed || s.stopped() {
			break
		}
		for r := range s.Rows {
			switch rate := &s.rates[r]; {
			case !s.tolls(r):
			case use[r] <= s.Rows[r].Room:
				*rate -= *rate >> step
			default:
				*rate = min(max(*rate, first), 1<<(costBits+tollBits))
				*rate += *rate >> step
			}
		}
		s.charge()
	}
	s.rates = best
	s.charge()
}

// setTolls finds rates by the price of room.
func (s *Solver) setTolls() {
	g := &s.guide
	if s.chargeNone(); s.weighing || s.broke > 0 || len(s.Rows) == 0 {
		return
	}
	fixed := s.use // by wholes
	for i := range s.sites {
		fixed.add(&s.sets[s.sites[i].set].use, -1)
	}
	g.setRate(s)
	s.ascend(s.firstRate(), 64, func(step uint) (int64, Use) {
		cost, room, use := g.sum(s)
		cost += g.rate*g.wanted + g.scalar(s.toll(&fixed))
		use.add(&fixed, +1)
		s.pay(int64(len(s.sets) / looksPerStep))
		if room < g.wanted {
			g.rate += g.rate>>step + 1
		} else {
			g.rate -= g.rate >> step
		}
		return cost, use
	})
	g.ready = false
}

// refineTolls finds rates by programmes over all sites, for members that are alike.
func (s *Solver) refineTolls() {
	g, first := &s.programme, s.firstRate()
	for i := range s.sites {
		s.take(int32(i), -1)
	}
	s.everywhere()
	g.have, g.keep = append(g.have[:0], s.members), false
	if g.begin(allStates) {
		fixed := s.use
		s.ascend(first, 16, func(uint) (int64, Use) {
			v := s.run(&question{sites: s.free, any: true, passing: true})
			if !v.found {
				return int64(-1) << 62, fixed
			}
			l := &g.labels[v.label]
			return s.guide.scalar(l.value.Add(s.toll(&fixed))), l.use
		})
	}
	for i := range s.sites {
		s.take(int32(i), +1)
	}
}

// firstRate returns what all of a row's room costs at first: a part of what the plan costs.
func (s *Solver) firstRate() int64 { return max(s.guide.scalar(s.worth())<<tollBits/8, 1) }
