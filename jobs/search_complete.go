// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// A completer searches all ways to place the members, by branch and bound: a
// branch ends if what its members need costs more than the best plan already.
//
// Members of a kind are placed in their order on hosts in node order: other ways
// differ only in which of them is where, and come later. With a predicate in the loop
// members are placed in the order of the job, for it may tell apart what is alike.
type completer struct {
	*search
	load load

	order   []int32 // members of todo
	at      []int32 // the host of each member of todo
	busy    []int32 // hosts with members, in the order of their first
	count   []int32 // members of each host; it is in busy if this is not 0
	taken   int     // choices, those of covering problems included
	most    int     // choices that it may make
	end     int64   // of steps: where it ends if these take long and there is no plan
	all     bool    // nothing was cut short
	refused bool    // by the predicate: a set of victims that is enough
	chosen  []int32 // scratch: units
}

// complete searches for the cheapest plan, as far as a number of steps goes, and
// offers what it finds beside what is there already. It reports whether it looked
// at all that could matter, and of no set of victims that is enough was told by a
// predicate that it is not.
func (x *completer) complete(steps int) bool {
	x.load.clear()
	x.at = rows.Zeros(x.at, len(x.todo))
	x.busy, x.count = x.busy[:0], rows.Zeros(x.count, len(x.hosts))
	const perChoice = 128 // steps
	x.taken, x.most, x.all, x.refused = 0, steps, true, false
	if x.end = math.MaxInt64; !x.best.found {
		x.end = x.Used + perChoice*int64(steps)
	}
	x.order = append(x.order[:0], x.sorted...)
	if x.asker.asks() {
		slices.Sort(x.order)
	}
	x.descend(0)
	return x.all && !x.refused
}

// descend places the members order[i:].
func (x *completer) descend(i int) {
	if x.eager && x.best.found {
		x.all = false // any plan will do, and there is one
		return
	}
	if i == len(x.order) {
		x.settle()
		return
	}
	asks := x.asker.asks()
	m := x.order[i]
	k := x.kindAt(m)
	// Alike members never go back in node order: each multiset of hosts is looked
	// at once, and not once for every order of its members.
	hosts := x.area.hosts
	x.spend(len(hosts))
	if i > 0 && !asks && x.kindAt(x.order[i-1]) == k {
		from, _ := slices.BinarySearch(hosts, x.at[x.order[i-1]])
		hosts = hosts[from:]
	}
	for _, h := range hosts {
		if !x.load.mayHost(h, k) {
			continue
		}
		if x.taken >= x.most || x.Used >= x.end || x.Over() {
			x.all = false
			return
		}
		x.taken++
		x.put(m, h)
		// What a predicate refuses with everybody gone it always refuses. The last
		// member needs no bound: descend solves the very same problem.
		if (!asks || x.asker.conceives(x.at[:i+1])) && (i+1 == len(x.order) || x.promising()) {
			x.descend(i + 1)
		}
		x.take(m, h)
	}
}

// put places a member of todo on a host, and take takes it away again. The
// last that was put is taken first.
func (x *completer) put(m, h int32) {
	x.at[m] = h
	if x.count[h]++; x.count[h] == 1 {
		x.busy = append(x.busy, h)
	}
	x.load.put(m, h)
}

func (x *completer) take(m, h int32) {
	if x.count[h]--; x.count[h] == 0 {
		x.busy = x.busy[:len(x.busy)-1]
	}
	x.load.take(m, h)
}

// promising reports whether the members placed so far have a plan that is not
// dearer than the best. What more members need costs no less in levels and work.
func (x *completer) promising() bool {
	x.solve(nil)
	s := &x.cover.found
	if !s.Found {
		return !s.Proven // a search that was cut short knows of no reason to stop
	}
	if !s.Proven || !x.best.found || s.Total.Units == 0 {
		return true
	}
	// Levels and work only grow with more members; the excess does not, for what one
	// frees too much another may need. So a branch ends by levels and work, and goes on
	// if they are equal.
	return cmp.Or(slices.Compare(s.Total.Levels[:], x.best.levels[:]), s.Total.Work.Compare(x.best.cost.Work)) <= 0
}

// solve finds the cheapest units for the members that are placed; see [coverer.solve].
func (x *completer) solve(at []int32) {
	x.cover.solve(&x.load, x.busy, at, max(min(x.most-x.taken, pace), 1))
	x.taken += x.cover.found.Steps
	x.all = x.all && x.cover.found.Proven
}

// settle offers the cheapest plan for the places of all members. If a predicate in the
// loop refuses the cheapest victims, these places are tried once more with everybody
// gone who may, and then trimmed.
func (x *completer) settle() {
	x.solve(x.at)
	if !x.cover.found.Found {
		return
	}
	x.chosen = x.cover.appendFound(x.chosen[:0])
	if !x.asker.asks() || x.asker.acceptsAll(x.at, x.chosen) {
		x.best.offer(x.at, x.chosen, &x.cover.found.Total)
		return
	}
	// It may have refused for a task that still runs there. Fewer victims will not
	// do then, but more may.
	x.refused = true
	p := &x.partial
	p.begin()
	p.chooseAll(p.unitsBy(byCost))
	p.seatAll(x.at)
	if p.covered() && p.accepted() {
		p.finish()
	}
}
