// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"iter"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// roster lists the tasks that may go, leaf by leaf, as leaves are asked, and knows
// who is taken.
type roster struct {
	leaves  []leafRow // of q and the queues below it
	tasks   []taskRow
	sizes   []int64 // of the tasks, a row each
	grants  []string
	own     []victims.Task // views of the tasks, for an order of the caller
	gangs   []gangRow
	gangOf  map[string]int32 // gang by name, or noGang
	budgets []budgetRow      // by name
	spends  bool             // a task names budgets
	unit    resources.Vector // see sizeOf
}

// leafRow is what a roster knows of a queue.
type leafRow struct {
	first, end int32 // its tasks: tasks[first:end]
	gathered   bool
	out        bool  // it is, or is below, a queue that is being enforced already
	packed     int32 // how many nodes walks have given a place; see pack
}

// taskRow is a task that may be taken, with what decides when. It has 40 bytes and
// no pointer: there may be a row for every task of the cluster.
type taskRow struct {
	order     uint64 // what comes before age, the lowest first; see orderOf
	age       int64  // the lowest is the youngest
	id        victims.TaskID
	leaf      queue.ID
	gang      int32 // its row in gangs, or noGang
	next      int32 // another member of the gang, or noTask
	taken     bool  // it is a victim
	asOneUnit bool  // it was taken with the rest of its gang
}

const noTask = -1

// enlist begins with nobody listed.
func (x *enforcement) enlist() {
	r := &x.roster
	r.leaves = rows.Zeros(r.leaves, x.len())
	r.tasks, r.sizes, r.grants, r.own = r.tasks[:0], r.sizes[:0], r.grants[:0], r.own[:0]
	r.gangs, r.budgets = r.gangs[:0], r.budgets[:0]
	if r.gangOf == nil {
		r.gangOf = make(map[string]int32)
	}
	clear(r.gangOf)
	r.spends = false
	for name, b := range x.c.Budgets() {
		r.budgets = append(r.budgets, budgetRow{name: name, left: max(b.Left, 0), hard: b.Hard})
	}
	x.packer.place = x.packer.place[:0]
	for p := x.q + 1; p < trees.End(x.tree, x.q); p++ {
		parent, _ := x.tree.Parent(p)
		x.at(p).out = x.at(parent).out || x.e.Enforced != nil && x.e.Enforced(p)
	}
}

// at returns the row of a queue.
func (x *enforcement) at(p queue.ID) *leafRow { return &x.roster.leaves[p-x.q] }

// task returns the row of a task.
func (x *enforcement) task(i int32) *taskRow { return &x.roster.tasks[i] }

// key returns the key of a task.
func (x *enforcement) key(i int32) string { return x.c.Key(x.task(i).id) }

// size returns the size of a task.
func (x *enforcement) size(i int32) resources.Vector { return rows.At(x.roster.sizes, int(i), x.types) }

// gather lists the tasks of leaf w that may go, and its grants, if that was not
// done. They run, may run elsewhere, and share a type with the target; an
// explicit zero of a type is not sharing it. A member of a gang that could go as
// a whole may go in any case.
func (x *enforcement) gather(w queue.ID) {
	r, row := &x.roster, x.at(w)
	if row.gathered {
		return
	}
	row.gathered, row.first = true, int32(len(r.tasks))
	for id := range x.c.TasksIn(w) {
		x.meter.Pay(1)
		t := x.c.TaskView(id)
		if t.State == victims.Granted {
			r.grants = append(r.grants, t.Key)
		}
		if t.State != victims.Running || t.RequiredNode || x.later(id) != 0 {
			continue
		}
		gang := x.gangOf(&t)
		if x.isAny(t.Size) || gang != noGang && r.gangs[gang].together {
			x.enter(id, gang, &t)
		}
	}
	row.end = int32(len(r.tasks))
}

// later returns the rule that keeps a task for now and ends by itself, or 0.
func (x *enforcement) later(id victims.TaskID) rulebook.Rule {
	return x.timed.Keeps(lent.To(&x.e.Options).Stay(x.c, id))
}

// enter lists a task of some gang.
func (x *enforcement) enter(id victims.TaskID, gang int32, t *victims.Task) {
	r := &x.roster
	row := taskRow{order: x.orderOf(t), id: id, leaf: t.Queue, gang: gang, next: noTask}
	if x.e.CompareTasks == nil {
		row.age = ageOf(t)
	} else {
		r.own = append(r.own, *t)
	}
	if gang != noGang {
		g := &r.gangs[gang]
		row.next, g.last = g.last, int32(len(r.tasks))
	}
	r.spends = r.spends || len(t.Budgets) > 0
	r.tasks = append(r.tasks, row)
	r.sizes = append(r.sizes, t.Size...)
}

// move enters that a task goes, with a sign of 1, or stays after all, with -1.
func (x *enforcement) move(i int32, sign int64) {
	task := x.task(i)
	task.taken = sign > 0
	for t, v := range x.size(i) {
		if v == 0 {
			continue
		}
		v *= sign
		x.above[t] -= v
		for p := task.leaf; ; p, _ = x.tree.Parent(p) {
			at := int(p-x.q)*x.types + t
			x.room[at] -= v
			x.freed[at] += v
			if p == x.q {
				break
			}
		}
	}
	x.spend(i, sign)
	if task.gang != noGang && !task.asOneUnit {
		x.roster.gangs[task.gang].single += int32(sign)
	}
}

// gangRow is a job that has a minimum. As many members as run beyond the minimum may
// go one by one. Those left are one unit: a job below its minimum does no work, so
// that to stop half of it wastes the other half. (DESIGN.md, Quota: gangs.)
type gangRow struct {
	last     int32 // its tasks that are listed, the last one first, linked by next
	spare    int32 // so many members may go one by one
	single   int32 // so many of them have gone one by one
	together bool  // it may go as a whole: all members are in one leaf below q
	gone     bool  // the rest of it is taken
	fits     bool  // for searches: its rest could go
}

const noGang = -1

// gangOf returns the gang of a task, or noGang. A gang is looked at once: the
// cost is linear in its members.
func (x *enforcement) gangOf(t *victims.Task) int32 {
	if t.Job == "" {
		return noGang
	}
	r, job := &x.roster, t.Job
	if row, known := r.gangOf[job]; known {
		return row
	}
	row := int32(noGang)
	if least := x.c.MinMembers(job); least > 0 {
		row = int32(len(r.gangs))
		r.gangs = append(r.gangs, x.newGang(job, t.Queue, least))
	}
	r.gangOf[job] = row
	return row
}

// newGang looks at the members of a gang: those that run. Who is leaving neither
// counts nor protects. A member that can run on its node only, or that a rule keeps for now, counts, and keeps
// the gang from going as a whole, as does one in another leaf.
func (x *enforcement) newGang(job string, w queue.ID, least int) gangRow {
	g := gangRow{last: noTask, together: true}
	running := 0
	for id := range x.c.JobTasks(job) {
		x.meter.Pay(1)
		m := x.c.TaskView(id)
		if m.State != victims.Running {
			continue
		}
		running++
		g.together = g.together && m.Queue == w && !m.RequiredNode && x.later(id) == 0
	}
	g.spare = int32(max(running-least, 0))
	return g
}

// mayGo reports whether a task may go alone, and whether the rest of its gang may go
// with it.
func (x *enforcement) mayGo(i int32) (singly, together bool) {
	gang := x.task(i).gang
	if gang == noGang {
		return true, false
	}
	g := &x.roster.gangs[gang]
	return !g.gone && g.single < g.spare, !g.gone && g.together
}

// unit yields task i or, as a whole, all members of its gang that are as it is: taken
// with the rest, or not taken. They go and come back together.
func (x *enforcement) unit(i int32, whole bool) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		if !whole {
			yield(i)
			return
		}
		like := *x.task(i)
		for m := x.roster.gangs[like.gang].last; m != noTask; m = x.task(m).next {
			if t := x.task(m); t.taken == like.taken && t.asOneUnit == like.asOneUnit && !yield(m) {
				return
			}
		}
	}
}

// comesLast reports whether a task is the last of its unit in the order. There the
// unit stands.
func (x *enforcement) comesLast(i int32) bool {
	for m := range x.unit(i, true) {
		x.meter.Pay(1)
		if x.compare(i, m) < 0 {
			return false
		}
	}
	return true
}

// sizeOf returns the size of a unit, in memory that the next call reuses.
func (x *enforcement) sizeOf(i int32, whole bool) resources.Vector {
	if !whole {
		return x.size(i)
	}
	r := &x.roster
	r.unit = rows.Zeros(r.unit, x.types)
	for m := range x.unit(i, whole) {
		r.unit = resources.Add(r.unit, r.unit, x.size(m))
	}
	return r.unit
}

// fits reports whether a unit serves a goal, and law 2 and hard budgets let it go.
func (x *enforcement) fits(i int32, whole bool, goal, room resources.Vector) bool {
	size := x.sizeOf(i, whole)
	return x.serves(goal, size) && resources.Fits(size, room) && x.isSpared(i, whole)
}

// take makes a unit victims.
func (x *enforcement) take(i int32, whole bool) {
	if whole {
		x.roster.gangs[x.task(i).gang].gone = true
	}
	for m := range x.unit(i, whole) {
		x.task(m).asOneUnit = whole
		x.move(m, 1)
	}
}

// untake gives back a victim, with all that was taken as one unit with it.
func (x *enforcement) untake(i int32) {
	whole := x.task(i).asOneUnit
	if whole {
		x.roster.gangs[x.task(i).gang].gone = false
	}
	for m := range x.unit(i, whole) {
		x.move(m, -1)
		x.task(m).asOneUnit = false
	}
}

// budgetRow is a budget of the cluster and what the victims take of it.
//
// A hard budget binds: a unit that is beyond what is left of it is passed over,
// as one that law 2 keeps. A soft one changes nothing; its overrun is told.
// (DESIGN.md, Budgets.)
type budgetRow struct {
	name string
	left int64 // at least 0
	hard bool
	used int64
}

// uses yields the rows of the budgets of a task, by name.
func (x *enforcement) uses(i int32) iter.Seq[int] {
	return func(yield func(int) bool) {
		if !x.roster.spends {
			return
		}
		for _, name := range x.c.TaskView(x.task(i).id).Budgets {
			row, _ := slices.BinarySearchFunc(x.roster.budgets, name, func(b budgetRow, name string) int {
				return strings.Compare(b.name, name)
			})
			if !yield(row) {
				return
			}
		}
	}
}

// spend enters that the budgets of a task bear it, or with a sign of -1 no longer. It
// reports whether all hard ones can.
func (x *enforcement) spend(i int32, sign int64) bool {
	can := true
	for row := range x.uses(i) {
		b := &x.roster.budgets[row]
		b.used += sign
		can = can && (!b.hard || b.used <= b.left)
	}
	return can
}

// isSpared reports whether hard budgets can bear a unit as well.
func (x *enforcement) isSpared(i int32, whole bool) bool {
	can := true
	if x.roster.spends {
		for m := range x.unit(i, whole) {
			can = x.spend(m, 1) && can
		}
		for m := range x.unit(i, whole) {
			x.spend(m, -1)
		}
	}
	return can
}
