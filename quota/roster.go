package quota

import (
	"slices"
	"strings"

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

// gangs are the jobs that have a minimum. As many members as run beyond the
// minimum may go one by one. Those left are one unit: a job below its minimum
// does no work, so that to stop half of it wastes the other half.
// (DESIGN.md, Quota: gangs.)
type gangs struct {
	rows  []gangRow
	named map[string]int32 // row by name, or noGang
	next  []int32          // by task: the next member of its gang, or noTask
}

// gangRow is a job that has a minimum.
type gangRow struct {
	first, last int32 // its tasks that are listed, linked by gangs.next
	spare       int32 // so many members may go one by one
	single      int32 // so many of them have gone one by one
	waiting     int32 // so many are still on the heap of a walk
	together    bool  // it may go as a whole: all members are in one leaf below q
	gone        bool  // the rest of it is taken

	fits        bool   // for searches: its rest could go
	seen, posed uint64 // in these passes of a search was it looked at, and made a unit
}

const noGang = -1

func (g *gangs) start() {
	g.rows, g.next = g.rows[:0], g.next[:0]
	if g.named == nil {
		g.named = make(map[string]int32)
	}
	clear(g.named)
}

// gangOf returns the gang of a task, or noGang. A gang is looked at once: the
// cost is linear in its members.
func (r *roster) gangOf(id victims.TaskID, t *victims.Head) int32 {
	if r.e.Minimum == nil || !t.HasJob {
		return noGang
	}
	job := r.c.Job(id)
	if row, known := r.gangs.named[job]; known {
		return row
	}
	row := int32(noGang)
	if least := r.e.Minimum(job); least > 0 {
		row = int32(len(r.gangs.rows))
		r.gangs.rows = append(r.gangs.rows, r.newGang(job, t.Queue, least))
	}
	r.gangs.named[job] = row
	return row
}

// newGang looks at the members of a gang: those that run. Who is leaving neither
// counts nor protects. A member that can run on its node only counts, and keeps
// the gang from going as a whole, as does one in another leaf.
func (r *roster) newGang(job string, w queue.ID, least int) gangRow {
	g := gangRow{first: noTask, last: noTask, together: true}
	running := 0
	for id := range r.c.JobTasks(job) {
		m := r.c.Head(id)
		if m.State != victims.Running {
			continue
		}
		running++
		g.together = g.together && m.Queue == w && !m.RequiredNode
	}
	g.spare = int32(max(running-least, 0))
	return g
}

// join makes a listed task a member of its gang.
func (r *roster) join(gang, i int32) {
	g := &r.gangs.rows[gang]
	for len(r.gangs.next) <= int(i) {
		r.gangs.next = append(r.gangs.next, noTask)
	}
	if g.first == noTask {
		g.first = i
	} else {
		r.gangs.next[g.last] = i
	}
	g.last = i
}

// mayGoSingly reports whether one more member of a task's gang may go alone.
func (r *roster) mayGoSingly(t *taskRow) bool {
	if t.gang == noGang {
		return true
	}
	g := &r.gangs.rows[t.gang]
	return !g.gone && g.single < g.spare
}

// rest sets dst to the sum of the members of a gang that are not taken.
func (r *roster) rest(dst resources.Vector, gang int32) resources.Vector {
	dst = rows.Zeros(dst, r.types)
	for i := r.gangs.rows[gang].first; i != noTask; i = r.gangs.next[i] {
		if !r.taken[i] {
			dst = resources.Add(dst, dst, r.size(i))
		}
	}
	return dst
}

// restSpared reports whether hard budgets can bear all members of a gang that are
// not taken.
func (r *roster) restSpared(gang int32) bool {
	exceeded := false
	for _, sign := range [...]int64{1, -1} {
		for i := r.gangs.rows[gang].first; i != noTask; i = r.gangs.next[i] {
			if !r.taken[i] {
				r.budgets.move(i, sign)
				exceeded = exceeded || r.budgets.exceeded(i)
			}
		}
	}
	return !exceeded
}

// takeRest takes all members of a gang that are not taken, as one unit.
func (r *roster) takeRest(gang int32) {
	g := &r.gangs.rows[gang]
	g.gone = true
	for i := g.first; i != noTask; i = r.gangs.next[i] {
		if !r.taken[i] {
			r.tasks[i].asOneUnit = true
			r.take(i)
		}
	}
}

// untakeRest gives back what takeRest took.
func (r *roster) untakeRest(gang int32) {
	g := &r.gangs.rows[gang]
	g.gone = false
	for i := g.first; i != noTask; i = r.gangs.next[i] {
		if r.tasks[i].asOneUnit {
			r.untake(i)
			r.tasks[i].asOneUnit = false
		}
	}
}

// budgets are the budgets of a cluster, with how many victims each has to bear.
//
// A hard budget binds: a unit that is beyond what is left of it is passed over,
// as one that law 2 keeps. A soft one changes nothing; its overrun is told.
// (DESIGN.md, Budgets.)
type budgets struct {
	rows  []budgetRow // by name
	uses  []int32     // the budgets that tasks name, task by task
	first []int32     // task i has uses[first[i]:first[i+1]]; empty if there are no budgets
}

// budgetRow is a budget and what the victims take of it.
type budgetRow struct {
	name string
	left int64 // at least 0
	hard bool
	used int64
}

func (b *budgets) start(c *victims.Cluster) {
	b.rows, b.uses, b.first = b.rows[:0], b.uses[:0], b.first[:0]
	for name, row := range c.Budgets() {
		b.rows = append(b.rows, budgetRow{name: name, left: max(row.Left, 0), hard: row.Hard})
	}
	if len(b.rows) > 0 {
		b.first = append(b.first, 0)
	}
}

// add notes the budgets of the task that is being listed.
func (b *budgets) add(c *victims.Cluster, id victims.TaskID, t *victims.Head) {
	if t.HasBudgets {
		for _, name := range c.TaskView(id).Budgets {
			row, _ := slices.BinarySearchFunc(b.rows, name, func(r budgetRow, name string) int {
				return strings.Compare(r.name, name)
			})
			b.uses = append(b.uses, int32(row))
		}
	}
	b.first = append(b.first, int32(len(b.uses)))
}

// of returns the budgets of a task.
func (b *budgets) of(i int32) []int32 {
	if len(b.first) == 0 {
		return nil
	}
	return b.uses[b.first[i]:b.first[i+1]]
}

func (b *budgets) move(i int32, sign int64) {
	for _, row := range b.of(i) {
		b.rows[row].used += sign
	}
}

// exceeded reports whether a hard budget of a task is beyond what is left of it.
func (b *budgets) exceeded(i int32) bool {
	for _, row := range b.of(i) {
		if r := &b.rows[row]; r.hard && r.used > r.left {
			return true
		}
	}
	return false
}

// spare reports whether the budgets of a task can bear it as well.
func (b *budgets) spare(i int32) bool {
	if len(b.of(i)) == 0 {
		return true
	}
	b.move(i, 1)
	exceeded := b.exceeded(i)
	b.move(i, -1)
	return !exceeded
}

// overrun returns by how many victims soft budgets are overrun.
func (b *budgets) overrun() (sum int64) {
	for i := range b.rows {
		if r := &b.rows[i]; !r.hard {
			sum += max(r.used-r.left, 0)
		}
	}
	return sum
}
