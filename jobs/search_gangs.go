// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/internal/gangs"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An exchanger states a case for the solver of gangs, shows it the best plan so far, and
// offers what it finds. What its problem does not say is checked when a plan is offered:
// further bounds, what queues need, and budgets. So a plan may be refused that the solver
// takes for lawful, and none is offered that is not.
type exchanger struct {
	*search
	solver  gangs.Solver
	problem gangs.Problem
	layout  gangs.Layout
	start   gangs.Selection

	wanted  []int     // the types of the problem
	sites   []int32   // hosts
	siteOf  []int32   // by host, or -1
	unitOf  []int32   // by unit, its row in the problem, or -1
	singles []int32   // units, by row of the problem
	wholly  []int32   // whole gangs, by row of the problem
	amounts []int64   // what is wanted of sizes, row by row
	closed  []bool    // by site and kind
	bounds  []bounded // of the rows of the problem
	tight   []bounded // for which plans were refused
	potent  []int64   // what could go of each bound, by type
	cut     int       // bits of work that do not count
	counts  []int32
	list    []int32
	low     []hostCost
}

// mostSites is how many hosts are looked at: of more those that have members, and those where
// the least must go for a member of the largest kind, or of the smallest.
const mostSites = 256

// mostKinds is how many kinds of members there may be: to exchange more takes seconds.
const mostKinds = 128

// exchange looks for cheaper plans than the best one, or for one at all. If plans are refused
// for sums that are not in the problem, it looks once more with these.
func (x *exchanger) exchange() {
	const tries = 3
	x.tight = x.tight[:0]
	for known := -1; known < min(len(x.tight), tries) && x.search.proof == victims.NoProof; {
		known = len(x.tight)
		if x.asker.asks() || !x.state() {
			return
		}
		x.solve()
	}
}

// refine looks a little for plans that cost no less in the levels, and lose less work.
func (x *exchanger) refine() {
	const steps = 1 << 15
	if !x.asker.asks() && x.state() {
		purse := x.purse
		x.purse = steps
		x.solve()
		x.purse = purse
	}
}

// solve has the problem solved.
func (x *exchanger) solve() {
	s := &x.solver
	if s.Offer == nil {
		s.Offer = x.offer
	}
	s.Meter, s.Any = &x.effort.Meter, x.eager
	var start *gangs.Selection
	if x.best.found && x.translate(x.best.at, x.best.chosen) {
		start = &x.start
	}
	if x.purse < 0 { // racks share one
		const part, most = 6, 3 << 20
		if x.purse = most; x.effort.set {
			x.purse = x.most >> part
		}
	}
	before := x.effort.Used
	best, proven := s.Solve(&x.problem, start, min(x.purse, x.rest()))
	x.purse -= x.effort.Used - before
	if proven && x.search.proof == victims.NoProof && x.tells(best) {
		x.search.proof = victims.ProofLevels
	}
}

// tells reports whether the levels of a selection are those of the best plan. They are not if
// a budget is overrun that the problem does not have.
func (x *exchanger) tells(s *gangs.Selection) bool {
	total := x.best.totalOf(x.goingIn(s), x.rem)
	return x.best.found && total.Levels == x.best.levels
}

// goingIn lists the units that go in a selection. It is good until the next call.
func (x *exchanger) goingIn(s *gangs.Selection) []int32 {
	x.list = x.list[:0]
	for _, w := range s.Wholes {
		x.list = append(x.list, x.wholly[w])
	}
	for _, u := range s.Units {
		x.list = append(x.list, x.singles[u])
	}
	return x.list
}

// state states the problem. It reports false if that is of no use.
func (x *exchanger) state() bool {
	if len(x.kinds) > mostKinds || !x.chooseSites() {
		return false
	}
	p := &x.problem
	x.wanted = x.wanted[:0]
	p.Scarce = 0
	scarce := x.scarcest()
	for t := range x.wants.All() {
		if t == scarce {
			p.Scarce = len(x.wanted)
		}
		x.wanted = append(x.wanted, t)
	}
	p.Types, p.Partial = len(x.wanted), len(x.sites) < len(x.area.hosts)
	x.amounts = x.amounts[:0]
	p.Kinds = p.Kinds[:0]
	for i := range x.kinds {
		k := &x.kinds[i]
		p.Kinds = append(p.Kinds, gangs.Kind{Size: x.project(k.size), Count: k.end - k.first})
	}
	p.Gangs = p.Gangs[:0]
	for i := range x.gangs {
		p.Gangs = append(p.Gangs, int32(x.gangs[i].surplus))
	}
	x.listUnits()
	x.listWholes()
	x.layOut()
	x.findRows()
	x.priceAll()
	return p.Types > 0 && len(x.sites) > 0
}

// project returns what a size has of the wanted types.
func (x *exchanger) project(size resources.Vector) []int64 {
	from := len(x.amounts)
	for _, t := range x.wanted {
		x.amounts = append(x.amounts, size.At(t))
	}
	return x.amounts[from:len(x.amounts):len(x.amounts)]
}

// chooseSites chooses the hosts that are sites. It reports false if members are on more of
// them than are looked at.
func (x *exchanger) chooseSites() bool {
	x.siteOf, x.sites = rows.Zeros(x.siteOf, len(x.hosts)), x.sites[:0]
	for h := range x.siteOf {
		x.siteOf[h] = -1
	}
	for _, h := range x.area.hosts {
		if x.takesAny(h) {
			x.sites = append(x.sites, h)
		}
	}
	x.spend(len(x.area.hosts) / 4)
	if len(x.sites) > mostSites {
		if !x.cheapestSites() {
			return false
		}
		x.sites = x.sites[:0]
		for h, s := range x.siteOf {
			if s == 0 {
				x.sites = append(x.sites, int32(h))
			}
		}
	}
	for i, h := range x.sites {
		x.siteOf[h] = int32(i)
	}
	return true
}

// cheapestSites marks those that are looked at.
func (x *exchanger) cheapestSites() bool {
	n := 0
	mark := func(h int32) {
		if x.inArea(h) && x.siteOf[h] < 0 {
			x.siteOf[h] = 0
			n++
		}
	}
	if x.best.found {
		for _, h := range x.best.at {
			mark(h)
		}
		for _, u := range x.best.chosen {
			for _, i := range x.tasksOf(u) {
				mark(x.cands[i].host)
			}
		}
	}
	if n > mostSites*3/4 {
		return false
	}
	for i, k := range [...]*kind{&x.kinds[0], &x.kinds[len(x.kinds)-1]} {
		x.low = x.cheapestFirst(x.low[:0], k.size, func(h int32) bool { return x.siteOf[h] < 0 && x.takes(h, k) })
		for _, o := range x.low[:min(len(x.low), (mostSites-n)/(2-i))] {
			mark(o.host)
		}
	}
	x.spend(2 * len(x.area.hosts))
	return true
}

// listUnits lists the sites and who may go alone there.
func (x *exchanger) listUnits() {
	p := &x.problem
	p.Sites, p.Units, x.singles = p.Sites[:0], p.Units[:0], x.singles[:0]
	x.unitOf = rows.Zeros(x.unitOf, len(x.units))
	x.spend(len(x.area.units) / 8)
	p.Closed = nil
	closed := false
	x.closed = rows.Zeros(x.closed, len(x.sites)*len(x.kinds))
	for s, h := range x.sites {
		from := int32(len(x.singles))
		for _, u := range x.unitsOn(h) {
			unit := &x.units[u]
			if !unit.whole && resources.Positive(unit.Size)&x.wants != 0 {
				x.singles = append(x.singles, u)
			}
		}
		slices.SortFunc(x.singles[from:], func(a, b int32) int { return byCost(&x.units[a], &x.units[b]) })
		p.Sites = append(p.Sites, gangs.Site{Free: x.project(x.hosts[h].free), First: from, End: int32(len(x.singles))})
		for k := range x.kinds {
			if !x.takes(h, &x.kinds[k]) {
				closed, x.closed[s*len(x.kinds)+k] = true, true
			}
		}
	}
	if closed {
		p.Closed = x.closed
	}
	for row, u := range x.singles {
		unit := &x.units[u]
		gang := int32(-1)
		if unit.gang >= 0 && x.gangs[unit.gang].counted {
			gang = unit.gang
		}
		x.unitOf[u] = int32(row)
		p.Units = append(p.Units, gangs.Unit{
			Size: x.project(unit.Size), Gang: gang,
			Rank: unit.Levels[rulebook.LevelRank], Priority: unit.Levels[rulebook.LevelPriority],
		})
	}
}

// listWholes lists the running gangs that may go as a whole and run on some site.
func (x *exchanger) listWholes() {
	p := &x.problem
	p.Wholes, p.Parts, x.wholly = p.Wholes[:0], p.Parts[:0], x.wholly[:0]
	for u := int32(len(x.units) - x.wholes); u < int32(len(x.units)); u++ {
		x.wholly = append(x.wholly, u)
	}
	slices.SortFunc(x.wholly, func(a, b int32) int { return byCost(&x.units[a], &x.units[b]) })
	x.wholly = slices.DeleteFunc(x.wholly, func(u int32) bool {
		unit := &x.units[u]
		first := len(p.Parts)
		for _, i := range x.tasksOf(u) {
			h := x.cands[i].host
			if h < 0 || x.siteOf[h] < 0 {
				continue
			}
			at := first + slices.IndexFunc(p.Parts[first:], func(part gangs.Part) bool { return part.Site == x.siteOf[h] })
			if at < first {
				at = len(p.Parts)
				p.Parts = append(p.Parts, gangs.Part{Site: x.siteOf[h], Size: x.project(nil)})
			}
			for n, t := range x.wanted {
				p.Parts[at].Size[n] += x.cands[i].size.At(t)
			}
		}
		if len(p.Parts) == first {
			return true
		}
		gang := int32(-1)
		if x.gangs[unit.gang].counted {
			gang = unit.gang
		}
		x.unitOf[u] = int32(len(p.Wholes))
		p.Wholes = append(p.Wholes, gangs.Whole{
			Gang: gang, First: int32(first), End: int32(len(p.Parts)),
			Rank: unit.Levels[rulebook.LevelRank], Priority: unit.Levels[rulebook.LevelPriority],
		})
		return false
	})
}

// translate sets x.start to a plan, and reports whether its members are on sites. Whom the
// problem does not have is left out: they go for queues.
func (x *exchanger) translate(at, chosen []int32) bool {
	x.counts = rows.Zeros(x.counts, len(x.sites)*len(x.kinds))
	for m, h := range at {
		if x.siteOf[h] < 0 {
			return false
		}
		x.counts[int(x.siteOf[h])*len(x.kinds)+int(x.kindOf[m])]++
	}
	x.start.Seats = x.start.Seats[:0]
	for i, n := range x.counts {
		if n > 0 {
			x.start.Seats = append(x.start.Seats, gangs.Seat{Site: int32(i / len(x.kinds)), Kind: int32(i % len(x.kinds)), Count: n})
		}
	}
	x.name(&x.start, chosen)
	return true
}

// name sets who goes in a selection.
func (x *exchanger) name(dst *gangs.Selection, chosen []int32) {
	dst.Units, dst.Wholes = dst.Units[:0], dst.Wholes[:0]
	for _, u := range chosen {
		row := x.unitOf[u]
		if x.units[u].whole {
			if int(row) < len(x.wholly) && x.wholly[row] == u {
				dst.Wholes = append(dst.Wholes, row)
			}
		} else if int(row) < len(x.singles) && x.singles[row] == u {
			dst.Units = append(dst.Units, row)
		}
	}
	slices.Sort(dst.Units)
	slices.Sort(dst.Wholes)
}

// offer offers a selection if all laws allow it, and takes away whom it does not need.
func (x *exchanger) offer(s *gangs.Selection) bool {
	p := &x.partial
	p.begin()
	for _, u := range x.goingIn(s) {
		if !p.mayGo(u) {
			x.blame(u)
			return false
		}
		p.choose(u)
	}
	x.counts = rows.Zeros(x.counts, len(x.kinds))
	for _, seat := range s.Seats {
		for range seat.Count {
			k := &x.kinds[seat.Kind]
			p.seat(x.sorted[k.first+x.counts[seat.Kind]], x.sites[seat.Site])
			x.counts[seat.Kind]++
		}
	}
	p.load.set(p.at)
	if slices.ContainsFunc(p.at, p.overfull) {
		return false
	}
	if !p.queuesCovered() {
		total := x.best.totalOf(p.chosen, nil)
		if !p.coverQueues(below(&total.Levels)) && !p.coverQueues(noCeiling()) {
			return false
		}
	}
	if !p.finish() {
		return false
	}
	for b, used := range p.used {
		if overrun := (bounded{what: budgeted, bound: int32(b)}); used > x.budgets.soft[b] && x.budgets.soft[b] > 0 && !slices.ContainsFunc(x.bounds, overrun.is) {
			x.tighten(overrun)
		}
	}
	x.name(s, p.chosen)
	return true
}
