// SPDX-License-Identifier: Apache-2.0

package gangs

// A turn is where a member goes: a site, and which of the wholes that stay there go for it.
type turn struct {
	site   int32
	wholes uint
	cost   Price
}

// inTurn makes a plan from nothing, member by member, the largest first: each goes where it costs
// least with the wholes that go for it, at some prices of wholes. It reports false if one has no
// place that rows allow.
func (s *Solver) inTurn(price func(*Solver, int32) Price) bool {
	s.empty()
	for i := range s.sites {
		s.set(int32(i), s.sites[i].menu)
	}
	for k := range s.Kinds {
		for range s.Kinds[k].Count {
			if s.stopped() || !s.placeOne(int32(k), price) {
				return false
			}
		}
	}
	s.broke = s.over(&s.use)
	return true
}

// placeOne places a member of a kind.
func (s *Solver) placeOne(kind int32, price func(*Solver, int32) Price) bool {
	best := turn{site: -1}
	for i := range s.sites {
		if s.takes(int32(i), kind) {
			s.take(int32(i), -1)
			s.lookAt(int32(i), kind, price, &best)
			s.take(int32(i), +1)
		}
	}
	i := best.site
	if i < 0 {
		return false
	}
	for n, w := range s.stayingOn(i) {
		if best.wholes>>n&1 != 0 && !s.letGo(w) {
			return false
		}
	}
	s.take(i, -1)
	s.seat(i, kind, +1)
	s.needFor(i, s.loadOf(i))
	set := s.setFor(i, false)
	if set >= 0 {
		s.set(i, set)
	}
	return set >= 0
}

// lookAt makes the best turn that of a site, which is not counted, if that is cheaper.
func (s *Solver) lookAt(i, kind int32, price func(*Solver, int32) Price, best *turn) {
	list := s.stayingOn(i)
	at := &s.sites[i]
	was := at.price.Add(s.sets[at.set].toll)
	for wholes := range uint(1) << len(list) {
		cost := Price{}.Sub(was)
		for n, w := range list {
			if wholes>>n&1 != 0 {
				cost = cost.Add(price(s, w)).Add(s.toll(&s.Wholes[w].Use))
				s.flip(w)
			}
		}
		s.spare = append(s.spare[:0], s.loadOf(i)...)
		addTo(s.spare, s.Kinds[kind].Size, +1)
		s.needFor(i, s.spare)
		if set := s.setFor(i, false); set >= 0 {
			cost = cost.Add(s.priceOf(i, set, s.spare)).Add(s.sets[set].toll)
			if best.site < 0 || cost.Less(best.cost) {
				*best = turn{i, wholes, cost}
			}
		}
		for n, w := range list {
			if wholes>>n&1 != 0 {
				s.flip(w)
			}
		}
	}
	s.pay(int64(len(list)) << len(list))
}

// stayingOn lists the first wholes on a site that stay. It is good until the next call.
func (s *Solver) stayingOn(i int32) []int32 {
	const most = 4
	s.list = s.list[:0]
	for _, w := range s.wholesOn(i) {
		if !s.in[w] && len(s.list) < most {
			s.list = append(s.list, w)
		}
	}
	return s.list
}

// priceOfWhole returns what a whole costs, and pricePerPlace what it costs by place that it makes for
// the largest kind.
func (s *Solver) priceOfWhole(w int32) Price { return s.wprices[w] }

func (s *Solver) pricePerPlace(w int32) Price {
	return s.wprices[w].over(max(s.gainOf(w).large, 1))
}
