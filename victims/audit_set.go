package victims

import "github.com/go-preempt/preempt/queue"

// This file audits the victims as a set: what is left of the queues, whether
// there is room, and whether fewer would do.
//
// No sum can overflow. The cluster keeps its usage and capacities in range,
// and the victims counted are some of the tasks in them.

// present returns what q uses at present of type i, without the ask's grant.
func (x *audit) present(q queue.ID, i int) int64 {
	u := x.tree.Usage(q)[i]
	if x.held && x.tree.Contains(q, x.grant.Queue) {
		u -= x.grant.Size[i]
	}
	return u
}

// usage returns what q uses of type i before the plan, without the ask's
// grant: coming usage, for what is leaving may be waited for, but present
// usage for an ask that holds a grant, which has done its waiting.
func (x *audit) usage(q queue.ID, i int) int64 {
	u := x.present(q, i)
	if !x.held {
		u -= x.tree.Preempting(q)[i]
	}
	return u
}

// count adds a victim to what is freed, or takes it back.
func (x *audit) count(t *Task, sign int64) {
	for i, v := range t.Size {
		v *= sign
		if t.Node == x.plan.Node {
			x.freed[i] += v
		}
		for q := range x.tree.Up(t.Queue) {
			x.taken[int(q)*len(x.size)+i] += v
		}
	}
}

// left returns what q uses of type i once the victims are gone.
func (x *audit) left(q queue.ID, i int) int64 {
	return x.usage(q, i) - x.taken[int(q)*len(x.size)+i]
}

// room yields each type of the ask for which the node, or a queue on its path,
// from the leaf upwards, has no room once the victims are gone.
func (x *audit) room(yield func(Violation) bool) {
	for i := range x.wants.All() {
		have := x.free[i] + x.freed[i]
		if have >= x.size[i] {
			continue
		}
		v := x.ofNode(LawRoom)
		v.Type, v.HasType, v.Have, v.Want = i, true, have, x.size[i]
		if !yield(v) {
			return
		}
	}
	for q := range x.tree.Up(x.ask.Queue) {
		most := x.tree.Max(q)
		for i := range (most.Defined & x.wants).All() {
			m, _ := most.Bound(i)
			if have := m - x.left(q, i); have < x.size[i] && !yield(ofQueue(LawHeadroom, q, i, have, x.size[i])) {
				return
			}
		}
	}
}

// enough reports whether there is room in all of them.
func (x *audit) enough() bool {
	for range x.room {
		return false
	}
	return true
}

// guarantee yields each queue and type that law 2 protects and the plan takes
// too much of: with the ask counted, less than the guarantee is left, and less
// than there was.
func (x *audit) guarantee(yield func(Violation) bool) {
	if x.required() {
		return
	}
	for q := range x.tree.All() {
		if !x.keeps(q, yield) {
			return
		}
	}
}

// keeps yields the types in which q breaks law 2. It returns what yield does.
func (x *audit) keeps(q queue.ID, yield func(Violation) bool) bool {
	guaranteed := x.tree.Guaranteed(q)
	for i := range guaranteed.Defined.All() {
		g, _ := guaranteed.Bound(i)
		want := min(g, x.usage(q, i))
		have := x.left(q, i)
		if have >= want {
			continue // with any ask, however large
		}
		if x.tree.Contains(q, x.ask.Queue) {
			have += min(x.size[i], want-have) // no more than to be enough
		}
		if have < want && !yield(ofQueue(LawGuarantee, q, i, have, want)) {
			return false
		}
	}
	return true
}

// accepts asks the caller's predicate about the plan with these victims.
func (x *audit) accepts(victims []TaskID) bool {
	return x.a.Predicate == nil || x.a.Predicate(x.ask, x.plan.Node, victims)
}

// minimal yields each victim that can be given back: without it there is room
// still, and the predicate accepts the others. Laws cannot stand in the way,
// for no law is broken by taking less.
func (x *audit) minimal(yield func(Violation) bool) {
	if !x.enough() {
		return
	}
	for n, id := range x.victims {
		t := x.c.TaskView(id)
		x.count(&t, -1)
		given := x.enough() && x.accepts(x.without(n))
		x.count(&t, +1)
		if given && !yield(Violation{Law: LawMinimal, Task: id, Victim: t.Key}) {
			return
		}
	}
}

// optedOut yields each victim that opted out, where another task, which did
// not, would do in its place: then another plan needs fewer of them (law 1).
func (x *audit) optedOut(yield func(Violation) bool) {
	for n, id := range x.victims {
		t := x.c.TaskView(id)
		if !t.OptedOut {
			continue
		}
		x.count(&t, -1)
		instead, ok := x.instead(n)
		x.count(&t, +1)
		if ok && !yield(Violation{Law: LawOptedOut, Task: id, Victim: t.Key, Instead: instead}) {
			return
		}
	}
}

// instead returns the first by key of the opted-in tasks that would do in the
// place of victim n, which is not counted.
func (x *audit) instead(n int) (key string, ok bool) {
	for id := range x.c.Tasks() {
		t := x.c.TaskView(id)
		if t.State != Running || t.OptedOut || x.isListed(id) || ok && t.Key > key {
			continue
		}
		x.count(&t, +1)
		if x.wouldDo(id, &t, n) {
			key, ok = t.Key, true
		}
		x.count(&t, -1)
	}
	return key, ok
}

// wouldDo reports whether the plan is lawful with t, which is counted, in the
// place of victim n. Law 2 is asked of the queues that lose by the exchange.
func (x *audit) wouldDo(id TaskID, t *Task, n int) bool {
	if !x.enough() {
		return false
	}
	lawful := true
	fail := func(Violation) bool {
		lawful = false
		return false
	}
	x.judge(id, t, fail)
	for q := range x.tree.Up(t.Queue) {
		if lawful && !x.required() {
			x.keeps(q, fail)
		}
	}
	x.rest = append(x.without(n), id)
	return lawful && x.accepts(x.rest)
}

// without returns the victims but for one, in memory that the next call reuses.
func (x *audit) without(n int) []TaskID {
	x.rest = append(append(x.rest[:0], x.victims[:n]...), x.victims[n+1:]...)
	return x.rest
}
