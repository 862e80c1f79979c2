// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/victims"
)

// nameApplications notes which names of applications are taken.
func (w *writer) nameApplications() {
	w.apps = make(map[string]bool)
	for id := range w.c.Tasks() {
		w.apps[w.c.TaskView(id).Application] = true
	}
	for i := range w.s.Asks {
		w.apps[w.s.Asks[i].Application] = true
	}
}

// application returns the name of an application. Work without one shares it with
// nobody, and so gets one of its own.
func (w *writer) application(name, key string) string {
	if name == "" {
		for name = key; w.apps[name]; name += "'" {
		}
		w.apps[name] = true
	}
	return w.text(name)
}

// tasks writes the tasks by key. No answer depends on the order in which they
// came.
func (w *writer) tasks() {
	for id := range w.c.Tasks() {
		if w.c.State(id) != victims.Granted {
			w.doc.Tasks = append(w.doc.Tasks, w.task(id))
		}
	}
	slices.SortFunc(w.doc.Tasks, func(a, b task) int { return cmp.Compare(a.Key, b.Key) })
}

func (w *writer) task(id victims.TaskID) task {
	t := w.c.TaskView(id)
	e := task{
		work: w.workOf(&t), ScheduledAge: "never",
		AllowPreemption: !t.OptedOut, State: t.State.String(),
	}
	e.Ports = w.ports[id]
	e.Age = w.age(t.Created)
	if !t.Scheduled.IsZero() {
		e.ScheduledAge = w.age(t.Scheduled)
		if least := w.c.Tree().Policies(t.Queue).MinRuntime; *least > 0 && len(w.s.Asks) > 0 && t.Scheduled.After(w.s.Now) {
			w.lacks("scheduled", t.Key, "now")
		}
	}
	if !t.Checkpoint.IsZero() {
		e.CheckpointAge = w.age(t.Checkpoint)
	}
	e.Class = w.toleration(id, &t)
	e.Selector, e.Movable = w.movers[id]
	if w.s.Ends != nil {
		if end, known := w.s.Ends(id); known {
			e.Ends = max(0, end.Sub(w.s.Now)).String()
		}
	}
	return e
}

// workOf returns what a task or a grant is, but for its ports and its age.
func (w *writer) workOf(t *victims.Task) work {
	e := work{
		Key: w.text(t.Key), Queue: w.c.Tree().Path(t.Queue), Application: w.application(t.Application, t.Key),
		Node: w.c.NodeName(t.Node), Resources: w.amounts(t.Size), Priority: t.Priority,
		Cost: t.Cost, Preemptions: t.Preemptions, Budgets: w.texts(t.Budgets),
		Originator: t.Originator, Job: w.text(t.Job), Preemptible: !t.NonPreemptible,
	}
	if of, known := w.memberOf[t.Key]; known && t.Job == "" {
		w.lacks("job", t.Key, "a member of the job by its name, too")
		e.Job = of
	}
	if t.RequiredNode {
		e.Required = e.Node
	}
	return e
}

// grants writes the grants in their order.
func (w *writer) grants() {
	for id := range w.c.Granted() {
		t := w.c.TaskView(id)
		e := ask{work: w.workOf(&t), AllowPreemptOther: true}
		e.Ports = w.ports[id]
		e.Age = w.age(t.Created)
		if t.OptedOut {
			e.Class = w.optedOut()
		}
		w.doc.Grants = append(w.doc.Grants, e)
	}
}

// asks writes the asks, and asks the functions of the planner about them.
func (w *writer) asks() {
	w.ports, w.memberOf = make(map[victims.TaskID][]string), make(map[string]string)
	for i := range w.s.Asks {
		a := &w.s.Asks[i]
		if !w.canAsk(a) {
			continue
		}
		if w.isJob(a) {
			w.job(i)
			continue
		}
		w.inquiry = append(w.inquiry, inquiry{w.p.Exempt, lent.To(&w.p.Options).Question(w.c, a, w.s.Now)})
		name := w.askName(len(w.doc.Requests))
		e := ask{
			work: work{
				Key: w.text(a.Key), Queue: w.c.Tree().Path(a.Queue), Application: w.application(a.Application, a.Key),
				Resources: w.amounts(a.Size), Priority: a.Priority, Age: w.age(a.PendingSince),
				Required: a.RequiredNode, Cost: a.Cost, Preemptions: a.Preemptions, Budgets: w.texts(a.Budgets),
				Ports: w.blockers(a, name), Originator: a.Originator, Job: w.text(a.Job), Preemptible: !a.NonPreemptible,
			},
			AllowPreemptOther: !a.MayNotPreempt, Selector: w.filter(a, name),
		}
		if a.OptedOut {
			e.Class = w.optedOut()
		}
		w.doc.Requests = append(w.doc.Requests, request{Ask: &e, Then: dryRun})
	}
}

// canAsk reports whether a document can have an ask, and notes what it cannot
// say of it.
func (w *writer) canAsk(a *victims.Ask) bool {
	if a.RequiredNode != "" {
		if n, ok := w.c.LookupNode(a.RequiredNode); !ok || w.c.Closed(n) {
			w.lacks("required-node", a.Key, "the ask is left out, for the cluster does not have the node")
			return false
		}
	}
	if !a.LastAttempt.IsZero() && w.s.Now.Before(a.LastAttempt.Add(max(0, w.p.RetryInterval))) {
		w.lacks("interval", a.Key, "the last attempt is over")
	}
	if a.PendingSince.After(w.s.Now) {
		w.lacks("pending", a.Key, "since now")
	}
	return true
}

// dryRun is what happens after every request: nothing, so that each finds the
// cluster as it is.
const dryRun = "nothing"
