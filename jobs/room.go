package jobs

import "github.com/go-preempt/preempt/victims"

// Members that are alike are placed one kind at a time: on a host they need so
// much room beside what is free there, and for that some units there must fall.

// lackOf sets d.grown.need to what n more members of the kind at hand lack on
// a host beside what is free, and reports whether that is anything.
func (d *decision) lackOf(free []int64, n int64) (any bool) {
	x := &d.grown
	k := &d.kinds[x.kind]
	x.need = zeros(x.need, d.types)
	for _, t := range k.types {
		if lack := n*k.size[t] - free[t]; lack > 0 {
			x.need[t], any = lack, true
		}
	}
	return any
}

// leastFor returns sums that no units go below that make room on a host for n
// more members. It reports false where nothing there can make so much.
func (d *decision) leastFor(h int32, free []int64, n int64) (low sums, ok bool) {
	host := &d.hosts[h]
	if !d.lackOf(free, n) {
		return low, true
	}
	units := int64(len(d.unitsOn(h)))
	for t, lack := range d.grown.need {
		if lack == 0 {
			continue
		}
		low.victims = max(low.victims, 1)
		for low.victims <= units && host.most[int(low.victims-1)*d.types+t] < lack {
			low.victims++
		}
	}
	low.ranks = low.victims * host.least[victims.LevelRank]
	return low, low.victims <= units
}

// poseRoom states what must fall on a host for n more members, within bounds,
// and of no units yet. Queues need nothing here.
func (d *decision) poseRoom(h int32, free []int64, n int64) (open bool) {
	if open = d.lackOf(free, n); open {
		for range d.needs.queues {
			d.needQueue(nil)
		}
		d.needHost(h, d.grown.need)
	}
	return open
}
