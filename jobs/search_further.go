package jobs

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A furtherer places the members beyond the minimum, on what a plan leaves. None
// of them costs a victim.
type furtherer struct {
	*jobCase
	asker *asker
	left  []int64 // free on every host
	used  []int64 // by every queue of the path, from the leaf upwards
	gone  []victims.TaskID
	size  resources.Vector // scratch of sizeOf
	// domain is that of the members, if the job requires one: -1 as long as
	// nobody has a place.
	domain int32
}

// place places the members beyond the minimum one after another, each on the
// first node with room and only if the quotas admit it, all at the moment of the
// plan: what its victims have is free then.
func (x *furtherer) place(p *Plan, m moment) {
	// Most jobs want their minimum and no more.
	if len(x.further) == 0 {
		return
	}
	// They come after the minimum, and so take only what the plan leaves over.
	x.enterPlan(p, m)
	for _, i := range x.further {
		if h := x.hostFor(p, i); h >= 0 {
			at := x.placement(i, h)
			at.Further = true
			p.Placements = append(p.Placements, at)
			// Each is there for those after it.
			x.enterMember(i, h)
		}
	}
}

// enterPlan works out how things are after a plan.
func (x *furtherer) enterPlan(p *Plan, m moment) {
	x.gate.read(m)
	x.left, x.used, x.gone = x.left[:0], x.used[:0], x.gone[:0]
	for h := range x.hosts {
		x.left = append(x.left, x.hosts[h].freeAt(m)...)
	}
	for q := range x.tree.Up(x.job.Queue) {
		for t := range x.types {
			x.used = append(x.used, x.gate.usage(q, t, m))
		}
	}
	for i := range p.Victims {
		x.enterVictim(p.Victims[i].Task)
	}
	// The first member that has a place binds those after it to its domain.
	x.domain = x.domains.base
	for _, at := range p.Placements {
		x.enterMember(at.Member, x.hostAt(at.Node))
	}
}

// enterVictim takes a victim off its node and its queues.
func (x *furtherer) enterVictim(id victims.TaskID) {
	t := x.c.TaskView(id)
	// The predicate is shown all victims with every member.
	x.gone = append(x.gone, id)
	x.gate.ledger.Remove(&t)
	if h := x.hostAt(t.Node); h >= 0 {
		left := x.row(x.left, int(h))
		resources.Add(left, left, t.Size)
	}
	level := 0
	for q := range x.tree.Up(x.job.Queue) {
		// A victim counts in the queues that the path shares with its own, from
		// the first of them up to the root.
		if used := x.row(x.used, level); x.tree.Contains(q, t.Queue) {
			resources.Sub(used, used, t.Size)
		}
		level++
	}
}

// enterMember counts a member that is placed on a host.
func (x *furtherer) enterMember(i int, h int32) {
	size := x.sizeOf(i)
	left := x.row(x.left, int(h))
	resources.Sub(left, left, size)
	for level := range len(x.used) / max(x.types, 1) {
		used := x.row(x.used, level)
		resources.Add(used, used, size)
	}
	if x.job.Domain > 0 {
		x.domain = x.domains.of[h]
	}
	// The books of quotas only look at what is named here.
	x.gate.ledger.Add(&victims.Task{Queue: x.job.Queue, Size: size, NonPreemptible: x.job.NonPreemptible})
}

// sizeOf returns the size of a member with an amount of every type. It is good
// until the next call.
func (x *furtherer) sizeOf(i int) resources.Vector {
	x.size = rows.Zeros(x.size, x.types)
	copy(x.size, x.job.Members[i].Size)
	return x.size
}

// hostFor returns the first host for one more member, or -1.
func (x *furtherer) hostFor(p *Plan, i int) int32 {
	size := x.sizeOf(i)
	// Queues are asked once and not for each host: they don't care where it runs.
	if !x.gate.admits(Claim{Rem: size, NonPreemptible: x.job.NonPreemptible}) || !x.underMax(size) {
		return -1
	}
	best := int32(-1)
	for h := range int32(len(x.hosts)) {
		if x.comesBefore(h, best) && x.hasRoom(h, i, size) && x.accepts(p, i, x.hosts[h].id) {
			// Hosts are in node order, so the first will do. As long as no
			// member has a place, a later host of an earlier domain is better.
			if best = h; x.job.Domain == 0 || x.domain >= 0 {
				break
			}
		}
	}
	return best
}

// comesBefore reports whether a host may be used, and comes before the best one
// so far, if there is one: the first domain comes first, then the first node.
func (x *furtherer) comesBefore(h, best int32) bool {
	switch {
	case x.job.Domain == 0:
		return true
	case x.domain >= 0:
		return x.domains.of[h] == x.domain
	}
	return best < 0 || x.domains.of[h] < x.domains.of[best]
}

// hasRoom reports whether a host may take a member and has room for its size.
func (x *furtherer) hasRoom(h int32, member int, size resources.Vector) bool {
	return fitsTypes(size, x.row(x.left, int(h)), resources.Positive(size)) && x.takesMember(h, member)
}

// underMax reports whether no queue of the path passes its max with one more
// member.
func (x *furtherer) underMax(size resources.Vector) bool {
	level := 0
	for q := range x.tree.Up(x.job.Queue) {
		if !x.underMaxOf(q, x.row(x.used, level), size) {
			return false
		}
		level++
	}
	return true
}

func (x *furtherer) underMaxOf(q queue.ID, used, size resources.Vector) bool {
	most := x.tree.Max(q)
	// A max of a type that the member does not want binds nobody here.
	for t := range (most.Defined & resources.Positive(size)).All() {
		if used[t]+size[t] > most.Value[t] {
			return false
		}
	}
	return true
}

// fitsTypes reports whether size is no more than left in some types.
func fitsTypes(size, left resources.Vector, types resources.Mask) bool {
	for t := range types.All() {
		if size[t] > left[t] {
			return false
		}
	}
	return true
}

// accepts asks the caller's predicate about a member beyond the minimum.
func (x *furtherer) accepts(p *Plan, i int, n victims.NodeID) bool {
	if x.asker.predicate == nil {
		return true
	}
	q := &x.asker.placing
	q.Job, q.Member, q.Node, q.Moment = x.job, i, n, x.asker.moment
	q.Before = append(q.Before[:0], p.Placements...)
	q.Victims = append(q.Victims[:0], x.gone...)
	return x.asker.predicate(q)
}
