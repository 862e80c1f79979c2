package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// A trial is one way to place the members in the making, with what it costs so
// far, for searches that look at all ways.
type trial struct {
	*jobCase
	*effort
	cover *coverer
	best  *incumbent
	load  load

	at     []int32 // the host of each member of todo
	used   []int32 // hosts with members, in the order of their first
	count  []int32 // members of each host; it is in used if this is not 0
	taken  int     // steps, those of covering problems included
	most   int     // steps that it may take
	proven bool    // nothing was cut short
	chosen []int32 // scratch: units
}

// begin prepares a search in which no member has a place yet.
func (x *trial) begin(steps int) {
	x.load.clear()
	x.at = rows.Zeros(x.at, len(x.todo))
	x.used, x.count = x.used[:0], rows.Zeros(x.count, len(x.hosts))
	x.taken, x.most, x.proven = 0, steps, true
}

// put places a member of todo on a host, and take takes it away again. The
// last that was put is taken first.
func (x *trial) put(m, h int32) {
	x.at[m] = h
	if x.count[h]++; x.count[h] == 1 {
		x.used = append(x.used, h)
	}
	x.load.put(m, h)
}

func (x *trial) take(m, h int32) {
	if x.count[h]--; x.count[h] == 0 {
		x.used = x.used[:len(x.used)-1]
	}
	x.load.take(m, h)
}

// step counts a step, and reports whether there is one left.
func (x *trial) step() bool {
	if x.taken >= x.most || x.Left <= 0 {
		x.proven = false
		return false
	}
	x.taken++
	return true
}

// enough reports whether any plan will do and there is one.
func (x *trial) enough() bool {
	if x.eager && x.best.found {
		x.proven = false
		return true
	}
	return false
}

// promising reports whether the members placed so far have a plan that is not
// dearer than the best. What more members need costs no less in the levels.
func (x *trial) promising() bool {
	x.solve()
	s := &x.cover.found
	if !s.Found {
		return !s.Proven // a search that was cut short knows of no reason to stop
	}
	if !s.Proven || !x.best.found || s.Total.Units == 0 {
		return true
	}
	// Levels only grow with more members; the excess does not, for what one frees
	// too much another may need. So a branch ends by levels alone, and goes on if
	// they are equal.
	return slices.Compare(s.Total.Levels[:], x.best.levels[:]) <= 0
}

// solve finds the cheapest units for the members that are placed.
func (x *trial) solve() {
	x.cover.solve(&x.load, x.used, max(min(x.most-x.taken, pace), 1))
	x.taken += x.cover.found.Steps
	x.proven = x.proven && x.cover.found.Proven
}

// A completer searches all ways to place the members, by branch and bound: a
// branch ends if what its members need costs more than the best plan already.
type completer struct {
	trial
}

// complete searches for the cheapest plan, as far as a number of steps goes, and
// offers what it finds beside what is there already. It reports whether it looked
// at all that could matter.
//
// Members of a kind are placed in their order on hosts in node order: other ways
// differ only in which of them is where, and come later.
func (x *completer) complete(steps int) bool {
	x.begin(steps)
	x.descend(0)
	return x.proven
}

// descend places the members sorted[i:].
func (x *completer) descend(i int) {
	if x.enough() {
		return
	}
	if i == len(x.sorted) {
		if x.solve(); x.cover.found.Found {
			x.chosen = x.cover.appendFound(x.chosen[:0])
			x.best.offer(x.at, x.chosen, &x.cover.found.Total)
		}
		return
	}
	m := x.sorted[i]
	k := x.kindOf[m]
	// Alike members never go back in node order: each multiset of hosts is looked
	// at once, and not once for every order of its members.
	from := int32(0)
	if i > 0 && x.kindOf[x.sorted[i-1]] == k {
		from = x.at[x.sorted[i-1]]
	}
	x.spend(len(x.hosts))
	for h := from; h < int32(len(x.hosts)); h++ {
		if !x.load.mayHost(h, &x.kinds[k]) {
			continue
		}
		if !x.step() {
			return
		}
		x.put(m, h)
		// The last member needs no bound: descend solves the very same problem.
		if i+1 == len(x.sorted) || x.promising() {
			x.descend(i + 1)
		}
		x.take(m, h)
	}
}

// A persuader looks for a plan that the caller's predicate accepts, after it has
// refused the best one. It is a completer with the predicate in the loop: members
// are placed in the order of the job, for the predicate may tell apart what is
// alike.
type persuader struct {
	trial
	asker    *asker
	finisher *finisher
	clear    *clearer
	refused  bool // a set of victims that is enough
}

// small reports whether all ways to place the members can be looked at.
func (x *persuader) small() bool {
	// As much as a small case without a predicate. In the towns of BenchmarkTowns an
	// eighth of it leads to the same plans and proofs.
	const most = 1 << 14
	ways := 1
	for range x.todo {
		if ways *= max(len(x.hosts), 1); ways > most {
			return false
		}
	}
	return true
}

// complete offers the cheapest plan that the predicate accepts, as far as a
// number of steps goes. It reports whether that is proven: it looked at all that
// could matter, and of no set of victims that is enough it was told that it is
// not.
func (x *persuader) complete(steps int) bool {
	x.begin(steps)
	x.refused = false
	x.descend(0)
	return x.proven && !x.refused
}

// descend places the members todo[i:].
func (x *persuader) descend(i int) {
	if x.enough() {
		return
	}
	if i == len(x.todo) {
		x.settle()
		return
	}
	m := int32(i)
	x.spend(len(x.hosts))
	for h := range int32(len(x.hosts)) {
		if !x.load.mayHost(h, x.kindAt(m)) {
			continue
		}
		if !x.step() {
			return
		}
		x.put(m, h)
		// What it refuses with everybody gone it always refuses, so the branch ends.
		if x.asker.conceives(x.at[:i+1]) && (i+1 == len(x.todo) || x.promising()) {
			x.descend(i + 1)
		}
		x.take(m, h)
	}
}

// settle offers the cheapest plan for the places of the trial that the predicate
// accepts. If it refuses the cheapest victims, these places are tried once more
// with everybody gone who may, and then trimmed.
func (x *persuader) settle() {
	x.solve()
	if !x.cover.found.Found {
		return
	}
	x.chosen = x.cover.appendFound(x.chosen[:0])
	if x.asker.acceptsAll(x.at, x.chosen) {
		x.best.offer(x.at, x.chosen, &x.cover.found.Total)
		return
	}
	// It may have refused for a task that still runs there. Fewer victims will not
	// do then, but more may.
	x.refused = true
	p := x.finisher.partial
	p.begin()
	p.chooseAll(x.clear.sortedUnits(byCost))
	p.seatAll(x.at)
	if x.finisher.covered() && x.asker.acceptsAll(p.at, p.chosen) {
		x.finisher.finish()
	}
}
