// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// isJob reports whether a document has an ask as a job: a gang, or a lone ask that is decided as one.
func (w *writer) isJob(a *victims.Ask) bool {
	return len(a.Members) > 0 || a.RequiredNode == "" && (w.p.ByPriority || w.p.Admit != nil)
}

// job writes an ask as a job, and asks the functions of the planner about it. It is the i-th of the asks.
func (w *writer) job(i int) {
	j := &w.s.Asks[i]
	if w.doc.Options.JobTrigger = "guarantee"; w.p.ByPriority {
		w.doc.Options.JobTrigger = "priority"
	}
	e := &job{
		Name: w.text(j.Key), Queue: w.c.Tree().Path(j.Queue), Application: w.application(j.Application, j.Key),
		Priority: j.Priority, Preemptible: !j.NonPreemptible, MinMembers: j.MinMembers, Domain: j.DomainDepth,
		Age: w.age(j.PendingSince),
	}
	if j.MayNotPreempt {
		e.Policy = "Never"
	}
	selectors := make(map[int]map[string]string)
	for k := range max(1, len(j.Members)) {
		m := j.Member(k)
		w.memberOf[m.Key] = j.Key
		if _, asked := selectors[m.Class]; !asked {
			selectors[m.Class] = w.selector(w.member(j, &m), fmt.Sprintf("job-%d-class-%d", i+1, len(selectors)+1))
		}
		e.Members = append(e.Members, member{Key: w.text(m.Key), Resources: w.amounts(m.Size), Selector: selectors[m.Class]})
	}
	w.inquiry = append(w.inquiry, inquiry{w.p.Exempt, w.firstUnplaced(j)})
	w.doc.Requests = append(w.doc.Requests, request{Job: e, Then: dryRun})
}

// selector labels the nodes on which members like one may run, and returns what
// selects them. Classes whose members may run on the same nodes are one.
func (w *writer) selector(q *victims.Question, name string) map[string]string {
	if w.p.Filter == nil {
		return nil
	}
	return w.label(name, func(n victims.NodeID) bool {
		q.Node = n
		return w.lets(w.p.Filter, q)
	})
}

// firstUnplaced returns the question about exemptions from a job: about its first member without
// a place.
func (w *writer) firstUnplaced(j *victims.Ask) *victims.Question {
	for i := range max(1, len(j.Members)) {
		m := j.Member(i)
		_, runs := w.c.Lookup(m.Key)
		if _, granted := w.c.LookupGrant(m.Key); !runs && !granted {
			return w.member(j, &m)
		}
	}
	return w.member(j, new(victims.Member))
}

// member returns the question about a member of a job.
func (w *writer) member(j *victims.Ask, m *victims.Member) *victims.Question {
	return &victims.Question{Cluster: w.c, Now: w.s.Now, Ask: j, Member: m}
}

// quotas writes what queues may use for jobs, and what waits in each for that.
func (w *writer) quotas() {
	first := slices.IndexFunc(w.s.Asks, func(a victims.Ask) bool { return w.isJob(&a) })
	if first < 0 {
		return
	}
	tree := w.c.Tree()
	if w.p.Admit != nil && w.s.Quotas == nil {
		w.lacks("admit", w.s.Asks[first].Key, "all are let in")
	}
	own := make(map[queue.ID]resources.Vector) // what waits in a queue, less what waits below
	for q := range queue.ID(tree.Len()) {
		of := w.s.Quotas[tree.Path(q)]
		if of == nil {
			continue
		}
		own[q] = resources.Add(nil, of.Waiting, make(resources.Vector, w.schema.Len()))
		for above := range tree.Ancestors(q) {
			if waiting, ok := own[above]; ok && above != q {
				resources.Sub(waiting, waiting, of.Waiting)
				break
			}
		}
	}
	for q := range queue.ID(tree.Len()) {
		of := w.s.Quotas[tree.Path(q)]
		if of == nil {
			continue
		}
		if slices.ContainsFunc(own[q], func(v int64) bool { return v < 0 }) {
			w.lacks("waiting", tree.Path(q), "as much as below it")
		}
		least, most, waiting := w.limit(of.Min), w.limit(of.Max), w.amounts(own[q])
		w.doc.Quotas = append(w.doc.Quotas, quotaEntry{Queue: tree.Path(q), Min: &least, Max: &most, Waiting: &waiting})
	}
}

// lowered writes the queues that are to come within their max.
func (w *writer) lowered() {
	e := w.s.Enforcer
	for _, q := range w.s.Enforce {
		path := w.c.Tree().Path(q)
		if e.CompareTasks != nil {
			w.lacks("compare", path, "tasks are in the default order")
		}
		if w.enforcedBelow(q) {
			w.lacks("enforced", path, "no queue below it is being enforced")
		}
		overshoot := "one-task"
		if e.NeverOvershoot {
			overshoot = "exact"
		}
		order := cmp.Or(string(e.Order), "default")
		if e.Order == quota.FewestOfAll {
			order = string(quota.Fewest)
		}
		w.doc.Requests = append(w.doc.Requests, request{Then: dryRun, Enforce: &enforceQuota{
			Queue: path, Max: w.limit(w.c.Tree().Max(q)), Overshoot: overshoot, Order: order, Whole: e.Order == quota.FewestOfAll,
		}})
	}
}

// enforcedBelow reports whether the enforcer passes over some queue below q.
func (w *writer) enforcedBelow(q queue.ID) bool {
	t := w.c.Tree()
	for below := range queue.ID(t.Len()) {
		if below != q && t.Contains(q, below) && w.s.Enforcer.Enforced != nil && w.s.Enforcer.Enforced(below) {
			return true
		}
	}
	return false
}

// minimums writes how many members the jobs of the tasks need.
func (w *writer) minimums() {
	for _, job := range w.jobNames() {
		if least := w.c.MinMembers(job); least > 0 {
			if w.doc.Minimums == nil {
				w.doc.Minimums = make(map[string]int)
			}
			w.doc.Minimums[job] = least
		}
	}
}

// jobNames returns the names of the jobs that tasks are members of, sorted.
func (w *writer) jobNames() (names []string) {
	for i := range w.doc.Tasks {
		if job := w.doc.Tasks[i].Job; job != "" {
			names = append(names, job)
		}
	}
	slices.SortFunc(names, cmp.Compare[string])
	return slices.Compact(names)
}
