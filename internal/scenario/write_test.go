package scenario

import (
	"strconv"
	"time"

	"github.com/go-preempt/preempt/resources"
)

// An obj is a JSON object.
type obj = map[string]any

// write turns a document into JSON values that Parse reads as the same
// document: the other direction, written without a look at how it reads. It
// writes defaults out and leaves nothing out but what is absent.
func write(doc *Document) obj {
	w := writer{doc.Schema}
	o := obj{
		"name": doc.Name, "note": doc.Note, "now": doc.Now.Format(time.RFC3339Nano), "strict": doc.Strict,
		"queues": w.queue(doc.Root), "priorityClasses": listOf(doc.Classes, w.class),
		"nodes": listOf(doc.Nodes, w.node), "tasks": listOf(doc.Tasks, w.task), "quotas": listOf(doc.Quotas, w.quota),
		"requests": listOf(doc.Requests, w.request), "expect": listOf(doc.Expect, w.expectation),
		"options": obj{
			"toleration": doc.Options.Toleration, "strictPriority": doc.Options.StrictPriority,
			"jobsNeedPreemptibleLabel": doc.Options.JobsNeedPreemptibleLabel,
		},
	}
	var types []string
	for _, name := range doc.Schema.All() {
		types = append(types, name)
	}
	o["types"] = append([]string{}, types...)
	minimums := obj{}
	for _, m := range doc.JobMinimums {
		minimums[m.Job] = m.Members
	}
	o["jobMinimums"] = minimums
	return o
}

// listOf writes a list, never as null.
func listOf[T, U any](all []T, one func(T) U) []U {
	us := []U{}
	for _, t := range all {
		us = append(us, one(t))
	}
	return us
}

type writer struct{ schema *resources.Schema }

// amount writes base units.
func (w writer) amount(i int, n int64) string {
	if name := w.schema.Name(i); name == "cpu" || name == "vcore" {
		return strconv.FormatInt(n, 10) + "m"
	}
	return strconv.FormatInt(n, 10)
}

func (w writer) limit(l resources.Limit) obj {
	o := obj{}
	for i := range l.Defined.All() {
		o[w.schema.Name(i)] = w.amount(i, l.Value[i])
	}
	return o
}

// vector writes every type, zeros included.
func (w writer) vector(v resources.Vector) obj {
	o := obj{}
	for i, n := range v {
		o[w.schema.Name(i)] = w.amount(i, n)
	}
	return o
}

func (w writer) queue(q Queue) obj {
	bounds := obj{}
	if q.Guaranteed.Value != nil {
		bounds["guaranteed"] = w.limit(q.Guaranteed)
	}
	if q.Max.Value != nil {
		bounds["max"] = w.limit(q.Max)
	}
	o := obj{"name": q.Name, "resources": bounds, "queues": listOf(q.Children, w.queue)}
	if q.Properties != nil {
		o["properties"] = q.Properties
	}
	return o
}

func (w writer) class(c Class) obj {
	o := obj{"name": c.Name, "value": c.Value}
	if c.Annotations != nil {
		o["annotations"] = c.Annotations
	}
	return o
}

func (w writer) node(n Node) obj {
	return obj{"name": n.Name, "capacity": w.vector(n.Capacity), "unschedulable": n.Unschedulable, "reservedFor": n.ReservedFor}
}

func (w writer) task(t Task) obj {
	o := obj{
		"key": t.Key, "queue": t.Queue, "application": t.Application, "node": t.Node,
		"resources": w.vector(t.Resources), "priority": t.Priority, "priorityClass": t.Class,
		"age": t.Age.String(), "scheduledAge": t.ScheduledAge.String(), "originator": t.Originator,
		"requiredNode": t.RequiredNode, "state": t.State.String(), "job": t.Job,
	}
	if t.NeverScheduled {
		o["scheduledAge"] = "never"
	}
	set(o, "allowPreemption", t.AllowPreemption)
	set(o, "preemptible", t.Preemptible)
	return o
}

func (w writer) quota(q Quota) obj {
	o := obj{"queue": q.Queue}
	if q.Min.Value != nil {
		o["min"] = w.limit(q.Min)
	}
	if q.Max.Value != nil {
		o["max"] = w.limit(q.Max)
	}
	if q.Waiting != nil {
		o["waitingNonPreemptible"] = w.vector(q.Waiting)
	}
	return o
}

func (w writer) request(r Request) obj {
	o := obj{}
	if r.Then != 0 {
		o["then"] = r.Then.String()
	}
	if r.Repeat > 0 {
		o["repeat"] = r.Repeat
	}
	switch r.Kind {
	case KindAsk:
		a := r.Ask
		o["ask"] = obj{
			"key": a.Key, "queue": a.Queue, "application": a.Application, "resources": w.vector(a.Resources),
			"priority": a.Priority, "priorityClass": a.Class, "age": a.Age.String(),
			"requiredNode": a.RequiredNode, "allowPreemptOther": a.AllowPreemptOther,
		}
	case KindEnforceQuota:
		e := r.EnforceQuota
		f := obj{"queue": e.Queue, "overshoot": e.Overshoot.String(), "order": e.Order.String()}
		if e.Max != nil {
			f["max"] = w.limit(*e.Max)
		}
		if e.Miss != nil {
			f["miss"] = w.vector(e.Miss)
		}
		o["enforceQuota"] = f
	case KindJob:
		j := r.Job
		f := obj{
			"name": j.Name, "queue": j.Queue, "application": j.Application, "priority": j.Priority,
			"minMembers": j.MinMembers, "preemptionPolicy": j.PreemptionPolicy, "members": listOf(j.Members, w.member),
		}
		set(f, "preemptible", j.Preemptible)
		o["job"] = f
	case KindAdvance:
		o["advance"] = r.Advance.String()
	case KindFinish:
		o["finish"] = listOf(r.Finish, func(f Ref) string { return f.Key })
	case KindStart:
		o["start"] = listOf(r.Start, w.task)
	}
	return o
}

func (w writer) member(m Member) obj {
	return obj{"key": m.Key, "resources": w.vector(m.Resources), "node": m.Node}
}

func (w writer) expectation(e Expectation) obj {
	o := obj{"outcome": e.Outcome}
	set(o, "request", e.Request)
	set(o, "key", e.Key)
	set(o, "node", e.Node)
	set(o, "victimCount", e.VictimCount)
	set(o, "reason", e.Reason)
	set(o, "proven", e.Proven)
	set(o, "retryAt", e.RetryAt)
	switch len(e.Victims) {
	case 0:
	case 1:
		o["victims"] = e.Victims[0]
	default:
		o["victimsAnyOf"] = e.Victims
	}
	if e.Placements != nil {
		o["placements"] = e.Placements
	}
	if e.Counts != nil {
		o["counts"] = e.Counts
	}
	if e.Target != nil {
		target := obj{}
		for queue, l := range e.Target {
			target[queue] = w.limit(l)
		}
		o["target"] = target
	}
	if e.Shortfall != nil {
		o["shortfall"] = w.limit(*e.Shortfall)
	}
	return o
}

// set writes a field that is there.
func set[T any](o obj, name string, t *T) {
	if t != nil {
		o[name] = *t
	}
}
