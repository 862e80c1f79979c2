package jobs

import (
	"math"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// trial is a search through all ways to place the members, by branch and
// bound.
type trial struct {
	used    []int32 // hosts with members, in the order of their first
	count   []int32 // members of each host
	steps   int
	budget  int
	proven  bool
	refused bool // a set of victims that is enough
}

// complete searches all ways to place the members of todo for the cheapest
// plan, as far as a number of steps goes, and leaves it in d.best, beside what
// is there already. It reports whether it looked at all that could matter.
//
// Members of a kind are placed in their order on hosts in node order, for what
// else there is differs only in which of them is where, and comes later.
func (d *decision) complete(steps int) bool {
	d.beginTrial(steps)
	d.descend(0)
	d.proven = d.trial.proven
	return d.proven
}

// beginTrial prepares a search in which no member has a place yet.
func (d *decision) beginTrial(steps int) {
	d.load = zeros(d.load, len(d.hosts)*d.types)
	d.at = zeros(d.at, len(d.todo))
	x := &d.trial
	x.used, x.count = x.used[:0], zeros(x.count, len(d.hosts))
	x.steps, x.budget, x.proven = 0, steps, true
}

// descend places the members of d.sorted[i:].
func (d *decision) descend(i int) {
	x := &d.trial
	if d.eager && d.best.found {
		x.proven = false
		return
	}
	if i == len(d.sorted) {
		if d.solveTrial(); d.pose.found.Found {
			d.offerFound(d.at)
		}
		return
	}
	m := d.sorted[i]
	k := d.kindOf[m]
	from := int32(0)
	if i > 0 && d.kindOf[d.sorted[i-1]] == k {
		from = d.at[d.sorted[i-1]]
	}
	for h := from; h < int32(len(d.hosts)); h++ {
		if !d.mayHost(h, &d.kinds[k]) {
			continue
		}
		if x.steps >= x.budget {
			x.proven = false
			return
		}
		x.steps++
		d.put(m, h)
		if i+1 == len(d.sorted) || d.promising() {
			d.descend(i + 1)
		}
		d.take(m, h)
	}
}

// mayHost reports whether a host has room for one more member of a kind with
// all of its candidates gone.
func (d *decision) mayHost(h int32, k *kind) bool {
	host := &d.hosts[h]
	if !host.takes(k) {
		return false
	}
	load := d.row(d.load, int(h))
	for _, t := range k.types {
		if load[t]+k.size[t] > host.all[t] {
			return false
		}
	}
	return true
}

// put places a member of todo on a host, and take takes it away again. The
// last that was put is taken first.
func (d *decision) put(m, h int32) {
	x := &d.trial
	d.at[m] = h
	if x.count[h]++; x.count[h] == 1 {
		x.used = append(x.used, h)
	}
	load := d.row(d.load, int(h))
	resources.Add(load, load, d.kinds[d.kindOf[m]].size)
}

func (d *decision) take(m, h int32) {
	x := &d.trial
	if x.count[h]--; x.count[h] == 0 {
		x.used = x.used[:len(x.used)-1]
	}
	load := d.row(d.load, int(h))
	resources.Sub(load, load, d.kinds[d.kindOf[m]].size)
}

// promising reports whether the members placed so far have a plan that is not
// dearer than the best. What more members need costs no less in the levels.
func (d *decision) promising() bool {
	d.solveTrial()
	s := &d.pose.found
	if !s.Found {
		return !s.Proven
	}
	if !s.Proven || !d.best.found || s.Total.Units == 0 {
		return true
	}
	return slices.Compare(s.Total.Levels[:], d.best.levels[:]) <= 0
}

// offerFound offers what was found for some places.
func (d *decision) offerFound(at []int32) {
	x := &d.pose
	d.chosen = d.chosen[:0]
	for _, i := range x.found.Units {
		d.chosen = append(d.chosen, x.units[i])
	}
	d.offer(at, d.chosen, &x.found.Total)
}

// solveTrial finds the cheapest units for the members that are placed.
func (d *decision) solveTrial() {
	x := &d.trial
	d.solve(x.used, max(min(x.budget-x.steps, d.budget()), 1))
	x.steps += d.pose.found.Steps
	x.proven = x.proven && d.pose.found.Proven
}

// budget returns the steps that a search may take.
func (d *decision) budget() int {
	if d.p.Steps > 0 {
		return min(d.p.Steps, math.MaxInt/64)
	}
	return victims.DefaultSteps
}

// ways returns how many ways there are to place the members of todo where
// every host takes all, or the most there is: for each kind the multisets of
// hosts.
func (d *decision) ways() uint64 {
	ways := uint64(1)
	for i := range d.kinds {
		k := &d.kinds[i]
		for n := range uint64(k.end - k.first) {
			// Multisets of n+1 hosts from those of n, times hosts+n, divided
			// by n+1: exact at every step, for each kind by itself.
			hi, lo := bits.Mul64(ways, uint64(len(d.hosts))+n)
			if hi > n {
				return 1<<64 - 1
			}
			ways, _ = bits.Div64(hi, lo, n+1)
		}
	}
	return ways
}
