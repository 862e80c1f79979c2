// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/victims"
)

// protect names who keeps tasks that are counted as needed for a guarantee: the first queue, and
// there the first type, that by itself keeps one, alone or with its job.
func (d *decision) protect(r *Refusal) {
	if d.counts[rulebook.RuleGuarantee] == 0 {
		return
	}
	d.free = d.free[:0]
	for i := range d.cands {
		if d.ruleFor(int32(i)) == rulebook.RuleGuarantee {
			d.free = append(d.free, int32(i))
		}
	}
	r.ProtectedBy = d.firstProtector(func(p *victims.Protector, row int32) {
		b, last := &d.rooms.Bounds[row], int32(-1)
		room := b.Room.Value[p.Type]
		for _, i := range d.free {
			gang, all := d.cands[i].gang, []int32{i}
			if gang < 0 || d.gangs[gang].surplus > 0 {
				gang = -1
			} else if gang == last {
				continue // its members count alike
			} else {
				all = d.members[d.gangs[gang].first:d.gangs[gang].end]
			}
			last = gang
			if gone, eroded := d.lostAt(all, row, p.Type); gone > room+max(b.Extra.At(p.Type)-eroded, 0) {
				if p.Named = true; gang >= 0 {
					p.NoteJob(d.gangs[gang].name, d.gangs[gang].minimum)
				}
			}
		}
	})
}

// protectTogether names a queue that cannot give all of the free candidates, if it comes before the
// one that is named. They are taken out of the rooms.
func (d *decision) protectTogether(r *Refusal) {
	p := d.firstProtector(func(p *victims.Protector, row int32) {
		b := &d.rooms.Bounds[row]
		if b.Room.Value[p.Type]+max(b.Extra.At(p.Type), 0) < 0 {
			gone, eroded := d.lostAt(d.free, row, p.Type)
			p.Named = gone+eroded > 0
		}
	})
	if p.Named && p.Before(&r.ProtectedBy) {
		r.ProtectedBy = p
	}
}

// firstProtector returns the first queue and type that keep says of that it keeps some task.
func (d *decision) firstProtector(keep func(p *victims.Protector, row int32)) victims.Protector {
	for q := range d.tree.All() {
		row, ok := d.rooms.Row(q)
		if !ok {
			continue
		}
		for t := range d.rooms.Bounds[row].Room.Defined.All() {
			p := victims.Protector{Queue: q, Type: t}
			if keep(&p, row); p.Named {
				return p
			}
		}
	}
	return victims.Protector{}
}

// lostAt returns what law 2 counts of some candidates at a bound, and what erodes its room instead.
func (d *decision) lostAt(cands []int32, row int32, t int) (gone, eroded int64) {
	for _, i := range cands {
		c := &d.cands[i]
		if slices.Contains(c.leaf.Bounds, row) {
			gone += c.size.At(t)
		}
		if slices.Contains(c.leaf.Erodes, row) {
			eroded += c.size.At(t)
		}
	}
	return gone, eroded
}
