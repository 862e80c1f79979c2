package quota

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// roster lists the tasks that may go, leaf by leaf, as leaves are asked. It
// knows who is taken, and keeps ledger, gangs and budgets in step with that.
type roster struct {
	*ledger

	leaves []leafRow // of q and the queues below it
	tasks  []taskRow
	sizes  []int64 // of the tasks, a row each
	taken  []bool  // the tasks that are victims
	grants []string

	gangs   gangs
	budgets budgets
	packer  packer
	own     []victims.Task // views of the tasks, for an order of the caller
}

// leafRow is what a roster knows of a queue.
type leafRow struct {
	first, end int32 // its tasks: tasks[first:end]
	gathered   bool
	out        bool  // it is, or is below, a queue that is being enforced already
	packed     int32 // how many nodes walks have given a place; see pack
}

// taskRow is a task that may be taken, with what decides when. It has 32 bytes and
// no pointer: there may be a row for every task of the cluster.
type taskRow struct {
	order     uint64 // what comes before age, the lowest first; see orderOf
	age       int64  // the lowest is the youngest
	id        victims.TaskID
	leaf      queue.ID
	gang      int32 // its row in gangs, or noGang
	asOneUnit bool  // it was taken with the rest of its gang
}

const noTask = -1

// start begins with nobody listed.
func (r *roster) start() {
	r.leaves = rows.Zeros(r.leaves, r.len())
	r.tasks, r.sizes, r.taken = r.tasks[:0], r.sizes[:0], r.taken[:0]
	r.grants, r.own = r.grants[:0], r.own[:0]
	r.gangs.start()
	r.budgets.start(r.c)
	r.packer.place = r.packer.place[:0]
	for p := r.q + 1; p < r.tree.End(r.q); p++ {
		parent, _ := r.tree.Parent(p)
		r.at(p).out = r.at(parent).out || r.e.Enforced != nil && r.e.Enforced(p)
	}
}

// at returns the row of a queue.
func (r *roster) at(p queue.ID) *leafRow { return &r.leaves[p-r.q] }

// key returns the key of a task.
func (r *roster) key(i int32) string { return r.c.Key(r.tasks[i].id) }

// size returns the size of a task.
func (r *roster) size(i int32) resources.Vector {
	at := int(i) * r.types
	return r.sizes[at : at+r.types : at+r.types]
}

// gather lists the tasks of leaf w that may go, and its grants, if that was not
// done. They run, may run elsewhere, and share a type with the target; an
// explicit zero of a type is not sharing it. A member of a gang that could go as
// a whole may go in any case.
func (r *roster) gather(w queue.ID) {
	row := r.at(w)
	if row.gathered {
		return
	}
	row.gathered, row.first = true, int32(len(r.tasks))
	for id := range r.c.TasksIn(w) {
		t := r.c.Head(id)
		if t.State == victims.Granted {
			r.grants = append(r.grants, r.c.Key(id))
		}
		if t.State != victims.Running || t.RequiredNode {
			continue
		}
		gang := r.gangOf(id, &t)
		if r.isAny(t.Size) || gang != noGang && r.gangs.rows[gang].together {
			r.add(id, gang, &t)
		}
	}
	row.end = int32(len(r.tasks))
}

// add lists a task of some gang.
func (r *roster) add(id victims.TaskID, gang int32, t *victims.Head) {
	i := int32(len(r.tasks))
	row := taskRow{order: r.orderOf(t), id: id, leaf: t.Queue, gang: gang}
	if r.e.Compare == nil {
		row.age = ageOf(t)
	} else {
		r.own = append(r.own, r.c.TaskView(id))
	}
	if len(r.budgets.rows) > 0 {
		r.budgets.add(r.c, id, t)
	}
	r.tasks = append(r.tasks, row)
	r.sizes = append(r.sizes, t.Size...)
	r.taken = append(r.taken, false)
	if gang != noGang {
		r.join(gang, i)
	}
}

// take makes a single task a victim.
func (r *roster) take(i int32) { r.move(i, 1) }

// untake gives a single victim back.
func (r *roster) untake(i int32) { r.move(i, -1) }

// move takes a task, with a sign of 1, or gives it back, with -1.
func (r *roster) move(i int32, sign int64) {
	t := &r.tasks[i]
	r.taken[i] = sign > 0
	r.ledger.move(t.leaf, r.size(i), sign)
	r.budgets.move(i, sign)
	if t.gang != noGang && !t.asOneUnit {
		r.gangs.rows[t.gang].single += int32(sign)
	}
}
