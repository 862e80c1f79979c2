// SPDX-License-Identifier: Apache-2.0

package gangs

import (
	"math/bits"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// A guide says of exchanges of wholes, without making them, that they are of no use: because
// there are not enough places then, whoever else goes, or because of a bound. That comes
// from a price of room: each site takes the set for which what goes costs least, less the
// price of the room that it gives. The sum of that, and the price of all room that is
// needed, is no more than any plan costs with these wholes. If there are tolls, all pay them,
// and the sum is less by what all of the rows costs.
type guide struct {
	kinds  []int32 // that are counted
	needed []int64 // members that are no smaller, by counted kind
	sums   []int64 // places for them on all sites
	places []int64 // by site and counted kind

	unit   int64 // of room: all members are multiples of it
	shift  uint  // rooms are counted in 2^shift units
	wanted int64 // room for all members
	coarse uint  // prices are counted without these bits
	ready  bool
	rate   int64   // the price of room
	values []int64 // by site: the least cost less the price of its room
	value  int64   // the sum of them
	sites  []int32 // scratch
}

// How many bits room has that is counted, and costs, so that sums of
// products over 256 sites have less than 63.
const roomBits, costBits = 12, 42

// begin makes the guide that of a plan.
func (g *guide) begin(s *Solver) {
	s.chargeNone()
	g.count(s)
	g.ready, g.unit = false, 0
	for k := range s.Kinds {
		a, b := g.unit, s.Kinds[k].Size[s.Scarce]
		for b != 0 {
			a, b = b, a%b
		}
		g.unit = a
	}
	g.unit = max(g.unit, 1)
	g.wanted = 0
	for k := range s.Kinds {
		g.wanted += int64(s.Kinds[k].Count) * (s.Kinds[k].Size[s.Scarce] / g.unit)
	}
	g.shift = uint(max(bits.Len64(uint64(g.wanted))-roomBits, 0))
	g.wanted >>= g.shift
	g.coarse = s.Levels
	if s.weighing {
		g.coarse -= min(g.coarse, weighBits)
	}
	g.coarse = max(g.coarse, s.total.bits()-min(s.total.bits(), costBits))
	g.values = rows.Zeros(g.values, len(s.sites))
	g.places, g.sums = rows.Zeros(g.places, len(s.sites)*len(g.kinds)), rows.Zeros(g.sums, len(g.kinds))
	for i := range s.sites {
		g.countPlaces(s, int32(i))
	}
}

// count chooses the kinds that are counted.
func (g *guide) count(s *Solver) {
	const most = 6
	g.kinds, g.needed = g.kinds[:0], g.needed[:0]
	step := max(1, (len(s.Kinds)+most-1)/most)
	for k := 0; k < len(s.Kinds); k += step {
		g.kinds = append(g.kinds, int32(k))
	}
	if last := int32(len(s.Kinds) - 1); g.kinds[len(g.kinds)-1] != last {
		g.kinds = append(g.kinds, last)
	}
	for _, k := range g.kinds {
		n := int64(0)
		for j := range s.Kinds {
			larger := true
			for t, v := range s.Kinds[k].Size {
				larger = larger && s.Kinds[j].Size[t] >= v
			}
			if larger {
				n += int64(s.Kinds[j].Count)
			}
		}
		g.needed = append(g.needed, n)
	}
}

// countPlaces counts the places of a site anew.
func (g *guide) countPlaces(s *Solver, i int32) {
	room := s.roomWith(i)
	for n, k := range g.kinds {
		at := &g.places[int(i)*len(g.kinds)+n]
		g.sums[n] -= *at
		*at = s.Kinds[k].fit(room)
		g.sums[n] += *at
	}
}

// scalar returns a price without the bits that are not counted.
func (g *guide) scalar(p Price) int64 {
	if p = p.right(g.coarse); p.hi < 0 {
		return 0
	} else if p.hi > 0 || p.lo > 1<<costBits {
		return 1 << costBits
	}
	return int64(p.lo)
}

// amount returns room as it is counted: as much as members can take.
func (g *guide) amount(room int64) int64 {
	return min((max(room, 0)/g.unit+(1<<g.shift-1))>>g.shift, g.wanted)
}

// valueOf returns the least that a site costs less the price of its room, that room, and the
// set for that.
func (g *guide) valueOf(s *Solver, i int32) (value, room int64, set int32) {
	at, free := &s.sites[i], s.roomOf(i)[s.Scarce]
	set = -1
	for e := at.menu; e < at.menus; e++ {
		if s.sets[e].mask&at.gone != 0 {
			continue
		}
		r := g.amount(free + s.freed[int(e)*s.Types+s.Scarce])
		if v := g.scalar(s.sets[e].price.Add(s.sets[e].toll)) - g.rate*r; set < 0 || v < value {
			value, room, set = v, r, e
		}
	}
	return value, room, set
}

// setRate finds the price of room for which the bound is highest, by halves.
func (g *guide) setRate(s *Solver) {
	g.ready = true
	low, high := int64(0), int64(1)<<costBits
	best, bound := int64(0), int64(-1)<<62
	for high-low > 1 {
		g.rate = (low + high) / 2
		sum, room, _ := g.sum(s)
		if b := sum + g.rate*g.wanted; b > bound {
			best, bound = g.rate, b
		}
		if room < g.wanted {
			low = g.rate
		} else {
			high = g.rate
		}
	}
	g.rate = best
	g.value, _, _ = g.sum(s)
	s.pay(int64(8 * len(s.sets)))
}

// sum sums the values of all sites, their room, and what the sets for that use.
func (g *guide) sum(s *Solver) (sum, room int64, use Use) {
	for i := range s.sites {
		v, r, set := g.valueOf(s, int32(i))
		g.values[i] = v
		sum, room = sum+v, room+r
		use.add(&s.sets[set].use, +1)
	}
	return sum, room, use
}

// bound returns what every plan costs at least with the wholes that go, without the bits
// that are not counted.
func (g *guide) bound(s *Solver) int64 {
	bound := g.value + g.rate*g.wanted
	for _, rate := range s.rates {
		bound -= (rate + 1<<tollBits - 1) >> tollBits
	}
	for w, in := range s.in {
		if in {
			bound += g.scalar(s.wprices[w].Add(s.toll(&s.Wholes[w].Use)))
		}
	}
	return bound
}

// promises reports whether flipping some wholes could make the plan better.
func (g *guide) promises(s *Solver, flips []int32) bool {
	priced := s.broke == 0 && !s.weighing
	if priced && !g.ready {
		g.setRate(s)
	}
	now := g.scalar(s.worth())
	for _, w := range flips {
		s.flip(w)
	}
	s.marks++
	g.sites = g.sites[:0]
	gain := int64(0)
	for _, w := range flips {
		for _, p := range s.partsOf(w) {
			if s.mark[p.Site] == s.marks {
				continue
			}
			s.mark[p.Site] = s.marks
			g.sites = append(g.sites, p.Site)
			if priced {
				v, _, _ := g.valueOf(s, p.Site)
				gain += v - g.values[p.Site]
			}
			g.countPlaces(s, p.Site)
		}
	}
	ok := g.enough() && !(priced && g.bound(s)+gain > now)
	for _, w := range flips {
		s.flip(w)
	}
	for _, i := range g.sites {
		g.countPlaces(s, i)
	}
	s.pay(int64(4*len(g.sites) + len(s.Wholes)/4))
	return ok
}

// flip flips wholes, and counts the places on their sites anew.
func (g *guide) flip(s *Solver, wholes []int32) {
	for _, w := range wholes {
		s.flip(w)
	}
	g.recount(s, wholes)
}

// recount counts the places on the sites of some wholes anew.
func (g *guide) recount(s *Solver, wholes []int32) {
	for _, w := range wholes {
		for _, p := range s.partsOf(w) {
			g.countPlaces(s, p.Site)
		}
	}
}

// enough reports whether there are places enough, by counts.
func (g *guide) enough() bool { return resources.Fits(g.needed, g.sums) }

// flipped tells the guide that wholes were flipped.
func (g *guide) flipped(s *Solver, flips []int32) {
	g.recount(s, flips)
	g.ready = g.ready && len(flips) == 0
}

// proves reports whether the best plan is proven to cost least in the levels. The plan at
// hand is as cheap, and no whole goes in it. No plan without wholes that is below its ceiling
// costs less by the price of room, none with a whole does, and none has a lower ceiling.
func (g *guide) proves(s *Solver) bool {
	b := &s.best
	if s.Partial || !s.exact || s.broke > 0 || s.jobs() || b.rank != s.least.rank || b.priority != s.least.priority || s.head(b.price) != (Price{}) {
		return false
	}
	for w, allowed := range s.allowed {
		if allowed && s.Wholes[w].Price.right(s.Levels).Less(b.price.right(s.Levels)) {
			return false
		}
	}
	if g.begin(s); g.coarse != s.Levels {
		return false
	}
	s.setTolls()
	g.setRate(s)
	return g.bound(s) >= g.scalar(s.best.price)
}
