package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// finish makes a plan of the stand, in which every member has a place and what
// fell makes room for all of them: what is not needed goes back, the most
// valuable first, and the plan is offered. It reports whether the predicate
// accepts it.
func (d *decision) finish() bool {
	x := &d.stand
	d.loadHosts(x.at)
	slices.SortFunc(x.units, func(a, b int32) int { return byCost(&d.units[b], &d.units[a]) })
	left := x.units[:0]
	rest := x.units
	for n, u := range rest {
		d.fall(u, -1)
		if d.roomy(u) && (!d.asks() || d.acceptsWithout(left, rest[n+1:])) {
			continue
		}
		d.fall(u, +1)
		left = append(left, u)
	}
	x.units = left
	d.spareWholes()
	if d.asks() && !d.acceptsAll(x.at, x.units) {
		return false
	}
	total := d.totalOf(x.units, d.wantedFor())
	d.offer(x.at, x.units, &total)
	return true
}

// roomy reports whether, with a unit back, there is still room where its tasks
// run, and in their queues.
func (d *decision) roomy(u int32) bool {
	x := &d.stand
	for _, i := range d.fallsOf(u) {
		c := &d.cands[i]
		if c.host >= 0 && d.overfull(c.host) {
			return false
		}
		for n := int(c.leaf.level); n < len(d.needs.queues); n++ {
			if resources.Positive(d.row(x.short, n)) != 0 {
				return false
			}
		}
	}
	return true
}

// covered reports whether what fell makes room for all members, who have places.
func (d *decision) covered() bool {
	d.loadHosts(d.stand.at)
	for _, h := range d.stand.at {
		if d.overfull(h) {
			return false
		}
	}
	return d.queuesCovered()
}

// overfull reports whether members lack room on a host.
func (d *decision) overfull(h int32) bool {
	free, load := d.row(d.stand.free, int(h)), d.row(d.load, int(h))
	for t, v := range load {
		if v > 0 && free[t] < 0 {
			return true
		}
	}
	return false
}

// acceptsWithout asks the predicate about all members with the units in two
// lists, and not the one between them.
func (d *decision) acceptsWithout(left, rest []int32) bool {
	d.chosen = append(append(d.chosen[:0], left...), rest...)
	return d.acceptsAll(d.stand.at, d.chosen)
}

// wantedFor returns what members need beyond what is free, as it counts for the
// cost.
func (d *decision) wantedFor() resources.Vector {
	wanted := resources.Vector(d.block(1))
	short := resources.Vector(d.block(1))
	for h := range d.hosts {
		if d.shortOf(short, int32(h)) {
			wanted = resources.Add(wanted, wanted, short)
		}
	}
	return resources.Max(wanted, wanted, d.needs.most)
}

// polish looks for the cheapest units for the places of the stand, where there
// are few to choose from, and offers what it finds.
func (d *decision) polish() {
	const most = 64
	used, units := d.trial.used[:0], 0
	for h := range d.hosts {
		if resources.Positive(d.row(d.load, h)) != 0 {
			used = append(used, int32(h))
			units += len(d.unitsOn(int32(h)))
		}
	}
	d.trial.used = used
	if units > most || d.needs.open() && len(d.units) > most {
		return
	}
	d.solve(used, d.smallBudget())
	if d.pose.found.Found {
		d.offerFound(d.stand.at)
	}
}
