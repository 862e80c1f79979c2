// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"cmp"
	"maps"
	"slices"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// An Aside is what a reader wants to know beside a decision: where the ask or the
// members may not run, who is in the way there, and what the victims are to
// budgets and jobs. All of it is as the request found it.
type Aside struct {
	Filters  []Filtering
	Blockers []Blocker   // by node, those that may go and those that may not
	Budgets  []BudgetUse // all of them, by name
	Jobs     []JobUse    // those of victims, by name
}

// A Filtering is what some selector makes of the nodes.
type Filtering struct {
	Selector Selector
	Members  int              // of the job that have it; 0 of an ask
	Refused  []victims.NodeID // in node order
}

// A Blocker is a task, or a grant, that holds a port which is asked for, on a node
// where the ask may run.
type Blocker struct {
	Key  string
	Node victims.NodeID
}

// A BudgetUse is a budget and how many of its tasks are victims.
type BudgetUse struct {
	Name    string
	Budget  victims.Budget
	Victims int64
}

// Over returns how many victims are too many.
func (u *BudgetUse) Over() int64 { return max(0, u.Victims-max(0, u.Budget.Left)) }

// A JobUse is a job with a minimum, and how many of its members are victims.
type JobUse struct {
	Job     string
	Minimum int
	Running int // members that run and are not leaving
	Victims int
}

// Stops reports whether fewer members stay than the job needs.
func (u *JobUse) Stops() bool { return u.Running-u.Victims < u.Minimum }

// OwnVictims returns the keys of victims that are of the leaf which asks, if the
// plan takes of it by the option of the own leaf.
func (s *Step) OwnVictims() (keys []string) {
	own := func(all []victims.Task, leaf queue.ID) {
		for i := range all {
			if all[i].Queue == leaf {
				keys = append(keys, all[i].Key)
			}
		}
	}
	switch {
	case s.Asked != nil && s.Asked.Decision.Plan.WithinQueue:
		own(s.Asked.Victims, s.Asked.Decision.Plan.Ask.Queue)
	case s.Placed != nil && s.Placed.Decision.Plan.WithinQueue:
		own(s.Placed.Victims, s.Placed.Decision.Plan.Ask.Queue)
	}
	return keys
}

// asideOf returns what stands beside a decision with these victims, which still
// run.
func (r *runner) asideOf(victims []victims.Task) (a Aside) {
	budgets, jobs := make(map[string]int64), make(map[string]int)
	for i := range victims {
		for _, name := range victims[i].Budgets {
			budgets[name]++
		}
		if job := victims[i].Job; r.doc.jobMinimum(job) > 0 {
			jobs[job]++
		}
	}
	for name, b := range r.cluster.Budgets() {
		a.Budgets = append(a.Budgets, BudgetUse{name, b, budgets[name]})
	}
	for _, job := range slices.Sorted(maps.Keys(jobs)) {
		a.Jobs = append(a.Jobs, JobUse{job, r.doc.jobMinimum(job), r.runningOf(job), jobs[job]})
	}
	return a
}

// runningOf counts the members of a job that run.
func (r *runner) runningOf(job string) (n int) {
	for id := range r.cluster.JobTasks(job) {
		if r.cluster.State(id) == victims.Running {
			n++
		}
	}
	return n
}

// filtering returns what a selector makes of the nodes.
func (r *runner) filtering(s Selector) Filtering {
	f := Filtering{Selector: s}
	for n := range r.cluster.Nodes() {
		if !r.selects(s, n) {
			f.Refused = append(f.Refused, n)
		}
	}
	return f
}

// asideOfAsk adds what is particular to asks.
func (r *runner) asideOfAsk(a *Ask, victims []victims.Task) Aside {
	aside := r.asideOf(victims)
	if len(a.NodeSelector) > 0 {
		aside.Filters = append(aside.Filters, r.filtering(a.NodeSelector))
	}
	for n := range r.cluster.Nodes() {
		if len(a.Ports) == 0 || !r.selects(a.NodeSelector, n) {
			continue
		}
		on := len(aside.Blockers)
		for _, id := range r.blockers(nil, a.Ports, n) {
			aside.Blockers = append(aside.Blockers, Blocker{r.cluster.Key(id), n})
		}
		slices.SortFunc(aside.Blockers[on:], func(x, y Blocker) int { return cmp.Compare(x.Key, y.Key) })
	}
	return aside
}

// asideOfJob adds what is particular to jobs: each selector once, for those of
// its members that have no place yet.
func (r *runner) asideOfJob(j *Job, victims []victims.Task) Aside {
	aside := r.asideOf(victims)
	at := make(map[int]int) // by class
	for i := range j.Members {
		m := &j.Members[i]
		if _, placed := r.cluster.Lookup(m.Key); placed || len(m.NodeSelector) == 0 {
			continue
		}
		class := j.class(i)
		if _, ok := at[class]; !ok {
			at[class] = len(aside.Filters)
			aside.Filters = append(aside.Filters, r.filtering(m.NodeSelector))
		}
		aside.Filters[at[class]].Members++
	}
	return aside
}
