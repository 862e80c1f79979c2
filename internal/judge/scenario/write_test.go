// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/choices"
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
			"toleration":               doc.Options.Toleration,
			"jobsNeedPreemptibleLabel": doc.Options.JobsNeedPreemptibleLabel,
			"ownLeaf":                  doc.Options.OwnLeaf, "jobTrigger": doc.Options.JobTrigger, "fairShares": doc.Options.FairShares,
			"moves": doc.Options.Moves, "maxMoved": doc.Options.MaxMoved,
		},
	}
	for i, r := range choices.Rows() {
		o["options"].(obj)[r.Name] = doc.Options.Pointer(i)
	}
	if doc.Options.Levels != "" {
		o["options"].(obj)["levels"] = doc.Options.levels()
	}
	if scarce := doc.Options.Scarce; scarce != 0 {
		var names []string
		for i := range scarce.All() {
			names = append(names, doc.Schema.Name(i))
		}
		o["options"].(obj)["scarce"] = names
	}
	var types []string
	for i := range doc.Schema.Len() {
		types = append(types, doc.Schema.Name(i))
	}
	o["types"] = append([]string{}, types...)
	minimums := obj{}
	for _, m := range doc.JobMinimums {
		minimums[m.Job] = m.Members
	}
	o["jobMinimums"] = minimums
	budgets, pending := obj{}, obj{}
	for _, b := range doc.Budgets {
		budgets[b.Name] = obj{"left": b.Left, "hard": b.Hard}
	}
	for _, p := range doc.Pending {
		pending[p.Queue] = w.vector(p.Resources)
	}
	o["budgets"], o["pending"], o["grants"] = budgets, pending, listOf(doc.Grants, w.grant)
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
	o := obj{"name": q.Name, "resources": w.bounds(q.Guaranteed, q.Max), "queues": listOf(q.Children, w.queue)}
	if q.Properties != nil {
		o["properties"] = q.Properties
	}
	if q.Template != nil {
		template := obj{"resources": w.bounds(q.Template.Guaranteed, q.Template.Max)}
		if q.Template.Properties != nil {
			template["properties"] = q.Template.Properties
		}
		o["template"] = template
	}
	return o
}

func (w writer) bounds(guaranteed, most resources.Limit) obj {
	bounds := obj{}
	if guaranteed.Value != nil {
		bounds["guaranteed"] = w.limit(guaranteed)
	}
	if most.Value != nil {
		bounds["max"] = w.limit(most)
	}
	return bounds
}

func (w writer) class(c Class) obj {
	o := obj{"name": c.Name, "value": c.Value, "preemptionPolicy": c.PreemptionPolicy}
	if c.Annotations != nil {
		o["annotations"] = c.Annotations
	}
	return o
}

func (w writer) node(n Node) obj {
	o := obj{
		"name": n.Name, "capacity": w.vector(n.Capacity), "unschedulable": n.Unschedulable,
		"reservedFor": n.ReservedFor, "rank": n.Rank,
	}
	setMap(o, "labels", n.Labels)
	setList(o, "domains", n.Domains)
	return o
}

func (w writer) task(t Task) obj {
	o := obj{
		"resources": w.vector(t.Resources), "priorityClass": t.Class, "age": t.Age.String(),
		"scheduledAge": t.ScheduledAge.String(), "state": t.State.String(),
	}
	setPlain(o, reflect.ValueOf(t))
	delete(o, "class")
	delete(o, "neverScheduled")
	setList(o, "budgets", t.Budgets)
	setList(o, "ports", t.Ports)
	if t.Ends != nil {
		o["ends"] = t.Ends.String()
	}
	setMap(o, "nodeSelector", t.NodeSelector)
	if t.CheckpointAge != nil {
		o["checkpointAge"] = t.CheckpointAge.String()
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

func (w writer) ask(a *Ask) obj {
	o := obj{"resources": w.vector(a.Resources), "priorityClass": a.Class, "age": a.Age.String()}
	setPlain(o, reflect.ValueOf(*a))
	delete(o, "class")
	setMap(o, "nodeSelector", a.NodeSelector)
	setList(o, "ports", a.Ports)
	setList(o, "budgets", a.Budgets)
	if a.Preemptible != nil {
		o["preemptible"] = *a.Preemptible
	}
	return o
}

// setPlain sets what is a text, a number or a switch, by the name of its field.
func setPlain(o obj, of reflect.Value) {
	for i := range of.NumField() {
		if f := of.Field(i); f.Type().PkgPath() == "" && f.Comparable() && f.Kind() != reflect.Pointer {
			name := of.Type().Field(i).Name
			o[strings.ToLower(name[:1])+name[1:]] = f.Interface()
		}
	}
}

func (w writer) grant(g Grant) obj {
	o := w.ask(&g.Ask)
	o["node"] = g.Node
	return o
}

// percent writes a share that was read from a percentage.
func percent(s resources.Share) string {
	places := len(strconv.FormatInt(s.Of, 10)) - len("100")
	digits := fmt.Sprintf("%0*d", places+1, s.Amount)
	if places == 0 {
		return digits + "%"
	}
	point := len(digits) - places
	return digits[:point] + "." + digits[point:] + "%"
}

func (w writer) proposal(p Proposal) obj {
	o := obj{"node": p.Node, "victims": listOf(p.Victims, func(f Ref) string { return f.Key })}
	setMap(o, "placements", p.Placements)
	return o
}

func (w writer) request(r Request) obj {
	o := obj{}
	if r.Proposed != nil {
		o["proposed"] = w.proposal(*r.Proposed)
	}
	if r.Then != 0 {
		o["then"] = r.Then.String()
	}
	if r.Repeat > 0 {
		o["repeat"] = r.Repeat
	}
	switch r.Kind {
	case KindAsk:
		o["ask"] = w.ask(r.Ask)
	case KindEnforceQuota:
		e := r.EnforceQuota
		f := obj{"queue": e.Queue, "overshoot": e.Overshoot.String(), "order": e.Order.String()}
		if e.Max != nil {
			f["max"] = w.limit(*e.Max)
		}
		if e.Miss != nil {
			f["miss"] = w.vector(e.Miss)
		}
		if e.MissShare.Of > 0 {
			f["miss"] = percent(e.MissShare)
		}
		o["enforceQuota"] = f
	case KindJob:
		j := r.Job
		f := obj{
			"name": j.Name, "queue": j.Queue, "application": j.Application, "priority": j.Priority,
			"minMembers": j.MinMembers, "age": j.Age.String(), "preemptionPolicy": j.PreemptionPolicy, "domain": j.Domain, "members": listOf(j.Members, w.member),
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
	o := obj{"key": m.Key, "resources": w.vector(m.Resources), "node": m.Node}
	setMap(o, "nodeSelector", m.NodeSelector)
	return o
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
	set(o, "proof", e.Proof)
	set(o, "overrun", e.Overrun)
	set(o, "ownLeaf", e.OwnLeaf)
	setMap(o, "moves", e.Moves)
	setList(o, "waitsFor", e.WaitsFor)
	set(o, "protectedBy", e.ProtectedBy)
	set(o, "cause", e.Cause)
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

// setList and setMap write a list or a map that is there.
func setList(o obj, name string, all []string) {
	if all != nil {
		o[name] = all
	}
}

func setMap[M ~map[string]string](o obj, name string, all M) {
	if all != nil {
		o[name] = all
	}
}

// set writes a field that is there.
func set[T any](o obj, name string, t *T) {
	if t != nil {
		o[name] = *t
	}
}
