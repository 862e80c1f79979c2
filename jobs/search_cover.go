// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/units"
	"github.com/go-preempt/preempt/resources"
)

// A coverer states covering problems and has them solved: which units must go so
// that some members have room on some hosts. A problem has a need for each queue
// that is short, then one for each host that is. Engines state it call by call,
// in this order: begin, needQueue, needHost, offer, run.
type coverer struct {
	*jobCase
	*effort
	problem units.Problem
	rows    []int32 // what the units of the problem are, as rows of units
	stated  []int32 // hosts that have a need
	needOf  []int32 // the need of each host, or -1
	lists   []int32 // the needs of tasks, one list after another
	pieces  []units.Part
	short   []int64 // of hosts
	wanted  resources.Vector

	worker units.Worker
	found  units.Selection
}

// reset makes the coverer that of a case whose hosts have changed.
func (x *coverer) reset() {
	x.stated = x.stated[:0]
	x.needOf = rows.Zeros(x.needOf, len(x.hosts))
	for h := range x.needOf {
		x.needOf[h] = -1
	}
}

// begin states a problem without needs and units.
func (x *coverer) begin(bounds []units.Bound, soft []int64) {
	for _, h := range x.stated {
		x.needOf[h] = -1
	}
	x.stated, x.rows, x.lists, x.pieces = x.stated[:0], x.rows[:0], x.lists[:0], x.pieces[:0]
	x.wanted = rows.Zeros(x.wanted, x.types)
	x.problem = units.Problem{
		Needs: x.problem.Needs[:0], Units: x.problem.Units[:0], Bounds: bounds, Budgets: soft,
		Order: x.order, Wanted: x.wanted, Capacity: x.c.Capacity(),
	}
}

// needQueue states what the next queue of the case's needs is short of.
func (x *coverer) needQueue(short resources.Vector) {
	x.problem.Needs = append(x.problem.Needs, short)
}

// needHost states what a host is short of, once all queues are stated.
func (x *coverer) needHost(h int32, short resources.Vector) {
	x.needOf[h] = int32(len(x.problem.Needs))
	x.stated = append(x.stated, h)
	x.problem.Needs = append(x.problem.Needs, short)
	resources.Add(x.wanted, x.wanted, short)
}

// offer states that a unit can cover needs.
func (x *coverer) offer(u int32) {
	unit := &x.units[u]
	x.rows = append(x.rows, u)
	x.problem.Units = append(x.problem.Units, unit.Unit)
	x.aim(&x.problem.Units[len(x.problem.Units)-1], unit)
}

// offerWithin is offer for a unit that a ceiling admits: its rank and its
// priority do not count.
func (x *coverer) offerWithin(u int32) {
	x.offer(u)
	stated := &x.problem.Units[len(x.problem.Units)-1]
	stated.Levels[rulebook.LevelRank], stated.Levels[rulebook.LevelPriority] = 0, 0
}

// aim sets the needs that a unit counts for in this problem.
func (x *coverer) aim(stated *units.Unit, u *unit) {
	tasks := x.tasks[u.first:u.end]
	if len(u.Parts) == 0 {
		stated.Needs = x.needsOf(&x.cands[tasks[0]])
		return
	}
	// The unit of the case has no needs, and its parts are shared by all problems.
	// So this problem gets copies. If pieces grow and move, those that were stated
	// before keep the old memory, which nobody changes any more.
	from := len(x.pieces)
	x.pieces = append(x.pieces, u.Parts...)
	stated.Parts = x.pieces[from:len(x.pieces):len(x.pieces)]
	for n, i := range tasks { // parts that come after these count something else
		stated.Parts[n].Needs = x.needsOf(&x.cands[i])
	}
}

// needsOf lists the needs that a candidate counts for, ascending.
func (x *coverer) needsOf(c *candidate) []int32 {
	from := len(x.lists)
	for i := c.leaf.Level; i < int32(len(x.needs.queues)); i++ {
		x.lists = append(x.lists, i)
	}
	if c.host >= 0 && x.needOf[c.host] >= 0 {
		x.lists = append(x.lists, x.needOf[c.host])
	}
	return x.lists[from:len(x.lists):len(x.lists)]
}

// helps reports whether any task of a unit counts for a need.
func (x *coverer) helps(u *unit) bool {
	for _, i := range x.tasks[u.first:u.end] {
		c := &x.cands[i]
		if c.leaf.Level < int32(len(x.needs.queues)) || c.host >= 0 && x.needOf[c.host] >= 0 {
			return true
		}
	}
	return false
}

// run solves the problem, and leaves the units in x.found. Nothing is found, nor proven, once
// a decision has to come to its end, or has less left than it takes to state the problem: this
// is the line that ends all engines, for what they do in between is short.
func (x *coverer) run(steps int) {
	switch {
	case len(x.problem.Needs) == 0:
		x.found = units.Selection{Found: true, Proven: true, Units: x.found.Units[:0]}
	case len(x.problem.Units) == 0:
		x.found = units.Selection{Proven: true, Units: x.found.Units[:0]}
	case x.effort.exhausted() || x.price() > x.effort.rest():
		x.found = units.Selection{Units: x.found.Units[:0]}
	default:
		x.worker.Meter = &x.effort.Meter
		x.worker.Least(&x.found, &x.problem, steps)
	}
}

// price returns what it takes to state the problem, in steps.
func (x *coverer) price() int64 {
	return units.StatingWork(len(x.problem.Units), len(x.problem.Needs)*x.types)
}

// onHost solves what must go from one host for what is lacking there, if that is
// anything: of the units that may, by their levels below a ceiling. It reports
// whether that can be. Queues need nothing here.
func (x *coverer) onHost(h int32, lack resources.Vector, bounds []units.Bound, soft []int64, may func(u int32) bool) bool {
	x.begin(bounds, soft)
	if resources.Positive(lack) != 0 {
		for range x.needs.queues {
			x.needQueue(nil)
		}
		x.needHost(h, lack)
		for _, u := range x.unitsOn(h) {
			if may(u) {
				x.offerWithin(u)
			}
		}
	}
	x.run(smallPace)
	return x.found.Found
}

// sums returns what the units cost that were found for so many members on a host.
func (x *coverer) sums(h int32, members int64) (s sums) {
	for _, i := range x.found.Units {
		s.add(&x.order, &x.units[x.rows[i]])
	}
	// An overrun is no sum: this is what these units alone bring about.
	s.levels[rulebook.LevelOverrun] = x.found.Total.Levels[rulebook.LevelOverrun]
	s.rank = s.rank.plus(x.hosts[h].rank, members)
	return s
}

// appendFound appends the units that were found to dst.
func (x *coverer) appendFound(dst []int32) []int32 {
	for _, i := range x.found.Units {
		dst = append(dst, x.rows[i])
	}
	return dst
}

// solve finds the cheapest units for the members of a load, which are on the
// given hosts. Not all members need be placed: what is found then is no dearer
// than what more of them need. If at is not nil it has the places of all, and units that
// run elsewhere stay if victims must be on nodes of the plan.
func (x *coverer) solve(l *load, hosts, at []int32, steps int) {
	x.begin(x.rooms.Bounds, x.budgets.soft)
	for _, short := range x.needs.short {
		x.needQueue(short)
	}
	x.short = rows.Zeros(x.short, len(hosts)*x.types)
	for i, h := range hosts {
		if short := x.row(x.short, i); l.short(short, h) {
			x.needHost(h, short)
		}
	}
	// The larger of what nodes and queues need counts: it is freed once.
	// x.wanted is a view that the problem has, so it must change in place.
	resources.Max(x.wanted, x.wanted, x.needs.most)
	x.spend((len(x.area.units) + len(hosts)) / 4)
	for _, u := range x.area.units {
		if x.helps(&x.units[u]) && (at == nil || !x.onNodes || x.isNear(at, u)) {
			x.offer(u)
		}
	}
	x.run(steps)
}

// A load is what members that have places ask for, on each host.
type load struct {
	*jobCase
	amounts []int64 // a row per host
}

// clear takes all members away.
func (l *load) clear() { l.amounts = rows.Zeros(l.amounts, len(l.hosts)*l.types) }

// of returns what members ask for on a host.
func (l *load) of(h int32) resources.Vector { return l.row(l.amounts, int(h)) }

// put places a member on a host, and take takes it away again.
func (l *load) put(m, h int32) {
	load := l.of(h)
	resources.Add(load, load, l.kindAt(m).size)
}

func (l *load) take(m, h int32) {
	load := l.of(h)
	resources.Sub(load, load, l.kindAt(m).size)
}

// set places every member of todo, on the hosts at.
func (l *load) set(at []int32) {
	l.clear()
	for m, h := range at {
		l.put(int32(m), h)
	}
}

// short sets dst to what a host lacks for the members on it, in types that they
// want, and reports whether that is anything.
func (l *load) short(dst resources.Vector, h int32) (any bool) {
	for t, v := range l.of(h) {
		dst[t] = 0
		// A type that no member there wants may be over-committed: that is no lack.
		if lack := v - l.hosts[h].free[t]; v > 0 && lack > 0 {
			dst[t] = lack
			any = true
		}
	}
	return any
}

// serves returns whether a candidate reduces what its host lacks, what queues lack of
// headroom, and what they lack of quotas.
func (l *load) serves(c *candidate) (node, headroom, quota bool) {
	size := resources.Positive(c.size)
	if c.host >= 0 {
		free, load := l.hosts[c.host].free, l.of(c.host)
		for t := range size.All() {
			node = node || load[t] > 0 && load[t] > free[t]
		}
	}
	// Its level is the lowest queue of the path above it. It makes headroom there and at
	// every queue above.
	for n := c.leaf.Level; n < int32(len(l.needs.queues)); n++ {
		headroom = headroom || l.needs.headroom[n]&size != 0
		quota = quota || l.needs.quota[n]&size != 0
	}
	return node, headroom, quota
}

// mayHost reports whether a host has room for one more member of a kind with
// all of its candidates gone.
func (l *load) mayHost(h int32, k *kind) bool {
	host := &l.hosts[h]
	if !l.takes(h, k) {
		return false
	}
	load := l.of(h)
	for _, t := range k.types {
		if load[t]+k.size[t] > host.all[t] {
			return false
		}
	}
	return true
}
