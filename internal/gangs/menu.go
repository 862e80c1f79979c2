// SPDX-License-Identifier: Apache-2.0

package gangs

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// How many units of a site are looked at, and how many sets of them: fewer if there are many
// sites.
const mostItems, mostSets, fewSets = 64, 1 << 10, 1 << 6

// menus are what may go from each site below a ceiling: sets of units, the cheapest first.
// A set is on the menu if none before it frees as much, uses no more of rows, and takes no
// member of a running gang that it does not. Wholes are no part of menus: they are
// switches beside them, which change the room of their sites and who is gone there
// already. So menus stay as they are whatever goes as a whole.
type menus struct {
	*Problem
	ceiling  ceiling
	weighing bool // see weigh

	sites     []site
	items     []item
	sets      []set
	freed     []int64  // a row per set
	onSite    []int32  // wholes, site by site
	masks     []uint64 // by part: the items of the site that its whole has
	allowed   []bool   // by whole: the ceiling admits it
	wprices   []Price  // by whole
	exact     bool     // no set is missing
	looks     int64    // at sets, since they were paid
	allowance int64    // of looks: menus are not made at all if they take more

	known    []bool // by unit: it goes in the plan that is to be loaded
	raw      []set  // scratch, as what follows
	rawFreed []int64
	last     []int32
	order    []int32
}

// A site is what is known of a site of the problem.
type site struct {
	item, items    int32
	menu, menus    int32
	whole, wholes  int32  // of onSite
	limited        uint64 // items whose gang may lose only some
	gone           uint64 // items that go with a whole
	known          int32  // the set of the plan that is to be loaded
	set            int32  // that goes
	members        int32
	price          Price // of that
	stale, mayMore bool
	kind           int32 // that more and less are for
	more, less     Price // what one member more costs, and one less saves
}

// An item is a unit that the ceiling admits. Of two that are alike the first goes first.
type item struct {
	unit, gang, alike int32
	price             Price
}

type set struct {
	mask  uint64
	price Price
	use   Use
	toll  Price // see Solver.toll
}

// weighBits is how many low bits prices lose for what is used of rows.
const weighBits = 40

// weigh returns a price for plans that are wanted for what they use of rows that must not be
// passed: that comes first then, in shares of their rooms.
func (m *menus) weigh(price Price, use *Use) Price {
	if !m.weighing {
		return price
	}
	sum := int64(0)
	for r := range m.Rows {
		if row := &m.Rows[r]; row.Room >= 0 && row.Over == (Price{}) {
			sum += m.share(r, use[r])
		}
	}
	return price.right(weighBits).Add(Price{lo: uint64(sum)}.left(priceBits - weighBits))
}

// begin makes the menus below a ceiling. It reports false if that takes too long.
func (m *menus) begin(l ceiling) bool {
	m.ceiling, m.exact = l, true
	m.items, m.sets, m.freed = m.items[:0], m.sets[:0], m.freed[:0]
	m.sites = rows.Zeros(m.sites, len(m.Sites))
	most := min(max(1<<15/max(len(m.sites), 1), fewSets), mostSets)
	for i := range m.sites {
		s := &m.sites[i]
		m.list(s, &m.Sites[i])
		m.enumerate(s, most)
		m.keep(s)
		s.stale = true
		if m.looks > m.allowance {
			return false
		}
	}
	m.listWholes()
	return true
}

// list lists the items of a site.
func (m *menus) list(s *site, of *Site) {
	s.item = int32(len(m.items))
	for u := of.First; u < of.End; u++ {
		unit := &m.Units[u]
		if m.letsUnit(&m.ceiling, unit) {
			m.items = append(m.items, item{unit: u, gang: unit.Gang, alike: -1, price: m.weigh(unit.Price, &unit.Use)})
		}
	}
	list := m.items[s.item:]
	if m.weighing {
		slices.SortFunc(list, func(a, b item) int { return cmp.Or(a.price.Compare(b.price), cmp.Compare(a.unit, b.unit)) })
	}
	if len(list) > mostItems {
		list, m.exact = list[:mostItems], false
		m.items = m.items[:int(s.item)+mostItems]
	}
	s.items = int32(len(m.items))
	for i := range list {
		a := &list[i]
		if a.gang >= 0 {
			s.limited |= 1 << i
		}
		for j := i - 1; j >= 0; j-- {
			b := &list[j]
			if a.gang == b.gang && m.Units[a.unit].Use == m.Units[b.unit].Use && slices.Equal(m.Units[a.unit].Size, m.Units[b.unit].Size) {
				a.alike = int32(j)
				break
			}
		}
	}
}

// enumerate lists the sets of items of a site, those of fewer items first, until they are
// so many.
func (m *menus) enumerate(s *site, most int) {
	list := m.items[s.item:s.items]
	m.raw, m.last, m.rawFreed = append(m.raw[:0], set{}), append(m.last[:0], -1), rows.Zeros(m.rawFreed, m.Types)
	for at := 0; at < len(m.raw); at++ {
		if len(m.raw) >= most {
			m.exact = false
			m.chain(list)
			break
		}
		for i := int(m.last[at]) + 1; i < len(list); i++ {
			if alike := list[i].alike; alike >= 0 && m.raw[at].mask&(1<<alike) == 0 {
				continue
			}
			m.rawFreed = append(m.rawFreed, m.rawFreed[at*m.Types:(at+1)*m.Types]...)
			m.last = append(m.last, int32(i))
			m.raw = append(m.raw, m.raw[at])
			m.put(list, i, len(m.raw)-1)
		}
	}
}

// put puts an item into a set.
func (m *menus) put(list []item, i, at int) {
	e, u := &m.raw[at], &m.Units[list[i].unit]
	e.mask |= 1 << i
	e.price = e.price.Add(list[i].price)
	e.use.add(&u.Use, +1)
	for t, v := range u.Size {
		m.rawFreed[at*m.Types+t] += v
	}
}

// chain adds sets of a site that has too many: the largest items, one after another, and
// the same without the first of them.
func (m *menus) chain(list []item) {
	const chains = 12
	for t := range m.Types {
		m.order = m.order[:0]
		for i := range list {
			m.order = append(m.order, int32(i))
		}
		slices.SortStableFunc(m.order, func(a, b int32) int {
			return cmp.Compare(m.Units[list[b].unit].Size[t], m.Units[list[a].unit].Size[t])
		})
		for from := range min(len(list), chains) {
			e := len(m.raw)
			m.raw, m.rawFreed = append(m.raw, set{}), rows.More(m.rawFreed, m.Types)
			for n, i := range m.order[from:] {
				if n > 0 {
					m.raw = append(m.raw, m.raw[e])
					m.rawFreed = append(m.rawFreed, m.rawFreed[e*m.Types:(e+1)*m.Types]...)
					e++
				}
				m.put(list, int(i), e)
			}
		}
	}
}

// keep puts the sets on the menu that none before them beats.
func (m *menus) keep(s *site) {
	m.order = m.order[:0]
	m.looks += int64(len(m.raw))
	for i := range m.raw {
		m.order = append(m.order, int32(i))
	}
	slices.SortFunc(m.order, func(a, b int32) int {
		return cmp.Or(m.raw[a].price.Compare(m.raw[b].price), cmp.Compare(a, b))
	})
	var known uint64
	for i, it := range m.items[s.item:s.items] {
		if len(m.known) > 0 && m.known[it.unit] {
			known |= 1 << i
		}
	}
	s.menu, s.known = int32(len(m.sets)), -1
	for _, i := range m.order {
		if m.looks > m.allowance {
			return // there will be no menus
		}
		e, f := &m.raw[i], m.rawFreed[int(i)*m.Types:int(i+1)*m.Types]
		if m.beaten(s, e, f) && (e.mask != known || s.known >= 0) {
			continue
		}
		if e.mask == known {
			s.known = int32(len(m.sets))
		}
		m.sets = append(m.sets, *e)
		m.freed = append(m.freed, f...)
	}
	s.menus = int32(len(m.sets))
	s.set = s.menu
}

// beaten reports whether a set that is on the menu is as good as another one.
func (m *menus) beaten(s *site, e *set, f []int64) bool {
next:
	for i := int(s.menu); i < len(m.sets); i++ {
		m.looks++
		k := &m.sets[i]
		for t, v := range f {
			if m.freed[i*m.Types+t] < v {
				continue next
			}
		}
		if k.mask&s.limited&^e.mask != 0 {
			continue
		}
		for r := range m.Rows {
			if k.use[r] > e.use[r] {
				continue next
			}
		}
		return true
	}
	return false
}

// listWholes lists the wholes that the ceiling admits, site by site.
func (m *menus) listWholes() {
	m.allowed, m.wprices = rows.Zeros(m.allowed, len(m.Wholes)), rows.Zeros(m.wprices, len(m.Wholes))
	m.masks = rows.Zeros(m.masks, len(m.Parts))
	for w := range m.Wholes {
		g := &m.Wholes[w]
		if m.allowed[w] = m.letsWhole(&m.ceiling, g); !m.allowed[w] {
			continue
		}
		m.wprices[w] = m.weigh(g.Price, &g.Use)
		for p := g.First; p < g.End; p++ {
			s := &m.sites[m.Parts[p].Site]
			s.wholes++
			for i, it := range m.items[s.item:s.items] {
				if it.gang >= 0 && it.gang == g.Gang {
					m.masks[p] |= 1 << i
				}
			}
		}
	}
	at := int32(0)
	for i := range m.sites {
		s := &m.sites[i]
		s.whole, s.wholes, at = at, at, at+s.wholes
	}
	m.onSite = rows.Zeros(m.onSite, int(at))
	for w := range m.Wholes {
		if !m.allowed[w] {
			continue
		}
		for _, p := range m.partsOf(int32(w)) {
			s := &m.sites[p.Site]
			m.onSite[s.wholes] = int32(w)
			s.wholes++
		}
	}
}

func (m *menus) partsOf(w int32) []Part { return m.Parts[m.Wholes[w].First:m.Wholes[w].End] }

func (m *menus) wholesOn(i int32) []int32 { return m.onSite[m.sites[i].whole:m.sites[i].wholes] }

// gangOf returns the running gang of an item, or -1.
func (m *menus) gangOf(s *site, mask uint64) int32 {
	return m.items[int(s.item)+bits.TrailingZeros64(mask)].gang
}
