package quota

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// victim audits a victim by itself and counts what it frees.
func (x *inspection) victim(v *victims.Victim) {
	fault := func(law Law) { x.report(Violation{Law: law, Key: v.Key}) }
	id, ok := x.c.Lookup(v.Key)
	if !ok || id != v.Task {
		fault(LawKnown)
		return
	}
	if x.listed[id] {
		fault(LawOnce)
		return
	}
	x.listed[id] = true
	t := x.c.TaskView(id)
	if t.State != victims.Running {
		fault(LawLeaving)
	}
	if t.RequiredNode {
		fault(LawRequiredTask)
	}
	inside := x.tree.Contains(x.o.Queue, t.Queue)
	if !inside {
		fault(LawInside)
	}
	if x.busy(t.Queue) {
		fault(LawEnforced)
	}
	if !x.any(x.unitOf(&t), func(i int) bool { return x.target[i] > 0 }) {
		fault(LawHelpful)
	}
	if t.State != victims.Running {
		return
	}
	for q := range x.tree.Up(t.Queue) {
		for i, size := range t.Size {
			x.taken[int(q)*x.types+i] += size
		}
	}
	if inside {
		x.good = append(x.good, id)
	}
}

// busy reports whether a leaf is, or is below, a queue below the outcome's that
// is being enforced already.
func (x *inspection) busy(leaf queue.ID) bool {
	if x.a.Enforced == nil {
		return false
	}
	for q := range x.tree.Up(leaf) {
		if q == x.o.Queue {
			break
		}
		if x.a.Enforced(q) {
			return true
		}
	}
	return false
}

// any reports whether some amounts have a type of some.
func (x *inspection) any(amounts []int64, some func(int) bool) bool {
	for i, v := range amounts {
		if v > 0 && some(i) {
			return true
		}
	}
	return false
}
