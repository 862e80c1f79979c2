// SPDX-License-Identifier: Apache-2.0

package gangs

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// A programme finds where some members go on some sites, with all else as it is, by dynamic
// programming over the sites. A state is how many members of each kind have places, as one
// number. If rows may be passed, or gangs lose too many, on these sites, a state has several
// labels: what it costs, what is used of rows, and what gangs lose. Of two labels of which
// one is better in all the other one is dropped; if there are too many, the dearest.
type programme struct {
	have    []int32 // members to be placed, by kind
	kinds   int     // of which there are some
	keep    bool    // other members stay where they are
	states  int
	strides []int

	// Numbers of members by kind, as fields of one word with a guard bit between them: what
	// is left of all of them is at least 0 if no guard bit goes.
	packs  []uint64 // of states
	shifts []int
	guard  uint64
	full   uint64

	// Gangs that may lose too many on these sites; others are not counted.
	tied  []int32
	spare tally   // what they may lose
	could []int32 // by gang: units of it on these sites

	options []option
	first   []int32 // options, by site
	labels  []label // site by site, and state by state
	starts  []int32 // of labels, by site and state
	layer   []label // of the states after the site at hand, so many places for each
	counts  []uint8 // of these by state
	rest    []Price // by site and state, or empty: see boundRest
	load    []int64 // of the option at hand
	shape   []int32 // likewise
	passing bool    // of the question at hand
}

// A tally is numbers of members of some gangs, eight bits each, of which the highest is a
// guard bit.
type tally [2]uint64

const mostTied, tallyGuard = 16, 0x8080808080808080

func (t *tally) plus(u *tally) tally { return tally{t[0] + u[0], t[1] + u[1]} }

// An option is members on a site and a set that goes for them.
type option struct {
	state, set   int32
	price, value Price
	pack         uint64
	lost         tally
}

type label struct {
	price, value Price // without and with tolls
	use          Use
	lost         tally
	prev, option int32
}

// How many sets a site offers for the same members, and how many labels a state has, if rows
// may be passed.
const mostOptions, fewLabels, mostLabels = 4, 4, 64

// begin numbers the states, and reports whether they are few enough.
func (g *programme) begin(most int) bool {
	g.states, g.strides, g.shifts = 1, rows.Zeros(g.strides, len(g.have)), rows.Zeros(g.shifts, len(g.have))
	at := 0
	g.guard, g.kinds = 0, 0
	for k, n := range g.have {
		if n == 0 {
			continue
		}
		g.kinds++
		g.strides[k], g.shifts[k] = g.states, at
		g.states *= int(n) + 1
		if at += bits.Len32(uint32(n)) + 1; g.states > most || at > 64 {
			return false
		}
		g.guard |= 1 << (at - 1)
	}
	g.full = g.pack(g.have) | g.guard
	g.packs, g.shape = g.packs[:0], rows.Zeros(g.shape, len(g.have))
	for s := range g.states {
		for k := range g.shape {
			g.shape[k] = g.count(s, k)
		}
		g.packs = append(g.packs, g.pack(g.shape))
	}
	return true
}

// count returns how many members of a kind have places in a state.
func (g *programme) count(state, kind int) int32 {
	if g.have[kind] == 0 {
		return 0
	}
	return int32(state/g.strides[kind]) % (g.have[kind] + 1)
}

func (g *programme) pack(counts []int32) (p uint64) {
	for k, n := range counts {
		p |= uint64(n) << g.shifts[k]
	}
	return p
}

// A question is what a programme is to find.
type question struct {
	sites []int32
	limit Price // only plans that are cheaper are wanted, unless rows are passed
	any   bool  // there is no limit
	broke int64 // by how much rows may be passed
	width int   // labels of a state, if rows may be passed
	// Thrifty: if labels are too many, that one is dropped which uses the most.
	thrifty bool
	// Passing: rows may be passed, but tolls are paid.
	passing bool
}

// isPriced reports whether only what is cheaper than the limit is wanted.
func (q *question) isPriced(s *Solver) bool { return !q.any && (q.broke == 0 || s.weighing) }

// A verdict is what a programme has found.
type verdict struct {
	found bool
	broke int64
	price Price
	label int32
}

// run finds out where the members go that the programme has, on sites that are not counted.
func (s *Solver) run(q *question) (best verdict) {
	g := &s.programme
	width := 1
	g.passing = q.passing
	if !q.passing && !s.weighing && len(s.Rows) > 0 && (q.broke > 0 || s.mayPass(q.sites)) {
		width = max(fewLabels, q.width)
	}
	s.tie(q.sites)
	g.options, g.first = g.options[:0], g.first[:0]
	for _, i := range q.sites {
		g.first = append(g.first, int32(len(g.options)))
		if s.listOptions(i); s.stopped() {
			return best
		}
	}
	g.first = append(g.first, int32(len(g.options)))
	g.rest = g.rest[:0]
	if q.isPriced(s) && !s.boundRest(q) {
		return best
	}
	g.layer = slices.Grow(g.layer[:0], g.states*width)[:g.states*width]
	g.labels, g.starts = append(g.labels[:0], label{use: s.use, prev: -1, option: -1}), append(g.starts[:0], 0)
	for range g.states {
		g.starts = append(g.starts, 1)
	}
	for n := range q.sites {
		g.counts = rows.Zeros(g.counts, g.states)
		work := g.states + s.extend(n, width, q)
		for state, kept := range g.counts {
			g.labels = append(g.labels, g.layer[state*width:state*width+int(kept)]...)
			g.starts = append(g.starts, int32(len(g.labels)))
		}
		if s.pay(2 * int64(work)); s.stopped() {
			return best
		}
	}
	last := len(g.starts) - 2
	for j := g.starts[last]; j < g.starts[last+1]; j++ {
		l := &g.labels[j]
		v := verdict{true, s.over(&l.use), l.price, j}
		if !s.weighing {
			v.price = v.price.Add(s.fine(&l.use))
		}
		if !best.found || cmp.Or(cmp.Compare(v.broke, best.broke), v.price.Compare(best.price)) < 0 {
			best = v
		}
	}
	return best
}

// boundRest works out what the members whom a state lacks cost at least on the sites from the n-th
// on, whatever is used of rows and lost by gangs. It reports whether a plan could be cheap enough.
func (s *Solver) boundRest(q *question) bool {
	g := &s.programme
	none := Price{hi: 1 << 62}
	n := len(q.sites)
	g.rest = slices.Grow(g.rest, (n+1)*g.states)[:(n+1)*g.states]
	for i := range g.rest {
		g.rest[i] = none
	}
	g.rest[len(g.rest)-1] = Price{}
	work := 0
	for n--; n >= 0; n-- {
		rest, next := g.restAt(n), g.restAt(n+1)
		if n == 0 {
			rest = rest[:1]
		}
		options := g.options[g.first[n]:g.first[n+1]]
		for o := range options {
			op := &options[o]
			if o > 0 && op.state == options[o-1].state && !op.price.Less(options[o-1].price) {
				continue // what is cheaper with tolls comes first
			}
			to := next[op.state:]
			to = to[:min(len(to), len(rest))]
			for state := range to {
				if g.kinds > 1 && (g.full-g.packs[state]-op.pack)&g.guard != g.guard {
					continue
				}
				if price := op.price.Add(to[state]); price.Less(rest[state]) {
					rest[state] = price
				}
			}
			work += len(to)
		}
	}
	s.pay(int64(work) / 4)
	return g.rest[0].Less(q.limit)
}

// restAt returns a row of what boundRest worked out.
func (g *programme) restAt(n int) []Price { return g.rest[n*g.states : (n+1)*g.states] }

// extend works out the labels of the states after a site, the n-th, from those before it.
func (s *Solver) extend(n, width int, q *question) (work int) {
	g := &s.programme
	options := g.options[g.first[n]:g.first[n+1]]
	var rest []Price
	if len(g.rest) > 0 {
		rest = g.restAt(n + 1)
	}
	for state := g.states - 1; state >= 0; state-- { // of equals the one on earlier sites
		cell, free := n*g.states+state, g.full-g.packs[state]
		for j := g.starts[cell]; j < g.starts[cell+1]; j++ {
			l := &g.labels[j]
			for o := range options {
				op := &options[o]
				if (free-op.pack)&g.guard != g.guard {
					if g.kinds == 1 {
						break // options have ever more members
					}
					continue
				}
				work++
				next := state + int(op.state)
				price, value := l.price.Add(op.price), l.value.Add(op.value)
				if rest != nil && !price.Add(rest[next]).Less(q.limit) {
					continue
				}
				if width == 1 && g.counts[next] > 0 {
					was := &g.layer[next]
					if !q.passing && !price.Less(was.price) || q.passing && !value.Less(was.value) {
						continue
					}
				}
				lost := l.lost.plus(&op.lost)
				if (g.spare[0]-lost[0])&tallyGuard != tallyGuard || (g.spare[1]-lost[1])&tallyGuard != tallyGuard {
					continue
				}
				to := label{price, value, l.use, lost, j, g.first[n] + int32(o)}
				to.use.add(&s.sets[op.set].use, +1)
				switch {
				case width == 1:
					g.layer[next], g.counts[next] = to, 1
				case q.broke > 0 || s.over(&to.use) == 0:
					s.insert(next, width, &to, q.thrifty)
				}
			}
		}
	}
	return work
}

// insert adds a label to a state, unless another one is as good.
func (s *Solver) insert(state, width int, l *label, thrifty bool) {
	g := &s.programme
	n := int(g.counts[state])
	list := g.layer[state*width : state*width+width]
	kept := 0
	for i := range n {
		c := list[i].price.Compare(l.price)
		if c <= 0 && s.usesLess(&list[i], l) {
			return // whom l beats this one beats, so none was dropped before it
		}
		if c >= 0 && s.usesLess(l, &list[i]) {
			continue
		}
		list[kept] = list[i]
		kept++
	}
	if kept < width {
		list[kept] = *l
		g.counts[state] = uint8(kept + 1)
		return
	}
	g.counts[state] = uint8(kept)
	// The dearest goes, but for the one that uses the least; or the other way round.
	worst, spared := -1, -1
	for i := range list {
		if spared < 0 || s.before(&list[i], &list[spared], !thrifty) {
			spared = i
		}
	}
	if s.before(l, &list[spared], !thrifty) {
		spared = -1
	}
	for i := range list {
		if i != spared && (worst < 0 || s.before(&list[worst], &list[i], thrifty)) {
			worst = i
		}
	}
	if spared < 0 || s.before(l, &list[worst], thrifty) {
		list[worst] = *l
	}
}

// usesLess reports whether a label uses no more of any row than another one.
func (s *Solver) usesLess(a, b *label) bool {
	for r := range s.Rows {
		if a.use[r] > b.use[r] {
			return false
		}
	}
	return true
}

// before compares two labels by what they use, or by their prices.
func (s *Solver) before(a, b *label, byUse bool) bool {
	if !byUse {
		return a.value.Less(b.value)
	}
	var x, y int64
	for r := range s.Rows {
		x += s.share(r, a.use[r])
		y += s.share(r, b.use[r])
	}
	return x < y
}

// mayPass reports whether rows could be passed, whoever goes from some sites.
func (s *Solver) mayPass(sites []int32) bool {
	most := s.use
	for _, i := range sites {
		at := &s.sites[i]
		for j, it := range s.items[at.item:at.items] {
			if at.gone>>j&1 == 0 {
				for r, v := range s.Units[it.unit].Use {
					most[r] += max(v, 0)
				}
			}
		}
	}
	return s.passes(&most)
}

// tie finds the gangs that may lose too many units one by one on some sites. If they are
// more than a tally counts, the others lose none there.
func (s *Solver) tie(sites []int32) {
	g := &s.programme
	g.could = rows.Zeros(g.could, len(s.Gangs))
	g.tied, g.spare = g.tied[:0], tally{tallyGuard, tallyGuard}
	for _, i := range sites {
		at := &s.sites[i]
		for m := at.limited &^ at.gone; m != 0; m &= m - 1 {
			gang := s.gangOf(at, m)
			g.could[gang]++
			if left := s.Gangs[gang] - s.taken[gang]; g.could[gang] == left+1 || g.could[gang] == 1 && left < 0 {
				if n := len(g.tied); n < mostTied {
					g.spare[n/8] += uint64(min(max(left, 0), 127)) << (n % 8 * 8)
				}
				g.tied = append(g.tied, gang)
			}
		}
	}
}

// lost counts the units of tied gangs in a set. It reports false if one of these is not
// counted.
func (s *Solver) lost(at *site, mask uint64) (t tally, ok bool) {
	for m := mask & at.limited; m != 0; m &= m - 1 {
		if n := slices.Index(s.programme.tied, s.gangOf(at, m)); n >= mostTied {
			return t, false
		} else if n >= 0 {
			t[n/8] += 1 << (n % 8 * 8)
		}
	}
	return t, true
}

// listOptions lists what a site can do with some of the members.
func (s *Solver) listOptions(i int32) {
	g := &s.programme
	g.load, g.shape = rows.Zeros(g.load, s.Types), rows.Zeros(g.shape, len(g.have))
	for k, n := range s.countOf(i) {
		if n > 0 && g.keep && g.have[k] == 0 {
			addTo(g.load, s.Kinds[k].Size, int64(n))
		}
	}
	from := len(g.options)
	s.addOptions(i, 0)
	s.vary(i, 0, 0)
	s.pay(int64(len(g.options) - from))
}

// vary adds members of the kinds from k on, as many as there is room for.
func (s *Solver) vary(i int32, k, state int) {
	g := &s.programme
	if k == len(g.have) {
		return
	}
	s.vary(i, k+1, state)
	if g.have[k] == 0 || !s.takes(i, int32(k)) {
		return
	}
	n := int32(0)
	for n < g.have[k] {
		n++
		g.shape[k] = n
		addTo(g.load, s.Kinds[k].Size, +1)
		if !s.addOptions(i, state+int(n)*g.strides[k]) {
			break
		}
		s.vary(i, k+1, state+int(n)*g.strides[k])
	}
	addTo(g.load, s.Kinds[k].Size, -int64(n))
	g.shape[k] = 0
}

// addOptions adds the set for the members at hand that costs least with its toll and, if rows
// or gangs may decide, some more, the cheapest first. It reports false if there is none.
func (s *Solver) addOptions(i int32, state int) bool {
	g, at := &s.programme, &s.sites[i]
	s.needFor(i, g.load)
	pack, from := g.pack(g.shape), len(g.options)
	if g.passing {
		if set := s.cheapest(i); set >= 0 {
			s.addOption(from, option{state: int32(state), set: set, price: s.priceOf(i, set, g.load), pack: pack})
		}
		return len(g.options) > from
	}
	for set := s.next(i, at.menu); set >= 0; set = s.next(i, set+1) {
		e := &s.sets[set]
		if len(g.options)-from == mostOptions && !e.price.Less(g.options[len(g.options)-1].value) {
			break
		}
		lost, ok := s.lost(at, e.mask)
		if !ok || s.beatenOption(g.options[from:], set, &lost) {
			continue
		}
		s.addOption(from, option{state: int32(state), set: set, price: s.priceOf(i, set, g.load), pack: pack, lost: lost})
		if len(s.Rows) == 0 && lost == (tally{}) {
			break
		}
	}
	return len(g.options) > from
}

// addOption adds an option to those from one on, by what they cost with tolls. If they are too
// many the dearest goes.
func (s *Solver) addOption(from int, o option) {
	g := &s.programme
	o.value = o.price.Add(s.sets[o.set].toll)
	if len(g.options)-from < mostOptions {
		g.options = append(g.options, o)
	} else if !o.value.Less(g.options[len(g.options)-1].value) {
		return
	}
	at := len(g.options) - 1
	for ; at > from && o.value.Less(g.options[at-1].value); at-- {
		g.options[at] = g.options[at-1]
	}
	g.options[at] = o
}

// beatenOption reports whether an option for the same members uses no more of rows and
// gangs than a set.
func (s *Solver) beatenOption(options []option, set int32, lost *tally) bool {
next:
	for i := range options {
		o := &options[i]
		for r := range s.Rows {
			if s.sets[o.set].use[r] > s.sets[set].use[r] {
				continue next
			}
		}
		for n := range lost {
			if (lost[n]|tallyGuard-o.lost[n])&tallyGuard != tallyGuard {
				continue next
			}
		}
		return true
	}
	return false
}

// enact makes what a programme has found the plan for its sites.
func (s *Solver) enact(sites []int32, v verdict) {
	g := &s.programme
	at := v.label
	for n := len(sites) - 1; n >= 0; n-- {
		l := &g.labels[at]
		o, i := &g.options[l.option], sites[n]
		for k, n := range s.countOf(i) {
			if now := g.count(int(o.state), k); now != n && (g.have[k] > 0 || !g.keep) {
				s.seat(i, int32(k), now-n)
			}
		}
		s.set(i, o.set)
		at = l.prev
	}
	s.broke = v.broke
}
