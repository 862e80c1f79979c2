package jobs

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// closestDomain notes the domain that has room for the most members with
// everybody gone who could; of equals the first. Members are placed one by one, the
// largest first, each on the first host with room.
func (d *decision) closestDomain(r *Refusal) {
	if d.job.Domain == 0 {
		return
	}
	best, most := int32(-1), -1
	d.domains.each(func(row int32) bool {
		// More, and not as many: of equals the first stays.
		if n := d.roomIn(row, nil); n > most {
			best, most = row, n
		}
		return false
	})
	if best < 0 {
		return
	}
	names, _ := d.domains.namesOf(&d.jobCase, d.domains.list[best].node)
	r.Domain = append(r.Domain[:0], names...)
	r.DomainLacks = rows.Zeros(r.DomainLacks, d.types)
	r.DomainRoom = d.roomIn(best, r.DomainLacks)
}

// roomIn counts the members that find room in a domain, and adds the sizes of
// the others to lacks unless that is nil.
func (d *decision) roomIn(row int32, lacks resources.Vector) (members int) {
	hosts := d.domains.hostsOf(row)
	d.space = d.space[:0]
	for _, h := range hosts {
		d.space = append(d.space, d.hosts[h].all...)
	}
	for _, m := range d.sorted {
		k := d.kindAt(m)
		found := false
		for n, h := range hosts {
			left := d.row(d.space, n)
			if found = k.roomFor(left) && d.takes(h, k); found {
				resources.Sub(left, left, k.size)
				members++
				break
			}
		}
		if !found && lacks != nil {
			resources.Add(lacks, lacks, k.size)
		}
	}
	return members
}
