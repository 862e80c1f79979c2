package jobs

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// afterwards is how things are after a plan, as members beyond the minimum find
// them.
type afterwards struct {
	left []int64 // free on every host
	used []int64 // by every queue of the path, from the leaf upwards
	gone []victims.TaskID
}

// placeFurther places the members beyond the minimum one after another, each
// on the first node with room and only where the quotas admit it, all at the
// moment of the plan: what its victims have is free then. None of them costs a
// victim.
func (d *decision) placeFurther(dst *Decision, m moment) {
	if len(d.further) == 0 {
		return
	}
	p := &dst.Plan
	d.enterPlan(p, m)
	for _, i := range d.further {
		if h := d.hostForFurther(p, i); h >= 0 {
			p.Placements = append(p.Placements, Placement{Member: i, Node: d.hosts[h].id, Further: true})
			d.enterMember(i, h)
		}
	}
}

// enterPlan works out how things are after a plan.
func (d *decision) enterPlan(p *Plan, m moment) {
	x := &d.after
	d.read(m)
	x.left, x.used, x.gone = x.left[:0], x.used[:0], x.gone[:0]
	for h := range d.hosts {
		x.left = append(x.left, d.hosts[h].freeAt(m)...)
	}
	for q := range d.tree.Up(d.job.Queue) {
		for t := range d.types {
			x.used = append(x.used, d.usageAt(q, t, m))
		}
	}
	for i := range p.Victims {
		id := p.Victims[i].Task
		t := d.c.TaskView(id)
		x.gone = append(x.gone, id)
		d.ledger.Remove(&t)
		if h := d.hostOf[t.Node]; h >= 0 {
			left := d.row(x.left, int(h))
			resources.Add(left, left, t.Size)
		}
		level := 0
		for q := range d.tree.Up(d.job.Queue) {
			if used := d.row(x.used, level); d.tree.Contains(q, t.Queue) {
				resources.Sub(used, used, t.Size)
			}
			level++
		}
	}
	for _, at := range p.Placements {
		d.enterMember(at.Member, d.hostOf[at.Node])
	}
}

// enterMember counts a member that is placed on a host.
func (d *decision) enterMember(i int, h int32) {
	x := &d.after
	size := d.fullSize(i)
	left := d.row(x.left, int(h))
	resources.Sub(left, left, size)
	for level := range len(x.used) / max(d.types, 1) {
		used := d.row(x.used, level)
		resources.Add(used, used, size)
	}
	d.ledger.Add(&victims.Task{Queue: d.job.Queue, Size: size, NonPreemptible: d.job.NonPreemptible})
}

// fullSize returns the size of a member with an amount of every type. It is good
// until the next call.
func (d *decision) fullSize(i int) resources.Vector {
	d.member = zeros(d.member, d.types)
	copy(d.member, d.job.Members[i].Size)
	return d.member
}

// hostForFurther returns the first host for one more member, or -1.
func (d *decision) hostForFurther(p *Plan, i int) int32 {
	size := d.fullSize(i)
	d.breaches = d.ledger.Admit(d.breaches[:0], Claim{Rem: size, NonPreemptible: d.job.NonPreemptible})
	if len(d.breaches) > 0 || !d.underMax(size) {
		return -1
	}
	wants := resources.Positive(size)
	for h := range d.hosts {
		host := &d.hosts[h]
		if host.only >= 0 && host.only != int32(i) || !fitsTypes(size, d.row(d.after.left, h), wants) {
			continue
		}
		if d.acceptsFurther(p, i, host.id) {
			return int32(h)
		}
	}
	return -1
}

// underMax reports whether no queue of the path passes its max with one more
// member.
func (d *decision) underMax(size resources.Vector) bool {
	level := 0
	for q := range d.tree.Up(d.job.Queue) {
		if !d.underMaxOf(q, d.row(d.after.used, level), size) {
			return false
		}
		level++
	}
	return true
}

func (d *decision) underMaxOf(q queue.ID, used, size resources.Vector) bool {
	most := d.tree.Max(q)
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

// acceptsFurther asks the caller's predicate about a member beyond the minimum.
func (d *decision) acceptsFurther(p *Plan, i int, n victims.NodeID) bool {
	if d.p.Predicate == nil {
		return true
	}
	x := &d.placing
	x.Job, x.Member, x.Node = d.job, i, n
	x.Before = append(x.Before[:0], p.Placements...)
	x.Victims = append(x.Victims[:0], d.after.gone...)
	return d.p.Predicate(x)
}
