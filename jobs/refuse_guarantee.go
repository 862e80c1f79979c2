package jobs

import "github.com/go-preempt/preempt/resources"

// countGuaranteed moves candidates that no rule keeps by itself to the count of
// [RuleGuarantee], if law 2 is what refuses the job: with all of them gone there
// is room for every member, but some queue can't give all of its own. It is
// those below such a queue, in a type that it would lose too much of.
//
// Each of them may go alone. That not all of them may is what a caller has to
// know, and no order of taking them says it better.
func (d *decision) countGuaranteed(r *Refusal) {
	d.free = d.free[:0]
	for i := range d.cands {
		if d.ruleFor(int32(i)) == 0 {
			d.free = append(d.free, int32(i))
		}
	}
	if !d.roomWithout(d.free) {
		return
	}
	// All of them are taken out of the rooms at once. What ends below zero is a
	// queue that cannot give so much, and whoever it would lose is counted.
	d.leaveRooms(d.free, -1)
	for _, i := range d.free {
		if d.lostTooMuch(&d.cands[i]) {
			r.Counts[RuleGuarantee]++
			r.Candidates--
		}
	}
	d.leaveRooms(d.free, +1)
}

// lostTooMuch reports whether a queue above a candidate ends below its
// guarantee, by what is left in its room, in a type that the candidate has.
func (d *decision) lostTooMuch(c *candidate) bool {
	for _, rows := range [...][]int32{c.leaf.bounds, c.leaf.erodes} {
		for _, b := range rows {
			bound := &d.rooms.Bounds[b]
			for t := range (bound.Room.Defined & resources.Positive(c.size)).All() {
				if bound.Room.Value.At(t)+max(bound.Extra.At(t), 0) < 0 {
					return true
				}
			}
		}
	}
	return false
}

// roomWithout reports whether all members fit with some candidates gone, whatever
// guarantees say. A search that takes too long for an answer says no.
func (d *decision) roomWithout(gone []int32) bool {
	d.space, d.lack = d.space[:0], d.lack[:0]
	for h := range d.hosts {
		d.space = append(d.space, d.hosts[h].free...)
	}
	for _, short := range d.needs.short {
		d.lack = append(d.lack, short...)
	}
	for _, i := range gone {
		c := &d.cands[i]
		if c.host >= 0 {
			addTo(d.row(d.space, int(c.host)), c.size, +1)
		}
		d.needs.cut(d.lack, c, -1)
	}
	for _, lack := range d.lack {
		if lack > 0 {
			return false
		}
	}
	asker := &d.search.asker
	picky := asker.picky
	asker.picky = false // amounts alone are asked about
	fits := d.pack.packInto(d.space, nil)
	asker.picky = picky
	return fits
}
