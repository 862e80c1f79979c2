package quota

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// guarantees reports each queue and type of which less is left than law 2 lets
// be.
func (x *inspection) guarantees() {
	for q := range x.tree.All() {
		for t := range x.tree.Guaranteed(q).Defined.All() {
			if have, want := x.used(q, t)-x.gone(q, t), x.floor(q, t); have < want {
				x.report(Violation{Law: LawGuarantee, Queue: q, HasQueue: true, Type: t, HasType: true, Have: have, Want: want})
			}
		}
	}
}

// floor returns what law 2 says must be left to q of a type that it guarantees.
func (x *inspection) floor(q queue.ID, t int) int64 {
	g, _ := x.tree.Guaranteed(q).Bound(t)
	return min(g, x.used(q, t))
}

// set reports victims that can be given back, types of which too much is
// freed, and a task that was spared.
func (x *inspection) set() {
	q := x.o.Queue
	over := false
	for _, id := range x.good {
		t := x.c.TaskView(id)
		if x.needed(&t) {
			continue
		}
		x.report(Violation{Law: LawMinimal, Key: t.Key})
	}
	for i := range x.types {
		over = over || x.short(i) > 0
		if most := x.target[i]; x.a.Overshoot == Exact && most > 0 && x.gone(q, i) > most {
			x.report(Violation{Law: LawExact, Type: i, HasType: true, Have: x.gone(q, i), Want: most})
		}
	}
	if over {
		x.spared()
	}
}

// needed reports whether less of the target would be freed if a victim stayed,
// alone, or with as many members of its gang as have to stay with it.
func (x *inspection) needed(t *victims.Task) bool {
	if g := x.gang(t.Job); g != nil && g.gone > g.spare {
		return g.members[0] != t.Key || !x.comesBack(g) // told of the first member only
	}
	least, q := t.Size, x.o.Queue
	return x.any(least, func(i int) bool { return x.gone(q, i)-least[i] < min(x.target[i], x.gone(q, i)) })
}

// spared reports the first task by key that could be taken as well.
func (x *inspection) spared() {
	var key string
	for w := range x.tree.Leaves(x.o.Queue) {
		if x.busy(w) {
			continue
		}
		for id := range x.c.TasksIn(w) {
			t := x.c.TaskView(id)
			if (key == "" || t.Key < key) && !x.listed[id] && x.couldGo(&t) {
				key = t.Key
			}
		}
	}
	if key != "" {
		x.report(Violation{Law: LawSpared, Key: key})
	}
}

// couldGo reports whether a task of a type of which usage stays over could go,
// too, alone or with what is left of its gang.
func (x *inspection) couldGo(t *victims.Task) bool {
	if t.State != victims.Running || t.RequiredNode {
		return false
	}
	size, budgets, ok := x.goesWith(t)
	if !ok || !x.any(size, func(i int) bool { return x.short(i) > 0 }) {
		return false
	}
	if x.a.Overshoot == Exact && x.any(size, func(i int) bool { return x.target[i] > 0 && size[i] > x.short(i) }) {
		return false
	}
	for q := range x.tree.Up(t.Queue) {
		g := x.tree.Guaranteed(q)
		if x.any(size, func(i int) bool { return g.Defined.Has(i) && x.used(q, i)-x.gone(q, i)-size[i] < x.floor(q, i) }) {
			return false
		}
	}
	return x.affordable(budgets)
}
