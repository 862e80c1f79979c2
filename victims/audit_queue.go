package victims

import "github.com/go-preempt/preempt/queue"

// This file says what is used of queues and what is left of them.
//
// No sum can overflow. The cluster keeps its usage and capacities in range,
// and the victims counted are some of the tasks in them.

// present returns what q uses at present of type i, without the grants that do
// not count.
func (x *auditCase) present(q queue.ID, i int) int64 {
	u := x.tree.Usage(q)[i]
	for _, id := range x.grants {
		if x.tree.Contains(q, x.c.tasks[id].leaf) {
			u -= x.c.size(id)[i]
		}
	}
	return u
}

// usage returns what q uses of type i before the plan: coming usage, for what
// is leaving may be waited for, but present usage for an ask that holds a
// grant, which has done its waiting.
func (x *auditCase) usage(q queue.ID, i int) int64 {
	u := x.present(q, i)
	if len(x.grants) == 0 {
		u -= x.tree.Preempting(q)[i]
	}
	return u
}

// count adds a victim to what is freed and drawn, or takes it back.
func (x *auditCase) count(id TaskID, sign int64) {
	r := &x.c.tasks[id]
	for i, v := range x.c.size(id) {
		v *= sign
		if r.node == x.plan.Node {
			x.freed[i] += v
		}
		for q := range x.tree.Up(r.leaf) {
			x.taken[int(q)*len(x.size)+i] += v
		}
	}
	for _, row := range x.c.budgetsOf(id) {
		x.drawn[row] += sign
	}
}

// gone returns what the victims have of type i below q.
func (x *auditCase) gone(q queue.ID, i int) int64 { return x.taken[int(q)*len(x.size)+i] }

// left returns what q uses of type i once the victims are gone.
func (x *auditCase) left(q queue.ID, i int) int64 { return x.usage(q, i) - x.gone(q, i) }

// promise returns what law 2 compares for a queue that guarantees g of type i:
// what is left, and what must be.
func (x *auditCase) promise(q queue.ID, i int, g int64) (have, want int64) {
	before, left := x.usage(q, i), x.left(q, i)
	want = min(g, before)
	if !x.tree.Contains(q, x.ask.Queue) {
		return left, want
	}
	if !x.second {
		return left + x.size[i], want
	}
	if x.a.OwnLeaf == OwnMet {
		// A guarantee once met stays met. A queue under its guarantee ends no
		// lower, but in types that the ask uses it may.
		if before < g && x.wants.Has(i) {
			want = min(want, left)
		}
		return left + x.size[i], want
	}
	// What a queue gives up of its own is its own affair: what goes from the own
	// leaf counts only so far as the ask makes up for it.
	own := x.gone(x.ask.Queue, i)
	others := x.gone(q, i) - own
	return before - others + max(0, x.size[i]-own), want
}
