package jobs

import (
	"math"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// auditSums are what the formulas speak of, in a subtree.
type auditSums struct {
	queue         queue.ID
	quota         Quota
	used, fixed   resources.Vector // U and N
	waiting, gone resources.Vector // NR - N, and what victims take
}

// add adds a task, unless it is leaving.
func (s *auditSums) add(t victims.Task) {
	if t.State == victims.Releasing || t.State == victims.Preempting {
		return
	}
	resources.Add(s.used, s.used, t.Size)
	if t.NonPreemptible {
		resources.Add(s.fixed, s.fixed, t.Size)
	}
}

// over reports whether a + b > most, none of which is negative.
func over(a, b, most int64) bool { return a > most || b > most-a }

// capped returns a + b, or the most there is.
func capped(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// sumUp adds up the sums of the queues of the path that have a quota, on coming
// amounts.
func (x *auditCase) sumUp() {
	x.sums, x.blocks = x.sums[:0], x.blocks[:0]
	for q := range x.tree.Up(x.job.Queue) {
		quota, ok := x.a.Quotas.Lookup(q)
		if !ok {
			continue
		}
		from := len(x.blocks)
		for range 3 * x.types {
			x.blocks = append(x.blocks, 0)
		}
		rows := x.blocks[from:]
		s := auditSums{
			queue: q, quota: quota,
			used: x.row(rows, 0), fixed: x.row(rows, 1), waiting: x.row(rows, 2), gone: x.row(x.taken, int(q)),
		}
		// Queues are in tree order, so a subtree is a range. The sums are added
		// up from tasks; the planner's ledger is not asked.
		for w := q; w < x.tree.End(q); w++ {
			if sub, ok := x.a.Quotas.Lookup(w); ok {
				resources.Add(s.waiting, s.waiting, sub.Waiting)
			}
			for id := range x.c.TasksIn(w) {
				s.add(x.c.TaskView(id))
			}
		}
		x.sums = append(x.sums, s)
	}
}
