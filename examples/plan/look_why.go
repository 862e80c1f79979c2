// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// findings are what queues, nodes and tasks were to a decision, by their numbers
// or keys.
type findings struct {
	queues map[queue.ID]string
	nodes  map[victims.NodeID]string
	tasks  map[string]string
}

func newFindings() findings {
	return findings{make(map[queue.ID]string), make(map[victims.NodeID]string), make(map[string]string)}
}

// findings returns them for a step; they are empty if that is nil or decides
// nothing.
func (d *drawing) findings(step *scenario.Step) findings {
	switch {
	case step == nil:
		return newFindings()
	case step.Asked != nil && step.Asked.Explanation != nil:
		return d.askFindings(step.Asked.Explanation)
	case step.Placed != nil:
		return d.jobFindings(step.Placed)
	case step.Enforced != nil:
		return d.quotaFindings(step.Enforced)
	}
	return newFindings()
}

// askFindings reads them off the explanation of a decision about an ask.
func (d *drawing) askFindings(e *victims.Explanation) findings {
	f := newFindings()
	for i := range e.Queues {
		q := d.rowOf(e.Queues[i].Queue)
		if f.queues[q] = lent.To(e).Queue(i); f.queues[q] == "" {
			f.queues[q] = d.roleOf(q, "asking")
		}
	}
	for i := range e.Nodes {
		n, _ := d.cluster.LookupNode(e.Nodes[i].Node)
		f.nodes[n] = lent.To(e).Node(i)
	}
	for i := range e.Tasks {
		f.tasks[e.Tasks[i].Key] = d.taskForAsk(e, i)
	}
	return f
}

// taskForAsk says what a task is to an ask, and of a victim and a candidate what
// follows.
func (d *drawing) taskForAsk(e *victims.Explanation, at int) string {
	t, text, plan := &e.Tasks[at], lent.To(e).Task(at), &e.Decision.Plan
	switch i := slices.IndexFunc(plan.Victims, func(v victims.Victim) bool { return v.Key == t.Key }); {
	case i >= 0 && plan.Victims[i].Purpose() != "":
		return text + ": makes room " + plan.Victims[i].Purpose()
	case i >= 0 || t.Rule != "":
		return text
	case e.Decision.Outcome == victims.Refused:
		return text + ": it could go, but that does not make room"
	case e.Decision.Outcome == victims.Preempts:
		return text + ": it could go, and the plan does without it"
	}
	return text + ": it could go, but nobody has to"
}

// A relaxLook is a single rule without which a refused ask would have a place.
type relaxLook struct {
	Text   string  `json:"text"`
	Change *change `json:"change,omitempty"` // that takes the rule out of the way; nil: no document can say that
}

// relaxLooks returns what there is to relax for the ask of a request.
func relaxLooks(d *drawing, request int, e *victims.Explanation) (all []relaxLook) {
	for i := range e.Relaxations {
		f := &e.Relaxations[i]
		all = append(all, relaxLook{f.String(), d.relax(request, f)})
	}
	return all
}

// rowOf returns the row of a queue that a decision names.
func (d *drawing) rowOf(path string) queue.ID {
	q, _ := d.cluster.Tree().Lookup(path)
	return q
}

// lowest is a priority that offsets of common size leave below that of an ask.
const lowest = "-2000000000"

// relax returns the change of the document that takes a rule out of the way.
func (d *drawing) relax(request int, f *victims.Relaxation) *change {
	queueAt := func(names ...any) []any { return append(d.placeOfQueue(d.rowOf(f.Queue)), names...) }
	if x := rulebook.RelaxationOf(f.Rule); x.Property != "" {
		return &change{queueAt("properties", x.Property), quoted(x.Free)}
	}
	switch f.Rule {
	case "may-not-preempt":
		return &change{[]any{"requests", request, "ask", "allowPreemptOther"}, []byte("true")}
	case "delay":
		return &change{[]any{"requests", request, "ask", "age"}, quoted(d.cluster.Tree().Policies(d.asker).PreemptionDelay.String())}
	case "not-guaranteed":
		return d.guaranteeMore(d.asker)
	case "over-guarantee":
		return d.guaranteeMore(d.rowOf(f.Queue))
	case "max":
		return &change{queueAt("resources", "max"), []byte("{}")}
	case "guarantee":
		return &change{queueAt("resources", "guaranteed"), []byte("{}")}
	case "budget":
		return &change{[]any{"budgets", f.Budget, "left"}, []byte(strconv.Itoa(len(d.run.Document.Tasks)))}
	case "unschedulable":
		return d.changeNode(f.Node, "unschedulable", []byte("false"))
	case "reservation":
		return d.changeNode(f.Node, "reservedFor", quoted(""))
	case "same-application":
		return d.changeTask(f.Key, "application", quoted(f.Key+" alone"))
	case "priority":
		return d.changeTask(f.Key, "priority", []byte(lowest))
	case "required-node":
		return d.changeTask(f.Key, "requiredNode", quoted(""))
	}
	return nil
}

// guaranteeMore guarantees a queue as much as it uses and is asked for, in the
// types of the ask.
func (d *drawing) guaranteeMore(q queue.ID) *change {
	tree, schema := d.cluster.Tree(), d.cluster.Schema()
	amounts := make(map[string]string)
	g := tree.Guaranteed(q)
	for i := range g.Defined.All() {
		amounts[schema.Name(i)] = resources.FormatQuantity(schema.Name(i), g.Value[i])
	}
	for i := range resources.Positive(d.asked).All() {
		amounts[schema.Name(i)] = resources.FormatQuantity(schema.Name(i), tree.Usage(q)[i]+d.asked[i])
	}
	text, err := json.Marshal(amounts)
	if err != nil {
		panic(err) // a map of strings does not fail
	}
	return &change{append(d.placeOfQueue(q), "resources", "guaranteed"), text}
}

// changeNode changes a field of a node.
func (d *drawing) changeNode(name, field string, value []byte) *change {
	i := slices.IndexFunc(d.run.Document.Nodes, func(n scenario.Node) bool { return n.Name == name })
	return &change{[]any{"nodes", i, field}, value}
}

// changeTask changes a field of a task, if it is one of the document's tasks.
func (d *drawing) changeTask(key, field string, value []byte) *change {
	i := d.indexOf(key)
	if i < 0 {
		return nil
	}
	return &change{[]any{"tasks", i, field}, value}
}

// indexOf returns where a task is in the document, or -1: then a request has
// placed it.
func (s *scene) indexOf(key string) int {
	return slices.IndexFunc(s.run.Document.Tasks, func(t scenario.Task) bool { return t.Key == key })
}

// quoted returns a text as JSON.
func quoted(text string) json.RawMessage {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string does not fail
	}
	return quoted
}
