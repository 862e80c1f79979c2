package scenario

import (
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Moment is what a run is about to decide, and who decides it: an ask, a job, or
// a quota. Nothing of it may be kept, nor changed.
type Moment struct {
	Request int // an index of Document.Requests
	Now     time.Time
	Planner *victims.Planner // also if it is no ask: it has the cluster

	Ask *victims.Ask // nil if it is another one

	JobPlanner *jobs.Planner
	Job        *jobs.Job // likewise

	Enforcer *quota.Enforcer // nil if no quota is enforced
	Queue    queue.ID
	Max      resources.Limit
}

// RunSeen is Run for somebody who looks at each decision before it is made.
func (doc *Document) RunSeen(see func(*Moment)) (*Run, error) {
	return doc.run(&runner{doc: doc, now: doc.Now, see: see})
}

// show shows a moment to who looks.
func (r *runner) show(i int, m Moment) {
	if r.see != nil {
		m.Request, m.Now, m.Planner = i, r.now, &r.planner
		r.see(&m)
	}
}
