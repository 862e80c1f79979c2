package jobs

import "slices"

// spareWholes takes of each gang that falls as a whole only what is surplus,
// where that is enough.
func (d *decision) spareWholes() {
	x := &d.stand
	d.wholeUnits = d.wholeUnits[:0]
	for _, u := range x.units {
		if unit := &d.units[u]; unit.whole && d.gangs[unit.gang].surplus > 0 {
			d.wholeUnits = append(d.wholeUnits, u)
		}
	}
	for _, whole := range d.wholeUnits {
		d.spareWhole(whole)
	}
}

func (d *decision) spareWhole(whole int32) {
	x := &d.stand
	d.fall(whole, -1)
	x.units = slices.DeleteFunc(x.units, func(u int32) bool { return u == whole })
	before := len(x.units)
	d.poseStand()
	for u := range d.units {
		if unit := &d.units[u]; unit.gang == d.units[whole].gang && !unit.whole && d.stands(int32(u)) {
			d.offerUnit(int32(u))
		}
	}
	d.run(d.smallBudget())
	d.takeFound()
	if d.pose.found.Found && (!d.asks() || d.acceptsAll(x.at, x.units)) {
		return
	}
	d.takeBack(before)
	d.takeUnit(whole)
}

// poseStand states what queues lack still, and the hosts of the members.
func (d *decision) poseStand() {
	d.beginPose(d.stand.rooms)
	d.needQueues()
	short := zeros(d.pose.short, len(d.hosts)*d.types)
	d.pose.short = short
	for h := range d.hosts {
		if !d.overfull(int32(h)) {
			continue
		}
		free := d.row(d.stand.free, h)
		for t, v := range d.row(d.load, h) {
			if v > 0 {
				short[h*d.types+t] = max(-free[t], 0)
			}
		}
		d.needHost(int32(h), d.row(short, h))
	}
}
