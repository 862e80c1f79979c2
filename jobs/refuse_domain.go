package jobs

import "github.com/go-preempt/preempt/resources"

// closestDomain sets dst to the names of the domain that has room for the most
// members with everybody gone who could; of equals the first. Members are placed
// one by one, the largest first, each on the first host with room.
func (d *decision) closestDomain(dst []string) []string {
	dst = dst[:0]
	if d.job.Domain == 0 {
		return dst
	}
	best, most := int32(-1), -1
	d.eachDomain(func(row int32) bool {
		// More, and not as many: of equals the first stays.
		if n := d.roomIn(row); n > most {
			best, most = row, n
		}
		return false
	})
	if best >= 0 {
		names, _ := d.domainOf(d.domains.list[best].node)
		dst = append(dst, names...)
	}
	return dst
}

// roomIn counts the members that find room in a domain.
func (d *decision) roomIn(row int32) (members int) {
	hosts := d.domains.hostsOf(row)
	d.space = d.space[:0]
	for _, h := range hosts {
		d.space = append(d.space, d.hosts[h].all...)
	}
	for _, m := range d.sorted {
		k := d.kindAt(m)
		for n, h := range hosts {
			left := d.row(d.space, n)
			if k.roomFor(left) && d.takes(h, k) {
				resources.Sub(left, left, k.size)
				members++
				break
			}
		}
	}
	return members
}
