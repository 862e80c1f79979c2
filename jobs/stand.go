package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// stand is how far a plan has come that is made step by step: an overlay of
// what it touches.
type stand struct {
	free   []int64       // of every host, with what falls gone and members placed
	rooms  []cover.Bound // what bounds leave
	values []int64       // of rooms
	short  []int64       // of every queue that is short
	fallen []bool        // by candidate
	units  []int32       // that fall
	at     []int32       // the host of each member of todo, or -1
}

// begin makes the stand that of nothing done.
func (d *decision) begin() {
	x := &d.stand
	x.free, x.short = x.free[:0], x.short[:0]
	for h := range d.hosts {
		x.free = append(x.free, d.hosts[h].free...)
	}
	for _, short := range d.needs.short {
		x.short = append(x.short, short...)
	}
	x.fallen = zeros(x.fallen, len(d.cands))
	x.units = x.units[:0]
	x.at = zeros(x.at, len(d.todo))
	for i := range x.at {
		x.at[i] = -1
	}
	d.beginRooms()
}

// beginRooms copies the bounds.
func (d *decision) beginRooms() {
	x := &d.stand
	size := 0
	for _, b := range d.rooms.Bounds {
		size += len(b.Room.Value)
	}
	x.values = slices.Grow(x.values[:0], size)[:0]
	x.rooms = x.rooms[:0]
	for _, b := range d.rooms.Bounds {
		from := len(x.values)
		x.values = append(x.values, b.Room.Value...)
		x.rooms = append(x.rooms, cover.Bound{Room: resources.Limit{
			Value: x.values[from:len(x.values):len(x.values)], Defined: b.Room.Defined,
		}})
	}
}

// fall lets a unit fall, or takes that back where sign is -1.
func (d *decision) fall(u int32, sign int64) {
	x := &d.stand
	unit := &d.units[u]
	for _, i := range d.fallsOf(u) {
		c := &d.cands[i]
		x.fallen[i] = sign > 0
		for _, b := range c.leaf.bounds {
			addTo(x.rooms[b].Room.Value, c.size, -sign)
		}
		if c.host >= 0 {
			addTo(d.row(x.free, int(c.host)), c.size, sign)
		}
		for n := int(c.leaf.level); n < len(d.needs.queues); n++ {
			addTo(d.row(x.short, n), c.size, -sign)
		}
	}
	if unit.gang >= 0 && d.gangs[unit.gang].counted {
		addTo(x.rooms[d.gangs[unit.gang].bounds[0]].Room.Value, unit.takes[:], -sign)
	}
}

// addTo adds sign times v to dst, in the types that dst has.
func addTo(dst, v resources.Vector, sign int64) {
	for t, amount := range v[:min(len(v), len(dst))] {
		dst[t] += sign * amount
	}
}

// takeUnit lets a unit fall for good.
func (d *decision) takeUnit(u int32) {
	d.fall(u, +1)
	d.stand.units = append(d.stand.units, u)
}

// takeBack takes back all units but for the first ones that fell.
func (d *decision) takeBack(before int) {
	x := &d.stand
	for len(x.units) > before {
		last := len(x.units) - 1
		d.fall(x.units[last], -1)
		x.units = x.units[:last]
	}
}

// stands reports whether nothing of a unit has fallen and no bound forbids it.
func (d *decision) stands(u int32) bool {
	x := &d.stand
	for _, i := range d.fallsOf(u) {
		if x.fallen[i] {
			return false
		}
	}
	d.fall(u, +1)
	kept := d.keptBy(u)
	d.fall(u, -1)
	return kept
}

// keptBy reports whether the bounds of a unit are kept.
func (d *decision) keptBy(u int32) bool {
	x := &d.stand
	for _, i := range d.fallsOf(u) {
		for _, b := range d.cands[i].leaf.bounds {
			if negative(x.rooms[b].Room) {
				return false
			}
		}
	}
	g := d.units[u].gang
	return g < 0 || !d.gangs[g].counted || !negative(x.rooms[d.gangs[g].bounds[0]].Room)
}

// negative reports whether a bound is passed.
func negative(l resources.Limit) bool {
	for t := range l.Defined.All() {
		if l.Value.At(t) < 0 {
			return true
		}
	}
	return false
}

// seat places a member on a host.
func (d *decision) seat(m, h int32) {
	x := &d.stand
	x.at[m] = h
	addTo(d.row(x.free, int(h)), d.kinds[d.kindOf[m]].size, -1)
}

// queuesCovered reports whether no queue is short any more.
func (d *decision) queuesCovered() bool {
	for n := range d.needs.queues {
		if resources.Positive(d.row(d.stand.short, n)) != 0 {
			return false
		}
	}
	return true
}

// coverQueues lets the cheapest units fall within the limit that queues need
// still, wherever they run, and reports whether there are enough.
func (d *decision) coverQueues() bool {
	if d.queuesCovered() {
		return true
	}
	d.beginPose(d.stand.rooms)
	d.needQueues()
	for u := range d.units {
		if unit := &d.units[u]; d.grown.limit.admits(&unit.levels) && d.helps(unit) && d.stands(int32(u)) {
			d.offerWithin(int32(u))
		}
	}
	d.run(d.smallBudget())
	d.takeFound()
	return d.pose.found.Found
}

// needQueues states what queues need still.
func (d *decision) needQueues() {
	for n := range d.needs.queues {
		d.needQueue(d.row(d.stand.short, n))
	}
}

// takeFound lets the units fall that were found.
func (d *decision) takeFound() {
	x := &d.pose
	if !x.found.Found {
		return
	}
	for _, i := range x.found.Units {
		d.takeUnit(x.units[i])
	}
}
