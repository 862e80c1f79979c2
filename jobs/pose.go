package jobs

import (
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// pose is a covering problem in the making, for some members on some hosts: a
// need for each queue that is short, then one for each host that is.
type pose struct {
	problem cover.Problem
	units   []int32 // what the units of the problem are, as rows of decision.units
	hosts   []int32 // those that have a need
	needOf  []int32 // the need of each host, or -1
	rows    []int32 // the needs of tasks, one list after another
	parts   []cover.Part
	short   []int64 // of hosts
	wanted  resources.Vector

	worker cover.Worker
	found  cover.Selection
}

// beginPose states a problem without needs and units.
func (d *decision) beginPose(bounds []cover.Bound) {
	x := &d.pose
	for _, h := range x.hosts {
		x.needOf[h] = -1
	}
	x.hosts, x.units, x.rows, x.parts = x.hosts[:0], x.units[:0], x.rows[:0], x.parts[:0]
	x.wanted = zeros(x.wanted, d.types)
	x.problem = cover.Problem{
		Needs: x.problem.Needs[:0], Units: x.problem.Units[:0], Bounds: bounds,
		Order: victims.PlanOrder(), Wanted: x.wanted, Capacity: d.c.Capacity(),
	}
}

// needQueue states what the next queue of decision.needs is short of.
func (d *decision) needQueue(short resources.Vector) {
	x := &d.pose
	x.problem.Needs = append(x.problem.Needs, cover.Need{Short: short})
}

// needHost states what a host is short of, once all queues are stated.
func (d *decision) needHost(h int32, short resources.Vector) {
	x := &d.pose
	x.needOf[h] = int32(len(x.problem.Needs))
	x.hosts = append(x.hosts, h)
	x.problem.Needs = append(x.problem.Needs, cover.Need{Short: short})
	resources.Add(x.wanted, x.wanted, short)
}

// offerUnit states that a unit can cover needs.
func (d *decision) offerUnit(u int32) {
	x := &d.pose
	x.units = append(x.units, u)
	x.problem.Units = append(x.problem.Units, d.poseUnit(&d.units[u]))
}

// offerWithin is offerUnit where a limit admits the unit, so that its rank and
// its priority do not count.
func (d *decision) offerWithin(u int32) {
	d.offerUnit(u)
	posed := &d.pose.problem.Units[len(d.pose.problem.Units)-1]
	posed.Levels[victims.LevelRank], posed.Levels[victims.LevelPriority] = 0, 0
}

// run solves the problem, and leaves the units in d.pose.found.
func (d *decision) run(steps int) {
	x := &d.pose
	switch {
	case len(x.problem.Needs) == 0:
		x.found = cover.Selection{Found: true, Proven: true, Units: x.found.Units[:0]}
	case len(x.problem.Units) == 0:
		x.found = cover.Selection{Proven: true, Units: x.found.Units[:0]}
	default:
		x.worker.Least(&x.found, &x.problem, steps)
		d.steps += 1 + x.found.Steps
	}
}

// solve finds the cheapest units for the members as they are placed in d.load,
// on the given hosts. Not all members need be placed: what is found then is no
// dearer than what more of them need.
func (d *decision) solve(hosts []int32, steps int) {
	x := &d.pose
	d.beginPose(d.rooms.Bounds)
	for _, short := range d.needs.short {
		d.needQueue(short)
	}
	x.short = zeros(x.short, len(hosts)*d.types)
	for i, h := range hosts {
		if short := d.row(x.short, i); d.shortOf(short, h) {
			d.needHost(h, short)
		}
	}
	// The larger of what nodes and queues need counts: it is freed once.
	resources.Max(x.wanted, x.wanted, d.needs.most)
	for u := range d.units {
		if d.helps(&d.units[u]) {
			d.offerUnit(int32(u))
		}
	}
	d.run(steps)
}

// shortOf sets dst to what a host lacks for the members on it, in types that
// they want, and reports whether that is anything.
func (d *decision) shortOf(dst resources.Vector, h int32) (any bool) {
	load := d.row(d.load, int(h))
	for t, v := range load {
		dst[t] = 0
		if lack := v - d.hosts[h].free[t]; v > 0 && lack > 0 {
			dst[t] = lack
			any = true
		}
	}
	return any
}

// helps reports whether any of what falls with a unit counts for a need.
func (d *decision) helps(u *unit) bool {
	for _, i := range d.falls[u.first:u.end] {
		c := &d.cands[i]
		if c.leaf.level < int32(len(d.needs.queues)) || c.host >= 0 && d.pose.needOf[c.host] >= 0 {
			return true
		}
	}
	return false
}

// poseUnit states one unit. One that is or may be counted against the surplus
// of a gang has a part of its own for that.
func (d *decision) poseUnit(u *unit) cover.Unit {
	posed := cover.Unit{Key: u.key, Size: u.size, Levels: u.levels, Work: u.work}
	counted := u.gang >= 0 && d.gangs[u.gang].counted
	if !u.whole && !counted {
		c := &d.cands[d.falls[u.first]]
		posed.Needs, posed.Bounds = d.needsOf(c), c.leaf.bounds
		return posed
	}
	x := &d.pose
	from := len(x.parts)
	for _, i := range d.falls[u.first:u.end] {
		c := &d.cands[i]
		x.parts = append(x.parts, cover.Part{Size: c.size, Needs: d.needsOf(c), Bounds: c.leaf.bounds})
	}
	if counted {
		x.parts = append(x.parts, cover.Part{Size: u.takes[:], Bounds: d.gangs[u.gang].bounds[:]})
	}
	posed.Parts = x.parts[from:len(x.parts):len(x.parts)]
	return posed
}

// needsOf lists the needs that a candidate counts for, ascending.
func (d *decision) needsOf(c *candidate) []int32 {
	x := &d.pose
	from := len(x.rows)
	for i := c.leaf.level; i < int32(len(d.needs.queues)); i++ {
		x.rows = append(x.rows, i)
	}
	if c.host >= 0 && x.needOf[c.host] >= 0 {
		x.rows = append(x.rows, x.needOf[c.host])
	}
	return x.rows[from:len(x.rows):len(x.rows)]
}
