// SPDX-License-Identifier: Apache-2.0

package gangs

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// How many states an exchange may have: of sites; of sites and wholes, if members are not
// alike; and of a programme over all sites.
const siteStates, wholeStates, allStates = 1 << 10, 1 << 8, 1 << 13

// improve makes exchanges until nothing is gained by any, or only so much of the purse is left; or
// until no row is passed, if that is all that is wanted.
func (s *Solver) improve(leave int64, lawful bool) {
	s.end, s.lawful = leave, lawful
	s.guide.begin(s)
	s.setTolls()
	if s.broke == 0 && !s.weighing && !s.jobs() && s.programmable() {
		s.refineTolls()
	}
	for width := 6; !s.done(); {
		gained := s.exchangeWholes(width)
		gained = s.exchangeSites() || gained
		if gained {
			continue
		}
		if width >= len(s.Wholes) || width > 24 {
			break
		}
		width *= 3
	}
	s.wander()
}

// done reports whether an improvement is to end.
func (s *Solver) done() bool {
	return s.purse < s.end || s.stopped() || s.lawful && s.broke == 0
}

// try flips some wholes and places the members on some sites anew, and keeps that if it is
// better. The sites must be all on which the wholes have parts.
func (s *Solver) try(sites, flips []int32, most int) bool {
	return s.tryKinds(sites, flips, most, 0, len(s.Kinds))
}

// tryKinds is try for the members of some kinds; the others stay where they are.
func (s *Solver) tryKinds(sites, flips []int32, most, from, to int) bool {
	g := &s.programme
	before, broke := s.worth(), s.broke
	g.have, g.keep = rows.Zeros(g.have, len(s.Kinds)), from > 0 || to < len(s.Kinds)
	for _, i := range sites {
		s.take(i, -1)
		for k, n := range s.countOf(i)[from:to] {
			g.have[from+k] += n
		}
	}
	for _, w := range flips {
		s.flip(w)
	}
	q := question{sites: sites, limit: before.Sub(s.total), broke: broke, width: s.width, thrifty: broke > 0}
	var v verdict
	if g.begin(most) {
		v = s.run(&q)
	}
	if !v.found || !s.better(v.broke, broke, v.price, q.limit) {
		for _, w := range flips {
			s.flip(w)
		}
		for _, i := range sites {
			s.take(i, +1)
		}
		return false
	}
	s.enact(sites, v)
	s.guide.flipped(s, flips)
	return true
}

// better reports whether a plan is better than one before it: it passes rows by less, or is
// cheaper. While costs are what is used of rows, these decide.
func (s *Solver) better(broke, before int64, price, than Price) bool {
	if !s.weighing && broke != before {
		return broke < before
	}
	return price.Less(than)
}

// enter adds a site to those of an exchange, once.
func (s *Solver) enter(i int32) {
	if s.mark[i] != s.marks {
		s.mark[i] = s.marks
		s.free = append(s.free, i)
	}
}

// around begins an exchange with the sites of some wholes.
func (s *Solver) around(wholes []int32) {
	s.marks++
	s.free = s.free[:0]
	s.enterAll(wholes)
}

// enterAll adds the sites of some wholes.
func (s *Solver) enterAll(wholes []int32) {
	for _, w := range wholes {
		for _, p := range s.partsOf(w) {
			s.enter(p.Site)
		}
	}
}

// margin works out what one member more of a kind costs on a site with tolls, and what one
// member less saves there, of its largest kind.
func (s *Solver) margin(i, kind int32) *site {
	at := &s.sites[i]
	if !at.stale && at.kind == kind {
		return at
	}
	at.stale, at.kind, at.mayMore, at.less = false, kind, false, Price{}
	load, now := s.loadOf(i), at.price.Add(s.sets[at.set].toll)
	s.spare = append(s.spare[:0], load...)
	if s.takes(i, kind) {
		addTo(s.spare, s.Kinds[kind].Size, +1)
		s.needFor(i, s.spare)
		if set := s.cheapest(i); set >= 0 {
			at.mayMore, at.more = true, s.priceOf(i, set, s.spare).Add(s.sets[set].toll).Sub(now)
		}
		copy(s.spare, load)
	}
	if at.members > 0 {
		for k, n := range s.countOf(i) {
			if n > 0 {
				addTo(s.spare, s.Kinds[k].Size, -1)
				break
			}
		}
		s.needFor(i, s.spare)
		if set := s.cheapest(i); set >= 0 {
			at.less = now.Sub(s.priceOf(i, set, s.spare).Add(s.sets[set].toll))
		}
	}
	s.pay(8)
	return at
}

// widen adds the sites to an exchange where one member more is cheapest, and then those
// where one less saves most.
func (s *Solver) widen(more, less int) {
	kind := s.kindNear()
	for n := range more + less {
		best := int32(-1)
		var top *site
		for i := range s.sites {
			if s.mark[i] == s.marks {
				continue
			}
			at := s.margin(int32(i), kind)
			switch {
			case n < more && at.mayMore && (best < 0 || at.more.Less(top.more)),
				n >= more && at.members > 0 && (best < 0 || top.less.Less(at.less)):
				best, top = int32(i), at
			}
		}
		s.pay(int64(len(s.sites) / 4))
		if best >= 0 {
			s.enter(best)
		}
	}
}

// kindNear returns the largest kind on the sites of an exchange.
func (s *Solver) kindNear() int32 {
	for k := range s.Kinds {
		for _, i := range s.free {
			if s.countOf(i)[k] > 0 {
				return int32(k)
			}
		}
	}
	return 0
}

// flipping tries to flip some wholes, unless the improvement is to end.
func (s *Solver) flipping(more, less int, flips ...int32) bool {
	if s.done() || !s.guide.promises(s, flips) {
		return false
	}
	s.flips = append(s.flips[:0], flips...)
	flips = s.flips
	s.around(flips)
	moved, room := 0, int64(0)
	for _, i := range s.free {
		moved += int(s.sites[i].members)
	}
	for _, w := range flips {
		if !s.in[w] {
			room += s.sizeOf(w)
		}
	}
	if len(s.Kinds) == 1 {
		const most = 12
		if room > 0 { // or it cannot pay
			less = max(less, min(int(room/max(s.Kinds[0].Size[s.Scarce], 1)), most))
		}
		s.widen(max(more, min(moved+1, most)), less)
		return s.try(s.free, flips, siteStates)
	}
	before := len(s.free)
	s.dearest(room)
	if s.reinsert(s.free, flips) {
		return true
	}
	for _, i := range s.free[before:] {
		s.mark[i] = 0
	}
	s.free = s.free[:before]
	s.widen(more, less)
	return s.try(s.free, flips, wholeStates)
}

// sizeOf returns what a whole frees of the scarce type.
func (s *Solver) sizeOf(w int32) (n int64) {
	for _, p := range s.partsOf(w) {
		n += p.Size[s.Scarce]
	}
	return n
}

// dearest adds the sites to an exchange whose members cost most for the room that they take,
// until these take so much.
func (s *Solver) dearest(room int64) {
	const most = 16
	for range most {
		best, rate, placed := int32(-1), int64(0), int64(1)
		for i := range s.sites {
			at := &s.sites[i]
			if s.mark[i] == s.marks || at.members == 0 {
				continue
			}
			n := max(s.loadOf(int32(i))[s.Scarce], 1)
			if v := s.guide.scalar(at.price) / n; n <= room && v > rate {
				best, rate, placed = int32(i), v, n
			}
		}
		s.pay(int64(len(s.sites)))
		if best < 0 {
			return
		}
		s.enter(best)
		room -= placed
	}
}

// going lists the wholes that go, the dearest first.
func (s *Solver) going() []int32 {
	s.ins = s.ins[:0]
	for w, in := range s.in {
		if in {
			s.ins = append(s.ins, int32(w))
		}
	}
	slices.SortFunc(s.ins, func(a, b int32) int {
		return cmp.Or(s.wprices[b].Compare(s.wprices[a]), cmp.Compare(a, b))
	})
	return s.ins
}

// A gain is the room for members that a whole makes if it goes.
type gain struct {
	whole         int32
	large, little int64 // members of the largest kind, and of the smallest
}

// staying lists the wholes that stay.
func (s *Solver) staying() []gain {
	s.gains = s.gains[:0]
	for w, in := range s.in {
		if !in && s.allowed[w] {
			s.gains = append(s.gains, s.gainOf(int32(w)))
		}
	}
	s.pay(int64(4 * len(s.Wholes)))
	return s.gains
}

// gainOf returns the room that a whole makes which stays.
func (s *Solver) gainOf(w int32) gain {
	g := gain{whole: w}
	for _, p := range s.partsOf(w) {
		l, n := s.places(p.Site, p.Size)
		large, little := s.places(p.Site, nil)
		g.large, g.little = g.large+l-large, g.little+n-little
	}
	return g
}

// compareGains puts those first that make the most room for what they cost.
func (s *Solver) compareGains(a, b gain) int {
	return cmp.Or(cmp.Compare(b.large, a.large), cmp.Compare(b.little, a.little),
		s.wprices[a.whole].Compare(s.wprices[b.whole]), cmp.Compare(a.whole, b.whole))
}

// places returns how many members of the largest kind, or of the smallest, a site has room
// for with all of its units gone, and more freed.
func (s *Solver) places(i int32, more []int64) (large, little int64) {
	room := s.roomWith(i)
	for t, v := range more {
		room[t] += v
	}
	return s.Kinds[0].fit(room), s.Kinds[len(s.Kinds)-1].fit(room)
}

// roomWith returns the room of a site with all of its units gone. It is good until the next
// call.
func (s *Solver) roomWith(i int32) []int64 {
	s.spare = append(s.spare[:0], s.roomOf(i)...)
	at := &s.sites[i]
	for j, it := range s.items[at.item:at.items] {
		if at.gone>>j&1 == 0 {
			addTo(s.spare, s.Units[it.unit].Size, +1)
		}
	}
	return s.spare
}

// fit returns how many members of a kind have room.
func (k *Kind) fit(room []int64) int64 {
	most := int64(1) << 20
	for t, v := range k.Size {
		if v > 0 {
			most = min(most, max(room[t], 0)/v)
		}
	}
	return most
}

// exchangeWholes looks for wholes that need not go, or others in their place.
func (s *Solver) exchangeWholes(width int) (gained bool) {
	if len(s.Wholes) == 0 {
		return false
	}
	for _, w := range s.going() {
		gained = s.flipping(4, 2, w) || gained
	}
	ins, gains := s.going(), s.first(width)
	for i, v := range ins { // two go less, one goes instead
		for _, w := range ins[i+1:] {
			if s.in[v] && s.in[w] && (s.flipping(4, 2, v, w) || s.instead(gains, v, w)) {
				gained, gains = true, s.first(width)
			}
		}
	}
	for _, w := range s.going() {
		if s.instead(gains, w) {
			gained, gains = true, s.first(width)
		}
	}
	if s.broke > 0 || len(s.Rows) > 0 || s.head(s.total) != (Price{}) {
		for _, g := range s.first(width) {
			gained = s.flipping(3, 3, g.whole) || gained
		}
	}
	return gained
}

// instead tries to let one of those that stay go in place of some wholes, two at most.
func (s *Solver) instead(gains []gain, wholes ...int32) bool {
	if s.done() {
		return false
	}
	var flips [3]int32
	n := copy(flips[:], wholes)
	for _, g := range gains {
		flips[n] = g.whole
		if s.flipping(3, 2, flips[:n+1]...) {
			return true
		}
	}
	return false
}

// first returns the first of the wholes that stay, in the order of compareGains.
func (s *Solver) first(n int) []gain {
	gains := s.staying()
	slices.SortFunc(gains, s.compareGains)
	return gains[:min(n, len(gains))]
}

// programmable reports whether one programme can place all members, in rows that may decide.
func (s *Solver) programmable() bool {
	return len(s.Kinds) == 1 && len(s.Rows) > 0 && s.cells() <= allStates
}

// cells returns how many states a programme over all sites has on them, for members that are alike.
func (s *Solver) cells() int { return len(s.sites) * (int(s.members) + 1) }

// exchangeSites places the members on some sites anew: on all, if rows may decide; then on
// each that has some, the dearest first, with a few others.
func (s *Solver) exchangeSites() (gained bool) {
	if s.programmable() {
		s.everywhere()
		s.width = min(max(1<<16/s.cells(), fewLabels), mostLabels)
		gained = s.try(s.free, nil, siteStates)
		s.width = 0
	}
	if len(s.Kinds) > 1 {
		gained = s.eachKind() || gained
	}
	s.list = s.list[:0]
	for i := range s.sites {
		if s.sites[i].members > 0 {
			s.list = append(s.list, int32(i))
		}
	}
	slices.SortFunc(s.list, func(a, b int32) int {
		return cmp.Or(s.sites[b].price.Compare(s.sites[a].price), cmp.Compare(a, b))
	})
	for _, i := range s.list {
		for _, n := range [...][2]int{{4, 0}, {3, 2}} {
			if s.done() {
				return gained
			}
			s.around(nil)
			s.enter(i)
			s.widen(n[0], n[1])
			gained = s.try(s.free, nil, siteStates) || gained
		}
	}
	return gained
}

// eachKind places the members of each kind anew on all sites, with all others where they are,
// and those of two kinds if that is not too much.
func (s *Solver) eachKind() (gained bool) {
	s.everywhere()
	for k := 0; k < len(s.Kinds) && !s.done(); k++ {
		gained = s.tryKinds(s.free, nil, siteStates, k, k+1) || gained
		if k+2 <= len(s.Kinds) && !s.done() {
			gained = s.tryKinds(s.free, nil, 1<<14/len(s.sites), k, k+2) || gained
		}
	}
	return gained
}

// everywhere begins an exchange with all sites.
func (s *Solver) everywhere() {
	s.around(nil)
	for i := range s.sites {
		s.enter(int32(i))
	}
}

// wander makes exchanges of a few sites and the wholes there, drawn by numbers that are
// always the same, until many in a row gain nothing.
func (s *Solver) wander() {
	for misses := 0; misses < 40+2*len(s.sites) && !s.done(); misses++ {
		if misses%2 > 0 && s.rebuild() {
			misses = -1
			continue
		}
		s.around(nil)
		s.flips = s.flips[:0]
		for range 2 + s.random(2) {
			i := int32(s.random(len(s.sites)))
			s.enter(i)
			if on := s.wholesOn(i); len(on) > 0 && len(s.flips) < 3 {
				w := on[s.random(len(on))]
				if !slices.Contains(s.flips, w) && (s.in[w] || s.random(3) == 0) {
					s.flips = append(s.flips, w)
				}
			}
		}
		s.enterAll(s.flips)
		s.widen(2, 2)
		if len(s.flips) > 0 && !s.guide.promises(s, s.flips) {
			continue
		}
		if len(s.Kinds) > 1 && misses%2 == 0 && s.reinsert(s.free, s.flips) || s.try(s.free, s.flips, siteStates) {
			misses = -1
		}
	}
}

// rebuild takes back some of the wholes that go, drawn by numbers that are always the same, lets
// others go until there are places enough by counts, and tries that. Several in place of several
// are found so, where one by one each of them is worse.
func (s *Solver) rebuild() bool {
	const among = 3 // of so many that make the most room one is drawn
	ins, g := s.going(), &s.guide
	if len(ins) < 2 {
		return false
	}
	s.chain = s.chain[:0]
	for range 2 + s.random(min(3, len(ins)-1)) {
		if w := ins[s.random(len(ins))]; !slices.Contains(s.chain, w) {
			s.chain = append(s.chain, w)
		}
	}
	out := len(s.chain)
	most := 3*out + 2
	g.flip(s, s.chain)
	for !g.enough() && len(s.chain) < most {
		gains := slices.DeleteFunc(s.first(len(s.Wholes)), func(x gain) bool { return slices.Contains(s.chain[:out], x.whole) })
		if len(gains) == 0 {
			break
		}
		next := gains[s.random(min(among, len(gains)))]
		if gains[0].large == 0 {
			next = s.pick(gains)
		}
		s.chain = append(s.chain, next.whole)
		g.flip(s, s.chain[len(s.chain)-1:])
	}
	ok := g.enough()
	g.flip(s, s.chain)
	return ok && s.flipping(3, 3, s.chain...)
}

// random returns a number below n, by an xorshift.
func (s *Solver) random(n int) int {
	s.seed ^= s.seed << 13
	s.seed ^= s.seed >> 7
	s.seed ^= s.seed << 17
	return int(s.seed>>33) % n
}
