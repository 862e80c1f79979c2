// SPDX-License-Identifier: Apache-2.0

package gangs

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// reinsert flips some wholes, takes the members off some sites, and places them again one by
// one, the largest first, each where it costs least. It keeps that if it is better. The
// sites must have all on which the wholes have parts.
func (s *Solver) reinsert(sites, flips []int32) bool {
	before, broke := s.worth(), s.broke
	s.save()
	s.have = rows.Zeros(s.have, len(s.Kinds))
	for _, i := range sites {
		s.take(i, -1)
		for k, n := range s.countOf(i) {
			if s.have[k] += n; n > 0 {
				s.seat(i, int32(k), -n)
			}
		}
	}
	for _, w := range flips {
		s.flip(w)
	}
	for _, i := range sites {
		s.set(i, s.sites[i].menu)
	}
	ok, near := true, before.Add(before.right(4))
	for k := range s.Kinds {
		for n := int32(0); ok && n < s.have[k]; n++ {
			ok = s.insertOne(int32(k), broke > 0) && !(broke == 0 && near.Less(s.worth()))
		}
	}
	s.pay(int64(len(s.sites)))
	if now := s.over(&s.use); ok && s.better(now, broke, s.worth(), before) {
		s.broke = now
		s.guide.flipped(s, flips)
		return true
	}
	s.restore()
	return false
}

// insertOne places one member where it costs least. Rows are kept unless they may be passed.
func (s *Solver) insertOne(kind int32, pass bool) bool {
	const tries = 8
	s.banned = s.banned[:0]
	for range tries {
		best := int32(-1)
		var top *site
		for i := range s.sites {
			at := s.margin(int32(i), kind)
			if at.mayMore && (best < 0 || at.more.Less(top.more)) && !slices.Contains(s.banned, int32(i)) {
				best, top = int32(i), at
			}
		}
		if best < 0 {
			return false
		}
		was, price := top.set, top.price
		s.take(best, -1)
		s.seat(best, kind, +1)
		s.needFor(best, s.loadOf(best))
		if set := s.setFor(best, pass); set >= 0 {
			s.set(best, set)
			return true
		}
		s.pay(int64(len(s.sites) / 4))
		s.seat(best, kind, -1)
		top.set, top.price = was, price
		s.take(best, +1)
		s.banned = append(s.banned, best)
	}
	return false
}

// setFor returns the set that covers p.need on a site and costs least with its toll or, if that
// may not go, the cheapest one that may; or -1.
func (s *Solver) setFor(i int32, pass bool) int32 {
	set := s.cheapest(i)
	if set < 0 || s.mayGo(i, set, pass) {
		return set
	}
	for set = s.next(i, s.sites[i].menu); set >= 0 && !s.mayGo(i, set, pass); {
		set = s.next(i, set+1)
	}
	return set
}

// mayGo reports whether a set may go from a site, which is not counted.
func (s *Solver) mayGo(i, set int32, pass bool) bool {
	if !pass {
		use := s.use
		use.add(&s.sets[set].use, +1)
		if !s.keeps(&use) {
			return false
		}
	}
	return s.spares(i, set)
}

// start makes a plan from nothing: the wholes go that make the most room, as many as it
// takes, and the members are where they cost least. Those that are not alike fill sites as long
// as they can, before the others are placed one by one.
func (s *Solver) start() bool {
	s.empty()
	for w := range s.Wholes {
		if s.weighing && s.allowed[w] && s.Wholes[w].Use == (Use{}) {
			s.flip(int32(w)) // it is for nothing
		}
	}
	if len(s.Kinds) == 1 && len(s.sites)*int(s.members) <= 1<<14 {
		return s.startAlike()
	}
	for i := range s.sites {
		s.set(int32(i), s.sites[i].menu)
	}
	s.have = s.have[:0]
	for k := range s.Kinds {
		s.have = append(s.have, s.Kinds[k].Count)
	}
	s.fill()
	for k := range s.Kinds {
		for range s.have[k] {
			for !s.insertOne(int32(k), false) && !s.insertOne(int32(k), true) {
				gains := s.staying()
				if len(gains) == 0 || s.stopped() {
					return false
				}
				if !s.letGo(s.pick(gains).whole) {
					return false
				}
			}
		}
	}
	s.broke = s.over(&s.use)
	return true
}

// fill places members site by site: the largest that is left, and others that fill up what
// goes for it, on the site where that costs least for the room that they take. What costs the
// least for one member leaves scraps.
func (s *Solver) fill() {
	s.banned = s.banned[:0]
	for k := int32(0); int(k) < len(s.Kinds); {
		if s.have[k] == 0 {
			k++
			continue
		}
		i, set := s.fullest(k)
		if i < 0 {
			return
		}
		s.banned = append(s.banned, i)
		s.take(i, -1)
		s.complete(i, set, k, true)
		s.set(i, set)
	}
}

// fullest returns the site and the set that cost least for the room that members take there,
// one of a kind among them, or -1.
func (s *Solver) fullest(kind int32) (site, set int32) {
	site = -1
	var cost, used int64
	for i := range s.sites {
		at := &s.sites[i]
		if !s.takes(int32(i), kind) || slices.Contains(s.banned, int32(i)) {
			continue
		}
		s.needFor(int32(i), s.Kinds[kind].Size)
		freed := int64(-1) // by a set before it
		for e := s.next(int32(i), at.menu); e >= 0; e = s.next(int32(i), e+1) {
			if f := s.freedBy(e)[s.Scarce]; f <= freed || !s.mayGo(int32(i), e, false) {
				continue
			} else {
				freed = f
			}
			c, u := s.guide.scalar(s.sets[e].price), s.guide.amount(s.complete(int32(i), e, kind, false))
			if site < 0 || c*used < cost*u || c*used == cost*u && u > used {
				site, set, cost, used = int32(i), e, c, u
			}
		}
		s.pay(8)
	}
	return site, set
}

// complete finds members for a site with a set: of each kind from one on as many as there is
// room for. It returns what they take of the scarce type, and places them if it is to.
func (s *Solver) complete(i, set, kind int32, place bool) (used int64) {
	s.spare = append(s.spare[:0], s.roomOf(i)...)
	addTo(s.spare, s.freedBy(set), +1)
	for k := kind; int(k) < len(s.Kinds); k++ {
		if s.have[k] == 0 || !s.takes(i, k) {
			continue
		}
		n := min(s.Kinds[k].fit(s.spare), int64(s.have[k]))
		addTo(s.spare, s.Kinds[k].Size, -n)
		used += n * s.Kinds[k].Size[s.Scarce]
		if place && n > 0 {
			s.seat(i, k, int32(n))
			s.have[k] -= int32(n)
		}
	}
	return used
}

// pick returns the first of some wholes or, if none makes room by itself, the one that frees
// most: two of those on a site may make room together.
func (s *Solver) pick(gains []gain) gain {
	first := slices.MinFunc(gains, s.compareGains)
	if first.large > 0 {
		return first
	}
	return slices.MinFunc(gains, func(a, b gain) int {
		return cmp.Or(cmp.Compare(s.sizeOf(b.whole), s.sizeOf(a.whole)), s.compareGains(a, b))
	})
}

// letMore lets a whole go of those that stay, and returns the others.
func (s *Solver) letMore(gains []gain, w int32) []gain {
	s.flip(w)
	gains = slices.DeleteFunc(gains, func(g gain) bool { return g.whole == w })
	for _, p := range s.partsOf(w) {
		for _, v := range s.wholesOn(p.Site) {
			if at, stays := slices.BinarySearchFunc(gains, v, func(g gain, w int32) int { return cmp.Compare(g.whole, w) }); stays {
				gains[at] = s.gainOf(v)
			}
		}
	}
	s.pay(int64(len(gains)) / 4)
	return gains
}

// startAlike is start for members that are alike: a programme over all sites.
func (s *Solver) startAlike() bool {
	var room int64
	for i := range s.sites {
		if s.takes(int32(i), 0) {
			large, _ := s.places(int32(i), nil)
			room += large
		}
	}
	for gains := s.staying(); room < int64(s.members); {
		if len(gains) == 0 {
			return false
		}
		g := s.pick(gains)
		room += g.large
		gains = s.letMore(gains, g.whole)
	}
	s.everywhere()
	g := &s.programme
	g.have, g.keep = append(g.have[:0], s.members), false
	for {
		if !g.begin(allStates) {
			return false
		}
		q := question{sites: s.free, any: true, broke: 1}
		if v := s.run(&q); v.found {
			s.enact(s.free, v)
			return true
		}
		gains := s.staying() // gangs may lose less than was counted
		if len(gains) == 0 || s.stopped() {
			return false
		}
		s.flip(slices.MinFunc(gains, s.compareGains).whole)
	}
}

// letGo lets a whole go, with the members placed as they are. It reports whether menus have
// sets for that.
func (s *Solver) letGo(w int32) bool {
	for _, p := range s.partsOf(w) {
		s.take(p.Site, -1)
	}
	s.flip(w)
	for _, p := range s.partsOf(w) {
		i := p.Site
		s.needFor(i, s.loadOf(i))
		set := s.next(i, s.sites[i].menu)
		if set < 0 { // there was room without it, but perhaps no such set
			return false
		}
		s.set(i, set)
	}
	return true
}
