package quota

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

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
