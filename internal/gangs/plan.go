// SPDX-License-Identifier: Apache-2.0

package gangs

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// A plan is which wholes go, how many members of each kind are on each site, and which set
// of its menu goes there. What is derived from that is kept with it: flip and take are the
// only ones that change it.
type plan struct {
	menus
	in     []bool  // by whole: it goes
	counts []int32 // members, by site and kind

	room  []int64 // of every site, with the wholes gone
	load  []int64 // what the members of every site take
	taken []int32 // by gang: units that go one by one
	total Price   // without fines
	use   Use
	broke int64 // by how much rows are passed that must not be

	need  []int64 // scratch: see needFor
	saved saved
}

// A saved plan is what restore makes the plan again.
type saved struct {
	sites         []site
	in            []bool
	counts, taken []int32
	room, load    []int64
	total         Price
	use           Use
	broke         int64
}

// save notes the plan, and restore takes back what has changed since.
func (p *plan) save() { p.saveTo(&p.saved) }

func (p *plan) saveTo(s *saved) {
	s.sites, s.in, s.counts, s.taken = append(s.sites[:0], p.sites...), append(s.in[:0], p.in...), append(s.counts[:0], p.counts...), append(s.taken[:0], p.taken...)
	s.room, s.load, s.total, s.use, s.broke = append(s.room[:0], p.room...), append(s.load[:0], p.load...), p.total, p.use, p.broke
}

func (p *plan) restore() { p.restoreFrom(&p.saved) }

func (p *plan) restoreFrom(s *saved) {
	copy(p.sites, s.sites)
	copy(p.in, s.in)
	copy(p.counts, s.counts)
	copy(p.taken, s.taken)
	copy(p.room, s.room)
	copy(p.load, s.load)
	p.total, p.use, p.broke = s.total, s.use, s.broke
}

// begin makes the plan that of nothing done, below a ceiling. It reports false if menus take
// too long.
func (p *plan) begin(l ceiling) bool {
	if !p.menus.begin(l) {
		return false
	}
	p.in = rows.Zeros(p.in, len(p.Wholes))
	p.counts = rows.Zeros(p.counts, len(p.sites)*len(p.Kinds))
	p.load = rows.Zeros(p.load, len(p.sites)*p.Types)
	p.taken = rows.Zeros(p.taken, len(p.Gangs))
	p.need = rows.Zeros(p.need, p.Types)
	p.room = p.room[:0]
	for i := range p.Sites {
		p.room = append(p.room, p.Sites[i].Free...)
	}
	p.empty()
	return true
}

// empty makes the plan that of nothing done.
func (p *plan) empty() {
	for w := range p.in {
		if p.in[w] {
			p.flip(int32(w))
		}
	}
	clear(p.counts)
	clear(p.load)
	clear(p.taken)
	for i := range p.sites {
		s := &p.sites[i]
		s.set, s.members, s.price, s.stale = s.menu, 0, Price{}, true
	}
	p.total, p.use = Price{}, Use{}
	p.broke = p.over(&p.use)
}

// flip lets a whole go, or takes that back.
func (p *plan) flip(w int32) {
	g := &p.Wholes[w]
	p.in[w] = !p.in[w]
	sign := int64(1)
	if !p.in[w] {
		sign = -1
	}
	for i := g.First; i < g.End; i++ {
		part := &p.Parts[i]
		addTo(p.roomOf(part.Site), part.Size, sign)
		s := &p.sites[part.Site]
		if p.in[w] {
			s.gone |= p.masks[i]
		} else {
			s.gone &^= p.masks[i]
		}
		s.stale = true
	}
	p.use.add(&g.Use, sign)
	if p.in[w] {
		p.total = p.total.Add(p.wprices[w])
	} else {
		p.total = p.total.Sub(p.wprices[w])
	}
}

// take counts what goes from a site, or takes that back.
func (p *plan) take(i int32, sign int64) {
	s := &p.sites[i]
	e := &p.sets[s.set]
	p.use.add(&e.use, sign)
	for m := e.mask & s.limited; m != 0; m &= m - 1 {
		p.taken[p.gangOf(s, m)] += int32(sign)
	}
	if sign > 0 {
		p.total = p.total.Add(s.price)
	} else {
		p.total = p.total.Sub(s.price)
	}
	s.stale = true
}

// worth returns what the plan costs.
func (p *plan) worth() Price {
	if p.weighing {
		return p.total
	}
	return p.total.Add(p.fine(&p.use))
}

// seat adds members of a kind to a site, or takes some away; what goes there is as before.
func (p *plan) seat(i, kind, n int32) {
	p.countOf(i)[kind] += n
	p.sites[i].members += n
	addTo(p.loadOf(i), p.Kinds[kind].Size, int64(n))
}

// set lets a set go from a site, which was not counted, with the members that are there.
func (p *plan) set(i, set int32) {
	s := &p.sites[i]
	s.set, s.price = set, p.priceOf(i, set, p.loadOf(i))
	p.take(i, +1)
}

func (p *plan) roomOf(i int32) []int64    { return rows.At(p.room, int(i), p.Types) }
func (p *plan) loadOf(i int32) []int64    { return rows.At(p.load, int(i), p.Types) }
func (p *plan) freedBy(set int32) []int64 { return rows.At(p.freed, int(set), p.Types) }
func (p *plan) countOf(i int32) []int32   { return rows.At(p.counts, int(i), len(p.Kinds)) }

func addTo(dst, v []int64, sign int64) {
	for t, n := range v {
		dst[t] += sign * n
	}
}

// needFor sets p.need to what a load lacks on a site.
func (p *plan) needFor(i int32, load []int64) {
	room := p.roomOf(i)
	for t, v := range load {
		if p.need[t] = 0; v > 0 { // who wants nothing of a type does not care
			p.need[t] = max(v-room[t], 0)
		}
	}
}

// next returns the first set from one on that covers p.need on a site, or -1.
func (p *plan) next(i, from int32) int32 {
	s := &p.sites[i]
next:
	for e := from; e < s.menus; e++ {
		p.looks++
		if p.sets[e].mask&s.gone != 0 {
			continue
		}
		for t, v := range p.need {
			if v > p.freed[int(e)*p.Types+t] {
				continue next
			}
		}
		return e
	}
	return -1
}

// cheapest returns the set that covers p.need on a site and costs least with its toll, or -1.
func (p *plan) cheapest(i int32) int32 {
	best := p.next(i, p.sites[i].menu)
	if best < 0 || p.sets[best].toll == (Price{}) {
		return best
	}
	least := p.sets[best].price.Add(p.sets[best].toll)
	for e := p.next(i, best+1); e >= 0 && p.sets[e].price.Less(least); e = p.next(i, e+1) {
		if cost := p.sets[e].price.Add(p.sets[e].toll); cost.Less(least) {
			best, least = e, cost
		}
	}
	return best
}

// priceOf returns what a set costs with a load on its site.
func (p *plan) priceOf(i, set int32, load []int64) Price {
	price := p.sets[set].price
	if (p.Waste == Price{}) || p.weighing {
		return price
	}
	if need := load[0] - p.Sites[i].Free[0]; need > 0 && load[0] > 0 {
		return price.Sub(p.Waste.Times(need))
	}
	return price
}

// spares reports whether no gang loses too many if a set goes from a site, which is not
// counted.
func (p *plan) spares(i, set int32) bool {
	s := &p.sites[i]
	ok, limited := true, p.sets[set].mask&s.limited
	for m := limited; m != 0; m &= m - 1 {
		g := p.gangOf(s, m)
		p.taken[g]++
		ok = ok && p.taken[g] <= p.Gangs[g]
	}
	for m := limited; m != 0; m &= m - 1 {
		p.taken[p.gangOf(s, m)]--
	}
	return ok
}

// open makes the plan one that is known, below a ceiling that admits it. If it cannot be
// had from the menus, its places are kept and others go. It reports false if that cannot
// be either.
func (p *plan) open(l ceiling, known *Selection) bool {
	p.known = rows.Zeros(p.known, len(p.Units))
	for _, u := range known.Units {
		p.known[u] = true
	}
	begun := p.begin(l)
	p.known = p.known[:0]
	return begun && p.reopen(known)
}

// reopen is open for a plan that the menus were made for.
func (p *plan) reopen(known *Selection) bool { return p.place(known, true) || p.place(known, false) }

// place makes the plan one that is known, with who goes or only with its places.
func (p *plan) place(known *Selection, exactly bool) bool {
	p.empty()
	for _, w := range known.Wholes {
		if !p.allowed[w] {
			return false
		}
		p.flip(w)
	}
	for _, seat := range known.Seats {
		p.seat(seat.Site, seat.Kind, seat.Count)
	}
	for i := range p.sites {
		s := &p.sites[i]
		p.needFor(int32(i), p.loadOf(int32(i)))
		set := s.known
		if exactly && (set < 0 || p.next(int32(i), set) != set) {
			return false
		}
		if !exactly {
			set = p.next(int32(i), s.menu)
			for set >= 0 && !p.spares(int32(i), set) {
				set = p.next(int32(i), set+1)
			}
			if set < 0 {
				return false
			}
		}
		p.set(int32(i), set)
	}
	p.broke = p.over(&p.use)
	return true
}

// write sets dst to the plan.
func (p *plan) write(dst *Selection) {
	dst.Seats, dst.Units, dst.Wholes = dst.Seats[:0], dst.Units[:0], dst.Wholes[:0]
	for i := range p.sites {
		s := &p.sites[i]
		for k, n := range p.countOf(int32(i)) {
			if n > 0 {
				dst.Seats = append(dst.Seats, Seat{int32(i), int32(k), n})
			}
		}
		for j, it := range p.items[s.item:s.items] {
			if p.sets[s.set].mask>>j&1 != 0 {
				dst.Units = append(dst.Units, it.unit)
			}
		}
	}
	for w, in := range p.in {
		if in {
			dst.Wholes = append(dst.Wholes, int32(w))
		}
	}
	slices.Sort(dst.Units)
	p.judge(dst)
}
