package jobs

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// A priceBook learns prices of members. Members of about the same size share a
// price, that of the smallest of them, and a second one for what a member has more:
// so there are some dozens of prices, however many members there are.
//
// Its programme has a need for both of every group, and a limit for every tier: no
// more than its hosts. A column is some members on a host of a tier, at the cost of
// those who go for them.
type priceBook struct {
	programme master
	lows      []int64 // by group, the size of the smallest member that it could have
	groupOf   []int32 // by item
	more      []fixed // by item, its size beyond the low of the group, as a part of the largest
	center    []fixed // prices that have shown most so far
	shown     fixed   // by these
	asked     []fixed // prices of the turn
	near      bool    // the turn keeps near the center
	tierOf    []int32 // by host
	needs     []fixed // scratch
	costs     []fixed
	placed    []int32 // items, host by host of the plan
	gone      []int64 // by host, victims of the plan
	points    []int64
}

// groups returns how many groups there are: the needs are their members, then what
// these have more, then come the limits.
func (x *priceBook) groups() int { return len(x.lows) }

// begin states the programme, and begins with what the hosts of a plan take.
func (x *priceBook) begin(p *pricer, plan *incumbent) {
	x.group(p)
	groups := x.groups()
	x.needs = rows.Zeros(x.needs, 2*groups+len(p.tiers.list))
	x.costs = rows.Zeros(x.costs, len(x.needs))
	// What no column meets costs more than any host could.
	dear := fixed(4*(p.tiers.depth+1)) * fixedOne
	for i, g := range x.groupOf {
		x.needs[g] += fixedOne
		x.needs[groups+int(g)] += x.more[i]
	}
	for r := range 2 * groups {
		x.costs[r] = dear
	}
	for i := range p.tiers.list {
		x.needs[2*groups+i] = fixed(p.tiers.list[i].hosts) * fixedOne
	}
	x.programme.begin(x.needs, x.costs)
	x.center, x.asked, x.shown, x.near = rows.Zeros(x.center, 2*groups), rows.Zeros(x.asked, 2*groups), 0, false
	x.begun(p, plan)
}

// group sorts the items into groups. Prices jump at sizes at which fewer of a size
// have room: a half and a third of what some victims make, or what one of them more
// adds to it. So groups begin there.
func (x *priceBook) group(p *pricer) {
	x.findPoints(p)
	smallest, largest := p.sizes[0], p.sizes[len(p.sizes)-1]
	// Points closer than that are one.
	for apart := (largest - smallest) / 200; ; apart = 2*apart + 1 {
		x.lows = append(x.lows[:0], smallest)
		for _, v := range x.points {
			if v > x.lows[len(x.lows)-1]+apart && v <= largest {
				x.lows = append(x.lows, v)
			}
		}
		const most = 32
		if x.groups() <= most {
			break
		}
	}
	x.keepUsed(p.sizes)
	x.groupOf, x.more = x.groupOf[:0], x.more[:0]
	for _, size := range p.sizes {
		g := len(x.groupOf)
		if g > 0 {
			g = int(x.groupOf[g-1])
		}
		for g+1 < len(x.lows) && x.lows[g+1] <= size {
			g++
		}
		x.groupOf = append(x.groupOf, int32(g))
		x.more = append(x.more, fixedOf(size-x.lows[g], largest))
	}
}

// keepUsed keeps of the groups those that have members.
func (x *priceBook) keepUsed(sizes []int64) {
	kept := x.lows[:0]
	for g, low := range x.lows {
		at, _ := slices.BinarySearch(sizes, low)
		if at < len(sizes) && (g+1 == len(x.lows) || sizes[at] < x.lows[g+1]) {
			kept = append(kept, low)
		}
	}
	x.lows = kept
}

// findPoints lists sizes at which prices may jump, ascending.
func (x *priceBook) findPoints(p *pricer) {
	const most = 8 // steps
	x.points = x.points[:0]
	smallest := p.sizes[0]
	depth := min(p.tiers.depth, most)
	room := func(gone int) (room int64) {
		for i := range p.tiers.list {
			room = max(room, after(p.tiers.list[i].steps, gone))
		}
		return room
	}
	// Where a price jumps is a matter of how many fit, and prices that jump elsewhere
	// are as good as none: with groups at even distances a proof takes four times as
	// many turns, if it comes at all.
	for gone := 1; gone <= depth; gone++ {
		r := room(gone)
		for parts := int64(1); parts <= 6; parts++ {
			x.points = append(x.points, r/parts+1)
		}
		x.points = append(x.points, r-smallest+1)
		for fewer := 1; fewer < gone; fewer++ {
			x.points = append(x.points, r-room(fewer)+1, (r-room(fewer))/2+1)
		}
	}
	slices.Sort(x.points)
}

// begun offers what every host of a plan takes, until that is of no more use.
func (x *priceBook) begun(p *pricer, plan *incumbent) {
	x.measurePlan(p, plan)
	const turns = 4
	for range turns {
		used := false
		for from := 0; from < len(x.placed); {
			to := x.takes(p, plan, from)
			h := plan.at[p.members[x.placed[from]]]
			used = x.programme.offer(fixed(x.gone[h])*fixedOne) || used
			from = to
		}
		if !x.loosen() && !used {
			return
		}
	}
}

// measurePlan counts the victims of a plan on every host, and finds the tier of each.
func (x *priceBook) measurePlan(p *pricer, plan *incumbent) {
	x.gone = rows.Zeros(x.gone, len(p.hosts))
	for _, u := range plan.chosen {
		for _, i := range p.tasksOf(u) {
			if h := p.cands[i].host; h >= 0 {
				x.gone[h]++
			}
		}
	}
	x.tierOf = rows.Zeros(x.tierOf, len(p.hosts))
	at := 0
	for i := range p.tiers.list {
		for range p.tiers.list[i].hosts {
			x.tierOf[p.tiers.order[at]] = int32(i)
			at++
		}
	}
	x.placed = x.placed[:0]
	for i := range p.members {
		x.placed = append(x.placed, int32(i))
	}
	slices.SortFunc(x.placed, func(i, j int32) int {
		return cmp.Or(cmp.Compare(plan.at[p.members[i]], plan.at[p.members[j]]), cmp.Compare(i, j))
	})
}

// takes makes a column of what a host of a plan takes, the items of x.placed[from:end],
// and returns that end.
func (x *priceBook) takes(p *pricer, plan *incumbent, from int) (end int) {
	clear(x.programme.column)
	h := plan.at[p.members[x.placed[from]]]
	for end = from; end < len(x.placed) && plan.at[p.members[x.placed[end]]] == h; end++ {
		x.count(x.placed[end])
	}
	x.programme.column[2*x.groups()+int(x.tierOf[h])] = fixedOne
	return end
}

// count adds an item to the column.
func (x *priceBook) count(i int32) {
	g := int(x.groupOf[i])
	x.programme.column[g] += fixedOne
	x.programme.column[x.groups()+g] += x.more[i]
}

// loosen offers to meet needs by more than there is, and limits by less. It reports
// whether that is of use.
func (x *priceBook) loosen() (any bool) {
	m := &x.programme
	for r := range m.rows {
		need := r < 2*x.groups()
		if need && m.worth[r] >= 0 || !need && m.worth[r] <= 0 {
			continue
		}
		// Of a need that is worth less than nothing the more is met the better, and of a
		// limit that is worth something the less is used.
		clear(m.column)
		if m.column[r] = fixedOne; need {
			m.column[r] = -fixedOne
		}
		any = m.offer(0) || any
	}
	return any
}

// mayShow reports whether prices could show that so many victims are needed: none
// show more than what the programme costs.
func (x *priceBook) mayShow(victims int64) bool {
	return x.programme.value() > fixed(victims-1)*fixedOne
}

// appendPrices appends the prices of all items for this turn. They are those of the
// programme, or halfway between these and the best that there were: those of the
// programme alone swing from turn to turn.
func (x *priceBook) appendPrices(dst []int32) []int32 {
	for r := range x.asked {
		x.asked[r] = max(x.programme.worth[r], 0)
		if x.near {
			x.asked[r] = (x.asked[r] + x.center[r]) / 2
		}
	}
	groups := x.groups()
	most := int64(1) << 30 / int64(len(x.groupOf)) // all of them together are within int32
	for i, g := range x.groupOf {
		price := x.asked[g] + x.asked[groups+int(g)].times(x.more[i])
		dst = append(dst, int32(min(int64(price/(fixedOne/onePrice)), most)))
	}
	return dst
}

// learn offers the hosts that take more than their prices say, and reports whether
// there is anything new.
func (x *priceBook) learn(p *pricer) bool {
	// Prices are kept in victims, so that turns with other units compare.
	if shown := fixedOf(max(p.saved(), 0), p.unit); shown > x.shown {
		x.shown = shown
		for r := range x.center {
			x.center[r] = x.asked[r].times(fixedOf(onePrice, p.unit))
		}
	}
	any := x.learnColumns(p)
	any = x.loosen() || any
	// If nothing is new near the center there may be something further off.
	if near := x.near; !any && near {
		x.near = false
		return true
	}
	x.near = any && x.shown > 0
	return any
}

// learnColumns offers what every tier takes at most by the prices of this turn, with
// every number gone.
func (x *priceBook) learnColumns(p *pricer) (any bool) {
	p.findParcels()
	for i := range p.parcels {
		parcel := &p.parcels[i]
		clear(x.programme.column)
		for _, item := range parcel.items {
			x.count(item)
		}
		x.programme.column[2*x.groups()+int(parcel.tier)] = fixedOne
		any = x.programme.offer(fixed(parcel.gone)*fixedOne) || any
	}
	return any
}
