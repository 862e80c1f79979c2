// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A furtherer places the members beyond the minimum, on what a plan leaves. None
// of them costs a victim.
type furtherer struct {
	*jobCase
	asker *asker
	left  []int64 // free on every host
	gone  []victims.TaskID
	size  resources.Vector // scratch of sizeOf
	// domain is that of the members, if the job requires one: -1 as long as
	// nobody has a place.
	domain int32
}

// place places the members beyond the minimum one after another, each on the
// first node with room and only if the queues admit it, all at the moment of the
// plan: what its victims have is free then.
func (x *furtherer) place(p *victims.Plan, m moment) {
	// Most jobs want their minimum and no more.
	if len(x.further) == 0 {
		return
	}
	// They come after the minimum, and so take only what the plan leaves over.
	x.enterPlan(p, m)
	for _, i := range x.further {
		if h := x.hostFor(p, i); h >= 0 {
			at := x.placement(i, h)
			at.Extra = true
			p.Places = append(p.Places, at)
			// Each is there for those after it.
			x.enterMember(i, h)
		}
	}
}

// enterPlan works out how things are after a plan.
func (x *furtherer) enterPlan(p *victims.Plan, m moment) {
	x.gate.read(m)
	x.left, x.gone = x.left[:0], x.gone[:0]
	for h := range x.hosts {
		x.left = append(x.left, x.hosts[h].freeAt(m)...)
	}
	for i := range p.Victims {
		x.enterVictim(p.Victims[i].Task)
	}
	// The first member that has a place binds those after it to its domain.
	x.domain = x.domains.base
	for _, at := range p.Places {
		x.enterMember(at.Member, x.hostAt(at.Node))
	}
}

// enterVictim takes a victim off its node and its queues.
func (x *furtherer) enterVictim(id victims.TaskID) {
	t := x.c.TaskView(id)
	// The predicate is shown all victims with every member.
	x.gone = append(x.gone, id)
	x.gate.remove(id)
	if h := x.hostAt(t.Node); h >= 0 {
		addTo(x.row(x.left, int(h)), t.Size, +1)
	}
}

// enterMember counts a member that is placed on a host.
func (x *furtherer) enterMember(i int, h int32) {
	size := x.sizeOf(i)
	addTo(x.row(x.left, int(h)), size, -1)
	if x.job.DomainDepth > 0 {
		x.domain = x.domains.of[h]
	}
	x.gate.change(x.job.Queue, size, x.job.NonPreemptible, +1)
}

// sizeOf returns the size of a member with an amount of every type. It is good
// until the next call.
func (x *furtherer) sizeOf(i int) resources.Vector {
	x.size = rows.Zeros(x.size, x.types)
	copy(x.size, x.job.Members[i].Size)
	return x.size
}

// hostFor returns the first host for one more member, or -1.
func (x *furtherer) hostFor(p *victims.Plan, i int) int32 {
	size := x.sizeOf(i)
	// Queues are asked once and not for each host: they don't care where it runs.
	if !x.gate.admits(size) || !x.gate.hasHeadroom(size) {
		return -1
	}
	best := int32(-1)
	for h := range int32(len(x.hosts)) {
		if x.pay(1); x.stopped() {
			break
		}
		// Hosts are in node order, so the first will do. As long as no member has a
		// place, a later host of an earlier domain is better.
		if x.job.DomainDepth > 0 && (x.domain >= 0 && x.domains.of[h] != x.domain || best >= 0 && x.domains.of[h] >= x.domains.of[best]) {
			continue
		}
		if x.fits(size, h) && x.takesMember(h, i) && x.accepts(p, i, h) {
			if best = h; x.job.DomainDepth == 0 {
				break
			}
		}
	}
	return best
}

// fits reports whether a host has room for a size, in its types.
func (x *furtherer) fits(size resources.Vector, h int32) bool {
	left := x.row(x.left, int(h))
	for t := range resources.Positive(size).All() {
		if size[t] > left[t] {
			return false
		}
	}
	return true
}

// accepts asks about a member beyond the minimum.
func (x *furtherer) accepts(p *victims.Plan, i int, h int32) bool {
	if x.asker.predicate == nil && !x.asksBlockers() {
		return true
	}
	q := &x.asker.question
	q.Places = append(q.Places[:0], p.Places...)
	q.Victims = append(q.Victims[:0], x.gone...)
	return x.asker.accepted(i, h)
}
